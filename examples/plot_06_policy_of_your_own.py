"""
A policy of your own
====================

A policy is a posterior and a rule. A rule is one method: what is believed of an item's score, with the costs, goes in,
and a probability of acting comes out. Here is a rule that acts where the chance of being right is large enough, on the
bench beside the built-in ones.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at


@dataclass(frozen=True)
class Hopeful(at.rules.Memoryless):
    """Act iff acting is best with a probability of at least ``hope``, which shrinks the patience as rounds go by."""

    hope: float = 0.05

    def judge(self, score, costs, x, round_):
        """Return 1 where P(acting is best) reaches a bar that rises from ``hope`` to one half."""
        bar = 0.5 - (0.5 - self.hope) / np.sqrt(1 + round_ / 100)
        best = score.above(costs.score_threshold)
        return at.rules.Verdict(float(best >= bar), {"best": best, "bar": bar})


# %%
# The rule works with every posterior. Everything else (checking items, drawing, late labels, saving the log) is there.

hopeful = at.policies.Bayesian(at.posteriors.Laplace(), Hopeful())

# %%
# Thirty streams of the paper's problem (i), the same for everybody. Regret is what was lost against knowing the truth.

regret = {"hopeful": [], "voi": [], "pg-ts": [], "greedy": []}
for stream in range(30):
    table = at.problem("i").draw(at.Key(stream))
    for name, curves in regret.items():
        common = {"n_features": table.n_features, "costs": table.costs, "seed": stream}
        policy = at.Policy(hopeful, **common) if name == "hopeful" else at.policy(name, **common)
        curves.append(table.regret_of(at.play(policy, table).act).cumsum())

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, curves in regret.items():
    mean, error = np.mean(curves, axis=0), np.std(curves, axis=0, ddof=1) / np.sqrt(len(curves))
    axis.plot(mean, label=name)
    axis.fill_between(np.arange(len(mean)), mean - 2 * error, mean + 2 * error, alpha=0.2)
axis.set(xlabel="rounds", ylabel="regret so far", title="The paper's problem (i)")
axis.legend(frameon=False)
plt.show()
