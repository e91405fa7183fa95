"""Sums by non-zeros against plain NumPy: Gram matrices, quadratic forms, a renewal, and the memory of ``voi``."""

import numpy as np
import pytest

from appletaste.kernels import gaussian, renewal, sparse, value
from appletaste.kernels.linear import BLOCK
from appletaste.kernels.logistic import make_work
from appletaste.posteriors.label_table import Labels


def sparse_items(rng, n, d, nonzeros):
    """Items with so many non-zeros; of the first three one is all zeros, one has a single entry, one negative zeros."""
    items = np.zeros((n, d))
    for x in items:
        x[rng.choice(d, size=nonzeros, replace=False)] = rng.normal(size=nonzeros)
    if n > 2:
        items[0], items[1] = 0.0, -0.0
        items[2], items[2, d // 2] = 0.0, 1.5
    return items


@pytest.mark.parametrize("d", [1, 3, 40, 57, 200])
@pytest.mark.parametrize("nonzeros", [0, 1, 7])
@pytest.mark.parametrize("n", [1, 8, 13, 64])
def test_gram_matrices_and_forms_by_non_zeros(rng, d, nonzeros, n):
    items = sparse_items(rng, n, d, min(d, nonzeros))
    block, start, work = np.zeros((d, BLOCK)), 5, np.empty((sparse.SPARSE_ROWS, BLOCK))
    block[:, start : start + n] = items.T
    assert sparse.is_sparse(block, start, n) == (d >= sparse.FEWEST)
    weights, matrix = rng.random(BLOCK), rng.normal(size=(d, d))
    expected = matrix + (items.T * weights[:n]) @ items
    sparse.add_gram(matrix, block, start, n, weights, work)
    np.testing.assert_allclose(np.tril(matrix), np.tril(expected), rtol=1e-12, atol=1e-12)
    symmetric, out = matrix + matrix.T, np.full(n + 1, 9.0)
    doubled = 2.0 * np.tril(symmetric, -1) + np.diag(symmetric.diagonal())
    sparse.square_forms(doubled, block, start, n, out, work)
    np.testing.assert_allclose(out[:n], np.einsum("ni,ij,nj->n", items, symmetric, items), rtol=1e-10, atol=1e-10)
    assert out[n] == 9.0


def test_dense_items_are_not_taken_for_sparse(rng):
    assert not sparse.is_sparse(rng.normal(size=(200, BLOCK)), 0, 64)


@pytest.mark.parametrize("nonzeros", [4, 48])
def test_a_pass_sums_what_the_formulas_say(rng, nonzeros):
    d, n, rows = 48, 100, 70
    items, labels = sparse_items(rng, n, d, nonzeros), Labels(d)
    for x in items:
        labels.add(x, int(rng.random() < 0.5))
    root = rng.normal(size=(d, 2 * d))
    V, mode = np.linalg.inv(root @ root.T), rng.normal(size=d)
    prior, belief = np.vstack([np.eye(d), np.zeros(d)]), np.zeros((gaussian.COVARIANCE + d, d))
    belief[gaussian.MODE] = belief[gaussian.MEAN] = mode
    belief[gaussian.COVARIANCE :] = V
    sums, marks = renewal.make_renewal(d)
    work, _ = make_work(d)
    renewal.begin(np.uint64(7), n, belief, prior, sums, marks, work)
    arrays = labels.features, labels.values
    assert not renewal.advance(rows, *arrays, n, True, sums, marks, work)
    seen, y = items[:rows], labels.values[:rows]
    p = 1 / (1 + np.exp(-seen @ mode))
    w, skew = p * (1 - p), p * (1 - p) * (1 - 2 * p) * np.einsum("ni,ij,nj->n", seen, V, seen)
    np.testing.assert_allclose(sums[renewal.GRADIENT], (y - p) @ seen - mode, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sums[renewal.SKEW], skew @ seen, rtol=1e-9, atol=1e-9)
    hessian = sums[renewal.HESSIAN : renewal.HESSIAN + d]
    np.testing.assert_allclose(np.tril(hessian), np.tril(np.eye(d) + (seen.T * w) @ seen), rtol=1e-9, atol=1e-9)
    # the probes are draws from the belief: whitened, they are standard normal (8 x 48 squares, 4 standard errors)
    probes = sums[renewal.HESSIAN + 2 * d :]
    squares = np.linalg.solve(np.linalg.cholesky(V), (probes - mode).T) ** 2
    assert squares.mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / squares.size))


@pytest.mark.parametrize("d", [1, 2, 17, 50])
@pytest.mark.parametrize("ahead", [value.SHARED, value.DOUBLE])
def test_the_memory_is_its_running_means(rng, d, ahead):
    kinds = 1 if ahead == value.SHARED else 2
    memory, settings = np.zeros((kinds * d + 1, d)), np.zeros(value.COUNTED + 1)
    settings[value.AHEAD] = ahead
    expected, smallest = np.zeros((2, d, d)), 1.0
    items = sparse_items(rng, 450, d, 1 + d // 5)
    for t, x in enumerate(items):  # shares of 1/2: the number that multiplies the matrices is soon too small
        share, boundary, inflow, act = (1.0 if t == 0 else 0.5), (t % 3) * rng.random(), rng.random(), t % 2 == 0
        value.remember(x, act, memory, settings, share, boundary, inflow)
        expected *= 1.0 - share
        expected[0] += share * boundary * np.outer(x, x)
        expected[1] += share * inflow * act * np.outer(x, x)
        smallest = min(smallest, memory[-1, 0])
        v = rng.normal(size=d)
        found = value.forms(memory, v, kinds == 2)
        wanted = v @ expected[0] @ v, v @ expected[1] @ v if kinds == 2 else 0.0
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-300)
    assert smallest < 1e-90
    assert memory[-1, 0] > value.SMALL
    for kind in range(kinds):
        assert not np.triu(memory[kind * d : (kind + 1) * d], 1).any()  # rows are read beyond the diagonal


def test_items_written_out_are_the_same_memory(rng):
    d, n = 20, 5
    items, settings = sparse_items(rng, n, d, 4), np.zeros(value.COUNTED + 1)
    settings[value.AHEAD] = value.DOUBLE
    rows, shares, memory, written = (
        np.zeros((n, d)),
        np.zeros((2, n)),
        np.zeros((2 * d + 1, d)),
        np.zeros((2 * d + 1, d)),
    )
    for t, x in enumerate(items):
        share, act = 3.0 / (t + 3.0), t != 1
        value.remember(x, act, memory, settings, share, 0.3, 0.2)
        value.remember_item(x, act, rows, shares, t, share, 0.3, 0.2)
    value.write_memory(rows, shares, n, written)
    v = rng.normal(size=d)
    np.testing.assert_allclose(value.forms(written, v, True), value.forms(memory, v, True), rtol=1e-12)
    np.testing.assert_allclose(value.item_forms(v, rows, shares, n), value.forms(memory, v, True), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 4, 6])
@pytest.mark.parametrize("gain", [3.0, 1e4, -0.4])
def test_a_precision_is_added_as_by_inversion(rng, size, gain):
    d = 11
    root = rng.normal(size=(d, 3 * d))
    precision = root @ root.T / d + np.eye(d)
    V, places, added = np.linalg.inv(precision), rng.choice(d, size=size, replace=False), np.zeros(d)
    added[places] = gain
    belief = np.zeros((gaussian.COVARIANCE + d, d))
    belief[gaussian.MODE], belief[gaussian.MEAN] = mode, mean = rng.normal(size=(2, d))
    belief[gaussian.COVARIANCE :] = V
    renewal.add_precision(belief, places, gain, np.empty((size + d + 2, size)), np.empty((size, d)))
    after = np.linalg.inv(precision + np.diag(added))
    np.testing.assert_allclose(belief[gaussian.COVARIANCE :], after, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(belief[gaussian.MODE], after @ precision @ mode, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(belief[gaussian.MEAN], after @ precision @ mean, rtol=1e-9, atol=1e-12)


def test_scales_are_shared_out_by_bayes_with_weights_learnt_along(rng):
    likely, usual = rng.random((6, 4)), np.array([0.7, 0.1, 0.1, 0.1])
    shares, weights = np.empty_like(likely), usual
    renewal.share_out(np.log(likely) - 900.0, usual, 5.0, 20, shares, np.empty(4))
    for _ in range(20):
        expected = weights * likely / (likely @ weights)[:, None]
        weights = (5.0 * usual + expected.sum(axis=0)) / (5.0 + 6)
    np.testing.assert_allclose(shares, expected, rtol=1e-12)
