"""Where work runs: on this machine's cores, on a Ray cluster or on a Dask cluster, with the same results."""

from __future__ import annotations

import os

from ..errors import OptionError
from .cluster import Cluster
from .dask import DaskCluster
from .local import Local, Threads
from .ray import RayCluster
from .workers import Engine

__all__ = ["ENGINES", "DaskCluster", "Engine", "Local", "RayCluster", "Threads", "engine"]

#: The engines by name; all but ``local`` can have an address.
ENGINES: dict[str, type[Local] | type[Cluster]] = {"local": Local, "ray": RayCluster, "dask": DaskCluster}


def engine(name: str = "local", *, jobs: int = 1, address: str | None = None) -> Engine:
    """Return an engine by name; without an address ``ray`` and ``dask`` start ``jobs`` workers on this machine.

    The address may also be in the environment: ``APPLETASTE_ENGINE_ADDRESS``, or ``RAY_ADDRESS`` and
    ``DASK_SCHEDULER_ADDRESS``.

    Examples
    --------
    >>> with engine("local", jobs=1) as workers:
    ...     sorted(workers.run(abs, [-3, 2]))
    [(0, 3), (1, 2)]
    """
    if name not in ENGINES:
        raise OptionError(f"there is no engine {name!r}; there are {', '.join(ENGINES)}")
    if jobs < 1:
        raise OptionError(f"jobs must be at least 1, got {jobs}")
    kind = ENGINES[name]
    if issubclass(kind, Cluster):
        return kind(jobs, address or os.environ.get("APPLETASTE_ENGINE_ADDRESS") or os.environ.get(kind.variable))
    if address is not None:
        raise OptionError(f"the local engine has no address, got {address!r}; addresses are for ray and dask")
    return kind(jobs)
