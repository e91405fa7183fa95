"""Corrected and retracted labels: the posterior is the one that the right history would have given."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import FeedbackError, OptionError

from ...contract.entries import ENTRIES, IDS, act_on, make, stream

KEEPS = [pytest.param(*entry, id=name) for entry, name in zip(ENTRIES, IDS, strict=True) if entry[0] != "adf-voi"]


def learn(policy, items, labels, skip=()):
    """Decide on every item and learn the label of each, whatever was decided."""
    decisions = []
    for k, (x, label) in enumerate(zip(items, labels, strict=True)):
        decision = act_on(policy, x)
        decisions.append(decision)
        if k not in skip:
            policy.learn(decision, int(label))
    return decisions


@pytest.mark.parametrize(("name", "options"), KEEPS)
def test_what_is_stored_is_as_if_the_history_had_been_right(name, options):
    items, labels = stream(3)
    wrong, right = make(name, options), make(name, options)
    decisions = learn(wrong, items, np.where(np.arange(60) % 7 == 3, 1 - labels, labels))
    learn(right, items, labels, skip=(10, 20))
    for k in range(60):
        if k % 7 == 3 and k not in (10, 20):
            wrong.correct(decisions[k], int(labels[k]))
    wrong.retract(decisions[10])
    wrong.retract(decisions[20])
    stored, wanted = wrong.arrays(), right.arrays()
    assert stored.keys() == wanted.keys()
    for part in ("rounds", "items", "labels", "linear", "factor", "largest"):
        if part in wanted:
            np.testing.assert_array_equal(stored[part], wanted[part], err_msg=part)
    assert wrong.decide(items[0]).round == 61


@pytest.mark.parametrize("name", ["voi", "ts", "ucb", "ids"])
def test_a_gaussian_belief_is_the_same_bit_for_bit(name):
    items, labels = stream(3, n=500)
    wrong, right = make(name, {}), make(name, {})
    decisions = learn(wrong, items, 1 - labels)
    learn(right, items, labels, skip=range(400, 450))
    changes = [(decision, None if 400 <= k < 450 else int(labels[k])) for k, decision in enumerate(decisions)]
    wrong.revise(changes)
    assert (wrong.learner.belief.mean == right.learner.belief.mean).all()
    assert (wrong.learner.belief.covariance == right.learner.belief.covariance).all()
    assert wrong.chance(items[3]) == right.chance(items[3])
    assert wrong.chance(items[3]) != make(name, {}).chance(items[3])


def test_a_point_estimate_agrees_to_the_last_digits():
    items, labels = stream(3)
    for name in ("greedy", "cbp-side"):
        wrong, right = make(name, {}), make(name, {})
        decisions = learn(wrong, items, np.r_[1 - labels[:5], labels[5:]])
        learn(right, items, labels)
        wrong.revise([(decision, int(label)) for decision, label in zip(decisions[:5], labels[:5], strict=True)])
        assert wrong.chance(items[7]) == pytest.approx(right.chance(items[7]), rel=1e-7)


def test_a_corrected_policy_is_saved_and_continues(tmp_path):
    items, labels = stream(3)
    policy = make("voi", {})
    decisions = learn(policy, items, labels)
    policy.retract(decisions[4])
    policy.save(tmp_path / "saved")
    again = at.load(tmp_path / "saved")
    again.correct(decisions[5], 1 - int(labels[5]))
    policy.correct(decisions[5], 1 - int(labels[5]))
    assert again.probability(items[0]) == policy.probability(items[0])
    assert again.chance(items[0]) == policy.chance(items[0])
    with pytest.raises(FeedbackError, match="no label was learnt"):
        again.correct(decisions[4], 1)


def test_what_cannot_be_taken_back_is_refused_and_changes_nothing():
    items, labels = stream(3)
    policy = make("voi", {})
    decisions = learn(policy, items[:20], labels[:20], skip=(3,))
    before = policy.chance(items[0])
    with pytest.raises(FeedbackError, match="no label was learnt for the decision of round 4"):
        policy.correct(decisions[3], 1)
    with pytest.raises(FeedbackError, match="no label was learnt"):  # the same round of another policy
        policy.correct(decisions[2]._replace(x=items[30]), 1)
    with pytest.raises(FeedbackError, match=r"0 \(negative\) or 1"):
        policy.correct(decisions[2], 2)
    with pytest.raises(FeedbackError, match="was a pass"):
        policy.retract(decisions[2]._replace(act=False))
    with pytest.raises(FeedbackError, match="no label was learnt"):
        policy.revise([(decisions[2], 1 - int(labels[2])), (decisions[3], 1)])
    assert policy.chance(items[0]) == before
    filtered = make("adf-voi", {})
    decision = act_on(filtered, items[0])
    filtered.learn(decision, 1)
    with pytest.raises(OptionError, match="keeps no labels"):
        filtered.retract(decision)
    with pytest.raises(FeedbackError, match="no label was learnt"):
        make("always", {}).correct(decisions[0], 1)


@pytest.mark.parametrize(
    ("name", "each"), [("voi", 8), ("greedy", 8), ("suplogistic", 8), ("adf-voi", 0), ("always", 0)]
)
def test_remembering_rounds_costs_eight_bytes_a_label(name, each):
    """And nothing where labels are not kept: there is nothing to find again."""
    items, labels = stream(3)
    policy = make(name, {})
    decisions = learn(policy, items, labels, skip=(7, 8))
    rounds = policy.arrays()["rounds"]
    assert rounds.nbytes == each * 58
    assert rounds.tolist() == (
        [decision.round for k, decision in enumerate(decisions) if k not in (7, 8)] if each else []
    )


def test_a_label_that_somebody_simply_has_is_of_no_round():
    policy = make("ts", {})
    policy.teach(np.ones(3), 1)
    decision = act_on(policy, np.ones(3))
    policy.learn(decision, 0)
    policy.learn_history(np.ones((2, 3)), [1, None])
    assert policy.arrays()["rounds"].tolist() == [0, 1, 0]
    policy.retract(decision)
    assert policy.arrays()["rounds"].tolist() == [0, 0]
