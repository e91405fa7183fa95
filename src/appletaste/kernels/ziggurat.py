"""The ziggurats of J*(1, c_k), built once and shipped as ``ziggurat.npy``.

A ziggurat covers an unnormalised density g by layers of equal area V: layer i >= 1 is the rectangle
[l_i, r_i] x [y_i, y_{i+1}] with g(l_i) = g(r_i) = y_i, and layer 0 is the rectangle below y_1 together with both
tails. The file holds the edges (l_i, r_i), V and the left tail's share; heights follow from
y_{i+1} = y_i + V / (r_i - l_i), so that every layer has area V to the last bit whatever the rounding of its edges.

``python -m appletaste.kernels.ziggurat`` builds the file again, in about 40 s; a test checks that the shipped one has
equal areas, edges on the density and no gap at the mode, which is all that exactness needs.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from .types import Matrix, Vector

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
