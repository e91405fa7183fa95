"""Do the intervals of the missed-risk meter and of what-if cover the truth? ``make bench-coverage``.

Every stochastic policy plays simulated streams with no audit lane, with one, and with one and labels that come late or
never; each interval is held against the hidden labels. Cells are kept in out/bench-coverage as they are done, so that
a run that was stopped goes on; the tables are written into docs/missed.md, with the picture beside it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from .checks import BESIDE, NAMES, NOTHING, check
from .page import write
from .plans import plan_cells
from .rivals import rival_cells
from .shuffles import shuffle_cells
from .store import Cell, keep, kept, place
from .streams import SEED, cells, stream


def one(policy: str, setting: str, number: int, seed: int) -> list[tuple[float, float, float, float]]:
    found = check(stream(policy, setting, number, seed))
    return [found.get(name, NOTHING) for name in (*NAMES, *BESIDE)]


def measure(policy: str, setting: str, count: int, seed: int, parallel: Parallel) -> Cell:
    """Play and check all streams of a cell."""
    began = time.perf_counter()
    rows = np.array(parallel(delayed(one)(policy, setting, k, seed) for k in range(count)))
    return Cell(policy, setting, (*NAMES, *BESIDE), rows, time.perf_counter() - began)


def main() -> None:
    """Measure what is not kept yet, and write the page."""
    parser = argparse.ArgumentParser(prog="bench.intervals", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: 20 streams each; writes no page")
    parser.add_argument("--streams", type=int, default=500, help="streams for each policy and setting")
    parser.add_argument("--seed", type=int, default=SEED, help="of the streams; the page is of the default")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    parser.add_argument("--policy", action="append", help="only this one (repeatable); writes no page")
    parser.add_argument("--out", type=Path, default=Path("out/bench-coverage"), help="where results are kept")
    args = parser.parse_args()
    count = 20 if args.quick else args.streams
    chosen = [cell for cell in cells() if not args.policy or cell[0] in args.policy]
    found: list[Cell] = []
    with Parallel(n_jobs=args.jobs) as parallel:
        for policy, setting in chosen:
            path = place(args.out, policy, setting, args.seed)
            cell = kept(path, policy, setting, count)
            if cell is None:
                cell = measure(policy, setting, count, args.seed, parallel)
                keep(path, cell)
                share = cell.covered("missed, HT")
                said = f"covers {share.mean():.3f}" if len(share) else "refused"
                print(f"{policy}, {setting}: missed {said} ({cell.seconds:.0f} s)", flush=True)
            found.append(cell)
        if args.policy:
            return
        plans = plan_cells(args.out, count, args.seed, parallel)
        rivals = rival_cells(args.out, count, args.seed, parallel)
        shuffles = shuffle_cells(args.out, min(count, 100), args.seed, parallel)
    if not args.quick and args.seed == SEED:
        write(found, plans, rivals, shuffles, Path("docs/missed.md"))


if __name__ == "__main__":
    main()
