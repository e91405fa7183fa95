"""The tails of the exact posterior, and the regret of ``exact-ts`` against PG-TS (M = 15): ``make bench ARGS=exact``.

Tails: labels stop, rounds go on, and the share of rounds that end beyond the 95, 98 and 99.5 % points of the posterior,
on either side along its mode, is compared with what it should be: by quadrature in two dimensions, by a long Gibbs run
in twenty. Standard errors are those of independent chains.

Regret: both play the same streams and draw from the same posterior, by different samplers: nothing but noise should
part them. Some fifteen minutes on two cores; ``--replications`` and ``--rounds`` for less.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from scipy.special import expit

import appletaste as at
from appletaste.cli.console import progress_of
from appletaste.policies import PolicySpec
from appletaste.posteriors import Exact, Gaussian, Gibbs

PROBLEMS = {
    "d = 5": (at.problem("synthetic", rounds=5000), 160),
    "rare positives": (
        at.problem("synthetic", rounds=5000, features=4, intercept=-4.0, costs=at.Costs(19.0, 1.0, 0.0)),
        400,
    ),
}
ENTRIES = [PolicySpec("pg-ts", {}), PolicySpec("exact-ts", {})]
POINTS = (0.95, 0.98, 0.995)


class Case(NamedTuple):
    """Labels and a prior under which the posterior has heavier tails than the Gaussian at its mode."""

    items: np.ndarray
    labels: np.ndarray
    prior: Gaussian


def case(name: str) -> Case:
    """Return a case by its name: large features, separable labels, or the paper's problem (ii)."""
    rng = np.random.default_rng(5)
    if name == "large":
        items = 10 * rng.normal(size=(150, 2))
        return Case(items, (rng.random(150) < expit(items @ [1.0, -0.7])).astype(int), Gaussian())
    if name == "separable":
        items = rng.normal(size=(150, 2))
        return Case(items, (items @ [1.0, 0.5] > 0).astype(int), Gaussian(0.0, 100.0))
    table = at.problem("ii").draw(at.Key(5))
    return Case(table.items, table.labels.astype(int), Gaussian())


def mode(data: Case) -> tuple[np.ndarray, np.ndarray]:
    """Return the mode of the posterior and the inverse of minus the Hessian there."""
    d = data.items.shape[1]
    precision, theta = data.prior.precision(d), data.prior.mean_vector(d)
    step, best = np.ones(d), log_posterior(data, theta[None])[0]
    while np.abs(step).max() > 1e-10:
        chances = expit(data.items @ theta)
        gradient = data.items.T @ (data.labels - chances) - precision @ (theta - data.prior.mean_vector(d))
        inverse = np.linalg.inv(data.items.T @ (data.items * (chances * (1 - chances))[:, None]) + precision)
        step = inverse @ gradient
        while (found := log_posterior(data, (theta + step)[None])[0]) < best - 1e-9:
            step /= 2
        theta, best = theta + step, found
    return theta, inverse


def log_posterior(data: Case, thetas: np.ndarray) -> np.ndarray:
    """Return the log posterior of rows of thetas, up to a constant."""
    d = thetas.shape[1]
    offsets, scores = thetas - data.prior.mean_vector(d), thetas @ data.items.T
    signed = np.where(data.labels == 1, -scores, scores)
    return -0.5 * np.einsum("ij,jk,ik->i", offsets, data.prior.precision(d), offsets) - np.logaddexp(0, signed).sum(1)


class Tails(NamedTuple):
    """Cuts along a direction and how much of the posterior lies beyond each: the lower tails, then the upper ones."""

    direction: np.ndarray
    cuts: np.ndarray
    masses: np.ndarray

    def shares(self, draws: np.ndarray) -> np.ndarray:
        """Return the share of draws beyond each cut, over what it should be."""
        scores, half = (draws @ self.direction)[:, None], len(POINTS)
        beyond = np.hstack([scores <= self.cuts[:half], scores > self.cuts[half:]])
        return beyond.mean(0) / self.masses


def tails_by_quadrature(data: Case, cells: int = 700, reach: float = 12.0) -> Tails:
    """Return the tails along the mode, from a grid of midpoints over ``reach`` standard deviations either side."""
    centre, inverse = mode(data)
    axis = reach * (2 * (np.arange(cells) + 0.5) / cells - 1)
    offsets = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    grid = centre + offsets @ np.linalg.cholesky(inverse).T
    logs = np.concatenate([log_posterior(data, part) for part in np.array_split(grid, 20)])
    weights = np.exp(logs - logs.max())
    direction = centre / np.linalg.norm(centre)
    scores = grid @ direction
    order = np.argsort(scores)
    below = np.cumsum(weights[order]) / weights.sum()
    lower, upper = (np.searchsorted(below, points) for points in (1 - np.array(POINTS), POINTS))
    return Tails(direction, scores[order][[*lower, *upper]], np.array([*below[lower], *(1 - below[upper])]))


def tails_by_gibbs(data: Case, sweeps: int) -> tuple[Tails, np.ndarray]:
    """Return the tails along the mode by a long Gibbs run, and the standard errors of their masses by batches."""
    d = data.items.shape[1]
    chain = Gibbs(sweeps=sweeps, burn_in=500, prior=data.prior).start(d, at.Key(2))
    for x, y in zip(data.items, data.labels, strict=True):
        chain.learn(x, int(y))
    draws, (centre, _) = chain.draws(1), mode(data)
    direction = centre / np.linalg.norm(centre)
    cuts = np.quantile(draws @ direction, [*(1 - np.array(POINTS)), *POINTS])
    masses = np.array([*(1 - np.array(POINTS)), *(1 - np.array(POINTS))])
    tails = Tails(direction, cuts, masses)
    batches = np.array([tails.shares(part) for part in np.array_split(draws, 50)])
    return tails, batches.std(0, ddof=1) / np.sqrt(50)


def last_draws(data: Case, seed: int, rounds: int, **settings: object) -> np.ndarray:
    """Return where each round ends, of a chain that has learnt all labels one by one."""
    chain = Exact(prior=data.prior, **settings).start(data.items.shape[1], at.Key(seed))
    count = len(data.items)
    for round_, (x, y) in enumerate(zip(data.items, data.labels, strict=True), 1):
        chain.commit(round_)
        chain.learn(x, int(y))
    draws = np.empty((rounds, data.items.shape[1]))
    for i in range(rounds):
        draws[i] = chain.draws(count + 1 + i)[-1]
        chain.commit(count + 1 + i)
    return draws


def shares(data: Case, tails: Tails, chains: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Return shares beyond the cuts over what they should be, and their standard errors over independent chains."""
    found = np.array([tails.shares(last_draws(data, 100 + k, rounds)) for k in range(chains)])
    return found.mean(0), found.std(0, ddof=1) / np.sqrt(chains)


def print_tails(rounds: int, chains: int = 20) -> None:
    """Print, for each case, the tails of the exact posterior's draws over what they should be."""
    for name in ("large", "separable", "ii"):
        data = case(name)
        if name == "ii":
            tails, reference_errors = tails_by_gibbs(data, 10 * rounds)
        else:
            tails, reference_errors = tails_by_quadrature(data), np.zeros(2 * len(POINTS))
        means, errors = shares(data, tails, chains, rounds)
        errors = np.hypot(errors, reference_errors)
        cells = [f"{m:.3f} +- {e:.3f} ({(m - 1) / e:+.1f})" for m, e in zip(means, errors, strict=True)]
        print(
            f"{name}, {chains} chains x {rounds:,} rounds, share beyond the points over nominal (standard errors off)"
        )
        for side, part in (("lower", cells[:3]), ("upper", cells[3:])):
            print(f"  {side}: " + ", ".join(f"{100 * p:g} % {cell}" for p, cell in zip(POINTS, part, strict=True)))


def main() -> None:
    """Print the paired difference with its standard error, in per cent of PG-TS's regret."""
    parser = argparse.ArgumentParser(
        prog="python -m bench exact", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--replications", type=int, help="of each problem (default 160 and 400)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--rounds", type=int, default=30_000, help="of each chain, for the tails (default 30,000)")
    args = parser.parse_args()
    print_tails(args.rounds)
    for name, (problem, planned) in PROBLEMS.items():
        count = args.replications or planned
        with progress_of(name, [entry.label for entry in ENTRIES] * count, args.jobs) as step:
            results = at.replicate(
                problem, ENTRIES, count, seed=11, jobs=args.jobs, progress=lambda entry: step(entry.label)
            )
        pg, exact = (result.final_regret for result in results)
        difference, scale = exact - pg, 100 / pg.mean()
        error = difference.std(ddof=1) / np.sqrt(count)
        print(
            f"{name}, T = 5,000, {count} streams: pg-ts {pg.mean():.2f}, exact-ts {exact.mean():.2f}, "
            f"difference {scale * difference.mean():+.2f} % +- {scale * error:.2f} %"
        )


if __name__ == "__main__":
    main()
