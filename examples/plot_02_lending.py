"""
Lending: only granted loans speak
=================================

A lender earns interest on a loan that is paid back and loses most of a loan that is not. Whether an applicant pays is
seen only if the loan was granted. So a model that is fitted to granted loans never hears of the applicants it turned
down, and a mistake about them lasts for ever. Here *act* is to lend, and a gain is a negative cost.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

costs = at.Costs(miss=0.0, hit=-12.0, false_alarm=60.0)
print(f"lending pays from a chance of {costs.threshold:.2f} on that the loan is paid back")


def applicants(rng, n=4000):
    """Return applicants, one in five new in the country, and who pays back; of the new ones nearly all do."""
    new = (np.arange(n) % 5 == 0).astype(float)
    income, debt = rng.normal(size=n), rng.normal(size=n)
    X = np.column_stack([np.ones(n), income, debt, new, new * income])
    score = 0.5 + 1.2 * income - 1.0 * debt + new * (2.5 - 1.2 * income)
    return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


# %%
# Two lenders meet the same twenty streams of applicants. Both know last year's loans, which an old rule granted to high
# incomes and to nobody new in the country. ``greedy`` lends where that pays by the fit. ``voi`` also lends where the
# answer is worth more than it is expected to cost.

earned = {"greedy": [], "voi": []}
for stream in range(20):
    X, paid = applicants(np.random.default_rng(stream))
    granted = (np.arange(len(X)) < 400) & (X[:, 1] > 0.5) & (X[:, 3] == 0)
    for name, all_streams in earned.items():
        options = {"epsilon": 0.0} if name == "greedy" else {}
        policy = at.policy(name, n_features=5, costs=costs, seed=stream, **options)
        policy.learn_history(X[granted], paid[granted])
        gains = np.zeros(len(X) - 400)
        for k, x in enumerate(X[400:], 400):
            decision = policy.decide(x)
            if decision.act:
                policy.learn(decision, int(paid[k]))
                gains[k - 400] = -costs.hit if paid[k] else -costs.false_alarm
        all_streams.append(gains.cumsum())

# %%
# The lines are means over the streams, the bands two standard errors.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, curves in earned.items():
    mean, error = np.mean(curves, axis=0), np.std(curves, axis=0, ddof=1) / np.sqrt(len(curves))
    axis.plot(mean, label=name)
    axis.fill_between(np.arange(len(mean)), mean - 2 * error, mean + 2 * error, alpha=0.2)
axis.set(xlabel="applicants", ylabel="earned so far", title="A lender who never asks, and one who does")
axis.legend(frameon=False)
plt.show()
