"""What is compiled ahead is what learning asks for."""

import numpy as np

import appletaste as at
from appletaste.cli import warm
from appletaste.kernels import ahead, linear, logistic, renewal, surprises
from appletaste.kernels._jit import INTERPRETED


def test_a_renewal_compiled_ahead_has_the_types_of_one_that_learning_asks_for():
    """Kernels with a second signature would be compiled twice, ahead in vain."""
    ahead.compile_renewal()
    policy = at.policy("voi", n_features=3, costs=at.Costs(miss=1, false_alarm=1, hit=0))
    for x in np.eye(3):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, 1)
    for kernel in (renewal.advance, renewal.begin, renewal.take_step, linear.invert, logistic.fit):
        assert INTERPRETED or len(kernel.signatures) == 1


def test_a_service_compiles_what_items_that_come_together_need():
    """Or its first callers would wait for it, and ``decide_many`` compile the same kernel once more."""
    assert len(warm.play_together()) == 3
    at.policy("voi", n_features=3, costs=at.Costs(miss=1, false_alarm=1, hit=0)).decide_many(np.eye(3))
    assert INTERPRETED or len(surprises.weigh_many_surprises.signatures) == 1
