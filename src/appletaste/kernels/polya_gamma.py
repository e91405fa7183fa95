"""Exact draws of PG(1, z), and the ziggurat that most of them come from.

The ziggurats of J*(1, c_k), built once and shipped as ``ziggurat.npy``.

A ziggurat covers an unnormalised density g by layers of equal area V: layer i >= 1 is the rectangle
[l_i, r_i] x [y_i, y_{i+1}] with g(l_i) = g(r_i) = y_i, and layer 0 is the rectangle below y_1 together with both
tails. The file holds the edges (l_i, r_i), V and the left tail's share; heights follow from
y_{i+1} = y_i + V / (r_i - l_i), so that every layer has area V to the last bit whatever the rounding of its edges.

``python -m appletaste.kernels.polya_gamma`` builds the file again, in about 40 s; a test checks that the shipped one
has equal areas, edges on the density and no gap at the mode, which is all that exactness needs.

Exact draws from PG(1, z), the variable that makes the logistic likelihood Gaussian.

omega ~ PG(1, z) is x / 4 with x ~ J*(1, c), c = |z| / 2, whose density is (Devroye 2009; Polson, Scott & Windle
2013)

    cosh(c) exp(-c^2 x / 2) f(x),   f(x) = K(x) q (1 - 3 q^8 + 5 q^24 - 7 q^48 + ...),
    q = exp(-1 / (2x)),    K = 2 / sqrt(2 pi x^3)   for x < 0.64,
    q = exp(-pi^2 x / 8),  K = pi / 2               beyond;   the next term is below 1e-16.

For |z| < 14 we keep, for each c_k = k / 8, a two-sided ziggurat of exp(-c_k^2 x / 2) f(x) (see above), draw
from it at the nearest c_k below, and accept with probability exp(-(c^2 - c_k^2) x / 2), at least exp(-1/8). Beyond
14, exp(-c^2 x / 2) f(x) is the inverse Gaussian IG(1/c, 1) times a factor r(x) <= 1, which is a rejection sampler
that accepts with probability 1 / (1 + exp(-2c)) > 0.999999.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numba import float64, int64, uint64

from ._jit import Indices, Matrix, Stream, Vector, Word, Words, kernel
from .linear import BLOCK
from .random import exponential, fill_words, next_word, normal, uniform, unit

CELLS = 56
SPACING = 0.125
LAYERS = 256
CUT = 0.64  # where the two series of the density change over
FILE = Path(__file__).with_name("ziggurat.npy")


def load_tables() -> tuple[Matrix, Vector, Vector]:
    """Return edges [CELLS * (LAYERS + 1), 2], the heights y of those rows, and each cell's left tail share."""
    packed = np.load(FILE)
    area, left, edges = packed[:, 0], packed[:, 1], packed[:, 2:].reshape(CELLS, LAYERS + 1, 2)
    heights = np.zeros((CELLS, LAYERS + 1))
    np.cumsum(area[:, None] / (edges[:, :-1, 1] - edges[:, :-1, 0]), axis=1, out=heights[:, 1:])
    return np.ascontiguousarray(edges.reshape(-1, 2)), heights.reshape(-1), np.ascontiguousarray(left)


def density(x: Vector, c: Vector) -> Vector:
    """Return exp(-c^2 x / 2) f(x), all cells at once."""
    small = x < CUT
    q = np.exp(np.where(small, -0.5 / x, -0.125 * math.pi**2 * x))
    scale = np.where(small, 2.0 / np.sqrt(2.0 * math.pi * x**3), 0.5 * math.pi)
    return np.asarray(np.exp(-0.5 * c * c * x) * scale * (q - 3 * q**9 + 5 * q**25 - 7 * q**49))


def tail_areas(low: Vector, high: Vector, c: Vector) -> tuple[Vector, Vector]:
    """Return the areas of the density left of ``low`` and right of ``high``, from its two series term by term."""
    erfc = np.vectorize(math.erfc)
    left = np.zeros_like(c)
    for n in range(4):
        b = 2.0 * n + 1.0
        towards = np.exp(-b * c) * erfc((b - c * low) / np.sqrt(2 * low))
        away = np.exp(b * c) * erfc((b + c * low) / np.sqrt(2 * low))
        left += (-1) ** n * (towards + away)
    right = np.zeros_like(c)
    for n in range(12):
        rate = 0.5 * ((n + 0.5) ** 2 * math.pi**2 + c * c)
        right += (-1) ** n * math.pi * (n + 0.5) / rate * np.exp(-rate * high)
    return left, right


def _edge(level: Vector, inner: Vector, outer: Vector, c: Vector) -> Vector:
    """Return where the density falls to ``level``, between ``inner`` (above it) and ``outer`` (below), by bisection."""
    for _ in range(64):
        middle = 0.5 * (inner + outer)
        above = density(middle, c) >= level
        inner, outer = np.where(above, middle, inner), np.where(above, outer, middle)
    return outer  # rounded outwards: the density there is at most ``level``


def _stack(level: Vector, mode: Vector, c: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return edges, layer area, left share and the height reached above the mode (as a ratio) for a first level."""
    left_edge = _edge(level, mode, np.full_like(c, 1e-4), c)
    right_edge = _edge(level, mode, np.full_like(c, 60.0), c)
    left, right = tail_areas(left_edge, right_edge, c)
    area = level * (right_edge - left_edge) + left + right
    edges = np.empty((c.size, LAYERS + 1, 2))
    edges[:, 0, 0], edges[:, 0, 1] = left_edge, left_edge + area / level
    edges[:, 1, 0], edges[:, 1, 1] = left_edge, right_edge
    height = level.copy()
    for i in range(1, LAYERS):
        height = height + area / np.maximum(edges[:, i, 1] - edges[:, i, 0], 1e-300)
        if i < LAYERS - 1:
            edges[:, i + 1, 0] = _edge(height, mode, edges[:, i, 0], c)
            edges[:, i + 1, 1] = _edge(height, mode, edges[:, i, 1], c)
    edges[:, LAYERS] = mode[:, None]
    return edges, area, left / (left + right), height / density(mode, c)


def build() -> Matrix:
    """Return the packed tables: for each cell V, the left tail's share and the edges."""
    c: Vector = SPACING * np.arange(CELLS, dtype=np.float64)
    low, high = np.full(CELLS, 1e-3), np.full(CELLS, 2.0)
    for _ in range(120):  # golden-section search for the mode
        third, two_thirds = low + 0.382 * (high - low), low + 0.618 * (high - low)
        rising = density(third, c) < density(two_thirds, c)
        low, high = np.where(rising, third, low), np.where(rising, high, two_thirds)
    mode = 0.5 * (low + high)
    # The first level sets V; the smallest one whose layers reach the mode covers the density exactly.
    top = density(mode, c)
    under, over = 1e-9 * top, 0.5 * top
    for _ in range(60):
        level = np.sqrt(under * over)
        reached = _stack(level, mode, c)[3] >= 1.0
        under, over = np.where(reached, under, level), np.where(reached, level, over)
    edges, area, left, ratio = _stack(over, mode, c)
    if not (np.all(ratio >= 1.0) and np.all(ratio < 1.01)):
        raise ArithmeticError("a ziggurat does not cover its density")
    return np.concatenate([area[:, None], left[:, None], edges.reshape(CELLS, -1)], axis=1)


if __name__ == "__main__":
    np.save(FILE, build())


#: Row k * ROWS + i: the left and right edge of layer i of cell k, its bottom height, and its left edge and width.
EDGES, HEIGHTS, LEFT_SHARE = load_tables()
SPANS = np.column_stack([EDGES[:, 0], EDGES[:, 1] - EDGES[:, 0]])
ROWS = LAYERS + 1
LEFT, WIDTH = 0, 1

LIMIT = 2.0 * CELLS * SPACING  # |z| below which the tables serve
SQUEEZE = 0.994  # below the series of the density everywhere: its least value is 0.9942, at x = 0.64
NEVER = 1e300  # a tilt that no quick test passes


@kernel
def series(e: float) -> float:
    """Return 1 - 3 e + 5 e^3 - 7 e^6, the alternating series at e = q^8."""
    return 1.0 - e * (3.0 - e * e * (5.0 - 7.0 * e * e * e))


@kernel
def leading_term(x: float, c: float) -> float:
    """Return exp(-c^2 x / 2) K(x) q, the tilted density without its series.

    Which side of the cut x lies on cannot be predicted, so both sides share the slow operations:
    K = 1 / sqrt(spread) and q = exp(-rate / (2x)).
    """
    spread, rate = 4.0 / (math.pi * math.pi), 0.25 * math.pi * math.pi * x * x
    if x < CUT:
        spread, rate = 0.5 * math.pi * x * x * x, 1.0
    return math.exp(-0.5 * (rate / x + c * c * x)) / math.sqrt(spread)


@kernel
def series_at(x: float) -> float:
    """Return the series of the density at x; it lies in [SQUEEZE, 1]."""
    return series(math.exp(-4.0 / x if x < CUT else -math.pi * math.pi * x))


@kernel
def is_below(height: float, x: float, c: float) -> bool:
    """Return whether a height lies under the tilted density exp(-c^2 x / 2) f(x); rarely needs its series."""
    bound = leading_term(x, c)
    return height < SQUEEZE * bound or (height < bound and height < bound * series_at(x))


@kernel
def draw_far(stream: Stream, z: float) -> float:
    """Draw PG(1, z) for large |z|: inverse Gaussian proposal, accepted with probability r(x).

    The proposal is Michael, Schucany & Haas (1976) with both roots written without cancellation.
    """
    c = 0.5 * abs(z)
    while True:
        y = normal(stream)
        m = y * y / c
        w = 1.0 + 0.5 * m + math.sqrt(m * (1.0 + 0.25 * m))
        x = 1.0 / (c * w) if uniform(stream) * (1.0 + w) < w else w / c
        u = uniform(stream)
        if x < CUT:
            if u < SQUEEZE or u < series_at(x):
                return 0.25 * x
        elif u * 2.0 / math.sqrt(2.0 * math.pi * x * x * x) * math.exp(-0.5 / x) < leading_term(x, 0.0) * series_at(x):
            return 0.25 * x


@kernel
def finish(stream: Stream, word: Word, tilt_word: Word, cell: int, tilt: float) -> float:
    """Finish a ziggurat draw that starts from two given words, drawing more only where those do not decide it.

    The uniform point of a layer is counted from the left edge of the layer above, and from the right edge of its own
    layer on from the left one: whether it lies under the layer above is then one comparison instead of two.
    """
    while True:
        row = cell * ROWS + int64(word & uint64(LAYERS - 1))
        offset = unit(word) * SPANS[row, WIDTH]
        x = SPANS[row + 1, LEFT] + offset
        inside = True
        if offset >= SPANS[row + 1, WIDTH]:
            if row == cell * ROWS:
                x = draw_tail(stream, cell)
            else:
                if x > SPANS[row, LEFT] + SPANS[row, WIDTH]:
                    x -= SPANS[row, WIDTH]
                height = HEIGHTS[row] + uniform(stream) * (HEIGHTS[row + 1] - HEIGHTS[row])
                inside = is_below(height, x, cell * SPACING)
        if inside:
            # 1 - a x <= exp(-a x) <= 1 - a x + (a x)^2 / 2: hardly ever an exp.
            lost, exponent = unit(tilt_word), tilt * x
            if lost < 1.0 - exponent:
                return 0.25 * x
            if lost < 1.0 - exponent * (1.0 - 0.5 * exponent) and lost < math.exp(-exponent):
                return 0.25 * x
        word = next_word(stream)
        tilt_word = next_word(stream)


@kernel
def draw_tail(stream: Stream, cell: int) -> float:
    """Draw from the two tails outside the first layer, in proportion to their areas."""
    grid = cell * SPACING
    first = cell * ROWS + 1
    if uniform(stream) < LEFT_SHARE[cell]:  # the density rises there: a flat proposal under its value at the edge
        while True:
            x = uniform(stream) * SPANS[first, LEFT]
            if is_below(uniform(stream) * HEIGHTS[first], x, grid):
                return x
    rate = 0.125 * math.pi * math.pi + 0.5 * grid * grid
    while True:
        x = SPANS[first, LEFT] + SPANS[first, WIDTH] + exponential(stream) / rate
        if uniform(stream) < series(math.exp(-math.pi * math.pi * x)):
            return x


@kernel
def draw_block(
    stream: Stream,
    z: Vector,
    out: Vector,
    n: int,
    words: Words,
    scratch: Matrix,
    index: Indices,
) -> None:
    """Draw out[i] ~ PG(1, z[i]) for i < n <= BLOCK.

    Scratch: words [2 BLOCK], scratch [3, BLOCK], index [2 BLOCK]. The first two loops are arithmetic without
    branches, which LLVM turns into vector code; the third looks the tables up and collects, again without a branch,
    the few draws that the quick tests leave open. Those are finished **from the same words**: fresh words there
    would condition the draw on having failed the quick test, and bias it.
    """
    place, spare, tilt = scratch[0], scratch[1], scratch[2]
    fill_words(stream, words, 2 * n)
    for i in range(n):
        c = min(0.5 * abs(z[i]), 0.5 * LIMIT)
        cell = min(int64(c * (1.0 / SPACING)), CELLS - 1)
        grid = float64(cell) * SPACING
        tilt[i] = 0.5 * (c - grid) * (c + grid) if c < 0.5 * LIMIT else NEVER
        index[BLOCK + i] = cell * ROWS + int64(words[i] & uint64(LAYERS - 1))
        place[i] = unit(words[i])
        spare[i] = 1.0 - unit(words[n + i])
    open_draws = 0
    for i in range(n):
        row = uint64(index[BLOCK + i])
        offset = place[i] * SPANS[row, WIDTH]
        x = SPANS[row + uint64(1), LEFT] + offset
        out[i] = 0.25 * x
        index[open_draws] = i
        open_draws += int64((offset >= SPANS[row + uint64(1), WIDTH]) | (tilt[i] * x >= spare[i]))
    for j in range(open_draws):
        i = index[j]
        if tilt[i] < NEVER:
            cell = int64(0.5 * abs(z[i]) * (1.0 / SPACING))
            out[i] = finish(stream, words[i], words[n + i], cell, tilt[i])
        else:
            out[i] = draw_far(stream, z[i])


@kernel
def draw_array(
    stream: Stream,
    z: Vector,
    out: Vector,
    words: Words,
    scratch: Matrix,
    index: Indices,
) -> None:
    """Draw out[i] ~ PG(1, z[i]) for a whole array, block by block."""
    start = 0
    while start < z.size:
        n = min(BLOCK, z.size - start)
        draw_block(stream, z[start : start + n], out[start : start + n], n, words, scratch, index)
        start += n


def make_scratch() -> tuple[Words, Matrix, Indices]:
    """Return the work space of ``draw_block``."""
    return np.empty(2 * BLOCK, np.uint64), np.empty((3, BLOCK)), np.empty(2 * BLOCK, np.int64)
