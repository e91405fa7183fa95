"""A stream of a hundred items with nothing but the wheel and what it needs: decide, learn, save, load, go on."""

import random

import appletaste as at

assert "site-packages" in at.__file__, f"this is not the wheel: {at.__file__}"
random.seed(1)
policy = at.policy(n_features=3, costs=at.Costs(miss=5, false_alarm=1, hit=0), seed=7)
for _ in range(100):
    x = [1.0, random.gauss(0, 1), random.gauss(0, 1)]
    decision = policy.decide(x)
    if decision.act:
        policy.learn(decision, int(x[1] > 0.5))
policy.save("policy.at")
again = at.load("policy.at")
ours, theirs = again.decide([1.0, 2.0, 0.0]), policy.decide([1.0, 2.0, 0.0])
assert (ours.act, ours.probability, ours.chance) == (theirs.act, theirs.probability, theirs.chance)
