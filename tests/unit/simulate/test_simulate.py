"""Playing: what is counted, against what, and with which costs."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import OptionError
from appletaste.policies import Learner
from appletaste.rules import Verdict


def test_results_by_hand():
    problem = at.problem("i", rounds=40)
    result = at.replicate(problem, [at.policies.PolicySpec("greedy", {})], 2, seed=3)[0]
    for r in range(2):
        key = at.Key(3).at("replication", r)
        table = problem.draw(key.at("problem"))
        trace = at.play(at.simulate.made_for(at.policies.PolicySpec("greedy", {}), table, key), table)
        best = table.best_actions
        assert result.acts[r] == trace.act.sum()
        assert result.precision[r] == (trace.act & best).sum() / trace.act.sum()
        assert result.recall[r] == (trace.act & best).sum() / best.sum()
        labels = table.labels.astype(bool)
        assert result.recall[r] != (trace.act & labels).sum() / labels.sum()  # against A*, not the class
        expected = [table.costs.regret(bool(a), p) for a, p in zip(trace.act, table.chances, strict=True)]
        np.testing.assert_allclose(result.curves[r], np.cumsum(expected), atol=1e-12)


def test_other_costs_change_the_regret_and_not_the_items():
    problem, entries = at.problem("i", rounds=50), [at.policies.PolicySpec("always", {})]
    plain = at.replicate(problem, entries, 3, seed=1)[0]
    dear = at.replicate(problem, entries, 3, seed=1, costs=at.Costs(miss=1, false_alarm=4, hit=0.05))[0]
    assert (dear.final_regret > 2 * plain.final_regret).all()


def test_a_policy_learns_only_where_it_acts():
    class Spy(Learner):
        def __init__(self):
            self.seen = []

        def start(self, n_features, key):
            return self

        def judge(self, x, costs, round_):
            return Verdict(float(round_ % 3 == 0), {})

        def commit(self, verdict, round_, act):
            pass

        def learn(self, observation):
            self.seen.append((observation.round, observation.label))

        def arrays(self):
            return {}

        def restore(self, arrays):
            pass

    table = at.problem("i", rounds=30).draw(at.Key(1))
    spy = Spy()
    at.play(at.Policy(spy, n_features=5, costs=table.costs), table)
    assert spy.seen == [(t, int(table.labels[t - 1])) for t in range(3, 31, 3)]


@pytest.mark.parametrize(("replications", "jobs"), [(0, 1), (2, 0)])
def test_mistakes(replications, jobs):
    with pytest.raises(OptionError):
        at.replicate(at.problem("i"), [at.policies.PolicySpec("never", {})], replications, jobs=jobs)
