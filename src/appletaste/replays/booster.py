"""A booster that is told every label: what a replay would cost whoever has trees and sees all."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows
from ..features.levels import SLOTS
from ..features.numbers import OPEN
from ..history.labelled import Groups
from ..kernels.forests import FIRST_SLOT
from ..policies.boosting import library

Floats = NDArray[np.float64]

#: Labels before the first fit, and by what share they have grown until the next.
FIRST, GROWTH = 50, 0.4
#: LightGBM with its defaults, on one core and without chance.
SETTINGS = {"objective": "binary", "deterministic": True, "force_col_wise": True, "num_threads": 1, "verbosity": -1}
#: What is said where it is there and does not load.
CANNOT = "LightGBM cannot be loaded, so this row goes by the share of positives alone"


def is_there() -> bool:
    """Return whether LightGBM is installed, without loading it."""
    return find_spec("lightgbm") is not None


def known_at(times: Floats, due: Floats | None) -> NDArray[np.intp]:
    """Return for each label before which item it is known: at once before the next one, or when it is due.

    Examples
    --------
    >>> known_at(np.array([0.0, 1.0, 2.0]), np.array([1.5, 9.0, 2.0]))
    array([2, 3, 3])
    """
    after = np.arange(1, len(times) + 1)
    return after if due is None else np.maximum(after, np.searchsorted(times, due, side="left"))


def boosted_chances(
    items: Floats | SparseRows,
    labels: NDArray[np.int8],
    known: NDArray[np.intp],
    groups: Groups = None,
    past: tuple[Floats, NDArray[np.int8]] | None = None,
) -> Floats:
    """Return P(positive) of each item by a booster that knows all labels that have arrived, those of passes, too.

    It is fitted at 50 labels and whenever they have grown by two fifths; before that the chance is the share of
    positives. Slots of levels are categories, and ramps of curves are left out: trees bend by themselves.

    Parameters
    ----------
    known
        Before which item each label arrives (``known_at``).
    past
        Items and labels of a history, known from the start.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=(2000, 2))
    >>> y = (x.prod(axis=1) > 0).astype(np.int8)
    >>> chances = boosted_chances(x, y, np.arange(1, 2001))
    >>> bool(((chances > 0.5) == y)[1000:].mean() > 0.95)
    True
    """
    n = len(items)
    kinds = groups or (0,) * items.shape[1]
    shown = [k for k, kind in enumerate(kinds) if kind in (0, OPEN, SLOTS)]
    of_levels = [j for j, k in enumerate(shown) if kinds[k] == SLOTS]
    table = (items.dense() if isinstance(items, SparseRows) else items)[:, shown]
    if past is not None:
        table, labels = np.concatenate([past[0][:, shown], table]), np.concatenate([past[1], labels])
        known = np.concatenate([np.zeros(len(past[0]), dtype=known.dtype), known])
    table = np.ascontiguousarray(table)
    table[:, of_levels] -= FIRST_SLOT
    before = len(table) - n
    order = np.argsort(known, kind="stable")
    counts = np.searchsorted(known[order], np.arange(n), side="right")  # labels that are known before each item
    positives = np.concatenate([[0], np.cumsum(labels[order])])
    chances, boost = (positives[counts] + 1.0) / (counts + 2.0), library()
    t = int(np.searchsorted(counts, FIRST, side="left"))
    while t < n:
        there = order[: counts[t]]
        until = int(np.searchsorted(counts, np.ceil((1.0 + GROWTH) * len(there)), side="left"))
        if 0 < positives[len(there)] < len(there):
            told = boost.Dataset(table[there], labels[there], categorical_feature=of_levels)
            chances[t:until] = boost.train(SETTINGS, told).predict(table[before + t : before + until])
        t = until
    return chances
