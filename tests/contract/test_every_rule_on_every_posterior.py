"""Posterior x rule = policy: every rule works on every posterior, or says why it cannot."""

import numpy as np
import pytest

import appletaste as at

from .entries import COSTS, run, stream

POSTERIORS = {
    "gibbs": at.posteriors.Gibbs(sweeps=5),
    "gibbs, averaged": at.posteriors.Gibbs(sweeps=5, rao_blackwell=True),
    "exact": at.posteriors.Exact(switch=15),
    "laplace": at.posteriors.Laplace(skew=True, adaptive=True),
    "adf": at.posteriors.Adf(),
    "map": at.posteriors.Map(),
}
RULES = {
    "thompson": at.rules.Thompson(),
    "tunable": at.rules.InformationDirected(0.2),
    "traditional": at.rules.Traditional(),
    "greedy": at.rules.EpsilonGreedy(),
    "inverse gap": at.rules.InverseGap(),
    "bound": at.rules.UpperBound(),
    "bound, drawn": at.rules.UpperBound(randomised=True),
    "value": at.rules.ValueOfInformation(),
    "value, drawn": at.rules.ValueOfInformation(randomised=True, ahead="lindy"),
    "value, known": at.rules.ValueOfInformation(horizon=60, ahead="shared"),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("posterior", POSTERIORS)
def test_together(posterior, rule):
    policy = at.Policy(at.policies.Bayesian(POSTERIORS[posterior], RULES[rule]), n_features=3, costs=COSTS, seed=3)
    items, labels = stream(3)
    if posterior == "map" and rule.startswith("value"):
        with pytest.raises(at.errors.OptionError, match="covariance"):
            policy.decide(items[0])
        return
    decisions = run(policy, items, labels)
    acts = np.array([act for act, _, _ in decisions])
    assert all(0 <= probability <= 1 for _, probability, _ in decisions)
    assert acts.sum() > 10
    right = items.sum(1) > COSTS.score_threshold
    assert (acts[20:] == right[20:]).mean() > 0.6  # it has learnt something: a coin would have half


@pytest.mark.parametrize("estimator", ["printed", "corrected"])
def test_estimators_made_of_draws_need_draws(estimator):
    for posterior in (at.posteriors.Laplace(), at.posteriors.Adf(), at.posteriors.Exact()):
        policy = at.Policy(
            at.policies.Bayesian(posterior, at.rules.InformationDirected(estimator=estimator)),
            n_features=2,
            costs=COSTS,
        )
        with pytest.raises(at.errors.OptionError, match="draws"):
            policy.decide([1.0, 0.0])
