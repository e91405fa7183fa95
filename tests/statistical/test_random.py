"""Streams against the published generator, and the scalar draws against their distributions."""

import math

import numpy as np
import pytest
from numba import njit
from scipy import stats

from appletaste import Key
from appletaste.errors import InputError
from appletaste.kernels import random as kernels

# SplitMix64 from state 1234567, as published with its reference code (Steele, Lea & Flood 2014; Vigna 2015).
REFERENCE = [
    6457827717110365317,
    3203168211198807973,
    9817491932198370423,
    4593380528125082431,
    16408922859458223821,
]


def test_streams_are_splitmix64():
    stream = np.array([1234567], dtype=np.uint64)
    assert [int(kernels.next_word(stream)) for _ in REFERENCE] == REFERENCE
    stream = np.array([1234567], dtype=np.uint64)
    words = np.empty(5, dtype=np.uint64)
    kernels.fill_words(stream, words, 3)
    kernels.fill_words(stream, words[3:], 2)
    assert words.tolist() == REFERENCE


def test_uniforms_stay_inside_the_open_interval():
    assert 0.0 < kernels.open_unit(np.uint64(0)) < kernels.open_unit(np.uint64(2**64 - 1)) < 1.0
    assert kernels.unit(np.uint64(0)) == 0.0
    assert kernels.unit(np.uint64(2**64 - 1)) < 1.0


@njit
def many(draw, stream, n, a, b):
    out = np.empty(n)
    for i in range(n):
        out[i] = draw(stream, a, b)
    return out


@njit
def plain_normal(stream, a, b):
    return kernels.normal(stream)


@njit
def plain_exponential(stream, a, b):
    return kernels.exponential(stream)


@njit
def plain_uniform(stream, a, b):
    return kernels.uniform(stream)


@njit
def first_of_substream(stream, a, b):
    stream[0] += np.uint64(1)
    return kernels.uniform_at(np.uint64(77), stream[0])


def draws(draw, n=1_000_000, a=0.0, b=0.0, seed=1):
    return many(draw, Key(seed).stream(), n, a, b)


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (plain_normal, stats.norm),
        (plain_exponential, stats.expon),
        (plain_uniform, stats.uniform),
        (first_of_substream, stats.uniform),
    ],
)
def test_draws_have_their_distribution(draw, law):
    sample = draws(draw)
    levels = np.unique(np.concatenate([[1e-5, 1e-4], np.arange(1, 250) / 250, [1 - 1e-4, 1 - 1e-5]]))
    edges = np.concatenate([[0], levels, [1]])

    def p_value(values):
        counts = np.histogram(law.cdf(values), edges)[0]
        return stats.chisquare(counts, np.diff(edges) * len(values)).pvalue

    assert p_value(sample) > 1e-4
    assert p_value(1.02 * sample) < 1e-4  # two per cent too wide is seen


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.0, 2.0),
        (-0.2, 0.3),
        (0.1, 0.4),
        (0.2, 5.0),
        (1.0, 1.5),
        (3.0, math.inf),
        (8.0, 8.1),
        (-math.inf, -6.0),
        (-9.0, -2.0),
        (-math.inf, math.inf),
        (-math.inf, 0.5),
        (30.0, math.inf),
    ],
)
def test_restricted_normals(low, high):
    sample = draws(kernels.normal_between, 100_000, low, high)
    assert low <= sample.min()
    assert sample.max() <= high
    law = stats.truncnorm(low, high)
    assert stats.kstest(sample, law.cdf).pvalue > 1e-4
    if high - low > 0.2:
        assert stats.kstest(sample + 0.05 * law.std(), law.cdf).pvalue < 1e-4


def test_nearby_substreams_are_independent():
    """Words of 2,000 neighbouring rounds: bits balanced, and no correlation between rounds."""
    starts = np.array([kernels.derive(np.uint64(5), t) for t in range(2000)], dtype=np.uint64)
    words = np.empty((2000, 64), dtype=np.uint64)
    for t, start in enumerate(starts):
        kernels.fill_words(np.array([start]), words[t], 64)
    assert len(np.unique(words)) == words.size
    bits = np.unpackbits(words.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 4 * 0.5 / math.sqrt(bits.size)
    uniforms = words / 2.0**64
    limit = 4 / math.sqrt(uniforms[1:].size)
    assert abs(np.corrcoef(uniforms[:-1].ravel(), uniforms[1:].ravel())[0, 1]) < limit
    mixed = 0.95 * uniforms[1:] + 0.05 * uniforms[:-1]
    assert abs(np.corrcoef(uniforms[:-1].ravel(), mixed.ravel())[0, 1]) > limit


def test_keys_name_streams():
    assert Key(1).at("a", 1).word() == Key(1).at("a").at(np.int64(1)).word()
    for part in (None, 1.5, True, ("a",)):
        with pytest.raises(InputError, match="path"):
            Key(1).at(part)
    different = [Key(1), Key(2), Key(1).at(1), Key(1).at("1"), Key(1).at("a", "b"), Key(1).at("ab"), Key(1).at("a, b")]
    assert len({int(key.word()) for key in different}) == len(different)
    assert Key(1).at("x").generator().random() == Key(1).at("x").generator().random()
    assert Key(3).stream()[0] == Key(3).word()


@pytest.mark.parametrize("seed", [-1, 1.5, "7", None, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed"):
        Key(seed)
