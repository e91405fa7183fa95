"""Do the intervals of the missed-risk meter and of what-if cover the truth? ``make bench-coverage``.

Every stochastic policy plays simulated streams with no audit lane, with one, and with one and labels that come late or
never; each interval is held against the hidden labels. Results are kept in out/bench-coverage and written into
docs/missed.md, with the picture beside it.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from .checks import check
from .page import write
from .streams import POLICIES, SEED, SETTINGS, stream


def one(policy: str, setting: str, number: int, seed: int) -> dict[str, float]:
    return check(stream(policy, setting, number, seed))


def main() -> None:
    """Measure, keep the results, write the page."""
    parser = argparse.ArgumentParser(prog="bench.intervals", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: 20 streams each; writes no page")
    parser.add_argument("--streams", type=int, default=500, help="streams for each policy and setting")
    parser.add_argument("--seed", type=int, default=SEED, help="of the streams")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    parser.add_argument("--policy", action="append", help="only this one (repeatable)")
    parser.add_argument("--out", type=Path, default=Path("out/bench-coverage"), help="where results are kept")
    args = parser.parse_args()
    count = 20 if args.quick else args.streams
    args.out.mkdir(parents=True, exist_ok=True)
    target = args.out / "results.json"
    kept = json.loads(target.read_text()) if target.exists() else []
    cells: list[dict] = []
    for policy in args.policy or POLICIES:
        for setting in SETTINGS:
            known = (
                c
                for c in kept
                if (c["policy"], c["setting"], c["streams"], c["seed"]) == (policy, setting, count, args.seed)
            )
            if (cell := next(known, None)) is not None:  # of a run that was stopped: delete the file to start anew
                cells.append(cell)
                continue
            began = time.perf_counter()
            rows = Parallel(n_jobs=args.jobs)(delayed(one)(policy, setting, k, args.seed) for k in range(count))
            names = list(dict.fromkeys(name for row in rows for name in row))
            columns = {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}
            answered = {name: int((~np.isnan(column)).sum()) for name, column in columns.items()}
            means = {name: float(np.nanmean(column)) if answered[name] else None for name, column in columns.items()}
            seconds = time.perf_counter() - began
            cells.append(
                {
                    "policy": policy,
                    "setting": setting,
                    "streams": count,
                    "seed": args.seed,
                    "mean": means,
                    "answered": answered,
                }
            )
            target.write_text(json.dumps(cells, indent=1) + "\n")
            share = means["missed, HT"]
            said = "refused" if share is None else f"covers {share:.3f}"
            print(f"{policy}, {setting}: missed {said} ({seconds:.0f} s)", flush=True)
    if not args.quick:
        write(cells, Path("docs/missed.md"))


if __name__ == "__main__":
    main()
