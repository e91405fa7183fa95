"""Which pairs of columns the labels speak for: a score test for each, screened first, and a Bayes factor."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..posteriors import Vector

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
        found = 0.5 * (SCALES[:, None] * squares / grown - np.log(grown)).sum(axis=1)
        best = int(found.argmax())
        return float(found[best]), float(SCALES[best])

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
