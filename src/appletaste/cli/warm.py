"""Compile every kernel once, so that the first decision does not have to: ``python -m appletaste.cli.warm``."""

from __future__ import annotations

import time
from typing import Any

import appletaste as at

from ..features.levels import FIRST, SLOTS


def warm() -> float:
    """Play a few items with every policy; return the seconds it took."""
    started = time.perf_counter()
    at.random_polyagamma([0.5, 20.0])
    table = at.problem("i", rounds=80).draw(at.Key(0))
    for info in at.list_policies():
        options: dict[str, Any] = {"theta": table.theta} if info.name == "oracle" else {}
        at.play(at.policy(info.name, n_features=5, costs=table.costs, **options), table)
    printed = at.policy("pg-ids", n_features=5, costs=table.costs, estimator="printed")
    at.play(printed, table)
    bounded = at.policy(
        "pg-ts", n_features=5, costs=table.costs, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(1.0))
    )
    at.play(bounded, table)
    for name in ("exact-ts", "exact-ids", "exact-voi"):  # the steps that follow once labels are many
        at.play(at.policy(name, n_features=5, costs=table.costs, switch=10), table)
    for name in ("pg-ts", "pg-ids"):
        at.play(at.policy(name, n_features=5, costs=table.costs, rao_blackwell=True), table)
    for name in ("adf-voi", "voi"):
        at.play(at.policy(name, n_features=5, costs=table.costs, half_life=20), table)
    levels = at.Awaiting(at.policy(n_features=2, costs=table.costs, groups=(0, SLOTS)))  # with labels on their way
    for slot in range(3):
        levels.learn(levels.settle(levels.look([1.0, FIRST + slot])._replace(floor=1.0)), slot % 2)
        levels.settle(levels.look([1.0, FIRST])._replace(floor=1.0))
    return time.perf_counter() - started


if __name__ == "__main__":
    print(f"appletaste: kernels ready in {warm():.1f} s")
