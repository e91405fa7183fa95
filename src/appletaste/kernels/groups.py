"""Scales of groups of coefficients, and how a Gaussian belief follows when they change (``posteriors.groups``)."""

from __future__ import annotations

from ._jit import kernel, reduction_kernel
from .gaussian import COVARIANCE, MEAN, MODE
from .linear import cholesky
from .types import Indices, Matrix, Vector


@kernel
def share_out(likely: Matrix, usual: Vector, strength: float, steps: int, shares: Matrix, weights: Vector) -> None:
    """Write the chance of each scale for each group, [group, scale], given the likelihoods.

    How often a scale is met is learnt along, by EM from ``usual``, which counts as much as ``strength`` groups.
    """
    groups, scales = likely.shape
    for s in range(scales):
        weights[s] = usual[s]
    for _ in range(steps):
        for g in range(groups):
            total = 0.0
            for s in range(scales):
                shares[g, s] = weights[s] * likely[g, s]
                total += shares[g, s]
            for s in range(scales):
                shares[g, s] /= total
        for s in range(scales):
            total = strength * usual[s]
            for g in range(groups):
                total += shares[g, s]
            weights[s] = total / (strength + groups)


@reduction_kernel
def add_precision(belief: Matrix, places: Indices, gain: float, system: Matrix, rows: Matrix) -> None:
    """Replace V by (V^-1 + g I_p)^-1 and m by (V^-1 + g I_p)^-1 V^-1 m, I_p the identity at k places and 0 elsewhere.

    With s = sign g, V_p the rows of V at the places and S = I / |g| + s V_pp = L L' that is V - s (L^-1 V_p)'(L^-1 V_p)
    and m - s (L^-1 V_p)' L^-1 m_p. Work: ``system`` [k + d + 2, k], ``rows`` [k, d].
    """
    d, size, sign = belief.shape[1], places.size, 1.0 if gain > 0.0 else -1.0
    for a in range(size):
        place, row = places[a], belief[COVARIANCE + places[a]]
        for b in range(size):
            system[a, b] = sign * row[places[b]]
        system[a, a] += 1.0 / abs(gain)
        for i in range(d):
            system[size + i, a] = row[i]
        system[size + d, a], system[size + d + 1, a] = belief[MODE, place], belief[MEAN, place]
    cholesky(system)  # solves the rows below the square along
    for a in range(size):
        row = rows[a]
        mode, mean = sign * system[size + d, a], sign * system[size + d + 1, a]
        for i in range(d):
            row[i] = system[size + i, a]
            belief[MODE, i] -= mode * row[i]
            belief[MEAN, i] -= mean * row[i]
    for j in range(d):
        row, a = belief[COVARIANCE + j], 0
        while a + 4 <= size:
            r0, r1, r2, r3 = rows[a], rows[a + 1], rows[a + 2], rows[a + 3]
            t0, t1, t2, t3 = sign * r0[j], sign * r1[j], sign * r2[j], sign * r3[j]
            for i in range(d):
                row[i] -= (t0 * r0[i] + t1 * r1[i]) + (t2 * r2[i] + t3 * r3[i])
            a += 4
        while a < size:
            r0, t0 = rows[a], sign * rows[a, j]
            for i in range(d):
                row[i] -= t0 * r0[i]
            a += 1
