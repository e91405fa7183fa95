"""Tasks on a Dask cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, ClassVar

from ..errors import MissingExtraError
from .cluster import PATIENCE, Cluster
from .workers import ONE_THREAD, RETRIES, Work


class DaskCluster(Cluster):
    """Dask tasks; its scheduler runs a task again when its worker dies (``allowed-failures`` times)."""

    name: ClassVar[str] = "Dask"
    variable: ClassVar[str] = "DASK_SCHEDULER_ADDRESS"
    recipe: ClassVar[str] = "dask scheduler, and on each machine: dask worker ADDRESS --nworkers auto --nthreads 1"

    def __init__(self, jobs: int, address: str | None = None) -> None:
        super().__init__(jobs, address)
        self._opened = ExitStack()  # what to close, in the order that undoes the opening

    def _connect(self) -> None:
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("the Dask engine", "dask") from None
        self._dask = distributed
        where: Any = self.address
        if self.address is None:
            where = self._opened.enter_context(
                distributed.LocalCluster(
                    n_workers=self.jobs,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=0,
                    dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                    scheduler_kwargs={"allowed_failures": RETRIES},
                    env=ONE_THREAD,
                )
            )
        self._client = self._opened.enter_context(
            distributed.Client(where, timeout=PATIENCE, set_as_default=False, name="appletaste")
        )
        self._client.wait_for_workers(1, timeout=PATIENCE)

    def _disconnect(self) -> None:
        self._opened.close()

    def _slots(self) -> int:
        return sum(self._client.nthreads().values())

    def _submitter(self, work: Work) -> Callable[[int, Any], Any]:
        return lambda index, task: self._client.submit(work, index, task, pure=False, retries=0)

    def _finished(self, futures: list[Any]) -> dict[Any, tuple[int, Any]]:
        try:
            with self._client.as_current():
                done = list(self._dask.wait(futures, return_when="FIRST_COMPLETED").done)
            # All at once: fetched one by one they took 6 ms each, together 3 ms each.
            return dict(zip(done, self._client.gather(done), strict=True))
        except (Exception, self._dask.CancelledError) as error:
            raise self._failed(error) from error

    def _cancel(self, futures: list[Any]) -> None:
        self._client.cancel(futures)
