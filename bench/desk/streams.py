"""The streams of the bench: five public files as ``appletaste replay`` meets them, and made ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from appletaste import Costs, Key
from appletaste.problems import Table

from ..files.streams import table_of

SEED = 12
ROUNDS = 8000
FEATURES = 12
RARE = Costs(miss=20.0, false_alarm=1.0, hit=1.0)
FILES = ("german_credit", "spambase", "mushroom", "phishing", "bank, shuffled")


def intercept_for(scores: NDArray[np.float64], rate: float) -> float:
    """Return what to add to scores so that so many are positive on average."""
    low, high = -40.0, 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.mean(1 / (1 + np.exp(-scores - middle))) < rate else (low, middle)
    return low


def made(kind: str, number: int, rate: float = 0.02) -> Table:
    """Return a stream with rare positives, of one of the kinds in ``MADE``.

    A logistic model holds for ``plain``, ``weak`` (coefficients a third as large), ``categories`` (four of ten levels)
    and ``tailed`` (measurements with heavy tails, half of them of no use). It is wrong for ``curved`` (a product and a
    square) and ``moving`` (half of the coefficients change their sign midway).
    """
    rng = Key(SEED).at("bench-desk", kind, number).generator()
    n, d = ROUNDS, FEATURES
    if kind == "categories":
        levels = rng.integers(0, 10, size=(n, 4))
        items = np.concatenate([np.eye(10)[levels[:, k]] for k in range(4)], axis=1)
        scores = items @ rng.normal(size=40)
    elif kind == "tailed":
        items = rng.standard_t(3, size=(n, d)) / np.sqrt(3.0)
        scores = items @ np.where(np.arange(d) % 2, rng.normal(size=d), 0.0)
    else:
        items = rng.normal(size=(n, d))
        theta = rng.normal(size=d) * {"plain": 0.7, "weak": 0.25, "curved": 0.5, "moving": 0.7}[kind]
        scores = items @ theta
        if kind == "curved":
            scores = scores + 0.7 * items[:, 0] * items[:, 1] - 0.5 * items[:, 2] ** 2
        if kind == "moving":
            later = items @ (theta * np.where(rng.random(d) < 0.5, -1.0, 1.0))
            scores = np.where(np.arange(n) < n // 2, scores, later)
    chances = 1 / (1 + np.exp(-scores - intercept_for(scores, rate)))
    labels = (rng.random(n) < chances).astype(np.int8)
    return Table(kind, np.column_stack([np.ones(n), items]), chances, labels, RARE)


MADE = ("plain", "weak", "categories", "tailed", "curved", "moving")


def stream(name: str, number: int, folder: Path) -> Table:
    """Return one order of a file, or one made stream."""
    return made(name.removeprefix("made, "), number) if name.startswith("made, ") else table_of(name, number, folder)


NAMES = (*FILES, *(f"made, {kind}" for kind in MADE))
#: How many orders of each stream are played: a short file often, a long one seldom.
ORDERS = {name: {"german_credit": 20, "bank, shuffled": 3}.get(name, 10) for name in NAMES}
