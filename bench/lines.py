"""What curves cost where nothing bends: ``make bench ARGS=lines``.

Twelve kinds of streams whose scores are straight in every column: 5 to 30 columns, Gaussian or lognormal, of which half
matter, 3 to 40 % positive, 300 to 10,000 items. Acting pays from the base rate on. ``voi`` plays each stream with
straight lines and with curves; differences are paired. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import appletaste as at

#: The standard deviation of the true score.
SPREAD = 1.5


class Cell(NamedTuple):
    """One kind of stream."""

    columns: int
    law: str
    rate: float
    items: int


CELLS = tuple(
    Cell(columns, law, rate, items)
    for columns, kinds in (
        (5, (("gaussian", 0.4, 300), ("lognormal", 0.1, 1000), ("lognormal", 0.4, 3000), ("gaussian", 0.03, 10_000))),
        (15, (("lognormal", 0.4, 300), ("gaussian", 0.1, 1000), ("gaussian", 0.2, 3000), ("lognormal", 0.03, 10_000))),
        (30, (("gaussian", 0.2, 300), ("lognormal", 0.4, 1000), ("lognormal", 0.1, 3000), ("gaussian", 0.03, 10_000))),
    )
    for law, rate, items in kinds
)


def made(cell: Cell, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the columns of one stream, [item, column], and its labels."""
    rng = np.random.default_rng([seed, CELLS.index(cell)])
    values = rng.normal(size=(cell.items, cell.columns))
    if cell.law == "lognormal":
        values = (np.exp(values) - math.exp(0.5)) / math.sqrt(math.e * (math.e - 1.0))  # mean 0, deviation 1
    theta = np.where(np.arange(cell.columns) < (cell.columns + 1) // 2, rng.normal(size=cell.columns), 0.0)
    score = values @ theta * SPREAD / np.linalg.norm(theta)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if np.mean(1.0 / (1.0 + np.exp(-middle - score))) > cell.rate else (middle, high)
    return values, (rng.random(cell.items) < 1.0 / (1.0 + np.exp(-low - score))).astype(int)


def cost(values: NDArray[np.float64], labels: NDArray[np.int64], rate: float, curves: bool) -> float:
    """Return what 1,000 items cost, decided by ``voi``."""
    table = {f"column {k}": column for k, column in enumerate(values.T)}
    features, items = at.Encoder(curves=curves).fit_transform(table)
    costs = at.Costs(miss=1.0 - rate, false_alarm=rate, hit=0.0)
    policy = at.policy(n_features=features.n_features, costs=costs, groups=features.groups if curves else None)
    spent = 0.0
    for x, label in zip(items, labels.tolist(), strict=True):
        decision = policy.decide(x)
        spent += costs.incurred(decision.act, label)
        if decision.act:
            policy.learn(decision, label)
    return 1000.0 * spent / len(labels)


def main() -> None:
    """Print a line for each cell, and the mean."""
    parser = argparse.ArgumentParser(prog="python -m bench lines", description=__doc__)
    parser.add_argument("--streams", type=int, default=32, help="of each kind (default 32)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first stream, its seed (default 0)")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    shares, errors = [], []
    for cell in CELLS:
        streams = [made(cell, seed) for seed in range(args.first, args.first + args.streams)]
        lines, curves = (np.array([cost(*one, cell.rate, bent) for one in streams]) for bent in (False, True))
        shares.append(100.0 * (curves - lines).mean() / lines.mean())
        errors.append(100.0 * (curves - lines).std(ddof=1) / math.sqrt(args.streams) / lines.mean())
        told = f"{cell.columns:2d} {cell.law} columns, {100 * cell.rate:.0f} % positive, {cell.items} items"
        print(f"{told:52s}  lines {lines.mean():6.1f}  curves {shares[-1]:+.2f} % (s.e. {errors[-1]:.2f})", flush=True)
    error = math.hypot(*errors) / len(errors)
    print(f"mean {np.mean(shares):+.2f} % (s.e. {error:.2f}), most {max(shares):+.2f} %")


if __name__ == "__main__":
    main()
