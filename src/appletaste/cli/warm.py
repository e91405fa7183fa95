"""Compile every kernel once, so that the first decision does not have to: ``python -m appletaste.cli.warm``.

Two processes compile beside each other, one the kernels of the Gaussian posteriors and one those of the samplers: what
both need is compiled by the one that needs it first, and read from Numba's cache by the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

import appletaste as at

from ..features.levels import FIRST, SLOTS
from ..kernels._jit import announce_compilation
from ..kernels.ahead import BESIDE
from ..kernels.gaussian import score_item
from ..problems.table import Table

SAMPLERS = "samplers"


def _play(name: str, table: Table, **options: Any) -> None:
    at.play(at.policy(name, n_features=5, costs=table.costs, **options), table)


def warm_samplers() -> None:
    """Play a few items with every policy that draws from its posterior by a chain."""
    table = at.problem("i", rounds=80).draw(at.Key(0))
    at.random_polyagamma([0.5, 20.0])
    for info in at.list_policies():
        if info.name.startswith(("pg-", "exact-")):
            _play(info.name, table)
    for name in ("exact-ts", "exact-ids", "exact-voi"):  # the steps that follow once labels are many
        _play(name, table, switch=10)
    for name in ("pg-ts", "pg-ids"):
        _play(name, table, rao_blackwell=True)
    _play("pg-ids", table, estimator="printed")
    _play("pg-ts", table, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(1.0)))


def warm_gaussians() -> None:
    """Play a few items with every other policy."""
    table = at.problem("i", rounds=80).draw(at.Key(0))
    for info in at.list_policies():
        if not info.name.startswith(("pg-", "exact-")):
            _play(info.name, table, **({"theta": table.theta} if info.name == "oracle" else {}))
    for name in ("adf-voi", "voi"):
        _play(name, table, half_life=20)
    levels = at.Awaiting(at.policy(n_features=2, costs=table.costs, groups=(0, SLOTS)))  # with labels on their way
    for slot in range(3):
        levels.learn(levels.settle(levels.look([1.0, FIRST + slot])._replace(floor=1.0)), slot % 2)
        levels.settle(levels.look([1.0, FIRST])._replace(floor=1.0))


def warm() -> None:
    """Compile every kernel in this process."""
    warm_gaussians()
    warm_samplers()


def main(arguments: list[str]) -> None:
    """Compile every kernel, in two processes where there are two cores; with the argument ``samplers`` those alone."""
    if arguments == [SAMPLERS]:
        warm_samplers()
        return
    started = time.perf_counter()
    announce_compilation(score_item)  # here, so that it is said once and not by both
    os.environ[BESIDE] = os.environ.get("NUMBA_CACHE_DIR", "")  # two are enough
    if (os.cpu_count() or 1) > 1:
        beside = subprocess.Popen([sys.executable, "-m", "appletaste.cli.warm", SAMPLERS])
        warm_gaussians()
        if beside.wait():
            sys.exit("appletaste: the kernels of the samplers could not be compiled")
    else:
        warm()
    print(f"appletaste: kernels ready in {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
