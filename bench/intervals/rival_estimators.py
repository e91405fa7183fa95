"""Open Bandit Pipeline's and Vowpal Wabbit's estimators on exported logs; run by a Python that has them.

    python rival_estimators.py LOGS.npz FOUND.npz

It imports nothing of appletaste: those two want versions of other libraries that appletaste need not put up with, so
they live in an environment of their own (``make bench ARGS=coverage`` makes it, or goes on without).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np

#: value, low end, high end: the mean reward of a round
Found = tuple[float, float, float]
BOOTSTRAPS = 1000


def open_bandit_pipeline() -> dict[str, Callable[..., Found]]:
    """Return OBP's estimators with their bootstrap intervals, by name."""
    from obp.ope import DoublyRobust, InverseProbabilityWeighting, SelfNormalizedInverseProbabilityWeighting

    def of(estimator: object, normal: bool = False) -> Callable[..., Found]:
        def ask(log: dict[str, np.ndarray], level: float) -> Found:
            e, n = log["acting"], len(log["acting"])
            # SNIPS there weighs passes too; on the acts alone it is the mean reward of an act of the alternative
            kept = log["action"] == 1 if normal else np.ones(n, dtype=bool)
            share = float(e.sum()) / n if normal else 1.0
            given = {
                "reward": log["reward"][kept],
                "action": log["action"][kept],
                "pscore": log["pscore"][kept],
                "action_dist": np.stack([1.0 - e, e], axis=1)[kept][:, :, None],
                "estimated_rewards_by_reg_model": np.stack([np.zeros(n), log["guess"]], axis=1)[kept][:, :, None],
            }
            value = float(estimator.estimate_policy_value(**given))
            ends = estimator.estimate_interval(
                **given, alpha=1.0 - level, n_bootstrap_samples=BOOTSTRAPS, random_state=1
            )
            low, high = (next(v for k, v in ends.items() if word in k) for word in ("lower", "upper"))
            return share * value, share * float(low), share * float(high)

        return ask

    return {
        "OBP IPW, bootstrap": of(InverseProbabilityWeighting()),
        "OBP SNIPW, bootstrap": of(SelfNormalizedInverseProbabilityWeighting(), normal=True),
        "OBP DR, bootstrap": of(DoublyRobust()),
    }


def vowpal_wabbit() -> dict[str, Callable[..., Found]]:
    """Return the intervals of vw-estimators, by name."""
    from estimators.bandits import clopper_pearson, cressieread, gaussian, ips, snips

    def of(interval: Callable[..., object], point: Callable[[], object]) -> Callable[..., Found]:
        def ask(log: dict[str, np.ndarray], level: float) -> Found:
            around, at = interval(log), point()
            chosen = np.where(log["action"] == 1, log["acting"], 1.0 - log["acting"])
            for p, r, e in zip(log["pscore"].tolist(), log["reward"].tolist(), chosen.tolist(), strict=True):
                around.add_example(p, r, e)
                at.add_example(p, r, e)
            low, high = around.get(1.0 - level)
            return float(at.get()), float(low), float(high)

        return ask

    def snips_of_acts(log: dict[str, np.ndarray], level: float) -> Found:
        at, e = snips.Estimator(), log["acting"]
        for k in np.flatnonzero(log["action"] == 1):
            at.add_example(float(log["pscore"][k]), float(log["reward"][k]), float(e[k]))
        return float(e.mean() * at.get()), np.nan, np.nan

    ends = {"rmin": -0.3, "rmax": 1.0}
    return {
        "VW IPS, Gaussian": of(lambda log: gaussian.Interval(), ips.Estimator),
        "VW IPS, Clopper-Pearson": of(lambda log: clopper_pearson.Interval(**ends), ips.Estimator),
        "VW Cressie-Read": of(
            lambda log: cressieread.Interval(0.0, 20.0, **ends), lambda: cressieread.Estimator(0, 20)
        ),
        "VW SNIPS": snips_of_acts,
    }


def installed() -> Iterator[tuple[str, Callable[..., Found]]]:
    """Yield the estimators that can be imported here."""
    for family in (open_bandit_pipeline, vowpal_wabbit):
        try:
            yield from family().items()
        except ImportError as error:
            print(f"{family.__name__.replace('_', ' ')} is left out: {error}", file=sys.stderr)


def ask_all(logs: dict[str, np.ndarray], level: float) -> tuple[list[str], np.ndarray]:
    """Return the names of the estimators, and their answers for every log: [log, name, (value, low, high)]."""
    found = dict(installed())
    rows = [
        [ask({name: column[k] for name, column in logs.items()}, level) for ask in found.values()]
        for k in range(len(logs["action"]))
    ]
    return list(found), np.array(rows).reshape(len(logs["action"]), len(found), 3)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as file:
        columns = {name: file[name] for name in file.files}
    names, answers = ask_all(columns, float(columns.pop("level")))
    np.savez(sys.argv[2], names=np.array(names), rows=answers)
