"""Sums of chances in batches are those of NumPy, also where a score is out of reach of exp."""

import numpy as np

from appletaste.evaluate import by_model as sums
from appletaste.evaluate.by_model import chance_sums


def test_sums_are_those_of_numpy(monkeypatch):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((500, 4)) * [1.0, 5.0, 50.0, 1000.0]
    thetas = rng.standard_normal((37, 4))
    chosen = rng.random(500) < 0.7
    group = np.where(chosen, rng.integers(0, 3, 500), -1).astype(np.int8)
    with np.errstate(over="ignore"):
        chance = 1.0 / (1.0 + np.exp(-x[chosen] @ thetas.T))
    expected = chance.sum(axis=0), (chance * (1.0 - chance)).sum(axis=0)
    found = chance_sums(x, group, 3, thetas)
    np.testing.assert_allclose(found[0].sum(axis=0), expected[0], rtol=1e-12)
    np.testing.assert_allclose(found[1].sum(axis=0), expected[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[0][1], chance[group[chosen] == 1].sum(axis=0), rtol=1e-12)
    monkeypatch.setattr(sums, "DRAWS", 5)
    monkeypatch.setattr(sums, "ITEMS", 16)
    np.testing.assert_allclose(chance_sums(x, group, 3, thetas), found, rtol=1e-12)


def test_pairs_are_the_same_draws(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((400, 4)) * [1.0, 5.0, 50.0, 1000.0]
    middle, steps = rng.standard_normal(4), rng.standard_normal((23, 4))
    thetas = np.concatenate([middle + steps, middle - steps])
    group = (rng.random(400) < 0.7).astype(np.int8) - 1
    found = chance_sums(x, group, 1, thetas, paired=True)
    one_by_one = chance_sums(x, group, 1, thetas)
    np.testing.assert_allclose(found[0], one_by_one[0], rtol=1e-12)
    np.testing.assert_allclose(found[1], one_by_one[1], rtol=1e-9, atol=1e-12)
    monkeypatch.setattr(sums, "DRAWS", 5)
    np.testing.assert_allclose(chance_sums(x, group, 1, thetas, paired=True), found, rtol=1e-12)


def test_items_count_by_their_weights():
    rng = np.random.default_rng(3)
    x, steps, weights = rng.standard_normal((60, 3)), rng.standard_normal((8, 3)), rng.random(60)
    thetas = np.concatenate([1.0 + steps, 1.0 - steps])
    chance = 1.0 / (1.0 + np.exp(-x @ thetas.T))
    expected = [weights @ chance, weights @ (chance * (1.0 - chance))]
    for work in (sums.of_batch, sums.of_pairs):
        np.testing.assert_allclose(work(x, thetas, weights), expected, rtol=1e-12)


def test_of_no_item_the_sum_is_nothing():
    found = chance_sums(np.ones((3, 2)), np.full(3, -1, dtype=np.int8), 1, np.ones((4, 2)))
    assert np.array(found).tolist() == [[[0.0] * 4]] * 2
