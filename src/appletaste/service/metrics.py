"""What watchers ask: is the process up, is it ready, and its numbers for Prometheus, without features, ids and keys."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter

from msgspec import Struct

from .operations import TEXT, Call, Reply, operation
from .problems import Problem

#: The edges of the histograms, in seconds.
EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


class Histogram:
    """Counts of durations.

    Examples
    --------
    >>> seconds = Histogram()
    >>> seconds.add(0.003)
    >>> print(seconds.text("commit_seconds").splitlines()[2])
    appletaste_commit_seconds_bucket{le="0.005"} 1
    """

    def __init__(self) -> None:
        self._counts = [0] * (len(EDGES) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one duration."""
        self._counts[bisect_left(EDGES, seconds)] += 1
        self._sum += seconds

    def text(self, name: str) -> str:
        """Return the histogram in the format of Prometheus."""
        lines, total = [], 0
        for edge, count in zip((*EDGES, "+Inf"), self._counts, strict=True):
            total += count
            lines.append(f'appletaste_{name}_bucket{{le="{edge}"}} {total}')
        return "\n".join([*lines, f"appletaste_{name}_sum {self._sum:.6f}", f"appletaste_{name}_count {total}"])


class Metrics:
    """What is counted; each number has one thread that adds to it, or is only ever read for people."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.groups = 0
        self.grouped = 0
        self.overloads = 0
        self.errors = 0
        self.commit = Histogram()
        self.wait = Histogram()

    def group(self, size: int, commit: float, wait: float) -> None:
        """Count one group of a writer: its size, how long it took, and how long its first request waited."""
        self.groups += 1
        self.grouped += size
        self.commit.add(commit)
        self.wait.add(wait)

    def text(self, ready: bool, depths: dict[str, int], seqs: dict[str, int]) -> str:
        """Return everything in the format of Prometheus."""
        lines = ["# TYPE appletaste_ready gauge", f"appletaste_ready {int(ready)}"]
        lines.append("# TYPE appletaste_requests_total counter")
        for (name, status), count in sorted(self.requests.items()):
            lines.append(f'appletaste_requests_total{{operation="{name}",status="{status}"}} {count}')
        for name, value in (
            ("groups", self.groups),
            ("grouped_requests", self.grouped),
            ("overloads", self.overloads),
            ("internal_errors", self.errors),
        ):
            lines += [f"# TYPE appletaste_{name}_total counter", f"appletaste_{name}_total {value}"]
        for name, found in (("waiting_requests", depths), ("events", seqs)):
            lines.append(f"# TYPE appletaste_{name} gauge")
            lines += [f'appletaste_{name}{{stream="{quoted(key)}"}} {value}' for key, value in sorted(found.items())]
        for name, histogram in (("commit_seconds", self.commit), ("wait_seconds", self.wait)):
            lines += [f"# TYPE appletaste_{name} histogram", histogram.text(name)]
        return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Return a text as the value of a label."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


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
    """Return numbers for Prometheus."""
    return Reply(200, call.host.watched(call.key).encode(), TEXT)
