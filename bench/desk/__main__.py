"""A desk with few reviewers, late labels and audits beside one-sided logistic regression: ``make bench ARGS=desk``.

Capacity 5 % of any 1,000 items, labels 500 items late, 2 % audits. ``voi`` at its desk against the rival of
``rival.py`` on the same orders: five public files, and made streams of six kinds with 2 % positives. About half an
hour on one core; a whole run is kept and put into the pages.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import appletaste as at
from appletaste.problems import Table
from appletaste.streams.loop import rehearse

from ..figures.parts import table
from ..figures.stored import keep_run
from .rival import Rival
from .streams import NAMES, ORDERS, stream

SHARE, RATE, DELAY = 0.05, 0.02, 500


def costs_of(acts: NDArray[np.bool_], met: Table) -> float:
    """Return the cost of 1,000 items, by the labels."""
    costs, positive = met.costs, met.labels == 1
    acted = np.where(positive, costs.hit, costs.false_alarm)
    return 1000.0 * float(np.mean(np.where(acts, acted, np.where(positive, costs.miss, costs.correct_pass))))


def at_a_desk(met: Table, seed: int) -> NDArray[np.bool_]:
    """Return the acts of ``voi`` at its desk."""
    policy = at.policy("voi", n_features=met.items.shape[1], costs=met.costs, seed=seed)
    desk = at.Desk(at.streams.Awaiting(policy), at.Budget(share=SHARE), at.Audit(rate=RATE))
    waiting, labels = {}, met.labels.tolist()
    acts = np.zeros(len(labels), dtype=bool)

    def decide(t: int, x: NDArray[np.float64]) -> bool:
        decision = desk.decide(x)
        if decision.act:
            acts[t], waiting[t] = True, decision
        return decision.act

    rehearse(met.items, decide, lambda k: desk.learn(waiting.pop(k), labels[k]), *clocks(len(labels)))
    return acts


def by_the_rival(met: Table, seed: int) -> NDArray[np.bool_]:
    """Return the acts of logistic regression with a running quantile."""
    rival, labels = Rival(SHARE, RATE, seed), met.labels.tolist()
    acts = np.zeros(len(labels), dtype=bool)

    def decide(t: int, x: NDArray[np.float64]) -> bool:
        acts[t] = rival.decide(x)
        return bool(acts[t])

    rehearse(met.items, decide, lambda k: rival.learn(met.items[k], labels[k]), *clocks(len(labels)))
    return acts


def clocks(n: int) -> tuple[list[float], list[float]]:
    """Return when items are decided, and when their labels arrive."""
    times = np.arange(n, dtype=np.float64)
    return times.tolist(), (times + DELAY + 1.0).tolist()


def most_in_a_row(acts: NDArray[np.bool_], window: int = 1000) -> int:
    """Return the most acts in any window of items."""
    sums = np.concatenate([[0], np.cumsum(acts)])
    return int((sums[window:] - sums[:-window]).max()) if len(acts) > window else int(sums[-1])


def row(name: str, orders: int, data: Path) -> tuple[str, ...]:
    """Return one line of the table: costs, the paired difference with its standard error, recall of both."""
    found = []
    for number in range(orders):
        met = stream(name, number, data)
        both = at_a_desk(met, number), by_the_rival(met, number)
        assert all(most_in_a_row(acts) <= SHARE * 1000 for acts in both)
        never = costs_of(np.zeros(len(met.labels), dtype=bool), met)
        recalls = [float(acts[met.labels == 1].mean()) for acts in both]
        found.append((never, *(costs_of(acts, met) for acts in both), *recalls))
    never, ours, rival, recall, other = np.array(found).T
    less = ours - rival
    error = less.std(ddof=1) / np.sqrt(orders) if orders > 1 else np.nan
    cells = (f"{never.mean():.1f}", f"{ours.mean():.1f}", f"{rival.mean():.1f}", f"{less.mean():+.1f} ± {error:.1f}")
    return (name, str(orders), *cells, f"{recall.mean():.3f}", f"{other.mean():.3f}")


def main() -> None:
    """Play all streams and write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench desk", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="STREAM", help="these streams, by how their names begin")
    parser.add_argument("--orders", type=int, help="at most so many orders of each")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the files are")
    args = parser.parse_args()
    head = ("stream", "orders", "never", "voi at its desk", "rival", "difference", "recall", "rival's recall")
    rows = []
    for name in NAMES:
        if args.only and not name.startswith(tuple(args.only)):
            continue
        rows.append(row(name, min(ORDERS[name], args.orders or 1000), args.data))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    found = table(head, rows)
    print(found.text())
    if not (args.only or args.orders):
        keep_run("desk", {"table": [found]})


if __name__ == "__main__":
    main()
