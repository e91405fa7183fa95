"""One table as a shop would have it, and whoever plays it: numbers, dates, many levels, late labels, few reviewers."""

from __future__ import annotations

import csv
import os
import signal
import sys
from datetime import datetime, timedelta
from heapq import heappop, heappush
from pathlib import Path

import numpy as np

import appletaste as at
from appletaste.history.labelled import read_labelled

PAST, NEW, SHOPS = 2500, 1400, 3000
COSTS = {"miss": "amount*0.9+15", "false_alarm": 6, "hit": 4}
STAFFING = {"capacity": "40/day", "audit": "2%"}
ROLES = {"time": "placed_at", "label_time": "settled_on"}
SEED, NAME = 5, "shop"
#: What is decided of an item, bit for bit.
FIELDS = ("id", "x", "chance", "probability", "act", "audit")


def write_tables(folder: Path) -> tuple[Path, Path]:
    """Write the past and the new orders of a shop, the same ones every time."""
    chance = np.random.default_rng(11)
    n = PAST + NEW
    shops = np.minimum(chance.zipf(1.3, n), SHOPS)
    shady = set(chance.choice(np.arange(1, SHOPS + 1), SHOPS // 8, replace=False).tolist())
    minutes = np.cumsum(chance.integers(3, 40, n))
    minutes[PAST:] += 12 * 24 * 60  # all labels of the past have arrived before the first new order
    begin = datetime(2024, 3, 1)
    rows = []
    for k in range(n):
        placed = begin + timedelta(minutes=int(minutes[k]))
        amount = round(float(np.exp(chance.normal(4.0, 0.8))), 2)
        old = None if chance.random() < 0.1 else placed.date() - timedelta(days=int(chance.exponential(400)))
        country = ["DE", "FR", "IT"][int(chance.integers(3))] if k < PAST + 300 else "PL"  # a level that comes later
        score = -3.2 + 0.008 * amount + 1.8 * (int(shops[k]) in shady) + 0.9 * (old is None)
        fraud = chance.random() < 1 / (1 + np.exp(-score))
        settled = placed.date() + timedelta(days=int(chance.integers(1, 9)))
        rows.append(
            {
                "order": f"A{10_000 + k}",
                "placed_at": placed.isoformat(timespec="minutes"),
                "amount": amount,
                "items": int(chance.integers(1, 9)) if chance.random() < 0.95 else "",
                "opened": "" if old is None else old.isoformat(),
                "country": country,
                "shop": f"shop {shops[k]}",
                "settled_on": settled.isoformat(),
                "fraud": "yes" if fraud else "no",
            }
        )
    paths = folder / "past.csv", folder / "new.csv"
    for path, part in zip(paths, (rows[:PAST], rows[PAST:]), strict=True):
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(part)
    return paths


def prepared(past: Path, **given):
    """Return what a stream of the shop begins with."""
    return at.streams.from_history(
        past, "fraud", id="order", costs=COSTS, teach=True, seed=SEED, **ROLES, **STAFFING, **given
    )


def items_of(new: Path) -> list[dict]:
    """Return the new orders as a program would send them: what is not known yet is not there."""
    with new.open(newline="") as file:
        rows = list(csv.DictReader(file))
    numbers = ("amount", "items")
    return [
        {
            name: (None if value == "" else float(value) if name in numbers else value)
            for name, value in row.items()
            if name not in ("settled_on", "fraud")
        }
        for row in rows
    ]


def play(new: Path, decide, label, stop_after: int | None = None):
    """Decide each order in turn, and label it when its label arrives, as a replay does; return what was decided."""
    table = read_labelled(new, "fraud", drop=["order"], **ROLES)
    truth, clock, arrives = table.labels.tolist(), table.times.tolist(), table.told.tolist()
    waiting: list[tuple[float, int]] = []
    items, decided = items_of(new), []
    for k, item in enumerate(items):
        if k == stop_after:
            break
        while waiting and waiting[0][0] <= clock[k]:
            late = heappop(waiting)[1]
            label(items[late]["order"], truth[late])
        decided.append(decide(item))
        if decided[-1][FIELDS.index("act")]:
            heappush(waiting, (arrives[k], k))
    return decided


def of_answer(answer) -> tuple:
    """Return what is to be the same bit for bit, of an answer of a stream."""
    decision = answer.decision
    return answer.id, decision.x.tobytes(), decision.chance, decision.probability, decision.act, decision.audit


def play_stream(stream, new: Path, stop_after: int | None = None):
    """Play the new orders through a stream."""
    return play(new, lambda item: of_answer(stream.decide(item)), stream.label, stop_after)


if __name__ == "__main__":  # a process that dies in the middle
    store, table, stop = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    play_stream(at.Stream.open(store, NAME), table, stop)
    os.kill(os.getpid(), signal.SIGKILL)
