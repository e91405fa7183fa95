"""Counter-based random streams and the scalar draws on top of them.

A stream is the one-word state of SplitMix64 (Steele, Lea & Flood 2014), whose i-th word is
``mix(state + i * GOLDEN)``: any word can be had without the ones before it, so blocks of words are filled by
vector instructions, and a stream for round t is derived in a few nanoseconds. The published generator is the
oracle of the tests.
"""

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, uint64

from ._jit import Stream, Vector, Word, Words, kernel, part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
TO_UNIT = 2.0**-53

# Normal ziggurat of 256 layers (Marsaglia & Tsang 2000): layer i is [0, EDGE[i]] x [HEIGHT[i], HEIGHT[i+1]].
NORMAL_TAIL = 3.6541528853610088
_LAYER_AREA = NORMAL_TAIL * math.exp(-0.5 * NORMAL_TAIL**2) + math.sqrt(math.pi / 2) * math.erfc(
    NORMAL_TAIL / math.sqrt(2)
)


def _normal_layers() -> tuple[Vector, Vector]:
    edge = np.zeros(257)
    edge[0] = _LAYER_AREA * math.exp(0.5 * NORMAL_TAIL**2)
    edge[1] = NORMAL_TAIL
    for i in range(2, 256):
        height = math.exp(-0.5 * edge[i - 1] ** 2) + _LAYER_AREA / edge[i - 1]
        edge[i] = math.sqrt(-2.0 * math.log(height))
    height = np.exp(-0.5 * edge**2)
    height[0] = 0.0
    return edge, height


NORMAL_EDGE, NORMAL_HEIGHT = _normal_layers()


@part
def mix(word: Word) -> Word:
    """Scramble one 64-bit word: SplitMix64's output function."""
    word = (word ^ (word >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> uint64(27))) * uint64(0x94D049BB133111EB)
    return word ^ (word >> uint64(31))


@kernel
def derive(key: Word, index: int) -> Word:
    """Return the start of sub-stream ``index`` of a key.

    Two rounds of MurmurHash3's finaliser, which shares no constant with ``mix``: a sub-stream's start is not a
    word that the parent stream would give out.
    """
    word = uint64(key) + uint64(index) * uint64(0xD1342543DE82EF95)
    for _ in range(2):
        word = (word ^ (word >> uint64(33))) * uint64(0xFF51AFD7ED558CCD)
        word = (word ^ (word >> uint64(33))) * uint64(0xC4CEB9FE1A85EC53)
        word = word ^ (word >> uint64(33))
    return word


@part
def next_word(stream: Stream) -> Word:
    """Advance a stream by one word."""
    stream[0] += GOLDEN
    return mix(stream[0])


@kernel
def fill_words(stream: Stream, words: Words, n: int) -> None:
    """Write the next n words of a stream; no step depends on another, so this is vector code."""
    start = stream[0]
    for i in range(n):
        words[i] = mix(start + uint64(i + 1) * GOLDEN)
    stream[0] = start + uint64(n) * GOLDEN


@part
def unit(word: Word) -> float:
    """Return the top 53 bits of a word as a number in [0, 1)."""
    return float64(int64(word >> uint64(11))) * TO_UNIT


@part
def open_unit(word: Word) -> float:
    """Return the top 52 bits of a word as a number in (0, 1): with 53 the largest would round to 1."""
    return (float64(int64(word >> uint64(12))) + 0.5) * (2.0 * TO_UNIT)


@part
def uniform(stream: Stream) -> float:
    """Draw from the open interval (0, 1)."""
    return open_unit(next_word(stream))


@kernel
def uniform_at(key: Word, index: int) -> float:
    """Return the one uniform that belongs to an index of a key, without carrying a stream."""
    return open_unit(mix(derive(key, index) + GOLDEN))


@part
def drawn(key: Word, round_: int, probability: float) -> bool:
    """Return whether the item of a round is acted on, in kernels; ``rules.rule.drawn`` is the same in Python."""
    return uniform_at(key, round_) < probability


def uniforms_at(key: Word, first: int, n: int) -> Vector:
    """Return ``uniform_at`` for n indices from the first on."""
    out = np.empty(n)
    _fill_uniforms(key, first, out)
    return out


@kernel
def _fill_uniforms(key: Word, first: int, out: Vector) -> None:
    for i in range(out.size):
        out[i] = uniform_at(key, first + i)


@part
def exponential(stream: Stream) -> float:
    """Draw from Exp(1) by inversion."""
    return -math.log(uniform(stream))


@kernel
def normal(stream: Stream) -> float:
    """Draw from N(0, 1) by the ziggurat; beyond its last layer by Marsaglia's tail method."""
    while True:
        word = next_word(stream)
        layer = int64(word & uint64(255))
        x = unit(word) * NORMAL_EDGE[layer]
        sign = 1.0 if word & uint64(256) else -1.0
        if x < NORMAL_EDGE[layer + 1]:
            return sign * x
        if layer == 0:
            return sign * normal_beyond(stream, NORMAL_TAIL)
        low = NORMAL_HEIGHT[layer]
        if low + uniform(stream) * (NORMAL_HEIGHT[layer + 1] - low) < math.exp(-0.5 * x * x):
            return sign * x


@kernel
def normal_beyond(stream: Stream, cut: float) -> float:
    """Draw from N(0, 1) given that it exceeds ``cut`` > 0 (Marsaglia 1964)."""
    while True:
        excess = exponential(stream) / cut
        if 2.0 * exponential(stream) > excess * excess:
            return cut + excess


@kernel
def normal_cdf(x: float) -> float:
    """Return P(N(0, 1) <= x)."""
    return 0.5 * math.erfc(-x * 0.7071067811865476)


@kernel
def normal_between(stream: Stream, low: float, high: float) -> float:
    """Draw from N(0, 1) restricted to [low, high], by whichever rejection accepts often (after Robert 1995)."""
    if high < 0.0:
        return -normal_between_positive(stream, -high, -low)
    if low > 0.0:
        return normal_between_positive(stream, low, high)
    if high - low > 1.0:  # holds zero, so at least a third of all normal draws fall inside
        while True:
            x = normal(stream)
            if low <= x <= high:
                return x
    while True:
        x = low + uniform(stream) * (high - low)
        if uniform(stream) < math.exp(-0.5 * x * x):
            return x


@kernel
def normal_between_positive(stream: Stream, low: float, high: float) -> float:
    """Draw from N(0, 1) restricted to [low, high], 0 < low: a tail draw, or a flat one if it is narrow."""
    if (high - low) * low > 1.0 or low < 0.5 < high - low:
        while True:
            x = normal_beyond(stream, low) if low > 0.5 else abs(normal(stream))
            if low <= x <= high:
                return x
    while True:
        x = low + uniform(stream) * (high - low)
        if uniform(stream) < math.exp(0.5 * (low - x) * (low + x)):
            return x
