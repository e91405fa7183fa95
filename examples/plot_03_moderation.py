"""
Moderation with few reviewers
=============================

Posts are reported faster than a team can read them. The team reads a fixed share. Which posts should it read, and what
would one more reader be worth? A ``Desk`` never goes over its budget, gives its reads to the posts that are worth most,
and names the price of a read.
"""

import matplotlib.pyplot as plt
import numpy as np

import appletaste as at

costs = at.Costs(miss=10.0, false_alarm=1.0, hit=1.0)
rng = np.random.default_rng(4)
n = 6000
posts = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
harmful = (rng.random(n) < 1 / (1 + np.exp(3.0 - posts @ [0, 1.2, -0.8, 0.5, 0]))).astype(int)


def read(share):
    """Return what reading a share of the posts saved for each post, and the price of a read at the end."""
    policy = at.policy(n_features=5, costs=costs, seed=1)
    desk = at.Desk(policy, at.Budget(share=share, window=500))
    saved = 0.0
    for x, label in zip(posts, harmful, strict=True):
        decision = desk.decide(x)
        if decision.act:
            desk.learn(decision, int(label))
            saved += costs.catch_gain if label else -costs.alarm_price
    return saved / n, desk.shadow_price


# %%
# The more the team can read the more is saved, and the less the next read is worth. Where the price reaches 0 another
# reader would have nothing to do that pays.

shares = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4])
saved, price = np.array([read(float(share)) for share in shares]).T

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(100 * shares, 1000 * saved, marker="o")
left.set(xlabel="posts that can be read, %", ylabel="saved for 1,000 posts", title="What reading saves", ylim=(0, None))
right.plot(100 * shares, price, marker="o", color="C1")
right.set(xlabel="posts that can be read, %", ylabel="price of one more read", title="What one more read is worth")
plt.show()
