"""
A posterior of your own
=======================

A belief answers one question: how is the score of this item distributed? Whoever can answer that with a mean and a
variance can be played by every rule. Here is a simple one: a Gaussian for each coefficient, as if there were no others.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at


class Diagonal(at.posteriors.Belief):
    """One Gaussian for each coefficient, moved by one step of assumed-density filtering for each label."""

    def __init__(self, n_features):
        self.m, self.v = np.zeros(n_features), np.ones(n_features)

    def score(self, x, round_):
        return at.posteriors.NormalScore(float(x @ self.m), float(x**2 @ self.v), self.v * x)

    def learn(self, x, label, moment=None):
        chance = 1 / (1 + np.exp(-(x @ self.m) / np.sqrt(1 + np.pi / 8 * (x**2 @ self.v))))
        self.v = 1 / (1 / self.v + chance * (1 - chance) * x**2)
        self.m = self.m + self.v * x * (label - chance)

    def commit(self, round_): ...  # nothing changes without a label

    def arrays(self):
        return {"mv": np.array([self.m, self.v])}

    def restore(self, arrays):
        self.m, self.v = arrays["mv"].copy()


class EachByItself:  # the settings of the belief: there are none
    def start(self, n_features, key):
        return Diagonal(n_features)


# %%
# Both beliefs with two rules each, over twenty streams of the paper's problem (i).

beliefs = {("each by itself", "--"): EachByItself(), ("Laplace", "-"): at.posteriors.Laplace()}
rules = {("Thompson", "C0"): at.rules.Thompson(), ("value of information", "C1"): at.rules.ValueOfInformation()}
tables = [at.problem("i").draw(at.Key(stream)) for stream in range(20)]
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (belief, style), posterior in beliefs.items():
    for (rule, colour), judge in rules.items():
        lost = 0.0
        for table in tables:
            policy = at.Policy(at.policies.Bayesian(posterior, judge), n_features=5, costs=table.costs, seed=3)
            lost += table.regret_of(at.play(policy, table).act).cumsum() / 20
        axis.plot(lost, color=colour, linestyle=style, label=f"{rule}, {belief}")
axis.set(xlabel="rounds", ylabel="regret so far", title="Two beliefs, two rules")
axis.legend(frameon=False)
plt.show()
