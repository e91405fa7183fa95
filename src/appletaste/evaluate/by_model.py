"""What was missed by a model of the labels, held against the labels that were seen.

A model extrapolates from what was acted on to what was passed, and may be wrong there without a word. So its answer is
calibrated. With m_i the model's chance of item i and w_i = (1 - p_i) / (p_i q_i) the number of passed items that a seen
one stands for (``stand_ins``), the passed items are taken to hold r sum m positives, r being how many more there are
than the model says. Among the seen items that might have been passed there are sum w y where the model says sum w m.
Gathered to counts of equal weight, k = (sum w y)^2 / sum w^2 y seen and E = k sum w m / sum w y expected, r has the
posterior Gamma(1/2 + k, 1/2 + E) of a Poisson rate under a prior of mean 1, with k + 1 in the place of k half of the
time: the mid-p compromise again.

As labels become many, r sum m is the ratio estimate of survey sampling, which is right however wrong the model is
(Cochran 1977, chapter 6); while labels are few the model leads. Without labels on items that might have been passed
nothing can be checked, and the model's answer is withheld.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..policies import Policy
from ..policies import policy as make_policy
from ..policies.posterior import CurrentPosterior
from .answers import Answer, Estimate, Refusal
from .arrival import by_round
from .by_design import LEAST_LABELS
from .chance_sums import chance_sums, of_batch, of_pairs
from .stand_ins import Floats, generator, interval
from .support import Support

#: Draws of theta: from a Gaussian, in pairs on both sides of its mean, and where they must be sampled by a chain.
GAUSSIAN_DRAWS, CHAIN_DRAWS = 1000, 400
#: Draws of the calibration where the chances are given.
GIVEN_DRAWS = 2000
#: The prior of the calibration, Gamma(A, A): of mean 1, and worth half a positive.
A = 0.5
ASSUMES = (
    "each action was drawn with its recorded probability; the model says which items are likelier, and labels of items "
    "that might have been passed say how many positives there are"
)


def by_model(log: DecisionLog, support: Support, level: float, policy: Policy | None = None) -> Answer:
    """Estimate positives among all passed items by a model, calibrated where items might have been passed.

    The chances are those of ``policy``, which has learnt from the log, or of a Laplace posterior fitted to the labels
    of the log; without features x the logged chances.
    """
    passed, seen = ~log.act, support.seen_rows
    checked = seen[log.probability[seen] < 1]
    if not log.labelled.any():
        return Refusal("no label has arrived yet", "wait for labels")
    if not passed.any():
        return Estimate(0.0, 0.0, 0.0, level, "none: nothing was passed")
    if len(checked) < LEAST_LABELS:
        return Refusal(
            f"only {len(checked)} labels are of items that might have been passed, so the model cannot be "
            f"checked there; {LEAST_LABELS} are needed",
            "use a randomised policy or an audit lane (a floor on the probability of acting)",
        )
    weights = (1.0 - log.probability[checked]) / support.inclusion[checked]
    if log.x is None:
        return _by_chances(log, support, passed, checked, weights, level, policy)
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
    thetas = _thetas(posterior)
    sums, noise = chance_sums(log.x, passed, thetas, paired=posterior.is_gaussian)
    items = labelled[np.searchsorted(known, checked)]
    expected = (of_pairs if posterior.is_gaussian else of_batch)(items, thetas, weights)[0]
    error = _error(log, support, weights, _chances(items, thetas.mean(axis=0)))
    return _calibrated(log.label[checked] == 1, weights, error, sums, noise, expected, int(passed.sum()), level)


def _error(log: DecisionLog, support: Support, weights: Floats, chances: Floats) -> float:
    """Return the relative error of the ratio beyond that of its count: which items were seen, and how labels arrive.

    sqrt(sum w (1 + w) m^2) / sum w m is that of the expected number, a sum over a sample (``stand_ins``).
    """
    known = support.arrival.known
    p, unsure = log.probability[known], support.usable[known] & (log.label[known] == 1) & (log.probability[known] < 1)
    stands_for = np.where(unsure, (1.0 - p) / p, 0.0)
    sway = support.arrival.sway(stands_for) / max(float(stands_for.sum()), 1.0)
    drawn = math.sqrt(float((weights * (1.0 + weights) * chances**2).sum())) / max(float(weights @ chances), 1e-300)
    return math.hypot(sway, drawn)


def _by_chances(
    log: DecisionLog,
    support: Support,
    passed: NDArray[np.bool_],
    checked: NDArray[np.intp],
    weights: Floats,
    level: float,
    policy: Policy | None,
) -> Answer:
    if policy is not None:
        return Refusal("the log has no features x, which the policy's posterior needs", "log x, or leave policy out")
    if log.chance is None or np.isnan(log.chance[passed]).any() or np.isnan(log.chance[checked]).any():
        return Refusal("the log records neither the features nor the model's chance of every item", "log x, or chance")
    chance = log.chance[passed]
    sums = np.full(GIVEN_DRAWS, chance.sum())
    noise = np.full(GIVEN_DRAWS, (chance * (1.0 - chance)).sum())
    expected = np.full(GIVEN_DRAWS, (weights * log.chance[checked]).sum())
    error = _error(log, support, weights, log.chance[checked])
    return _calibrated(log.label[checked] == 1, weights, error, sums, noise, expected, int(passed.sum()), level)


def _calibrated(
    positive: NDArray[np.bool_],
    weights: Floats,
    error: float,
    sums: Floats,
    noise: Floats,
    expected: Floats,
    passes: int,
    level: float,
) -> Answer:
    """Return r sum m with its interval, from draws of the sums over passed items and over the checked ones."""
    seen, squares = float(weights[positive].sum()), float((weights[positive] ** 2).sum())
    # what one count weighs: the mean weight of a seen positive, or of a checked item where there is none
    unit = squares / seen if seen > 0.0 else float((weights**2).sum() / weights.sum())
    counts, means = seen / unit, expected / unit
    rng = generator("calibration")
    more = rng.random(len(sums)) < 0.5  # one more positive with probability one half, as mid-p has it (``stand_ins``)
    ratios = rng.gamma(A + counts + more, 1.0) / (A + means)
    ratios *= np.exp(error * rng.standard_normal(len(sums)) - 0.5 * error**2)
    labels = rng.standard_normal(len(sums)) * np.sqrt(np.minimum(ratios, 1.0) * noise)
    draws = np.clip(ratios * sums + labels, 0.0, float(passes))
    value = float(np.mean((A + counts) / (A + means) * sums))
    return Estimate(min(value, float(passes)), *interval(draws, level), level, ASSUMES)


def fitted(log: DecisionLog, labelled: Floats) -> Policy:
    """Return a policy that has learnt the labels of the log, in order, from the features of the labelled items."""
    costs = Costs(miss=1.0, false_alarm=1.0, hit=0.0)  # the posterior does not look at costs
    student = make_policy("ts", n_features=labelled.shape[1], costs=costs)
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
    """Return which decisions were made before the model had learnt anything: those up to the last with chance 1/2.

    A posterior of mean zero gives every item the chance 1/2 before its first label, and next to none afterwards.
    """
    if log.chance is None:
        return np.zeros(len(log), dtype=bool)
    blank, order = np.abs(log.chance - 0.5) < 1e-9, by_round(log)
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
