"""PG(1, z) draws against the exact distribution, tails included, on both sides of every table boundary."""

import math

import numpy as np
import pytest
from polyagamma import random_polyagamma as other_polyagamma
from scipy import stats

from appletaste import Key, random_polyagamma
from appletaste.kernels import polya_gamma as kernels
from appletaste.kernels.polya_gamma import CELLS, CUT, LAYERS, density, tail_areas
from tests.checks import chi_square_p, pg_cdf, pg_laplace, pg_mean, pg_quantiles, pg_variance, z_of_mean

N = 1_000_000
#: Grid lines of the tables lie at |z| = k / 4; the tables end at 14.
BOUNDARIES = [0.25, 1.0, 3.0, 7.0, 13.75, 14.0]
POINTS = [0.0, 0.1, 1.0, 3.0, 50.0, 200.0, 1000.0, *[b - 1e-9 for b in BOUNDARIES], *[b + 1e-9 for b in BOUNDARIES]]
# 200 equal bins, and beyond them tails of 1e-3, 1e-4 and 1e-5 on either side.
LEVELS = np.unique(np.concatenate([[1e-5, 1e-4, 1e-3], np.arange(1, 200) / 200, [1 - 1e-3, 1 - 1e-4, 1 - 1e-5]]))


def draw(z, n=N, seed=1):
    return random_polyagamma(np.full(n, z), seed=seed)


@pytest.mark.parametrize("z", POINTS)
def test_distribution_is_exact(z):
    draws = draw(z)
    edges = pg_quantiles(z, LEVELS)
    assert chi_square_p(draws, edges, np.diff(np.concatenate([[0], LEVELS, [1]]))) > 1e-4
    assert abs(z_of_mean(draws, pg_mean(z), math.sqrt(pg_variance(z)))) < 4
    for s in (0.5 / pg_mean(z), 2.0 / pg_mean(z), 8.0 / pg_mean(z)):
        assert abs(z_of_mean(np.exp(-s * draws), pg_laplace(z, s))) < 4
    spread = (draws - draws.mean()) ** 2
    assert abs(z_of_mean(spread, pg_variance(z))) < 4.5


def test_both_sides_of_every_table_boundary():
    """All 56 boundaries, twice 100,000 draws each: 112 p-values that are uniform, as they must be."""
    levels = np.arange(1, 40) / 40

    def p_values(boundaries, offset=0.0):
        found = []
        for k in boundaries:
            for z in (0.25 * k - 1e-9, 0.25 * k + 1e-9):
                draws = draw(z + offset, 100_000, seed=k)
                found.append(chi_square_p(draws, pg_quantiles(z, levels), np.full(40, 1 / 40)))
        return np.array(found)

    honest = p_values(range(1, CELLS + 1))
    assert honest.min() > 1e-5
    assert stats.kstest(honest, "uniform").pvalue > 1e-4
    assert (
        stats.kstest(p_values(range(8, 28, 2), offset=0.25), "uniform").pvalue < 1e-10
    )  # the next table's distribution is told apart


@pytest.mark.parametrize(("wrong", "right"), [(1.1, 1.0), (3.1, 3.0), (14.2, 14.0), (204.0, 200.0)])
def test_the_check_sees_a_slightly_wrong_distribution(wrong, right):
    edges = pg_quantiles(right, LEVELS)
    assert chi_square_p(draw(wrong), edges, np.diff(np.concatenate([[0], LEVELS, [1]]))) < 1e-4


def test_the_check_sees_fresh_words_in_the_clean_up():
    """Finishing open draws with new words, the classical mistake, is found by the same chi-square."""
    z = 2.9
    stream = Key(3).stream()
    words, scratch, index = kernels.make_scratch()
    draws = np.empty(4000 * kernels.BLOCK)
    for start in range(0, draws.size, kernels.BLOCK):
        block = draws[start : start + kernels.BLOCK]
        kernels.draw_block(stream, np.full(kernels.BLOCK, z), block, kernels.BLOCK, words, scratch, index)
        row = index[kernels.BLOCK :]
        offset = scratch[0] * kernels.SPANS[row, kernels.WIDTH]
        x = kernels.SPANS[row + 1, kernels.LEFT] + offset
        quick = (offset < kernels.SPANS[row + 1, kernels.WIDTH]) & (scratch[2] * x < scratch[1])
        block[~quick] = random_polyagamma(np.full((~quick).sum(), z), seed=start + 7)
    levels = np.arange(1, 100) / 100
    assert chi_square_p(draws, pg_quantiles(z, levels), np.full(100, 0.01)) < 1e-4


@pytest.mark.parametrize("z", [0.0, 0.5, 2.5, 8.0, 30.0, 100.0])
def test_agrees_with_the_polyagamma_package(z):
    theirs = other_polyagamma(1.0, z, size=200_000, random_state=np.random.default_rng(5))
    assert stats.ks_2samp(draw(z, 200_000, seed=2), theirs).pvalue > 1e-4


def test_the_comparison_sees_the_package_fail_beyond_its_range():
    theirs = other_polyagamma(1.0, 200.0, size=20_000, random_state=np.random.default_rng(5))
    assert stats.ks_2samp(draw(200.0, 20_000, seed=2), theirs).pvalue < 1e-6


def test_mixed_arrays_keep_each_element_its_own_distribution(rng):
    z = rng.normal(0, 6, 500_000)
    levels = pg_cdf_each(random_polyagamma(z, seed=4), z)
    assert stats.kstest(levels, "uniform").pvalue > 1e-4
    shuffled = pg_cdf_each(random_polyagamma(rng.permutation(z), seed=4), z)
    assert stats.kstest(shuffled, "uniform").pvalue < 1e-10


def pg_cdf_each(omega, z):
    rounded = np.round(np.abs(z), 1)  # the cdf of a neighbour within 0.05: its error is far below the test's power
    out = np.empty(z.size)
    for value in np.unique(rounded):
        mine = rounded == value
        near = np.abs(z[mine])
        # move the draw to the neighbour's scale by matching means
        out[mine] = pg_cdf(omega[mine] * pg_mean(value) / np.array([pg_mean(v) for v in near]), value)
    return out


def test_shape_sign_and_seed():
    z = np.array([[1.0, -1.0], [30.0, -30.0]])
    draws = random_polyagamma(z, seed=9)
    assert draws.shape == z.shape
    assert (draws == random_polyagamma(z, seed=9)).all()
    assert (draws == random_polyagamma(-z, seed=9)).all()
    assert (draws != random_polyagamma(z, seed=10)).all()
    assert random_polyagamma(2.0).shape == ()
    assert random_polyagamma([]).shape == (0,)


@pytest.mark.parametrize("bad", [[np.nan], [np.inf], ["x"], [None]])
def test_bad_scores_are_refused(bad):
    with pytest.raises(ValueError, match="z must be"):
        random_polyagamma(bad)


def test_the_shipped_tables_are_ziggurats():
    """Equal areas, edges on or outside the density, covered to the mode: all that exactness needs."""
    edges = kernels.EDGES.reshape(CELLS, LAYERS + 1, 2)
    heights = kernels.HEIGHTS.reshape(CELLS, LAYERS + 1)
    c = np.arange(CELLS) / 8
    left, right = tail_areas(edges[:, 1, 0], edges[:, 1, 1], c)
    base = heights[:, 1] * (edges[:, 1, 1] - edges[:, 1, 0]) + left + right
    areas = np.diff(heights, axis=1) * (edges[:, :-1, 1] - edges[:, :-1, 0])
    np.testing.assert_allclose(areas, np.repeat(base[:, None], LAYERS, axis=1), rtol=1e-9)
    np.testing.assert_allclose(left / (left + right), kernels.LEFT_SHARE, rtol=1e-9)
    for side in (0, 1):
        at_edge = density(edges[:, 1:-1, side], np.repeat(c[:, None], LAYERS - 1, axis=1))
        np.testing.assert_allclose(at_edge, heights[:, 1:-1], rtol=1e-9)
    modes = density(edges[:, -1, 0], c)
    assert (heights[:, -1] >= modes * (1 - 1e-12)).all()
    assert (heights[:, -1] <= modes * 1.01).all()
    # Area under exp(-c^2 x / 2) f(x) is 1 / cosh(c): the layers cover it with little to spare.
    assert (LAYERS * base * np.cosh(c) >= 1).all()
    assert (LAYERS * base * np.cosh(c) < 1.02).all()


def test_the_squeeze_is_below_the_series():
    x = np.concatenate([np.linspace(0.01, CUT, 1000), np.linspace(CUT, 10, 1000)])
    assert min(kernels.series_at(value) for value in x) > kernels.SQUEEZE
