"""Sparse input: the same decisions as with dense rows, bit for bit."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import appletaste as at
from appletaste import _sparse as own
from appletaste.history import labelled

from ...players import decided

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
FORMS = [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix]


def made(n=60, d=12, seed=2):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, d)) < 0.2, rng.normal(size=(n, d)), 0.0)
    dense[:, 0] = 1.0
    labels = (rng.random(n) < 1 / (1 + np.exp(1 - 2 * dense[:, 1]))).astype(int)
    return dense, labels


def policies(d=12, name="voi"):
    return [at.policy(name, n_features=d, costs=COSTS, seed=4) for _ in range(2)]


@pytest.mark.parametrize("form", FORMS)
def test_rows_decide_and_learn_as_dense_ones_do(form):
    dense, labels = made()
    rows = form(dense).tocsr()
    one, other = policies()
    for k, label in enumerate(labels):
        mine, plain = one.decide(rows[[k]]), other.decide(dense[k])
        assert (mine.act, mine.probability) == (plain.act, plain.probability)
        assert (mine.x == dense[k]).all()
        one.teach(rows[[k]], int(label))
        other.teach(dense[k], int(label))
        if mine.act:
            one.learn(mine._replace(x=rows[[k]]), int(label))
            other.learn(plain, int(label))
    assert (one.posterior.mean == other.posterior.mean).all()
    assert one.chance(rows[[3]]) == other.chance(dense[3])
    assert at.Desk(one).decide(rows[[4]]).probability == at.Desk(other).decide(dense[4]).probability


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["voi", "ts", "pg-ts"])
@pytest.mark.parametrize("most", [own.BLOCK_BYTES, 8 * 12 * 7])
def test_tables_decide_as_dense_ones_do_in_blocks_or_not(form, name, most, monkeypatch):
    monkeypatch.setattr(own, "BLOCK_BYTES", most)
    dense, labels = made()
    one, other = policies(name=name)
    mine, plain = one.decide_many(form(dense)), other.decide_many(dense)
    assert (mine.acts == plain.acts).all()
    assert (mine.probabilities == plain.probabilities).all()
    assert mine.first_round == plain.first_round
    assert [decided(decision) for decision in mine] == [decided(decision) for decision in plain]
    assert one.round == other.round == len(dense)
    assert (mine[7].x == dense[7]).all()
    assert (mine[-1].x == dense[-1]).all()
    for place in np.flatnonzero(mine.acts)[:5]:
        one.learn(mine[place], int(labels[place]))
    assert len(one.decide_many(form(dense[:0]))) == 0


def test_a_capacity_holds_for_sparse_tables():
    dense, _ = made()
    one, other = policies()
    mine, plain = one.decide_many(sparse.csr_array(dense), capacity=5), other.decide_many(dense, capacity=5)
    assert mine.acts.tolist() == plain.acts.tolist()
    assert mine.acts.sum() == 5


def test_entries_given_twice_add_up():
    twice = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    rows = own.SparseRows(twice)
    assert rows[0].tolist() == [0.0, 3.0]
    assert twice.nnz == 3  # the user's own is left alone
    assert [row.tolist() for row in rows] == rows.dense().tolist() == [[0.0, 3.0], [4.0, 0.0]]
    with pytest.raises(IndexError):
        rows[2]


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(1, 6), st.integers(1, 400))
def test_blocks_are_the_table(seed, n, d, most):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, d)) < 0.4, rng.normal(size=(n, d)), 0.0)
    rows = own.SparseRows(sparse.coo_array(dense))
    before, own.BLOCK_BYTES = own.BLOCK_BYTES, most
    try:
        blocks = list(rows.blocks())
    finally:
        own.BLOCK_BYTES = before
    assert all(len(block) for block in blocks)
    assert (np.concatenate([np.zeros((0, d)), *blocks]) == dense).all()
    order = rng.permutation(n)
    assert (rows[order].dense() == dense[order]).all()


def test_what_is_wrong_is_said_before_anything_is_decided():
    dense, _ = made()
    dense[40, 3] = np.nan
    policy = policies()[0]
    with pytest.raises(at.errors.InputError, match="feature 3 of item 40 is nan"):
        policy.decide_many(sparse.csr_array(dense))
    assert policy.round == 0
    with pytest.raises(at.errors.InputError, match=r"items must have shape \(n, 12\)"):
        policy.decide_many(sparse.csr_array(dense[:, :5]))
    with pytest.raises(at.errors.InputError, match=r"sparse table of shape \(60, 12\); decide_many"):
        policy.decide(sparse.csr_array(dense))
    with pytest.raises(at.errors.InputError, match=r"shape \(12,\)"):
        policy.decide(sparse.csr_array(dense[:1, :5]))
    with pytest.raises(at.errors.InputError, match=r"feature 3 is nan.*at\.Encoder"):
        policy.decide(sparse.csr_array(dense[40:41]))


def test_a_replay_takes_matrices():
    dense, labels = made(n=300)
    table = {f"x{k:02}": dense[:, k] for k in range(12)} | {"bad": labels}
    encoder = at.Encoder(standardise=False, clip=None, intercept=False)
    known = at.replay(table, "bad", costs=COSTS, shuffles=2, encoder=encoder)
    for matrix in (dense, sparse.csr_array(dense)):
        found = at.replay(matrix, labels, costs=COSTS, shuffles=2, policies=["voi"])
        assert found["voi"].cost_per_1000 == known["voi"].cost_per_1000
        assert found["never"].cost_per_1000 == known["never"].cost_per_1000
    flipped = at.replay(sparse.csr_array(dense), 1 - labels, costs=COSTS, shuffles=1, flip_label=True)
    assert flipped["never"].cost_per_1000.mean == pytest.approx(known["never"].cost_per_1000.mean)


def test_a_wide_encoding_is_kept_sparse(monkeypatch):
    rng = np.random.default_rng(1)
    table = {"job": [f"j{k}" for k in rng.integers(0, 40, 300)], "bad": rng.integers(0, 2, 300)}
    encoder = at.Encoder(hashing=64)
    dense = at.replay(table, "bad", costs=COSTS, shuffles=2, encoder=encoder)
    monkeypatch.setattr(labelled, "MOST_DENSE", 1000)
    records = labelled.read_labelled(table, "bad").records
    assert isinstance(labelled.encode(encoder, records)[0], own.SparseRows)
    assert at.replay(table, "bad", costs=COSTS, shuffles=2, encoder=encoder)["voi"].cost_per_1000 == (
        dense["voi"].cost_per_1000
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "bad"}, "labels of a matrix are a separate array"),
        ({"label": None}, "labels of a matrix are a separate array"),
        ({"label": [0, 1]}, "needs 60 labels"),
        ({"label": [0, 1, np.nan] * 20}, "the label of row 2 is nan.*learn_history"),
        ({"label": [0, 1, 2] * 20}, "the label of row 2 is 2"),
        ({"label": [0] * 60}, "every label of the matrix is 0"),
        ({"time": "day"}, "time='day' names columns"),
        ({"drop": ["a"]}, "drop=.* names columns"),
        ({"encoder": at.Encoder()}, "leave out encoder="),
    ],
)
def test_matrices_that_cannot_be_replayed(change, message):
    dense, labels = made()
    with pytest.raises(at.AppleTasteError, match=message):
        at.replay(sparse.csr_array(dense), **{"label": labels, "costs": COSTS, **change})


def test_scipy_is_not_imported_for_dense_rows():
    code = "import sys, appletaste as at; at.policy(n_features=2, costs=at.Costs(1, 1, 0)).decide([1, 2])"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'scipy.sparse' not in sys.modules"], check=True)


@pytest.mark.parametrize("name", ["voi", "pg-ts", "greedy", "cbp-side", "suplogistic"])
def test_too_many_features_are_refused_with_a_remedy(name):
    with pytest.raises(at.errors.InputError, match=r"262154 features are too many.*549\.8 GB.*hashing"):
        at.policy(name, n_features=262_154, costs=COSTS, **({"horizon": 100} if name == "suplogistic" else {}))
    assert at.policy("never", n_features=262_154, costs=COSTS).decide(sparse.csr_array((1, 262_154))).act is False


def test_the_place_of_every_entry_also_after_empty_rows():
    table = sparse.csr_array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0], [0.0, 5.0]])
    rows = own.SparseRows(table)
    assert [rows.place(entry) for entry in range(3)] == [(1, 0), (1, 1), (3, 1)]
