"""What a memory of levels is worth, on streams with three columns of 2,000 levels: ``make bench ARGS=levels``.

Levels come with frequencies 1 / rank^a (Zipf's law has a = 1), each has an effect of its own on the score, and 6 % of
the items are positive. Costs are such that acting pays from the base rate on, so that never and always acting cost the
same. ``voi`` plays each stream without many levels (the levels of the first 500 rows, each with a column, and no
surprises looked for, which came later than that encoder) and with them; beside each the same posterior with all labels,
in the same order. *Saved* is the
cost of 1,000 items by the better of never and always less that of the policy. With ``--deviation 0`` levels have no
effect. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import appletaste as at

LEVELS, COLUMNS, RATE = 2000, 3, 0.06
COSTS = at.Costs(miss=(1.0 - RATE) / RATE, false_alarm=1.0, hit=0.0)


def made(items: int, exponent: float, deviation: float, seed: int) -> dict[str, NDArray[Any]]:
    """Return a table with three columns of many levels, whose effects have this standard deviation."""
    rng = np.random.default_rng([seed, items])
    shares = 1.0 / np.arange(1, LEVELS + 1) ** exponent
    levels = rng.choice(LEVELS, (items, COLUMNS), p=shares / shares.sum())
    score = sum(rng.normal(0.0, deviation, LEVELS)[levels[:, c]] for c in range(COLUMNS))
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.mean(1.0 / (1.0 + np.exp(-middle - score))) > RATE else (middle, high)
    positive = rng.random(items) < 1.0 / (1.0 + np.exp(-low - score))
    columns = {f"column {c}": np.array([f"level {k}" for k in levels[:, c]], dtype=object) for c in range(COLUMNS)}
    return {**columns, "positive": positive.astype(int)}


def saved(table: dict[str, NDArray[Any]], many: bool, seed: int) -> tuple[float, float]:
    """Return what ``voi`` saves, and what the same saves with all labels."""
    encoder, entry = (
        at.Encoder(curves=True, many=many),
        at.policies.PolicySpec("voi", {} if many else {"surprises": 0.0}),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = at.replay(table, "positive", costs=COSTS, order="as is", seed=seed, encoder=encoder, policies=[entry])
    cost = {name: found[name].cost_per_1000.mean for name in (entry.label, "never", "always", "full-information")}
    fixed = min(cost["never"], cost["always"])
    return fixed - cost[entry.label], fixed - cost["full-information"]


def effort(table: dict[str, NDArray[Any]], many: bool) -> tuple[float, float]:
    """Return microseconds of a core for an item, encoded, decided and learnt, and megabytes of what is carried."""
    labels = table["positive"].tolist()
    records = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    features = at.Encoder(curves=True, many=many).fit(records[:500], label="positive")
    surprises = None if many else 0.0
    policy = at.policy(n_features=features.n_features, costs=COSTS, groups=features.groups, surprises=surprises)
    started = time.process_time()
    for record, label in zip(records, labels, strict=True):
        decision = policy.decide(features.transform(record))
        if decision.act:
            policy.learn(decision, label)
    spent = time.process_time() - started
    carried = policy.learner.arrays()
    return 1e6 * spent / len(labels), sum(array.nbytes for array in carried.values()) / 1e6


def main() -> None:
    """Print a line for each way to encode."""
    parser = argparse.ArgumentParser(prog="python -m bench levels", description=__doc__)
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--streams", type=int, default=10)
    parser.add_argument("--exponents", type=float, nargs="+", default=[1.0, 0.8, 0.6])
    parser.add_argument("--deviation", type=float, default=1.2, help="of the effects; 0: levels are noise")
    args = parser.parse_args()
    for exponent in args.exponents:
        tables = [made(args.items, exponent, args.deviation, seed) for seed in range(args.streams)]
        rows = {many: np.array([saved(t, many, k) for k, t in enumerate(tables)]) for many in (False, True)}
        print(f"a = {exponent:g}, {args.streams} streams of {args.items} items, effects of sd {args.deviation:g}")
        for many, name in ((False, "levels of the first rows"), (True, "many levels")):
            own, all_labels = rows[many].mean(axis=0)
            effort(tables[0], many)  # compiles
            spent, size = np.array([effort(tables[0], many) for _ in range(3)]).min(axis=0)
            error = rows[many][:, 0].std(ddof=1) / math.sqrt(args.streams)
            print(f"  {name:24s}  saved {own:6.1f} (s.e. {error:.1f})  all labels {all_labels:6.1f}", end="")
            print(f"  {spent:5.1f} us an item  {size:.1f} MB carried")
        more = rows[True][:, 0] - rows[False][:, 0]
        error = more.std(ddof=1) / math.sqrt(args.streams)
        share = more.mean() / rows[False][:, 0].mean()
        part = rows[True][:, 0].mean() / rows[True][:, 1].mean()
        print(
            f"  more {more.mean():.1f} (s.e. {error:.1f}), {100 * share:+.0f} %; {100 * part:.0f} % of all labels",
            flush=True,
        )


if __name__ == "__main__":
    main()
