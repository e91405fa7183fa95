"""Every policy, by name and with settings that take another path, and a short stream to try them on."""

import numpy as np
import pytest

import appletaste as at
from appletaste.policies import POLICIES, PolicySpec

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
#: Every policy, and the settings that take another path through the code.
ENTRIES = [
    *[(name, {}) for name in POLICIES],
    ("voi", {"horizon": 60, "randomised": True, "skew": False, "prior": at.posteriors.Gaussian(0.3, 2.0)}),
    ("voi", {"ahead": "shared", "adaptive": False}),
    ("voi", {"surprises": 0.2}),
    ("voi", {"surprises": 0.1, "half_life": 7.5, "randomised": True}),
    ("voi", {"ahead": "lindy", "horizon": 60, "eagerness": 0.5}),
    ("voi", {"ahead": "lindy"}),
    ("ucb", {"patience": 4.0, "randomised": True}),
    ("voi", {"sensitivity": 0.95, "specificity": 0.98}),
    ("voi", {"specificity": 0.9, "prior": 2.0, "randomised": True, "ahead": "shared"}),
    ("ts", {"sensitivity": 0.9}),
    ("ucb", {"sensitivity": 0.8, "specificity": 0.9, "skew": True}),
    ("adf-voi", {"half_life": 20}),
    ("voi", {"half_life": 7.5, "randomised": True}),
    ("ts", {"half_life": 50}),
    ("pg-ts", {"prior": at.posteriors.Gaussian(region=at.posteriors.Box(-1, 1)), "sweeps": [(1, 3), (20, 5)]}),
    ("pg-ts", {"prior": at.posteriors.Gaussian(0.2, 2.0, at.posteriors.Ball(1.5)), "burn_in": 2, "sweeps": 4}),
    ("pg-ids", {"estimator": "printed", "weight": 0.3}),
    ("pg-ids", {"estimator": "corrected", "separate_draws": True, "sweeps": 10}),
    ("pg-ts", {"rao_blackwell": True, "prior": at.posteriors.Gaussian(0.2, 2.0), "sweeps": [(1, 3), (20, 5)]}),
    ("pg-ids", {"rao_blackwell": True, "burn_in": 2}),
    ("pg-ids-traditional", {"rao_blackwell": True}),
    ("exact-ts", {"switch": 8, "prior": at.posteriors.Gaussian(0.2, 2.0), "draws": 2}),
    ("exact-ids", {"switch": 5, "sweeps": 4}),
    ("exact-voi", {"switch": 12, "randomised": True}),
    ("greedy", {"estimator": "mle", "epsilon": 0.2}),
    ("cbp-side", {"radius": 0.5, "curvature": 1e-3, "item_bound": 2.0}),
    ("rand-cbp-side", {"radius": 0.5, "curvature": 1e-3, "item_bound": 2.0, "spread": 1.0, "sure": 0.1}),
    ("inverse-gap", {"caution": 3.0, "prior": at.posteriors.Gaussian(0.2, 2.0)}),
    ("suplogistic", {"alpha": 0.05, "burn_in": 10, "horizon": 60}),
]
IDS = [PolicySpec(name, {k: v for k, v in options.items() if k != "prior"}).label for name, options in ENTRIES]
every = pytest.mark.parametrize(("name", "options"), ENTRIES, ids=IDS)


def stream(d, n=60, seed=4):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n, d))
    labels = (rng.random(n) < 1 / (1 + np.exp(-items.sum(1)))).astype(int)
    return items, labels


def make(name, options, d=3, seed=7):
    if name == "oracle":
        options = {"theta": np.ones(d), **options}
    return at.policy(name, n_features=d, costs=COSTS, seed=seed, **options)


def act_on(player, x, **given):
    """Return the decision to act on an item whatever the player thinks of it: a floor of one makes it an audit."""
    return player.settle(player.look(x, **given)._replace(floor=1.0))


def run(policy, items, labels, start=0, stop=None):
    decisions = []
    for x, label in list(zip(items, labels, strict=True))[start:stop]:
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
        decisions.append((decision.act, decision.probability, decision.why))
    return decisions
