"""What was missed, as a model of the labels sees it: the sum of P(positive) over the passed items."""

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
from .chance_sums import chance_sums
from .stand_ins import Floats, generator, interval

#: Draws of theta: from a Gaussian, in pairs on both sides of its mean (400 put 6.5 % of truths below and 4.2 % above),
#: and where they must be sampled by a chain.
GAUSSIAN_DRAWS, CHAIN_DRAWS = 1000, 400
POSTERIOR = "labels are logistic in the features, and items were chosen by their features alone"
CHANCES = "the model's chances; how far they may be off together they do not say, so there is no interval"


def by_model(log: DecisionLog, level: float, policy: Policy | None = None) -> Answer:
    """Estimate positives among all passed items by a model of the labels.

    With features x: draws of theta from a posterior, the sum of sigma(x'theta) over passes for each, and the noise of
    the labels on top. The posterior is that of ``policy``, which has learnt from the log, or a Laplace posterior fitted
    to the labels of the log. Selection does no harm if items were chosen by their features alone and the model is
    right. Without features: the sum of the logged chances, without an interval. ``surprise`` checks the chances where
    labels were seen.
    """
    passed = ~log.act
    if log.x is not None:
        if not log.labelled.any():
            return Refusal("no label has arrived yet", "wait for labels")
        return _by_posterior(log, log.x, passed, level, policy or fitted(log, log.x))
    if policy is not None:
        return Refusal("the log has no features x, which the policy's posterior needs", "log x, or leave policy out")
    if log.chance is None or np.isnan(log.chance[passed]).any():
        return Refusal("the log records neither the features nor the model's chance of every item", "log x, or chance")
    return Estimate(float(log.chance[passed].sum()), math.nan, math.nan, level, CHANCES)


def fitted(log: DecisionLog, items: Floats) -> Policy:
    """Return a policy that has learnt the labels of the log, in order."""
    costs = Costs(miss=1.0, false_alarm=1.0, hit=0.0)  # the posterior does not look at costs
    student = make_policy("ts", n_features=items.shape[1], costs=costs)
    known = np.flatnonzero(log.labelled)
    labelled = items[known]  # of a long log these are few
    for k in np.argsort(log.round[known], kind="stable"):
        student.teach(labelled[k], int(log.label[known[k]]))
    return student


def surprise(log: DecisionLog) -> float:
    """Return sum (label - chance) / sqrt(sum chance (1 - chance)) over seen labels: beyond 3, do not trust the model.

    Standard normal if the chances were right when they were logged (Dawid 1984); NaN if there are none.
    """
    if log.chance is None:
        return math.nan
    seen = log.labelled & ~np.isnan(log.chance)
    spread = math.sqrt(float((log.chance[seen] * (1 - log.chance[seen])).sum()))
    return float((log.label[seen] - log.chance[seen]).sum()) / spread if spread > 0 else math.nan


def _by_posterior(log: DecisionLog, x: Floats, passed: NDArray[np.bool_], level: float, policy: Policy) -> Answer:
    posterior = None if policy.learner.belief is None else policy.posterior
    if posterior is None or posterior.is_point:
        return Refusal(f"{policy.name} has no posterior to draw from", "leave policy out: one is fitted to the log")
    if x.shape[1] != policy.n_features:
        raise InputError(f"x has {x.shape[1]} features and the policy {policy.n_features}: is it another stream's?")
    thetas = _thetas(posterior)
    rng = generator("by posterior")
    chances, spreads = chance_sums(x, passed, thetas)
    sums = chances + rng.standard_normal(len(thetas)) * np.sqrt(spreads)
    low, high = interval(np.clip(sums, 0.0, float(passed.sum())), level)
    return Estimate(float(np.mean(np.clip(sums, 0.0, None))), low, high, level, POSTERIOR)


def _thetas(posterior: CurrentPosterior) -> Floats:
    """Return draws of theta, one row each."""
    if not posterior.is_gaussian:
        return posterior.draws(CHAIN_DRAWS)
    mean, covariance = posterior.mean, posterior.covariance
    root = np.linalg.cholesky(covariance + 1e-12 * np.eye(len(mean)))
    steps = generator("theta").standard_normal((GAUSSIAN_DRAWS // 2, len(mean))) @ root.T
    return np.concatenate([mean + steps, mean - steps])
