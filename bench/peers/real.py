"""Real files, replayed: five public sets, each with costs of its own, one plain encoding for all.

Categories become one-hot columns, numbers are standardised on the first 500 rows and clipped at 5, and a constant comes
last. Nobody knows the true chance of an item, so the label stands for it: regret is cost above an oracle that never
errs, which no policy can bring to zero.
"""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from appletaste import Costs, Key
from appletaste.problems import Table

from .environments import Environment

WARM_UP = 500
CLIP = 5.0


@dataclass(frozen=True)
class RealFile:
    """A file, what its outcomes cost, and how it is replayed."""

    name: str
    rounds: int
    features: int  #: after the encoding
    costs: Costs
    shuffled: bool = True


FILES = (
    RealFile("german_credit", 1000, 62, Costs(miss=5.0, false_alarm=1.0, hit=0.0)),
    RealFile("spambase", 4601, 58, Costs(miss=1.0, false_alarm=9.0, hit=0.0)),
    RealFile("mushroom", 8124, 118, Costs(miss=0.0, false_alarm=15.0, hit=-5.0)),
    RealFile("phishing", 11_055, 31, Costs(miss=1.0, false_alarm=3.0, hit=0.0)),
    RealFile("bank_marketing", 20_000, 63, Costs(miss=0.0, false_alarm=1.0, hit=-8.0), shuffled=False),
)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def encode(columns: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns as numbers, one-hot where they are text, and which of the result are to be standardised."""
    parts, numeric = [], []
    for column in columns:
        if all(_is_number(text) for text in column):
            parts.append(np.array(column, dtype=float)[:, None])
            numeric.append(True)
        else:
            levels, codes = np.unique(column, return_inverse=True)
            parts.append(np.eye(len(levels))[codes])
            numeric += [False] * len(levels)
    return np.hstack([*parts, np.ones((len(columns[0]), 1))]), np.array([*numeric, False])


@cache
def _read(path: Path, rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.reader(file))[1:]
    *columns, labels = (list(column) for column in zip(*rows, strict=True))
    items, numeric = encode(columns)
    return items[:rounds], numeric, np.array(labels, dtype=np.int8)[:rounds]


def draw_real(key: Key, file: RealFile, folder: Path) -> Table:
    """Return the stream of one replication: the file in an order of its own, or as it is."""
    items, numeric, labels = _read(folder / f"{file.name}.csv.gz", file.rounds)
    if file.shuffled:
        order = key.generator().permutation(len(items))
        items, labels = items[order], labels[order]
    items = items.copy()
    first = items[:WARM_UP, numeric]
    spread = first.std(axis=0)
    items[:, numeric] = np.clip(
        (items[:, numeric] - first.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -CLIP, CLIP
    )
    return Table(file.name, items, labels.astype(float), labels, file.costs)


def real_environments(folder: Path) -> list[Environment]:
    """Return the real files; those that are not in the folder say so."""
    found = []
    for file in FILES:
        how = "shuffled" if file.shuffled else "as it is, first 20,000 rows"
        summary = f"real file, {file.rounds} rows, {file.features} features, {how}"
        environment = Environment(
            file.name,
            summary,
            file.rounds,
            file.features,
            partial(draw_real, file=file, folder=folder),
        )
        path = folder / f"{file.name}.csv.gz"
        if not path.exists():
            environment = replace(environment, skip=f"there is no {file.name}.csv.gz in the data folder (--data)")
        found.append(environment)
    return found
