"""What most teams would build: a model of scikit-learn that is fitted anew at night on the labels that have arrived.

It acts where its chance says so and on 5 % of the rest at random; before it has labels of both kinds it acts always.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appletaste.costs import Costs
from appletaste.costs_by_item import CostColumns
from appletaste.features.defaults import default_encoder
from appletaste.history.labelled import LabelledTable, encode
from appletaste.times import DAY

#: The share acted on at random, and by how much labels must have grown until a fit is worth a night.
AT_RANDOM, GROWN = 0.05, 1.03
Matrix = NDArray[np.float64]


def play(stream: LabelledTable, costs: Costs | CostColumns, X: Matrix, new: Callable[[], Any], seed: int) -> float:
    """Return what a model that is fitted at night costs for 1,000 items of a stream."""
    rng, n = np.random.default_rng([seed, 3]), len(stream)
    clock = np.arange(n, dtype=float) * 60.0 if stream.times is None else stream.times
    told = clock if stream.told is None else stream.told
    gain, price = np.broadcast_to(costs.catch_gain, n), np.broadcast_to(costs.alarm_price, n)
    pays_from = price / (price + gain)
    waiting: list[tuple[float, int]] = []
    rows: list[int] = []
    chances, fitted, day, acts = np.ones(n), 0, -np.inf, np.zeros(n, dtype=bool)
    for k in range(n):
        if clock[k] // DAY > day:
            day = clock[k] // DAY
            while waiting and waiting[0][0] <= clock[k]:
                rows.append(heappop(waiting)[1])
            known = stream.labels[rows]
            if len(rows) > 20 and len(rows) >= GROWN * fitted and 0 < known.sum() < len(rows):
                ahead = slice(k, min(n, k + 4000))  # until the next fit
                chances[ahead] = new().fit(X[rows], known).predict_proba(X[ahead])[:, 1]
                fitted = len(rows)
        acts[k] = chances[k] >= pays_from[k] or rng.random() < AT_RANDOM
        if acts[k]:
            heappush(waiting, (told[k], k))
    truth = stream.labels == 1
    saved = np.where(acts, np.where(truth, gain, -price), 0.0)
    missed = np.where(truth, np.broadcast_to(costs.miss, n), np.broadcast_to(costs.correct_pass, n))
    return 1000.0 * float(np.mean(missed - saved))


def vectors(stream: LabelledTable) -> Matrix:
    """Return the items as a linear model takes them: standardised numbers, a column for each level."""
    items, _, _ = encode(default_encoder(stream.records, shuffled=False), stream.table, stream.clock)
    return np.asarray(items, dtype=np.float64)


def codes(stream: LabelledTable) -> Matrix:
    """Return the items as trees take them: numbers, and levels by the order in which they came."""
    columns = []
    for name, column in stream.records.columns.items():
        if column.dtype == np.float64:
            columns.append(column)
        elif name not in stream.records.dates:
            numbered: dict[Any, int] = {}
            columns.append(
                np.array([numbered.setdefault(value, len(numbered)) for value in column.tolist()], dtype=float)
            )
    return np.column_stack(columns)


def logistic() -> Any:
    """Return logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def booster() -> Any:
    """Return gradient boosting of small trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=15, learning_rate=0.1, early_stopping=False)
