"""Partly labelled histories: learnt where there is a label, skipped where there is none."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import appletaste as at

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)


def reviewed(n=400, seed=6):
    rng = np.random.default_rng(seed)
    items = np.column_stack([np.ones(n), rng.normal(size=n)])
    labels = (rng.random(n) < 1 / (1 + np.exp(1 - 2 * items[:, 1]))).astype(int)
    return items, labels, items[:, 1] > rng.normal(size=n)  # what looks bad is reviewed


def start(name="voi"):
    return at.policy(name, n_features=2, costs=COSTS, seed=3)


@pytest.mark.parametrize("name", ["voi", "adf-voi", "pg-ts", "cbp-side", "greedy"])
@pytest.mark.parametrize("absent", [None, np.nan, -1])
def test_it_is_learning_the_labels_that_there_are(name, absent):
    items, labels, known = reviewed(120)
    policy, taught = start(name), start(name)
    given = [int(label) if seen else absent for label, seen in zip(labels, known, strict=True)]
    found = policy.learn_history(items, given)
    assert found == (known.sum(), (~known).sum(), labels[known].sum())
    for x, label in zip(items[known], labels[known], strict=True):
        taught.teach(x, int(label))
    assert policy.round == 0
    for x in items[:20]:
        mine, other = policy.decide(x), taught.decide(x)
        assert (mine.act, mine.probability) == (other.act, other.probability)


def test_unknown_is_not_negative():
    """4 standard deviations hold the truth (-1, 2); taken as negatives the unlabelled rows would move it out."""
    items, labels, known = reviewed(4000)
    right, wrong = start(), start()
    right.learn_history(items, np.where(known, labels, -1))
    wrong.learn_history(items, np.where(known, labels, 0))
    for policy, good in ((right, True), (wrong, False)):
        spread = np.sqrt(np.diag(policy.posterior.covariance))
        assert bool((np.abs(policy.posterior.mean - [-1, 2]) < 4 * spread).all()) is good


def test_labels_of_1_and_minus_1_are_not_taken_for_positives_alone():
    items, labels, _ = reviewed(50)
    policy = start()
    with pytest.raises(at.errors.InputError, match="write 0 for a negative"):
        policy.learn_history(items, 2 * labels - 1)
    assert policy.chance([1.0, 0.0]) == start().chance([1.0, 0.0])
    assert policy.learn_history(items, [1 if label else None for label in labels]).positives == labels.sum()


def test_a_missing_label_of_pandas_is_a_missing_label():
    items, labels, known = reviewed(50)
    given = pd.array(np.where(known, labels, 0), dtype="Int64")
    given[~known] = pd.NA
    assert start().learn_history(items, given) == start().learn_history(items, np.where(known, labels, -1))


def test_a_history_may_be_sparse_and_can_be_saved(tmp_path):
    items, labels, known = reviewed(100)
    one, other = start(), start()
    one.learn_history(csr_array(items), np.where(known, labels, -1))
    other.learn_history(items, np.where(known, labels, -1))
    assert (one.posterior.mean == other.posterior.mean).all()
    one.save(tmp_path / "it")
    assert (at.load(tmp_path / "it").posterior.mean == other.posterior.mean).all()


@pytest.mark.parametrize(
    ("labels", "message"),
    [([1, 0], "3 items need 3 labels"), ([1, 2, 0], "row 1 is 2"), ([1, "yes", 0], "row 1 is 'yes'")],
)
def test_what_is_wrong_is_said_and_nothing_learnt(labels, message):
    policy = start()
    with pytest.raises(at.errors.InputError, match=message):
        policy.learn_history(np.ones((3, 2)), labels)
    assert (policy.posterior.mean == start().posterior.mean).all()


def test_tables_with_missing_labels_are_read_when_asked(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text("age,job,bad\n31,student,yes\n58,retired,\n45,chef,no\n29,chef,?\n")
    with pytest.raises(at.errors.DataError, match=r"line 3: no label.*unlabelled=True"):
        at.read_records(path, label="bad")
    records = at.read_records(path, label="bad", unlabelled=True)
    assert records.labels.tolist() == [1, -1, 0, -1]
    assert records[1:].labels.tolist() == [-1, 0, -1]
    whole = at.read_records(path, label="bad", unlabelled=True, positive="no")
    assert whole.labels.tolist() == [0, -1, 1, -1]
    with pytest.raises(at.errors.DataError, match=r"line 3: no label, as in 2 of 4 rows.*learn_history"):
        at.replay(path, "bad", costs=COSTS, unlabelled=True)
    with pytest.raises(at.errors.DataError, match=r"line 3: no label"):
        at.replay(records, costs=COSTS)
    with pytest.raises(at.errors.DataError, match=r"line 3: no label"):
        at.replay(path, "bad", costs=COSTS)


def test_one_class_and_none():
    with pytest.warns(at.errors.OneClassWarning, match="every label"):
        at.read_records({"x": [1, 2], "bad": ["yes", None]}, label="bad", unlabelled=True)
    with pytest.raises(at.errors.DataError, match="no row has a label"):
        at.read_records({"x": [1, 2], "bad": [None, None]}, label="bad", unlabelled=True)
