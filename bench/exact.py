"""Regret of Thompson sampling from the exact posterior against PG-TS (M = 15): ``make bench-exact``.

Both play the same streams and draw from the same posterior, by different samplers: nothing but noise should part them.
Some ten minutes on two cores; ``--replications`` for less.
"""

from __future__ import annotations

import argparse

import numpy as np

import appletaste as at
from appletaste.cli.console import progress_bar
from appletaste.simulate import Entry

PROBLEMS = {
    "d = 5": (at.problem("synthetic", rounds=5000), 160),
    "rare positives": (
        at.problem("synthetic", rounds=5000, features=4, intercept=-4.0, costs=at.Costs(19.0, 1.0, 0.0)),
        400,
    ),
}
ENTRIES = [Entry("pg-ts", {}), Entry("exact-ts", {})]


def main() -> None:
    """Print the paired difference with its standard error, in per cent of PG-TS's regret."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--replications", type=int, help="of each problem (default 160 and 400)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    for name, (problem, planned) in PROBLEMS.items():
        count = args.replications or planned
        with progress_bar(name, len(ENTRIES) * count) as step:
            results = at.replicate(
                problem, ENTRIES, count, seed=11, jobs=args.jobs, progress=lambda entry: step(entry.label)
            )
        pg, exact = (result.final_regret for result in results)
        difference, scale = exact - pg, 100 / pg.mean()
        error = difference.std(ddof=1) / np.sqrt(count)
        print(
            f"{name}, T = 5,000, {count} streams: pg-ts {pg.mean():.2f}, exact-ts {exact.mean():.2f}, "
            f"difference {scale * difference.mean():+.2f} % +- {scale * error:.2f} %"
        )


if __name__ == "__main__":
    main()
