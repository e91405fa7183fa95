"""What was missed by a model of the labels, held against the labels that were seen.

A model extrapolates from what was acted on to what was passed, and may be wrong there without a word. So its answer is
scaled by how many positives were seen, where the model expected one, among items that might have been passed
(``calibration``). Without such labels nothing can be checked, and the model's answer is withheld.

Sums of P(positive) over items, for each draw of theta: in batches, so that x need never be in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import InputError
from ..features.levels import SLOTS, hold_slots
from ..kernels.logistic import add_chances, add_paired_chances
from ..logs.decision_log import DecisionLog
from ..logs.lazy import LazyColumn
from ..policies import Policy
from ..policies import policy as make_policy
from ..policies.posterior import CurrentPosterior
from .answers import Answer, Estimate, Refusal
from .arrival import by_round
from .by_design import LEAST_LABELS, NOTHING_PASSED
from .calibration import Checked, calibrated, checked_bands
from .stand_ins import Floats, generator, interval
from .support import Support, few_labels

#: To which group each item belongs; -1: to none.
Groups = NDArray[np.int8]
#: Draws of theta that are summed at a time, so that they stay in the cache, and items of an array in a batch.
DRAWS, ITEMS = 200, 2**16
#: The largest score x'middle at which a pair is summed as one: exp(-|z|) is that of 700 beyond, for both of its parts.
FAR = 600.0


def chance_sums(
    x: Floats | LazyColumn, group: Groups, count: int, thetas: Floats, paired: bool = False
) -> tuple[Floats, Floats]:
    """Return sum sigma(x'theta) and sum sigma (1 - sigma) over the items of each group, for each theta: [group, draw].

    Groups are 0 to ``count`` - 1, and -1 for items that nobody asks about. One pass over the items serves all groups.
    ``paired`` says that the second half of the thetas lies opposite to the first, about one middle: half of the work.

    Examples
    --------
    >>> x, thetas = np.array([[0.0], [2.0], [9.0]]), np.array([[0.0], [1.0]])
    >>> sums, spreads = chance_sums(x, np.array([0, 0, -1], dtype=np.int8), 1, thetas)
    >>> sums.round(4).tolist(), spreads.round(4).tolist()
    ([[1.0, 1.3808]], [[0.5, 0.355]])
    """
    rows = np.flatnonzero(group >= 0)
    mine, total = group[rows], np.zeros((count, 2, len(thetas)))
    if isinstance(x, LazyColumn):
        for part in x.each(_by_group, count, thetas, paired, rows=rows, also=mine, what="asking the model"):
            total += part
    else:
        for start in range(0, len(rows), ITEMS):
            some = slice(start, start + ITEMS)
            total += _by_group(x[rows[some]], mine[some], count, thetas, paired)
    return total[:, 0], total[:, 1]


def _by_group(items: Floats, group: Groups, count: int, thetas: Floats, paired: bool) -> Floats:
    """Return both sums over the items of each group in a batch: [group, sum or spread, draw]."""
    found, work = np.zeros((count, 2, len(thetas))), of_pairs if paired else of_batch
    for place in np.unique(group).tolist():
        found[place] = work(items[group == place], thetas)
    return found


def of_batch(items: Floats, thetas: Floats, weights: Floats | None = None) -> Floats:
    """Return both sums over a batch: [sum or spread, draw]; each item counts by its weight, if there are any."""
    items, weights = np.ascontiguousarray(items, dtype=np.float64), _or_ones(weights, items)
    found = np.zeros((2, len(thetas)))
    for start in range(0, len(thetas), DRAWS):
        some = np.ascontiguousarray(thetas[start : start + DRAWS].T)
        sums = np.zeros((2, some.shape[1]))
        add_chances(items, weights, some, sums[0], sums[1], np.empty((3, some.shape[1])))
        found[:, start : start + DRAWS] = sums
    return found


def of_pairs(items: Floats, thetas: Floats, weights: Floats | None = None) -> Floats:
    """Return the same for thetas of which the second half lies opposite to the first."""
    items, weights = np.ascontiguousarray(items, dtype=np.float64), _or_ones(weights, items)
    half = len(thetas) // 2
    middle = 0.5 * (thetas[0] + thetas[half])
    steps = 0.5 * (thetas[:half] - thetas[half:])
    far = np.abs(np.einsum("ij,j->i", items, middle)) > FAR  # a library's threads would wait for one another's work
    if far.any():
        return of_batch(items[far], thetas, weights[far]) + of_pairs(items[~far], thetas, weights[~far])
    found = np.zeros((2, 2, half))
    for start in range(0, half, DRAWS):
        some = np.ascontiguousarray(steps[start : start + DRAWS].T)
        sums, spreads = np.zeros((2, 2, some.shape[1]))
        add_paired_chances(items, weights, middle, some, sums, spreads, np.empty((3, some.shape[1])))
        found[:, :, start : start + DRAWS] = sums, spreads
    return found.reshape(2, 2 * half)


def _or_ones(weights: Floats | None, items: Floats) -> Floats:
    return np.ones(len(items)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)


#: Draws of theta: from a Gaussian, in pairs on both sides of its mean, and where they must be sampled by a chain.
GAUSSIAN_DRAWS, CHAIN_DRAWS = 1000, 400
#: Draws of the calibration where the chances are given.
GIVEN_DRAWS = 2000
#: A chance that is this near to one half is that of a model that knows nothing. Quadrature is off by up to 5e-4 there,
#: measured for scores with a standard deviation up to 10 and thresholds from 0.001 to 0.999.
BLANK = 1e-3
ASSUMES = (
    "each action was drawn with its recorded probability; the model says which items are likelier, and labels of items "
    "that might have been passed say how many positives there are"
)


def by_model(log: DecisionLog, support: Support, level: float, policy: Policy | None = None) -> Answer:
    """Estimate positives among all passed items by a model, calibrated where items might have been passed.

    The chances are those of ``policy``, which has learnt from the log, or of a Laplace posterior fitted to the labels
    of the log; without features x the logged chances. Where items have many levels each item has one chance, the
    posterior mean.
    """
    passed, bands = ~log.act, list(checked_bands(log, support))
    if not passed.any():
        return Estimate(0.0, 0.0, 0.0, level, NOTHING_PASSED)
    if not log.labelled.any():
        return Refusal("no label has arrived yet", "wait for labels")
    if support.contradiction is not None:
        return support.contradiction
    labels = sum(len(band.rows) for band in bands)
    if labels < LEAST_LABELS:
        few = few_labels(log, support)
        return Refusal(f"the model cannot be checked, since {few.reason}", few.remedy)
    if log.x is None:
        return _by_chances(log, bands, passed, level, policy)
    known = support.arrival.known
    labelled = log.x[known]  # of a long log these are few
    student = policy or fitted(log, labelled)
    posterior = None if student.learner.belief is None else student.posterior
    if posterior is None or posterior.is_point:
        return Refusal(f"{student.name} has no posterior to draw from", "leave policy out: one is fitted to the log")
    if log.x.shape[1] != student.n_features:
        raise InputError(
            f"x has {log.x.shape[1]} features and the policy {student.n_features}: is it another stream's?"
        )
    if student.learner.forest is not None:
        return Refusal(
            f"{student.name} has trees, whose score is not in the items of the log", "leave policy out: one is fitted"
        )
    if posterior.has_levels:
        asked = np.union1d(np.flatnonzero(passed), np.concatenate([band.rows for band in bands]))
        chances = np.full(len(log), math.nan)
        chances[asked] = [student.chance(x) for x in log.x[asked]]
        return _by_given(chances, bands, passed, level)
    thetas, items = _thetas(posterior), log.x
    seen = [labelled[np.searchsorted(known, band.rows)] for band in bands]
    work = of_pairs if posterior.is_gaussian else of_batch
    expected = [work(mine, thetas, band.weights)[0] for band, mine in zip(bands, seen, strict=True)]
    spreads = [band.spread(_chances(mine, thetas.mean(axis=0))) for band, mine in zip(bands, seen, strict=True)]

    def sums(group: Groups, count: int) -> tuple[Floats, Floats]:
        return chance_sums(items, group, count, thetas, paired=posterior.is_gaussian)

    return _answer(bands, spreads, expected, sums, passed, level)


def _by_chances(
    log: DecisionLog, bands: list[Checked], passed: NDArray[np.bool_], level: float, policy: Policy | None
) -> Answer:
    if policy is not None:
        return Refusal("the log has no features x, which the policy's posterior needs", "log x, or leave policy out")
    asked = passed.copy()
    asked[np.concatenate([band.rows for band in bands])] = True
    if log.chance is None or np.isnan(log.chance[asked]).any():
        return Refusal("the log records neither the features nor the model's chance of every item", "log x, or chance")
    return _by_given(log.chance, bands, passed, level)


def _by_given(given: Floats, bands: list[Checked], passed: NDArray[np.bool_], level: float) -> Answer:
    """Estimate from a chance for each item, which is calibrated but not drawn."""
    draws = np.ones(GIVEN_DRAWS)

    def sums(group: Groups, count: int) -> tuple[Floats, Floats]:
        chosen = group >= 0
        mine, place = given[chosen], group[chosen]
        found = (np.bincount(place, weights=values, minlength=count) for values in (mine, mine * (1.0 - mine)))
        total, spread = (np.outer(values, draws) for values in found)
        return total, spread

    expected = [float(band.weights @ given[band.rows]) * draws for band in bands]
    return _answer(bands, [band.spread(given[band.rows]) for band in bands], expected, sums, passed, level)


def _answer(
    bands: list[Checked],
    spreads: list[float],
    expected: list[Floats],
    sums: Callable[[Groups, int], tuple[Floats, Floats]],
    passed: NDArray[np.bool_],
    level: float,
) -> Answer:
    """Return the estimate; ``sums`` adds up the model's chances, and their spread, over the items of each group."""
    group = np.where(passed, len(bands), -1).astype(np.int8)  # the last: passed items outside all bands
    for place, band in enumerate(bands):
        group[band.passed] = place
    found, noise = sums(group, len(bands) + 1)
    passes = float(passed.sum())
    value, draws = calibrated(bands, spreads, expected, list(found), list(noise))
    low, high = interval(np.clip(draws, 0.0, passes), level)
    low = low if any(band.positive.any() for band in bands) else 0.0  # none was seen, and there may be none
    return Estimate(min(value, passes), math.floor(low), math.ceil(high), level, ASSUMES)  # positives are whole


def fitted(log: DecisionLog, labelled: Floats) -> Policy:
    """Return a policy that has learnt the labels of the log, in order, from the features of the labelled items."""
    costs = Costs(miss=1.0, false_alarm=1.0, hit=0.0)  # the posterior does not look at costs
    slots = [SLOTS if hold_slots(column) else 0 for column in labelled.T]
    student = make_policy(
        "ts", n_features=labelled.shape[1], costs=costs, groups=slots if any(slots) else None, trees=False
    )
    known = np.flatnonzero(log.labelled)
    order = np.argsort(log.round[known], kind="stable")
    for x, label in zip(labelled[order], log.label[known][order].tolist(), strict=True):
        student.teach(x, label)
    return student


def surprise(log: DecisionLog) -> float:
    """Return sum (label - chance) / sqrt(sum chance (1 - chance)) over seen labels: beyond 3, the chances were off.

    Standard normal if the chances were right when they were logged (Dawid 1984); NaN if there are none. Decisions
    before anything was learnt, whose chance is one half by default, do not count.
    """
    if log.chance is None:
        return math.nan
    seen = log.labelled & ~np.isnan(log.chance) & ~cold(log)
    spread = math.sqrt(float((log.chance[seen] * (1 - log.chance[seen])).sum()))
    return float((log.label[seen] - log.chance[seen]).sum()) / spread if spread > 0 else math.nan


def cold(log: DecisionLog) -> NDArray[np.bool_]:
    """Return which decisions were made before the model had learnt anything: those before the first chance not 1/2.

    A posterior of mean zero gives every item the chance 1/2 before its first label, and next to none afterwards.
    """
    if log.chance is None:
        return np.zeros(len(log), dtype=bool)
    blank, order = np.abs(log.chance - 0.5) < BLANK, by_round(log)
    started = int(np.argmin(blank if order is None else blank[order])) if not blank.all() else len(log)
    found = np.zeros(len(log), dtype=bool)
    found[slice(started) if order is None else order[:started]] = True
    return found


def _chances(items: Floats, theta: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(items @ theta, -700, 700))))


def _thetas(posterior: CurrentPosterior) -> Floats:
    """Return draws of theta, one row each; those of a Gaussian in pairs, the second half opposite to the first."""
    if not posterior.is_gaussian:
        return posterior.draws(CHAIN_DRAWS)
    mean, covariance = posterior.mean, posterior.covariance
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(mean)))
    steps = generator("theta").standard_normal((GAUSSIAN_DRAWS // 2, len(mean))) @ root.T
    return np.concatenate([mean + steps, mean - steps])
