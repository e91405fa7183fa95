"""Items and costs at the door of a policy: what NumPy would turn into numbers without a word is refused."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import FeedbackError, InputError

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def made(name="voi", n_features=2, **options):
    return at.policy(name, n_features=n_features, costs=COSTS, **options)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (np.ma.array([1.0, 2.0], mask=[True, False]), "feature 0 is nan"),
        (np.ma.array([1, 2], mask=[False, True]), "feature 1 is nan"),
        (np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"), "must be 2 numbers"),
        (np.array([1, 2], dtype="timedelta64[D]"), "must be 2 numbers"),
        (np.array([1 + 2j, 3]), "must be 2 numbers"),
    ],
)
def test_what_is_masked_a_date_or_complex_is_no_number(item, message):
    policy = made()
    with pytest.raises(InputError, match=message):
        policy.decide(item)
    with pytest.raises(InputError, match=r"of item 0 is nan|rows of 2 numbers"):
        policy.decide_many(item[np.newaxis])
    assert policy.round == 0


def test_a_number_beyond_all_floats_is_refused():
    policy = made()
    for ask in (lambda: policy.decide([10**5000, 1]), lambda: policy.decide_many([[1, 2], [1, 10**400]])):
        with pytest.raises(InputError, match="too large: features must be finite and below 1e100"):
            ask()
    assert policy.round == 0


def test_other_arrays_of_numbers_are_taken_as_they_are():
    for item in ([1, 2.5], [True, False], np.array([1, 2], dtype=object), np.float32([1, 2]), ["1", "2"]):
        np.testing.assert_array_equal(made().decide(item).x, np.array(item, dtype=np.float64))
    plain = np.ma.array([1.0, 2.0])
    np.testing.assert_array_equal(made().decide(plain).x, [1.0, 2.0])
    turned = np.asfortranarray([[1.0, 2.0], [3.0, 4.0]])
    decisions = made().decide_many(turned)
    np.testing.assert_array_equal(decisions.items, turned)
    assert not np.shares_memory(decisions.items, turned)


def test_usual_costs_leave_something_to_decide():
    policy = made()
    with pytest.raises(InputError, match="nothing to decide"):
        policy.reprice(at.Costs.of_item(miss=3, false_alarm=5, hit=5))
    assert policy.costs == COSTS
    policy.reprice({"miss": 2, "false_alarm": 1, "hit": 0})
    assert policy.costs.miss == 2.0


def test_somebody_may_act_on_an_item_with_a_slot_of_a_level():
    rows = {"shop": [f"s{k % 400}" for k in range(2000)], "amount": [float(k % 50) for k in range(2000)]}
    features = at.Encoder(many=True).fit(rows)
    policy = made(n_features=features.n_features, groups=features.groups)
    assert policy.slots
    decision = policy.decide(features.transform({"shop": "s3", "amount": 2.0}))
    policy.enact(decision, True)
    before = policy.chance(decision.x)
    policy.learn(decision._replace(act=True), 1)
    assert policy.chance(decision.x) > before


def test_a_label_is_changed_once_in_a_revision():
    policy = made()
    decision = policy.decide([1.0, 0.0])
    policy.learn(decision, 1)
    before = policy.chance([1.0, 0.0])
    with pytest.raises(FeedbackError, match="label of round 1 is changed twice"):
        policy.revise([(decision, None), (decision, 0)])
    assert policy.chance([1.0, 0.0]) == before
    with pytest.raises(FeedbackError, match="learnt already"):
        policy.learn(decision, 1)
