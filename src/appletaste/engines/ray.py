"""Tasks on a Ray cluster."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import Any, ClassVar

from ..errors import EngineError, MissingExtraError
from .cluster import PATIENCE, Cluster
from .workers import ONE_THREAD, RETRIES, Work

#: Results are a few kilobytes and fetched at once; Ray would set aside a third of the memory for them.
STORE_BYTES = 100 * 2**20


class RayCluster(Cluster):
    """Ray tasks of one core each; Ray itself runs a task again when its worker or machine dies."""

    name: ClassVar[str] = "Ray"
    variable: ClassVar[str] = "RAY_ADDRESS"
    recipe: ClassVar[str] = "ray start --head"
    _ours = False  # whether Ray was started here, and is to be stopped here

    def _connect(self) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtraError("the Ray engine", "ray") from None
        self._ray, self._ours = ray, not ray.is_initialized()
        if not self._ours:  # a process has one Ray; the caller's own is used, and left as it is
            present = ray.get_runtime_context().gcs_address
            if self.address and ":" in self.address and not self.address.endswith(present):
                raise EngineError(
                    f"this process is already connected to the Ray cluster {present}, not to {self.address}"
                )
            return
        settings: dict[str, Any] = {"runtime_env": {"env_vars": ONE_THREAD}, "log_to_driver": False}
        logging.getLogger("ray").setLevel(logging.ERROR)
        if self.address is None:
            here = {"num_cpus": self.jobs, "object_store_memory": STORE_BYTES, "include_dashboard": False}
            ray.init("local", logging_level=logging.ERROR, **here, **settings)
            return
        host, _, port = self.address.removeprefix("ray://").rpartition(":")
        if host:  # Ray itself still waits for a head that is not there after 100 s
            socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
        try:
            ray.init(self.address, logging_level=logging.ERROR, **settings)
        except (OSError, RuntimeError, ray.exceptions.RayError) as error:
            raise ConnectionError(f"{error}; a cluster with tokens needs RAY_AUTH_MODE=token here too") from error

    def _disconnect(self) -> None:
        if self._ours:
            self._ray.shutdown()

    def _slots(self) -> int:
        return int(self._ray.cluster_resources().get("CPU", 1))

    def _submitter(self, work: Work) -> Callable[[int, Any], Any]:
        remote = self._ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(_call)
        shared = self._ray.put(work)
        return lambda index, task: remote.remote(shared, index, task)

    def _finished(self, futures: list[Any]) -> dict[Any, tuple[int, Any]]:
        self._ray.wait(futures, num_returns=1)
        done, _ = self._ray.wait(futures, num_returns=len(futures), timeout=0)
        try:
            return dict(zip(done, self._ray.get(done), strict=True))
        except self._ray.exceptions.RayError as error:
            raise self._failed(error) from error

    def _cancel(self, futures: list[Any]) -> None:
        for future in futures:
            self._ray.cancel(future)


def _call(work: Work, index: int, task: Any) -> tuple[int, Any]:
    return work(index, task)
