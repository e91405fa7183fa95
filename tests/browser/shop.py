"""A store with a small shop in it: two months of orders that were decided, some of whose labels have arrived."""

from __future__ import annotations

import csv
import random
from datetime import UTC, datetime, timedelta

import appletaste as at
from appletaste.problems import write_orders
from appletaste.records.stores import open_store
from appletaste.streams import from_history

ROWS = 2400
COSTS = at.Costs(miss=95, false_alarm=6, hit=4)
DROPPED = ("settled_on", "reviewed")
#: Labels of older orders have arrived, as far as they have settled.
RECENT = timedelta(days=28)


def orders(folder, rows=ROWS, seed=7):
    """Return the rows of the example file, a dict each."""
    path = folder / f"orders-{rows}-{seed}.csv"
    write_orders(path, rows, seed)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def cells(row, kinds):
    """Return an order as a stream takes it: numbers as numbers, None where nothing is there."""
    return {
        name: None if row[name] == "" else float(row[name]) if kind == "number" else row[name]
        for name, kind in kinds.items()
    }


def make_stream(store, folder, name="orders", capacity="12/day", teach=True, **given):
    """Make a stream that has learnt the year before, or knows only what its columns look like."""
    before = folder / "before.csv"
    if not before.exists():
        write_orders(before, ROWS, 7, year_before=True)
    told = {"id": "order", "time": "placed_at", "stratum": "payment", "audit": "5%", "capacity": capacity}
    made = from_history(before, "fraud", costs=COSTS, drop=list(DROPPED), teach=teach, **told)
    began = int(datetime(2024, 5, 1, tzinfo=UTC).timestamp() * 1e6)  # since when its mode holds
    return made.create(store, name, **{"seed": 7, "clock": lambda: began, **given})


def play(stream, rows, keep, seed=1, together=200):
    """Decide on rows, and send the labels that settle by the end of the file; some of the last ones are kept back."""
    source = random.Random(seed)
    kinds = {column.name: column.kind for column in stream.features.columns}
    recent = datetime.fromisoformat(rows[-1]["placed_at"]) - RECENT
    due = []
    for start in range(0, len(rows), together):
        with stream.group():
            for row in rows[start : start + together]:
                now = datetime.fromisoformat(row["placed_at"])
                told, due = [one for one in due if one[0] <= now], [one for one in due if one[0] > now]
                for when, id_, value in told:
                    stream.label(id_, value, time=when.isoformat())
                given = {"id": row["order"], "time": row["placed_at"], "stratum": row["payment"]}
                if stream.decide(cells(row, kinds), **given).act and (now < recent or source.random() > keep):
                    due.append((datetime.fromisoformat(row["settled_on"]), row["order"], int(row["fraud"] == "yes")))


def make_shop(folder, rows=ROWS, keep=0.8, **given):
    """Write the store of a shop, and return its file."""
    path = folder / "shop.db"
    store = open_store(path)
    with make_stream(store, folder, **given) as stream:
        play(stream, orders(folder, rows), keep)
    store.close()
    return path


def later(rows, days=30):
    """Return orders under other names and some days later, as if more arrived."""
    found = []
    for row in rows:
        when = datetime.fromisoformat(row["placed_at"]) + timedelta(days=days)
        found.append({**row, "order": f"L{row['order']}", "placed_at": when.isoformat(timespec="minutes")})
    return found
