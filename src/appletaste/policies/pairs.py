"""Pairs of columns that say more together than each by itself, found from the labels seen (docs/curves.md).

Which pairs the labels speak for: a score test for each, screened first, and a Bayes factor.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..features.numbers import OPEN
from ..kernels.gaussian import MODE
from ..keys import Key
from ..posteriors import Belief, LaplaceBelief, Vector, WideBelief
from .learner import Added, Arrays
from .widening import Extra

#: Pairs that there may be at most.
MOST = 12
#: Columns that pairs are looked for among: a search compares every two of them.
MOST_COLUMNS = 1000
#: What a saved pair consists of, one row for each product: its columns, and their functions.
ONE, OTHER, ITS_FUNCTION, OTHER_FUNCTION = range(4)
#: Prior variances that the evidence for a pair is weighed at; the best counts.
SCALES = np.array([0.03, 0.3, 2.0])
#: Functions of a column that take part, and pairs whose evidence is computed after the screen.
FUNCTIONS, SCREENED = 4, 60
#: The labels without which there must be evidence enough.
FEW = 3
#: A function with less variance over the labelled items says nothing.
FLAT = 1e-12
#: Newton steps from the mode of the belief, the last of which is only looked at.
STEPS = 4


@dataclass(frozen=True)
class Fit:
    """The posterior at its mode, before any more pairs: items, residuals y - p, weights p (1 - p) and V^-1 = L L'."""

    items: Vector
    residuals: Vector
    weights: Vector
    factor: Vector

    @staticmethod
    def of(items: Vector, labels: Vector, mode: Vector, precisions: Vector, mean: Vector) -> Fit:
        """Return the fit of labels under the prior N(mean, 1 / precisions), by Newton steps from a mode that is near.

        A belief between two renewals is near, and not there; evidence is a difference of two fits, and must be.
        """
        for _ in range(STEPS):
            chances = 1.0 / (1.0 + np.exp(-np.clip(items @ mode, -500.0, 500.0)))
            residuals, weights = labels - chances, chances * (1.0 - chances)
            factor = np.linalg.cholesky((items.T * weights) @ items + np.diag(precisions))
            slope = items.T @ residuals - precisions * (mode - mean)
            mode = mode + np.linalg.solve(factor.T, np.linalg.solve(factor, slope))
        return Fit(items, residuals, weights, np.asarray(factor, dtype=np.float64))


class Candidate:
    """The products of two columns, with U = F'(y - p) and the information I = F'WF - F'WX V X'WF that is theirs alone.

    F is scaled so that its squares add up to 1 in a usual labelled item: with coefficients N(0, t) a pair adds t to
    the variance of the score. Its log Bayes factor against none at all is

        max over t of 1/2 [U'(I + 1/t)^-1 U - log det(1 + t I)].
    """

    def __init__(self, one: Vector, other: Vector, fit: Fit) -> None:
        products = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
        self.scale = 1.0 / math.sqrt(max(float((products**2).sum(axis=1).mean()), FLAT))
        self.products = products * self.scale
        weighted = self.products * fit.weights[:, None]
        self.told = self.products.T @ fit.residuals
        self.known = np.linalg.solve(fit.factor, fit.items.T @ weighted).T  # G, with F'WX V X'WF = G G'
        self.information = weighted.T @ self.products - self.known @ self.known.T

    def evidence(self) -> tuple[float, float]:
        """Return the log Bayes factor, and the scale at which it is largest."""
        sizes, turns = np.linalg.eigh(0.5 * (self.information + self.information.T))
        sizes, squares = np.maximum(sizes, 0.0), (turns.T @ self.told) ** 2
        grown = 1.0 + SCALES[:, None] * sizes
        evidence = 0.5 * (SCALES[:, None] * squares / grown - np.log(grown)).sum(axis=1)
        best = int(evidence.argmax())
        return float(evidence[best]), float(SCALES[best])

    def owed_to_few(self, scale: float, residuals: Vector) -> float:
        """Return how much of the log Bayes factor is owed to the few labels that say most.

        Label i adds half of f_i'b (y_i - p_i), b = (I + 1/t)^-1 U. Where p is all but certain one label can seem to
        prove anything: the score test trusts the model that it tests.
        """
        moved = np.linalg.solve(self.information + np.eye(len(self.told)) / scale, self.told)
        parts = (self.products @ moved) * residuals
        return 0.5 * float(np.sort(parts)[-FEW:].sum())

    def given(self, chosen: Candidate, scale: float, weights: Vector) -> None:
        """Take another pair as known: what the labels say of both is said of the other, and not of this one."""
        across = self.products.T @ (weights[:, None] * chosen.products) - self.known @ chosen.known.T
        factor = np.linalg.cholesky(chosen.information + np.eye(len(chosen.told)) / scale)
        taken = np.linalg.solve(factor, across.T).T
        self.told = self.told - taken @ np.linalg.solve(factor, chosen.told)
        self.information = self.information - taken @ taken.T
        self.known = np.concatenate([self.known, taken], axis=1)


def functions_of(values: Vector) -> NDArray[np.intp]:
    """Return which functions of a column take part, from their values in the labelled items.

    Levels that add up to 1 leave out the most frequent one, from which the others are measured; of many the largest
    take part, and none that never changes.
    """
    sizes = (values**2).sum(axis=0)
    left_out = int(sizes.argmax()) if values.shape[1] > 1 and np.all(values.sum(axis=1) == 1.0) else -1
    moving = [k for k in np.argsort(-sizes, kind="stable").tolist() if k != left_out and values[:, k].var() > FLAT]
    return np.array(sorted(moving[:FUNCTIONS]), dtype=np.intp)


def find_pairs(
    columns: list[Vector], fit: Fit, taken: Collection[tuple[int, int]], most: int
) -> list[tuple[int, int, float]]:
    """Return pairs of columns and the scale of their products, those with the most evidence first.

    ``columns`` are the functions of each column in the labelled items. The screen is the score test of products one by
    one, sum of U^2 / (F'WF + 1/2), in deviations above what chance gives. Of the best the Bayes factor is computed,
    and the one with the most evidence joins if that exceeds the number of pairs even without the three labels that say
    most for it; then the others are weighed given that one.
    """
    pairs = [
        (one, other)
        for one in range(len(columns))
        for other in range(one + 1, len(columns))
        if columns[one].shape[1] and columns[other].shape[1] and (one, other) not in taken
    ]
    if not pairs or most < 1:
        return []
    starts = np.cumsum([0, *(column.shape[1] for column in columns)])
    functions = np.concatenate(columns, axis=1)
    told = functions.T @ (fit.residuals[:, None] * functions)
    squares = functions**2
    known = squares.T @ (fit.weights[:, None] * squares)
    tests = told**2 / (known + 0.5)

    def surplus(pair: tuple[int, int]) -> float:
        one, other = (slice(starts[k], starts[k + 1]) for k in pair)
        block = tests[one, other]
        return float((block.sum() - block.size) / math.sqrt(2.0 * block.size))

    chosen = sorted(pairs, key=surplus, reverse=True)[:SCREENED]
    candidates = {pair: Candidate(columns[pair[0]], columns[pair[1]], fit) for pair in chosen}
    least = math.log(len(pairs))
    found: list[tuple[int, int, float]] = []
    while candidates and len(found) < most:
        weighed = {pair: candidate.evidence() for pair, candidate in candidates.items()}
        best = max(weighed, key=lambda pair: weighed[pair][0])
        evidence, scale = weighed[best]
        if not evidence > least:
            break
        joined = candidates.pop(best)
        if not evidence - joined.owed_to_few(scale, fit.residuals) > least:
            continue
        found.append((*best, joined.scale))
        for candidate in candidates.values():
            candidate.given(joined, scale, fit.weights)
    return found


@dataclass(frozen=True)
class Pairs:
    """Products of two columns as features, where the labels speak for them; each pair has a scale of its own.

    ``units`` are the columns, ``FeatureMap.units``: each has some functions of the vector, and a function is the sum of
    the places that it names. At 250, 500, 1,000, … labels the products of every two columns are weighed
    (``find_pairs``), and up to 12 pairs join.
    """

    units: Any  # kept as tuples: of columns, of their functions, of places

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", _checked(self.units))

    def start(self, groups: tuple[int, ...], key: Key) -> FoundPairs:
        """Return the pairs before the first label: none."""
        n_features = len(groups)
        if len(self.units) > MOST_COLUMNS:
            raise OptionError(
                f"pairs are looked for among {MOST_COLUMNS} columns at most, and there are {len(self.units)}: leave "
                "out pairs, or name those that you expect as interactions of the encoder"
            )
        largest = max((place for unit in self.units for function in unit for place in function), default=-1)
        if largest >= n_features:
            raise OptionError(
                f"pairs name feature {largest}, and there are {n_features}: give pairs=features.units of the map that "
                "makes the vectors"
            )
        return FoundPairs(self.units, n_features, np.zeros((0, 4), dtype=np.int64), np.zeros(0))


class FoundPairs(Extra):
    """The pairs found so far: rows of columns and functions whose product is a feature, and the scale of each."""

    def __init__(
        self, units: tuple[Any, ...], n_features: int, rows: NDArray[np.int64], scales: NDArray[np.float64]
    ) -> None:
        self._units, self._n_features, self._rows, self._scales = units, n_features, rows, scales
        self.keys = tuple(map(tuple, rows.tolist()))
        self.pairs = list(dict.fromkeys((row[ONE], row[OTHER]) for row in rows.tolist()))
        self.groups = tuple(OPEN + 1 + self.pairs.index((row[ONE], row[OTHER])) for row in rows.tolist())
        self._left = self._gathered([units[row[ONE]][row[ITS_FUNCTION]] for row in rows])
        self._right = self._gathered([units[row[OTHER]][row[OTHER_FUNCTION]] for row in rows])

    def _gathered(self, functions: list[tuple[int, ...]]) -> list[NDArray[np.intp]]:
        """Return the places of functions by rank: the first of each, the second of each ...; beyond: a place of 0."""
        longest = max(map(len, functions), default=0)
        padded = [[*places, *[self._n_features] * (longest - len(places))] for places in functions]
        return list(np.array(padded, dtype=np.intp).T) if padded else []

    def of(self, items: Vector) -> Vector:
        """Return the products of items; sums are added in order, so that one item and many give the same bits."""
        padded = np.concatenate([items, np.zeros((len(items), 1))], axis=1)
        one, other = (sum(padded[:, places] for places in side) for side in (self._left, self._right))
        return np.asarray(one * other * self._scales)

    def search(self, items: Vector, labels: Vector, belief: Belief) -> FoundPairs | None:
        """Return the pairs with those that the labels speak for now; None: there are no more."""
        assert isinstance(belief, LaplaceBelief | WideBelief)
        values = [np.stack([items[:, list(places)].sum(axis=1) for places in unit], axis=1) for unit in self._units]
        kept = [functions_of(column) for column in values]
        longer = items if not self.keys else np.concatenate([items, self.of(items)], axis=1)
        fit = Fit.of(longer, labels, belief.matrix[MODE], *belief.prior_now)
        columns = [column[:, own] for column, own in zip(values, kept, strict=True)]
        found = find_pairs(columns, fit, self.pairs, MOST - len(self.pairs))
        if not found:
            return None
        rows, scales = self._rows.tolist(), self._scales.tolist()
        for one, other, scale in found:
            products = [[one, other, f, g] for f in kept[one].tolist() for g in kept[other].tolist()]
            rows += products
            scales += [scale] * len(products)
        return FoundPairs(self._units, self._n_features, np.array(rows, dtype=np.int64), np.array(scales))

    def added(self, first: int) -> tuple[Added, ...]:
        """Return the pairs with the places of their products."""
        mine = np.array([(row[ONE], row[OTHER]) for row in self._rows.tolist()]).reshape(-1, 2)
        return tuple(
            Added(
                first + np.flatnonzero((mine == pair).all(axis=1)),
                (self._units[pair[0]][0][0], self._units[pair[1]][0][0]),
            )
            for pair in self.pairs
        )

    def arrays(self) -> Arrays:
        """Return what was found, for saving."""
        return {"products": self._rows.copy(), "scales": self._scales.copy()}

    def restored(self, arrays: Arrays, items: Vector, labels: Vector) -> FoundPairs:
        """Return what ``arrays`` described."""
        rows = np.asarray(arrays["products"], dtype=np.int64).reshape(-1, 4)
        return FoundPairs(self._units, self._n_features, rows, np.asarray(arrays["scales"], dtype=np.float64))


def _checked(units: Any) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return units as tuples, or say what they are."""
    try:
        columns = tuple(tuple(tuple(int(place) for place in function) for function in unit) for unit in units)
    except (TypeError, ValueError):
        columns = ((),)
    if not all(unit and all(function and min(function) >= 0 for function in unit) for unit in columns):
        raise OptionError(
            f"pairs are found among the columns of a map: give pairs=features.units, got {units!r}. A replay and a "
            "new stream know the map, and take pairs=True"
        )
    return columns
