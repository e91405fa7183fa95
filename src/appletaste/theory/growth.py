"""How measured Bayesian regret grows with the horizon T and the dimension d, with fitted exponents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..keys import Key
from ..policies import PolicySpec
from ..problems.synthetic import Bounded
from ..simulate import replicate
from .game import Floats


@dataclass(frozen=True)
class Exponent:
    """The slope of log mean regret over log size, and its bootstrap interval over replications."""

    value: float
    low: float
    high: float
    level: float


def fit_exponent(sizes: Sequence[float], values: Sequence[Floats], key: Key, *, draws: int = 1000) -> Exponent:
    """Fit mean(values[k]) = c sizes[k]^e by least squares in logarithms; 95 % interval by bootstrap.

    ``values`` has one array of replications for each size. Arrays of one length are resampled together, because
    replications may be paired: the same run stopped at several horizons.

    Examples
    --------
    >>> sizes = [10, 100, 1000]
    >>> found = fit_exponent(sizes, [np.full(5, 2.0 * size**0.5) for size in sizes], Key(1))
    >>> round(found.value, 6), round(found.low, 6)
    (0.5, 0.5)
    """
    if len(sizes) < 2 or len(sizes) != len(values):
        raise InputError(f"an exponent needs two sizes or more, with values for each; got {len(sizes)}, {len(values)}")
    counts = {len(column) for column in values}
    if len(counts) != 1:
        raise InputError(f"every size needs the same number of replications, got {sorted(counts)}")
    table = np.column_stack(values)  # [replication, size]
    if not (table.mean(axis=0) > 0).all():
        raise InputError("an exponent needs positive means: at some size there is no regret at all")
    places = np.log(np.asarray(sizes, dtype=np.float64))
    weights = (places - places.mean()) / ((places - places.mean()) ** 2).sum()
    chosen = key.generator().integers(0, len(table), (draws, len(table)))
    resampled = table[chosen].mean(axis=1)
    slopes = np.log(np.maximum(resampled, 1e-300)) @ weights
    low, high = (float(q) for q in np.quantile(slopes, [0.025, 0.975]))
    return Exponent(float(np.log(table.mean(axis=0)) @ weights), low, high, 0.95)


@dataclass(frozen=True)
class Growth:
    """Mean regret at every size, its standard error, and the exponent."""

    sizes: tuple[int, ...]
    mean: tuple[float, ...]
    se: tuple[float, ...]
    exponent: Exponent


def measure(
    policy: str,
    *,
    horizons: Sequence[int],
    dimensions: Sequence[int],
    features: int = 5,
    rounds: int = 500,
    replications: int = 50,
    seed: int = 0,
    jobs: int = 1,
    make: Callable[[int, int], Bounded] = lambda d, rounds: Bounded(features=d, rounds=rounds),
) -> tuple[Growth, Growth]:
    """Return the growth of Bayesian regret over T at d = ``features``, and over d at T = ``rounds``.

    A policy that does not know its horizon is the same at every T, so one long run gives every horizon.
    """
    key = Key(seed).at("growth")

    def curves(d: int, length: int) -> Floats:
        problem = make(d, length)
        entry = PolicySpec(policy, {"prior": problem.prior} if policy.startswith("pg-") else {})
        return replicate(problem, [entry], replications, seed=seed, jobs=jobs)[0].curves

    long = curves(features, max(horizons))
    over_rounds = [long[:, t - 1] for t in horizons]
    over_features = [curves(d, rounds)[:, -1] for d in dimensions]
    return (
        _growth(horizons, over_rounds, key.at("rounds")),
        _growth(dimensions, over_features, key.at("features")),
    )


def _growth(sizes: Sequence[int], values: list[Floats], key: Key) -> Growth:
    return Growth(
        tuple(sizes),
        tuple(float(column.mean()) for column in values),
        tuple(
            float(column.std(ddof=1) / np.sqrt(len(column))) if len(column) > 1 else float("nan") for column in values
        ),
        fit_exponent(sizes, values, key),
    )
