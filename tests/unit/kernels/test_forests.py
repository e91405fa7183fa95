"""Small trees: their score against a plain walk, and parts of columns against the sum over all coalitions."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest

from appletaste.kernels import forests
from appletaste.kernels.forests import DEPTH, END, FIRST_SLOT, LEAVES, SPLITS, UNIT
from appletaste.policies.forest import Forest

FOLDS = 2


def grown(rng, width=5, places=(), trees=6, slots=4):
    """Return a forest of random numbers; some branches end early, and some splits look at levels."""
    inside = width + len(places)
    features = rng.integers(0, inside, (trees, SPLITS))
    thresholds = np.where(rng.random((trees, SPLITS)) < 0.2, np.inf, rng.normal(size=(trees, SPLITS)))
    covers = np.zeros((trees, SPLITS + LEAVES))
    covers[:, 0] = 1.0
    for at in range(SPLITS):  # of those that come to a split, some go left; all of them where it is at infinity
        left = np.where(np.isfinite(thresholds[:, at]), rng.uniform(0.1, 0.9, trees), 1.0)
        covers[:, 2 * at + 1], covers[:, 2 * at + 2] = covers[:, at] * left, covers[:, at] * (1.0 - left)
    return Forest(
        width=width,
        labels=40,
        starts=np.array([0, trees // 2, trees]),
        features=features,
        thresholds=thresholds,
        leaves=rng.normal(size=(trees, LEAVES)),
        covers=covers,
        places=np.array(places, dtype=np.int64),
        levels=rng.normal(size=(FOLDS, len(places), slots)),
        losses=np.zeros(2),
    )


def item(rng, forest):
    x = rng.normal(size=forest.width)
    x[forest.places] = FIRST_SLOT + rng.integers(0, 7, len(forest.places))  # some are of slots that nobody knew
    return x


def looked_at(forest, x, fold):
    """Return what the splits of a fold look at: the values of an item, and what is known of its levels."""
    last = forest.levels.shape[2] - 1
    known = [forest.levels[fold, c, min(int(x[p] - FIRST_SLOT), last)] for c, p in enumerate(forest.places)]
    return np.append(x, known)


def walked(forest, x, fold, known=None):
    """Return the log-odds of one fold; where not all columns are known, splits of others send items both ways."""
    seen, place = looked_at(forest, x, fold), np.append(np.arange(forest.width), forest.places)

    def below(t, at):
        if at >= SPLITS:
            return forest.leaves[t, at - SPLITS]
        column, left, right = forest.features[t, at], 2 * at + 1, 2 * at + 2
        if known is None or place[column] in known:
            return below(t, left if seen[column] <= forest.thresholds[t, at] else right)
        shares = forest.covers[t, [left, right]] / forest.covers[t, at] if forest.covers[t, at] else (1.0, 0.0)
        return shares[0] * below(t, left) + shares[1] * below(t, right)

    return sum(below(t, 0) for t in range(forest.starts[fold], forest.starts[fold + 1]))


@pytest.mark.parametrize("places", [(), (1,), (0, 3)])
def test_a_score_is_the_mean_of_the_forests_and_of_its_fold_for_a_label(rng, places):
    forest = grown(rng, places=places)
    items = np.array([item(rng, forest) for _ in range(60)])
    longer = forest.longer_many(items, forest.labels)
    for i, x in enumerate(items):
        folds = [i * FOLDS // 40] if i < 40 else range(FOLDS)
        wanted = np.mean([walked(forest, x, fold) for fold in folds])
        assert longer[i, -1] == pytest.approx(np.clip(wanted, -END, END) / UNIT, abs=1e-12)
        np.testing.assert_array_equal(longer[i, :-1], x)
        if i >= 40:
            assert (forest.longer(x) == longer[i]).all()


@pytest.mark.parametrize("places", [(), (2,)])
def test_parts_of_columns_are_shapley_values(rng, places):
    """Each column gets its mean contribution over all orders, splits of columns not yet known taken by their covers."""
    forest = grown(rng, places=places)
    for _ in range(8):
        x = item(rng, forest)
        value = {
            frozenset(known): np.mean([walked(forest, x, fold, known) for fold in range(FOLDS)])
            for size in range(forest.width + 1)
            for known in combinations(range(forest.width), size)
        }
        d, wanted = forest.width, np.zeros(forest.width)
        for j in range(d):
            for known in value:
                if j not in known:
                    s = len(known)
                    weight = factorial(s) * factorial(d - 1 - s) / factorial(d)
                    wanted[j] += weight * (value[known | {j}] - value[known])
        room, path, parts = np.zeros(d + len(places)), np.zeros((4, DEPTH + 1)), np.empty(d)
        base = forests.explain(
            x,
            forest.places,
            forest.levels,
            forest.starts,
            forest.features,
            forest.thresholds,
            forest.leaves,
            forest.covers,
            room,
            path,
            parts,
        )
        if not places:  # a slot and what is known of it are one column, but two for the walk of a path
            np.testing.assert_allclose(parts, wanted, atol=1e-12)
        assert base == pytest.approx(value[frozenset()], abs=1e-12)
        assert base + parts.sum() == pytest.approx(value[frozenset(range(d))], abs=1e-12)


def test_an_explanation_adds_up_to_the_score_also_where_it_ends(rng):
    forest = grown(rng, trees=40)
    object.__setattr__(forest, "leaves", forest.leaves * 4.0)
    ended = 0
    for _ in range(200):
        x = item(rng, forest)
        score = forest.longer(x)[-1]
        base, parts = forest.explain(x)
        ended += abs(score) == END / UNIT
        assert base + parts.sum() == pytest.approx(score, abs=1e-12)
    assert 10 < ended < 190
