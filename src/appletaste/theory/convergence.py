"""Theorems 2 and 3 seen numerically: the law of theta after M sweeps a round against the exact posterior.

Many chains are carried along one history. Given the Pólya-Gamma variables of its last sweep each chain's theta is
Gaussian, so their average over chains estimates the density pi_t^(M) without a kernel or bins. The exact posterior
pi_t comes from quadrature, which d = 1 and d = 2 allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..keys import Key
from ..posteriors import Gaussian, Gibbs
from ..posteriors.gibbs import GibbsChain
from ..posteriors.map import Fit
from ..problems import Table
from .game import Floats

#: Half-width of the quadrature grid in standard deviations of the Gaussian at the mode, and points along each axis.
REACH, POINTS = 8.0, {1: 2001, 2: 161}


@dataclass(frozen=True)
class GridPosterior:
    """A density on a grid: points, its value at each, and the volume that each stands for."""

    points: Floats
    density: Floats
    volume: float


def exact_posterior(items: Floats, labels: NDArray[np.int8], prior: Gaussian | None = None) -> GridPosterior:
    """Return pi(theta | labels) by quadrature around its mode (eq. posterior), for one or two features.

    Examples
    --------
    >>> found = exact_posterior(np.ones((3, 1)), np.array([1, 1, 0], dtype=np.int8))
    >>> round(float(found.density.sum() * found.volume), 12)
    1.0
    >>> round(float(found.points[:, 0] @ found.density * found.volume), 3)
    0.302
    """
    prior = prior or Gaussian()
    d = items.shape[1]
    if d not in POINTS:
        raise InputError(f"quadrature is for one or two features, got {d}")
    if prior.region is not None:
        raise InputError("the mixture of Gaussians is for a prior without a region")
    fit = Fit(d, prior)
    for x, label in zip(items, labels, strict=True):
        fit.labels.add(x, int(label))
    mode = fit.theta.copy()
    precision = prior.precision(d)
    sigma = 1 / (1 + np.exp(-items @ mode))
    hessian = precision + (items * (sigma * (1 - sigma))[:, None]).T @ items
    root = np.linalg.inv(np.linalg.cholesky(hessian)).T  # root root' is the inverse of the Hessian
    axis = np.linspace(-REACH, REACH, POINTS[d])
    grid = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), -1).reshape(-1, d)
    points = mode + grid @ root.T
    offset = points - prior.mean_vector(d)
    log = -0.5 * np.einsum("ij,jk,ik->i", offset, precision, offset)
    for x, label in zip(items, labels, strict=True):
        scores = points @ x
        log -= np.logaddexp(0.0, -scores if label else scores)
    volume = float((axis[1] - axis[0]) ** d * abs(np.linalg.det(root)))
    density = np.exp(log - log.max())
    return GridPosterior(points, density / (density.sum() * volume), volume)


def mixture_density(chains: Sequence[GibbsChain], round_: int, points: Floats) -> Floats:
    """Return the average over chains of the Gaussian of theta given the last sweep's omega, at each point."""
    d = points.shape[1]
    probes = np.eye(d) if d == 1 else np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    total = np.zeros(len(points))
    for chain in chains:
        moments = [(score.centre, score.spread**2) for score in (chain.drawn_score(x, round_) for x in probes)]
        mean = np.array([moment[0] for moment in moments[:d]])
        covariance = np.diag([moment[1] for moment in moments[:d]])
        if d == 2:  # the variance of a sum gives the covariance
            covariance[0, 1] = covariance[1, 0] = (moments[2][1] - moments[0][1] - moments[1][1]) / 2
        offset = points - mean
        inverse = np.linalg.inv(covariance)
        exponent = np.einsum("ij,jk,ik->i", offset, inverse, offset)
        total += np.exp(-0.5 * exponent) * np.sqrt(np.linalg.det(inverse))
    return np.asarray(total / len(chains) / (2 * np.pi) ** (d / 2))


@dataclass(frozen=True)
class Distance:
    """How far the law of theta after M sweeps a round is from the exact posterior, after some rounds."""

    round: int
    labels: int
    sweeps: int
    total_variation: float
    hellinger: float
    divergence: float  #: KL(pi_t, pi_t^(M)), as in Theorem 2
    noise: float  #: the total variation that so many chains would show if they were exact, from their two halves
    step: float  #: total variation by which the last label moved the exact posterior; 0 before the first


def distances(p: Floats, q: Floats, volume: float) -> tuple[float, float, float]:
    """Return total variation, Hellinger distance and KL(p, q) of two densities on a grid.

    Examples
    --------
    >>> x = np.linspace(-10, 11, 4001)
    >>> normal = lambda mean: np.exp(-0.5 * (x - mean) ** 2) / np.sqrt(2 * np.pi)
    >>> tuple(round(v, 4) for v in distances(normal(0.0), normal(1.0), float(x[1] - x[0])))
    (0.3829, 0.3428, 0.5)
    """
    variation = 0.5 * float(np.abs(p - q).sum()) * volume
    overlap = float(np.sqrt(p * q).sum()) * volume
    seen = p > 0
    divergence = float((p[seen] * np.log(p[seen] / np.maximum(q[seen], 1e-300))).sum()) * volume
    return variation, float(np.sqrt(max(0.0, 1 - overlap))), divergence


def follow(
    table: Table,
    acts: NDArray[np.bool_],
    rounds: Sequence[int],
    key: Key,
    *,
    sweeps: int = 1,
    chains: int = 200,
) -> list[Distance]:
    """Return the distance from the exact posterior after each of ``rounds`` along one history.

    ``acts`` says which labels the history shows (from any policy); every chain sees those and no others. As in the
    algorithm, sweeps are run in every round and each starts where the last ended.
    """
    if chains < 2:
        raise InputError(f"chains must be at least 2, got {chains}")
    if not rounds or rounds[0] < 1 or rounds[-1] > table.rounds or any(a >= b for a, b in pairwise(rounds)):
        raise InputError(f"rounds must rise from 1 to at most {table.rounds}, got {list(rounds)}")
    running = [Gibbs(sweeps).start(table.n_features, key.at("chain", i)) for i in range(chains)]
    found: list[Distance] = []
    wanted = set(rounds)
    for t in range(1, rounds[-1] + 1):
        if t in wanted:
            seen = np.flatnonzero(acts[: t - 1])  # what is known when round t's item arrives
            exact = exact_posterior(table.items[seen], table.labels[seen])
            halves = [mixture_density(half, t, exact.points) for half in (running[::2], running[1::2])]
            share = len(running[::2]) / chains
            law = share * halves[0] + (1 - share) * halves[1]
            step = last_step(exact, table.items[seen[-1]], int(table.labels[seen[-1]])) if seen.size else 0.0
            noise = 0.5 * distances(halves[0], halves[1], exact.volume)[0]
            distance = distances(exact.density, law, exact.volume)
            found.append(Distance(t, len(seen), sweeps, *distance, noise, step))
        for chain in running:
            chain.commit(t)
            if acts[t - 1]:
                chain.learn(table.items[t - 1], int(table.labels[t - 1]))
    return found


def last_step(posterior: GridPosterior, item: Floats, label: int) -> float:
    """Return the total variation by which the last label moved the exact posterior, |pi_t - pi_(t-1)|."""
    scores = posterior.points @ item
    before = posterior.density * np.exp(np.logaddexp(0.0, -scores if label else scores))  # its likelihood taken out
    before /= before.sum() * posterior.volume
    return distances(posterior.density, before, posterior.volume)[0]


def contraction(items: Floats, theta: Floats, prior: Gaussian | None = None) -> float:
    """Return the factor by which one sweep brings the chain closer, where the posterior is nearly Gaussian.

    One sweep is then an autoregression with matrix I - J^-1 I_obs, where I_obs = B^-1 + sum sigma (1 - sigma) x x' is
    the observed information and J = B^-1 + sum E(omega) x x', E(omega) = tanh(z/2) / (2z), the augmented one; the
    factor is its largest eigenvalue. It is near 1 where scores are large or labels one-sided.

    Examples
    --------
    >>> items = np.linspace(-1, 1, 101)[:, None]
    >>> [round(contraction(scale * items, np.ones(1)), 3) for scale in (1, 10, 50)]
    [0.083, 0.93, 0.997]
    """
    precision = (prior or Gaussian()).precision(items.shape[1])
    half = 0.5 * np.abs(items @ theta)
    sigma = 1 / (1 + np.exp(-2 * half))
    omega = np.where(half > 1e-6, np.tanh(half) / (4 * np.maximum(half, 1e-6)), 0.25)
    observed = precision + (items * (sigma * (1 - sigma))[:, None]).T @ items
    augmented = precision + (items * omega[:, None]).T @ items
    return float(1 - np.linalg.eigvals(np.linalg.solve(augmented, observed)).real.min())
