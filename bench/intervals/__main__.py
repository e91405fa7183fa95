"""Do the intervals of the missed-risk meter and of what-if cover the truth? ``make bench ARGS=coverage``.

Every stochastic policy plays simulated streams with no audit lane, with one, and with one and labels that come late or
never; hard streams and public files come beside those. Each interval is held against the hidden labels. Cells are kept
in out/bench-coverage as they are done, so that a run that was stopped goes on; each whole part is
stored by itself and put into the pages, with its picture.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from ..figures.pages import page_of
from ..figures.parts import Figure, Part, text
from ..figures.stored import keep_run
from .checks import BESIDE, NAMES, NOTHING, check
from .known import hard_cells, late_cells, public_cells
from .page import in_sentences, known_part, plans_of, replays_part, rivals_of, streams_part
from .plans import plan_cells
from .reported import reported_cells, reported_part
from .rivals import rival_cells
from .shuffles import shuffle_cells
from .store import Cell, keep, kept, place
from .streams import SEED, cells, stream

#: Parts of the page, each measured by itself.
PARTS = ("hard", "late", "reports", "files", "streams", "plans", "rivals", "replays")


def one(policy: str, setting: str, number: int, seed: int) -> list[tuple[float, float, float, float]]:
    found = check(stream(policy, setting, number, seed))
    return [found.get(name, NOTHING) for name in (*NAMES, *BESIDE)]


def measure(policy: str, setting: str, count: int, seed: int, parallel: Parallel) -> Cell:
    """Play and check all streams of a cell."""
    began = time.perf_counter()
    rows = np.array(parallel(delayed(one)(policy, setting, k, seed) for k in range(count)))
    return Cell(policy, setting, (*NAMES, *BESIDE), rows, time.perf_counter() - began)


def stream_cells(policies: list[str] | None, count: int, seed: int, folder: Path, parallel: Parallel) -> list[Cell]:
    """Return the cells of the registry's policies, or of some of them."""
    found = []
    for policy, setting in cells():
        if policies and policy not in policies:
            continue
        path = place(folder, policy, setting, seed)
        cell = kept(path, policy, setting, count)
        if cell is None:
            cell = measure(policy, setting, count, seed, parallel)
            keep(path, cell)
            share = cell.covered("missed, HT")
            said = f"covers {share.mean():.3f}" if len(share) else "refused"
            print(f"{policy}, {setting}: missed {said} ({cell.seconds:.0f} s)", flush=True)
        found.append(cell)
    return found


def main() -> None:
    """Measure what is not kept yet, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench coverage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run: few streams each; stores nothing")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part of the page (repeatable)")
    parser.add_argument("--streams", type=int, default=500, help="streams for each policy and setting")
    parser.add_argument("--hard", type=int, default=200, help="streams of each hard kind")
    parser.add_argument("--orders", type=int, default=40, help="replays of each public file and lane")
    parser.add_argument("--seed", type=int, default=SEED, help="of the registry's streams; pages are of the default")
    parser.add_argument("--jobs", type=int, default=-1, help="processes")
    parser.add_argument("--policy", action="append", help="only this one (repeatable); stores nothing")
    parser.add_argument("--out", type=Path, default=Path("out/bench-coverage"), help="where results are kept")
    args = parser.parse_args()
    count, hard, orders = (20, 4, 2) if args.quick else (args.streams, args.hard, args.orders)
    whole = not (args.quick or args.policy) and all(
        getattr(args, name) == parser.get_default(name) for name in ("seed", "streams", "hard", "orders")
    )
    parts = ("streams",) if args.policy else args.part or PARTS
    with Parallel(n_jobs=args.jobs) as parallel:
        for part in parts:
            figure: list[Part] = []
            numbers: dict[str, Figure] = {}
            pictures: list[Path] = []
            if part == "hard":
                found = hard_cells(args.out, hard)
                figure, numbers = known_part(found, "streams"), in_sentences(found)
            elif part == "late":
                figure = known_part(late_cells(args.out, min(hard, 80)), "streams")
            elif part == "reports":
                figure = reported_part(reported_cells(args.out, min(hard, 80), parallel))
            elif part == "files":
                found = public_cells(args.out, orders)
                figure = known_part(found, "replays") if found else []
            elif part == "streams":
                found = stream_cells(args.policy, count, args.seed, args.out, parallel)
                if whole:
                    pictures = [page_of("coverage-streams.table").with_name("missed.svg")]
                    figure = streams_part(found, pictures[0])
            elif part == "plans":
                figure = [plans_of(plan_cells(args.out, count, args.seed, parallel))]
            elif part == "rivals":
                figure = [rivals_of(rival_cells(args.out, count, args.seed, parallel))]
            else:
                figure = replays_part(shuffle_cells(args.out, min(count, 100), args.seed, parallel))
            print(text(figure), flush=True)
            if whole and figure:
                keep_run(f"coverage-{part}", {"table": figure} | numbers, pictures)


if __name__ == "__main__":
    main()
