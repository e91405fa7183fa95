"""Effects of levels against quadrature, their scales, and what there is room for."""

import itertools

import numpy as np
import pytest

import appletaste as at
from appletaste.features.levels import FIRST, LAST, SLOTS
from appletaste.keys import Key
from appletaste.posteriors import Gaussian, Laplace


def belief(columns, variance=1e-8, mean=-1.0):
    """One intercept, known unless said otherwise, and so many columns with levels."""
    posterior = Laplace(Gaussian([mean] + [0.0] * columns, variance), groups=(0,) + (SLOTS,) * columns)
    return posterior.start(1 + columns, Key(1))


def item(*slots):
    return np.array([1.0, *(FIRST + np.array(slots))])


def log_likelihood(scores, labels):
    return np.sum(np.where(labels, 0.0, -scores) - np.log1p(np.exp(-scores)), axis=-1)


@pytest.mark.parametrize("labels", [[1], [0, 0, 0, 0, 0], [1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1]])
def test_the_effect_of_one_level_is_that_of_quadrature(labels):
    found = belief(1)
    for label in labels:
        found.learn(item(3), label)
    u = np.linspace(-12, 12, 4001)
    weights = np.exp(-0.5 * u**2 / found.scales[0] + log_likelihood(u[:, None] - 1.0, np.array(labels) == 1))
    weights /= weights.sum()
    mean, deviation = weights @ u, np.sqrt(weights @ u**2 - (weights @ u) ** 2)
    (effect,) = found.effects(item(3))
    assert effect.labels == len(labels)
    assert abs(effect.mean - mean) < 0.05 * deviation
    assert np.sqrt(effect.variance) == pytest.approx(deviation, rel=0.04)
    (other,) = found.effects(item(4))  # nothing was heard of this one
    assert other[1:] == (0.0, pytest.approx(found.scales[0]), 0)


def test_levels_of_two_columns_share_what_their_labels_say():
    """Two columns of two levels each, against a sum over a grid of all four effects."""
    found, rng = belief(2), np.random.default_rng(5)
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1)]
    told = [(pair, int(rng.random() < (0.8, 0.5, 0.4, 0.1)[k])) for _ in range(6) for k, pair in enumerate(pairs)]
    for _ in range(4):  # messages are computed again as labels come: let all have had their turn
        for pair, label in told:
            found.learn(item(*pair), label)
    grid = np.linspace(-5, 5, 27)
    a, b = np.meshgrid(grid, grid, indexing="ij")
    effects = [a[:, :, None, None], b[:, :, None, None], a[None, None], b[None, None]]  # two of each column
    logs = sum(-0.5 * e**2 / found.scales[k // 2] for k, e in enumerate(effects))
    for (one, two), label in told:
        z = effects[one] + effects[2 + two] - 1.0
        logs = logs + 4 * ((z if label else 0.0) - np.logaddexp(0.0, z))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    for one, two in pairs:
        z = effects[one] + effects[2 + two] - 1.0
        mean = float((weights * z).sum())
        score = found.score(item(one, two), 1)
        assert abs(score.mean - mean) < 0.25
        assert 0.3 < score.variance / float((weights * (z - mean) ** 2).sum()) < 3.0


def test_the_dense_part_is_fitted_with_levels_averaged_over():
    """Rare positives in a thousand levels: a new level has the chance of all, and the typical one a lower chance."""
    rng = np.random.default_rng(3)
    effects, slots = rng.normal(0, 2.0, 1000), rng.integers(0, 1000, 4000)
    labels = rng.random(4000) < 1 / (1 + np.exp(4.0 - effects[slots]))
    found = belief(1, variance=4.0, mean=0.0)
    for slot, label in zip(slots, labels, strict=True):
        found.learn(item(slot), int(label))
    chance = found.score(item(5000), 1).outlook(at.Costs(miss=1, false_alarm=1, hit=0)).chance
    assert chance == pytest.approx(labels.mean(), rel=0.15)
    assert found.mean[0] < np.log(labels.mean() / (1 - labels.mean())) - 0.5
    assert 1.0 < found.scales[0] < 8.0
    guessed = [found.effects(item(slot))[0].mean for slot in range(1000)]
    assert np.corrcoef(guessed, effects)[0, 1] > 0.5


def test_a_column_of_noise_is_shrunk():
    rng = np.random.default_rng(4)
    effects, found = rng.normal(0, 1.5, 50), belief(2, variance=4.0, mean=0.0)
    for _ in range(1500):
        one, two = rng.integers(0, 50, 2)
        found.learn(item(one, two), int(rng.random() < 1 / (1 + np.exp(-effects[one]))))
    assert 1.0 < found.scales[0] < 5.0
    assert found.scales[1] < 0.1


def test_memory_has_a_bound_and_no_slot_is_beyond_it():
    found = belief(1)
    for slot in itertools.chain(range(0, 10_000, 500), [LAST - FIRST]):
        found.learn(item(slot), 1)
    assert found._effects.array.nbytes < 2**20
    assert found.arrays()["effects"].shape == (LAST - FIRST + 1, 1, 3)
    with pytest.raises(at.errors.InputError, match="slot"):
        found.score(item(LAST - FIRST + 1), 1)
    with pytest.raises(at.errors.OptionError, match="one other feature"):
        Laplace(groups=(SLOTS,)).start(1, Key(1))
