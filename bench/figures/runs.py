"""Runs whose figures are kept: how each is made again, how long that takes, and which code decides its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from appletaste.paper.sources import ROOT as PACKAGE
from appletaste.paper.sources import Sources

from ..__main__ import BENCHES

BENCH = Path(__file__).parents[1]
#: Rooms that show, start or send what others compute: no number of a bench moves with them.
AROUND = ("cli", "pages", "reports", "paper", "adapters", "engines")
#: What the benches of the service measure, too.
LIVE = ("service",)


@dataclass(frozen=True)
class Kind:
    """One way to make figures: the words after ``python -m bench``, minutes on two cores, and what decides."""

    words: str
    minutes: float
    modules: tuple[str, ...] = ()  #: where a bench imports by name what it measures, or much that decides nothing
    without: tuple[str, ...] = AROUND

    @property
    def command(self) -> str:
        """What a reader types."""
        return f"make bench ARGS='{self.words}'" if " " in self.words else f"make bench ARGS={self.words}"

    def sources(self) -> tuple[Sources, tuple[str, ...]]:
        """Return where to look, and from which modules on."""
        without = frozenset(f"appletaste.{room}" for room in self.without) | {"bench.__main__", "bench.figures"}
        modules = self.modules or (f"bench.{BENCHES[self.words.split()[0]].module}",)
        return Sources({"appletaste": PACKAGE, "bench": BENCH}, without), modules


PEERS = (
    *(f"bench.peers.{name}" for name in ("play", "budget", "players", "latency", "summary")),
    *(f"bench.peers.libraries.{path.stem}" for path in sorted((BENCH / "peers" / "libraries").glob("[a-z]*.py"))),
    *("appletaste.simulate.replications", "appletaste.policies"),
)
INTERVALS = tuple(f"bench.intervals.{name}" for name in ("known", "streams", "plans", "rivals", "shuffles"))

#: By the name that is before the dot in ``<!-- figure: NAME.figure -->``, and of the file in bench/results.
RUNS = {
    "speed": Kind("speed", 1.5),
    "adversary": Kind("adversary", 2),
    "drift": Kind("drift", 2),
    "start": Kind("start", 2, ("bench.start", "appletaste.cli", "appletaste.replays", "appletaste.simulate"), ()),
    "split": Kind("split", 5),
    "trees-speed": Kind("trees --part speed", 2),
    "trees": Kind("trees --part play", 15),
    "scale": Kind("scale", 10, ("bench.scale.__main__", "bench.scale.stream", *PEERS[3:])),
    "machines": Kind("machines", 5, without=AROUND[:4]),
    "time-files": Kind("time --only hotel_inn --only hotel_resort --only bank_marketing --seeds 0", 25),
    "coverage-late": Kind("coverage --part late", 15, INTERVALS[:1]),
    "coverage-reports": Kind("coverage --part reports", 60, ("bench.intervals.reported",)),
    "coverage-hard": Kind("coverage --part hard", 20, INTERVALS[:1]),
    "coverage-files": Kind("coverage --part files", 30, INTERVALS[:1]),
    "coverage-streams": Kind("coverage --part streams", 60, INTERVALS[1:2]),
    "coverage-plans": Kind("coverage --part plans", 5, INTERVALS[2:3]),
    "coverage-rivals": Kind("coverage --part rivals", 10, INTERVALS[3:4]),
    "coverage-replays": Kind("coverage --part replays", 10, INTERVALS[4:]),
    "desk": Kind("desk", 30),
    "peers": Kind("peers", 30, PEERS),
    "files": Kind("files", 60, ("bench.files.__main__", *PEERS)),
}


@cache
def code_of(name: str) -> str:
    """Return the fingerprint of the code of the tree that decides the figures of a run."""
    sources, modules = RUNS[name].sources()
    return sources.fingerprint(*modules)


def last_change(name: str) -> float:
    """Return when a file that decides the figures of a run was last written."""
    sources, modules = RUNS[name].sources()
    return max(path.stat().st_mtime for path in sources.files(*modules))
