"""
Quality inspection: how many faults leave the factory?
======================================================

Parts that pass uninspected are shipped, and nobody counts their faults. A few audits drawn by lot, with their exact
probabilities on record, are enough to say how many faults leave the factory, with an interval that holds whatever the
model thinks.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

costs = at.Costs(miss=30.0, false_alarm=2.0, hit=2.0)
rng = np.random.default_rng(8)
n = 12_000
parts = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
wear = 1.5 * (np.arange(n) > 7000) * (parts[:, 3] > 1)  # a tool wears out, and nobody is told
faulty = (rng.random(n) < 1 / (1 + np.exp(3.5 - parts @ [0, 1.0, 0.7, 0] - wear))).astype(int)

# %%
# A policy behind an audit lane: two of a hundred parts that would pass are inspected anyway.

ledger = at.streams.Ledger(at.Desk(at.policy(n_features=4, costs=costs, seed=2), audit=at.Audit(rate=0.02)))
for k, x in enumerate(parts):
    if ledger.decide(x, id=str(k)).act:
        ledger.label(str(k), int(faulty[k]))
log = ledger.log()
print(at.missed(log))

# %%
# The estimate for the first so many parts, from the log alone, beside the truth, which only a made-up factory knows.

ends = np.arange(2000, n + 1, 1000)
answers = [at.missed(log.where(np.arange(n) < end)).design.missed for end in ends]
truth = np.cumsum(faulty * ~log.act)[ends - 1]

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.fill_between(ends, [a.low for a in answers], [a.high for a in answers], alpha=0.25, label="90 % interval")
axis.plot(ends, [a.value for a in answers], label="estimate from the log")
axis.plot(ends, truth, color="black", linestyle="--", label="truth")
axis.set(xlabel="parts", ylabel="faulty parts shipped", title="Counting what nobody looked at")
axis.legend(frameon=False)
plt.show()
