"""Small linear algebra against NumPy, at every shape that takes a different path."""

import numpy as np
import pytest

from appletaste.kernels import linear
from appletaste.kernels.linear import BLOCK, aligned_zeros
from appletaste.posteriors.label_table import Labels


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 20, 23])
@pytest.mark.parametrize("n", [1, 7, 8, 100, BLOCK])
def test_gram_and_scores(rng, d, n):
    features = aligned_zeros(d, 2 * BLOCK)
    features[:, :] = rng.normal(size=features.shape)
    weights = rng.random(BLOCK)
    start = 8
    matrix = np.zeros((d, d))
    linear.add_gram_block(matrix, features, start, n, weights, np.empty((4, BLOCK)))
    block = features[:, start : start + n]
    expected = (block * weights[:n]) @ block.T
    np.testing.assert_allclose(np.tril(matrix), np.tril(expected), rtol=1e-10, atol=1e-12)
    theta, out = rng.normal(size=d), np.empty(BLOCK)
    linear.score_block(features, start, n, theta, out)
    np.testing.assert_allclose(out[:n], theta @ block, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5, 9, 20, 23])
def test_factor_and_solves(rng, d):
    root = rng.normal(size=(d, d + 3))
    matrix = root @ root.T
    factor = matrix.copy()
    linear.cholesky(factor)
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(matrix), rtol=1e-8, atol=1e-10)
    factor = np.tril(factor)
    right = rng.normal(size=d)
    out = np.empty(d)
    linear.solve_forward(factor, right, out)
    np.testing.assert_allclose(factor @ out, right, rtol=1e-8, atol=1e-10)
    linear.solve_backward(factor, out)
    np.testing.assert_allclose(matrix @ out, right, rtol=1e-6, atol=1e-8)
    x = rng.normal(size=d)
    assert linear.inverse_norm(factor, x, np.empty(d)) == pytest.approx(np.sqrt(x @ np.linalg.solve(matrix, x)))
    linear.cholesky_update(factor, x.copy())
    np.testing.assert_allclose(factor @ factor.T, matrix + np.outer(x, x), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 9, 23, 40])
def test_inverse(rng, d):
    root = rng.normal(size=(d, d + 3))
    matrix, out = root @ root.T, np.full((d, d), 7.0)
    factor = matrix.copy()
    linear.cholesky(factor)
    linear.invert(factor, out, np.full((5, d + 1), 3.0))
    np.testing.assert_allclose(out @ matrix, np.eye(d), atol=1e-8)
    assert (out == out.T).all()


def test_rows_below_a_matrix_are_solved_along(rng):
    root = rng.normal(size=(6, 9))
    matrix, right = root @ root.T, rng.normal(size=6)
    system = np.vstack([matrix, right])
    linear.cholesky(system)
    np.testing.assert_allclose(system[6], np.linalg.solve(np.linalg.cholesky(matrix), right), rtol=1e-8)


def test_singular_matrices_get_a_factor_within_rounding():
    for scale in (1.0, 1e20, 1e-20):
        matrix = scale * np.ones((3, 3))  # rank one
        factor = matrix.copy()
        linear.cholesky(factor)
        factor = np.tril(factor)
        assert (np.diag(factor) > 0).all()
        np.testing.assert_allclose(factor @ factor.T, matrix, rtol=1e-14)


def test_labels_grow_without_loss(rng):
    labels = Labels(3)
    items = rng.normal(size=(300, 3))
    for i, x in enumerate(items):
        labels.add(x, i % 2)
    arrays = labels.arrays()
    assert (arrays["items"] == items).all()
    assert arrays["labels"].tolist() == [i % 2 for i in range(300)]
    again = Labels.from_arrays(arrays, 3)
    assert again.n == 300
    assert (again.features == labels.features).all()
