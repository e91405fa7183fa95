"""What was missed, as the model sees it: the sum of P(positive) over the passed items."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..policies import Policy
from ..policies.bayesian import BayesianLearner
from ..posteriors.filter import Filter
from .answers import Answer, Estimate, Refusal
from .log import DecisionLog
from .stand_ins import DRAWS, Floats, generator, interval

#: Draws of theta where they must be sampled by a chain.
CHAIN_DRAWS = 400
PREQUENTIAL = "the model is right, and its prior: each chance was the probability of a positive given all before"
POSTERIOR = "the model is right, and items were chosen by their features alone"


def by_model(log: DecisionLog, level: float, policy: Policy | None = None) -> Answer:
    """Estimate positives among all passed items by the model's chances.

    From the logged ``chance``: sum c over passes, with variance sum c (1 - c), because label minus chance is a
    martingale difference if the model is right. With a ``policy`` that has learnt from the log, and features: draws of
    theta from its posterior, the sum of sigma(x'theta) over passes for each, and the noise of the labels on top. Both
    assume the model; ``surprise`` checks it where labels were seen.
    """
    passed = ~log.act
    if policy is not None:
        return _by_posterior(log, passed, level, policy)
    if log.chance is None or np.isnan(log.chance[passed]).any():
        return Refusal(
            "the log does not record the model's chance for every passed item", "log chance, or give the policy"
        )
    chance = log.chance[passed]
    value, sd = float(chance.sum()), math.sqrt(float((chance * (1 - chance)).sum()))
    z = NormalDist().inv_cdf(0.5 + 0.5 * level)
    low, high = max(0.0, value - z * sd), min(float(passed.sum()), value + z * sd)
    if value < 50 and value > 0:  # few expected: the count is nearly Poisson, so draw it
        low, high = interval(_label_noise(chance, generator("by model")), level)
    return Estimate(value, low, high, level, PREQUENTIAL)


def surprise(log: DecisionLog) -> float:
    """Return sum (label - chance) / sqrt(sum chance (1 - chance)) over seen labels: beyond 3, do not trust the model.

    Standard normal if the chances were right when they were logged (Dawid 1984); NaN if there are none.
    """
    if log.chance is None:
        return math.nan
    seen = log.labelled & ~np.isnan(log.chance)
    spread = math.sqrt(float((log.chance[seen] * (1 - log.chance[seen])).sum()))
    return float((log.label[seen] - log.chance[seen]).sum()) / spread if spread > 0 else math.nan


def _label_noise(chance: Floats, rng: np.random.Generator) -> Floats:
    """Return draws of the number of positives; equal chances are drawn together, to a part in 500."""
    bins = np.unique(np.round(500 * chance), return_inverse=True)[1]
    counts = np.bincount(bins)
    centres = np.clip(np.bincount(bins, weights=chance) / counts, 0.0, 1.0)
    return np.asarray(rng.binomial(counts[:, None], centres[:, None], (counts.size, DRAWS)).sum(axis=0), dtype=float)


def _by_posterior(log: DecisionLog, passed: NDArray[np.bool_], level: float, policy: Policy) -> Answer:
    if log.x is None:
        return Refusal("the log has no features x, which the policy's posterior needs", "log x, or leave policy out")
    thetas = posterior_draws(policy)
    if thetas is None:
        return Refusal(f"{policy.name} has no posterior to draw from", "leave policy out: the logged chances serve")
    if log.x.shape[1] != thetas.shape[1]:
        raise InputError(f"x has {log.x.shape[1]} features and the policy {thetas.shape[1]}: is it another stream's?")
    rng = generator("by posterior")
    items = log.x[passed]
    sums = np.empty(len(thetas))
    for k, theta in enumerate(thetas):
        chance = 1.0 / (1.0 + np.exp(-np.clip(items @ theta, -700, 700)))
        sums[k] = chance.sum() + rng.standard_normal() * math.sqrt(float((chance * (1 - chance)).sum()))
    low, high = interval(np.clip(sums, 0.0, float(passed.sum())), level)
    return Estimate(float(np.mean(np.clip(sums, 0.0, None))), low, high, level, POSTERIOR)


def posterior_draws(policy: Policy) -> Floats | None:
    """Return draws of theta from what a policy believes now, one row each; None if it believes a single point."""
    learner: object = policy._learner
    belief: object = learner.belief if isinstance(learner, BayesianLearner) else None
    if isinstance(belief, Filter):
        rng = generator("theta")
        root = np.linalg.cholesky(belief.covariance + 1e-12 * np.eye(policy.n_features))
        return np.asarray(belief.mean + rng.standard_normal((CHAIN_DRAWS, policy.n_features)) @ root.T)
    draws = getattr(belief, "draws", None)
    if draws is None:
        return None
    found: list[Floats] = []
    while sum(map(len, found)) < CHAIN_DRAWS:  # rounds to come start at the same state, each with randomness of its own
        found.append(np.asarray(draws(policy.round + 1 + len(found))))
    return np.concatenate(found)
