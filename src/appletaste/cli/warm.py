"""Compile every kernel once, so that the first decision does not have to: ``python -m appletaste.cli.warm``.

Two processes go through the same plays from either end. What one of them has compiled the other reads, and what one is
compiling the other waits for, so they meet in the middle, wherever that is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import appletaste as at

from ..features.levels import FIRST, SLOTS
from ..kernels._jit import announce_compilation
from ..kernels.ahead import BESIDE
from ..kernels.gaussian import score_item
from ..problems.drawn import Table

BACKWARDS = "backwards"


def _play(name: str, table: Table, **options: Any) -> None:
    at.play(at.policy(name, n_features=5, costs=table.costs, **options), table)


def _wait_for_levels(table: Table) -> None:
    """Play with a column of many levels, and with labels on their way."""
    levels = at.streams.Awaiting(at.policy(n_features=2, costs=table.costs, groups=(0, SLOTS)))
    for slot in range(3):
        levels.learn(levels.settle(levels.look([1.0, FIRST + slot])._replace(floor=1.0)), slot % 2)
        levels.settle(levels.look([1.0, FIRST])._replace(floor=1.0))


def play_together() -> list[at.Decision] | None:
    """Decide on items that come together, while labels are on their way: what a service needs beyond set-up."""
    table = at.problem("i", rounds=5).draw(at.Key(0))
    player = at.streams.Awaiting(at.policy(n_features=5, costs=table.costs))
    for x in table.items[:2]:  # the first begins to wait, and the second brings what is awaited up to date
        player.decide(x)
    return player.play_many(list(table.items[2:5]), table.costs)


def plays() -> list[Callable[[], object]]:
    """Return a few rounds of everything that has kernels: those of Gaussian posteriors, then those of samplers."""
    table = at.problem("i", rounds=80).draw(at.Key(0))
    names = [info.name for info in at.list_policies()]
    exact = [name for name in names if name.startswith("exact-")]
    drawn = [*(name for name in names if name.startswith("pg-")), *exact]
    given = {"oracle": {"theta": table.theta}}
    return [
        *(partial(_play, name, table, **given.get(name, {})) for name in names if name not in drawn),
        *(partial(_play, name, table, half_life=20) for name in ("adf-voi", "voi")),
        partial(_wait_for_levels, table),
        *(partial(_play, name, table) for name in drawn),
        *(partial(_play, name, table, switch=10) for name in exact),  # the steps that follow once labels are many
        *(partial(_play, name, table, rao_blackwell=True) for name in ("pg-ts", "pg-ids")),
        partial(_play, "pg-ids", table, estimator="printed"),
        partial(_play, "pg-ts", table, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(1.0))),
        partial(at.random_polyagamma, [0.5, 20.0]),
    ]


def warm(backwards: bool = False) -> None:
    """Compile every kernel that is not there, in this process."""
    found = plays()
    for play in reversed(found) if backwards else found:
        play()


def main(arguments: list[str]) -> None:
    """Compile every kernel, in two processes where there are two cores; ``backwards`` makes this one the second."""
    if arguments == [BACKWARDS]:
        warm(backwards=True)
        return
    started = time.perf_counter()
    announce_compilation(score_item)  # here, so that it is said once and not by both
    os.environ[BESIDE] = os.environ.get("NUMBA_CACHE_DIR", "")  # two are enough
    beside = None
    if (os.cpu_count() or 1) > 1:
        beside = subprocess.Popen([sys.executable, "-m", "appletaste.cli.warm", BACKWARDS])
    warm()
    if beside is not None and beside.wait():
        sys.exit("appletaste: the kernels could not be compiled in a second process")
    print(f"appletaste: kernels ready in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
