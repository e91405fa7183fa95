"""What watchers ask: is the process up, is it ready, and its numbers for Prometheus, without features, ids and keys."""

from __future__ import annotations

import asyncio
from collections import Counter

from msgspec import Struct

from ..streams.activity import Histogram
from .operations import TEXT, Call, Reply, operation
from .problems import Problem

#: The edges of the histograms, in seconds.
EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Metrics:
    """What is counted; each number has one thread that adds to it, or is only ever read for people."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.groups = 0
        self.grouped = 0
        self.overloads = 0
        self.errors = 0
        self.commit, self.wait = Histogram(EDGES), Histogram(EDGES)
        #: How long requests took, by the scope that they need.
        self.latency: dict[str, Histogram] = {}

    def group(self, size: int, commit: float, wait: float) -> None:
        """Count one group of a writer: its size, how long it took, and how long its first request waited."""
        self.groups += 1
        self.grouped += size
        self.commit.add(commit)
        self.wait.add(wait)

    def answered(self, name: str, scope: str, status: int, seconds: float | None) -> None:
        """Count one request by its operation, and how long it took; None: it is a live view, which takes hours."""
        self.requests[name, status] += 1
        if seconds is not None:
            found = self.latency.get(scope)
            if found is None:
                found = self.latency[scope] = Histogram(EDGES)
            found.add(seconds)


class Health(Struct, frozen=True):
    """Whether the service is up, or ready."""

    status: str


@operation("GET", "/healthz", scope=None)
async def healthz(call: Call[None]) -> Reply[Health]:
    """Say that the process is up."""
    return Reply.of(Health("up"))


@operation("GET", "/readyz", scope=None)
async def readyz(call: Call[None]) -> Reply[Health]:
    """Say whether requests are answered."""
    if not call.host.ready:
        raise Problem("not-ready")
    return Reply.of(Health("ready"))


@operation("GET", "/metrics", scope="read", media=TEXT)
async def metrics(call: Call[None]) -> Reply[str]:
    """Return numbers for Prometheus; of the streams, those that the key may see."""
    from .exposition import text_of  # which knows the operations that are defined beside this one

    names = [name for name in call.host.here() if call.key.sees(name)]
    return Reply(200, (await asyncio.to_thread(text_of, call.host, names)).encode(), TEXT)
