"""What it costs to split a hot stream into K streams that learn apart: ``make bench ARGS=split``.

Items go by the hash of their id, as docs/scale.md shows. ``voi`` plays whole problems, K streams on the same items with
K seeds; the extra regret is paired with that of one stream. Seeds are fixed.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from hashlib import blake2b

import numpy as np

import appletaste as at
from appletaste.problems import Synthetic
from appletaste.problems.drawn import Table, logistic_table

from .figures.parts import table
from .figures.stored import keep_run

#: How many streams.
PARTS = (1, 2, 4, 16)
#: Past labels that every stream is taught, in the second half of a table.
PAST = 2_000
RARE = at.Costs(miss=10.0, false_alarm=1.0, hit=0.0)
PROBLEMS = {
    "5 features, half positive, 2,000 items": Synthetic(features=5, rounds=2_000),
    "5 features, half positive, 20,000 items": Synthetic(features=5, rounds=20_000),
    "20 features, 4 % positive, 20,000 items": Synthetic(20, 20_000, 0.15, -3.5, costs=RARE),
    "20 features, 4 % positive, 100,000 items": Synthetic(20, 100_000, 0.15, -3.5, costs=RARE),
    "50 features, 4 % positive, 20,000 items": Synthetic(50, 20_000, 0.06, -3.5, costs=RARE),
}


def part_of(name: str, parts: int) -> int:
    """Return which of ``parts`` streams decides on the item with this id, the same in every program and for ever."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest()) % parts


def past_of(problem: Synthetic, table: Table, key: at.Key) -> Table:
    """Return past items with their labels, of the same truth as a table."""
    rng, theta = key.at("past").generator(), table.theta
    assert theta is not None
    items = math.sqrt(problem.context_variance) * rng.standard_normal((PAST, problem.features))
    if problem.intercept is not None:
        items = np.column_stack([items, np.ones(PAST)])
    return logistic_table("past", items, theta, problem.costs, rng.random(PAST))


def regret(table: Table, parts: int, key: at.Key, past: Table | None) -> float:
    """Return the regret of so many streams, each with a policy of its own, which sees its own labels and the past's."""
    of = np.array([part_of(str(k), parts) for k in range(table.rounds)])
    total = 0.0
    for part in range(parts):
        mine = of == part
        share = replace(table, items=table.items[mine], chances=table.chances[mine], labels=table.labels[mine])
        policy = at.policy("voi", n_features=table.n_features, costs=table.costs, seed=int(key.at("part", part).word()))
        for x, label in () if past is None else zip(past.items, past.labels.tolist(), strict=True):
            policy.teach(x, label)
        total += float(share.regret_of(np.asarray(at.play(policy, share).act)).sum())
    return total


def main() -> None:
    """Print a table: regret of one stream, and what K streams cost more; keep a whole run."""
    parser = argparse.ArgumentParser(prog="python -m bench split", description=__doc__)
    parser.add_argument("--tables", type=int, default=20, help="of each problem (default 20)")
    parser.add_argument("--only", help="problems whose name has this in it")
    given = parser.parse_args()
    rows = []
    for name, problem in PROBLEMS.items():
        if given.only is None or given.only in name:
            rows += rows_of(name, problem, given.tables)
            print(f"{name}: played", flush=True)
    heads = ("stream", "one", *(f"{parts} parts" for parts in PARTS[1:]), "better constant")
    told = table(heads, rows)
    print(told.text())
    if given.only is None and given.tables == parser.get_default("tables"):
        keep_run("split", {"table": [told]})


def rows_of(name: str, problem: Synthetic, tables: int) -> list[tuple[str, ...]]:
    """Return the rows of one problem: regret of one stream, what more parts cost beside that, and the constants."""
    fresh, taught, constants = list[list[float]](), list[list[float]](), list[float]()
    for number in range(tables):
        key = at.Key(29).at(name, number)
        met = problem.draw(key)
        past = past_of(problem, met, key)
        fresh.append([regret(met, parts, key, None) for parts in PARTS])
        taught.append([regret(met, parts, key, past) for parts in PARTS])
        constants.append(min(float(met.regret_of(np.full(met.rounds, act)).sum()) for act in (False, True)))
    rows: list[tuple[str, ...]] = []
    for words, found in (("", fresh), (f", taught {PAST:,} past labels", taught)):
        costs = np.array(found)
        extra = costs - costs[:, :1]
        error = extra.std(axis=0, ddof=1) / math.sqrt(tables)
        more = (f"{extra[:, k].mean():+,.1f} ({error[k]:.1f})" for k in range(1, len(PARTS)))
        rows.append((f"{name}{words}", f"{costs[:, 0].mean():,.1f}", *more, f"{np.mean(constants):,.1f}"))
    return rows


if __name__ == "__main__":
    main()
