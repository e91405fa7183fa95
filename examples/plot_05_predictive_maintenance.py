"""
Predictive maintenance: machines that change
============================================

A check of a machine costs a little, a breakdown costs much, and whether a machine was about to fail is seen only if
somebody opens it. Halfway through, the fleet is refitted, and what pointed to a failure points elsewhere. A policy with
a half-life forgets what is old, and an alarm says that something has changed.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

costs = at.Costs(miss=20.0, false_alarm=2.0, hit=2.0)
n, refit = 8000, 4000
rng = np.random.default_rng(3)
readings = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
before, after = np.array([-2.8, 1.5, 0.0, 0.3]), np.array([-2.8, 0.0, 1.5, 0.3])
score = np.where(np.arange(n) < refit, readings @ before, readings @ after)
failing = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def played(half_life):
    """Return the decision log of a policy that forgets, or does not."""
    ledger = at.streams.Ledger(at.policy(n_features=4, costs=costs, seed=5, half_life=half_life))
    for k, x in enumerate(readings):
        if ledger.decide(x, id=str(k)).act:
            ledger.label(str(k), int(failing[k]))
    return ledger.log()


logs = {"remembers everything": played(None), "half-life of 1,000 readings": played(1000)}

# %%
# The alarms read the log alone.

for alarm in at.drift.check(logs["remembers everything"], names=["always 1", "heat", "vibration", "age"]):
    print(alarm)

# %%
# Cost of 500 readings at a time. Forgetting costs a little while nothing changes, and saves much when something does.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, log in logs.items():
    cost = np.where(log.act, np.where(failing, costs.hit, costs.false_alarm), np.where(failing, costs.miss, 0.0))
    axis.plot(np.arange(250, n, 500), cost.reshape(-1, 500).mean(axis=1), marker=".", label=name)
axis.axvline(refit, color="0.6", linestyle=":")
axis.text(refit, 1.0, " refit", color="0.4")
axis.set(xlabel="readings", ylabel="cost of a reading", title="Forgetting, before and after a change")
axis.legend(frameon=False)
plt.show()
