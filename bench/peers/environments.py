"""What is played: every environment is a name, a sentence and a recipe that draws one table for one key.

A recipe sees nothing but its key, so all players meet the same items and labels. Costs, where nothing else is said, are
those of the peer job: acting on a positive saves 0.7, acting on a negative costs 0.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appletaste import Costs, Key, problem
from appletaste.problems import Table
from appletaste.problems.drawn import logistic_table

PEER_JOB = Costs(miss=0.7, false_alarm=0.3, hit=0.0)


@dataclass(frozen=True)
class Environment:
    """One row of the results: ``draw(key)`` gives the table of one replication."""

    name: str
    summary: str
    rounds: int
    features: int
    draw: Callable[[Key], Table]
    skip: str = ""  #: why it cannot be played here; empty where it can


def costs_at(threshold: float) -> Costs:
    """Return costs of scale one: acting pays if and only if P(positive) >= threshold."""
    return Costs(miss=1.0 - threshold, false_alarm=threshold, hit=0.0)


def direction(rng: np.random.Generator, features: int, length: float) -> np.ndarray:
    """Return a vector of the given length that points anywhere."""
    theta = rng.standard_normal(features)
    return length * theta / np.linalg.norm(theta)


def _paper(name: str) -> Callable[[Key], Table]:
    return problem(name).draw


def _normal(name: str, features: int, rounds: int, length: float) -> Callable[[Key], Table]:
    def draw(key: Key) -> Table:
        rng = key.generator()
        theta = direction(rng, features, length)
        return logistic_table(name, rng.standard_normal((rounds, features)), theta, PEER_JOB, rng.random(rounds))

    return draw


def _with_intercept(
    name: str, intercept: float, slopes: int, spread: float, threshold: float, rounds: int
) -> Callable[[Key], Table]:
    def draw(key: Key) -> Table:
        rng = key.generator()
        theta = np.append(spread * rng.standard_normal(slopes), intercept)
        items = np.column_stack([rng.standard_normal((rounds, slopes)), np.ones(rounds)])
        return logistic_table(name, items, theta, costs_at(threshold), rng.random(rounds))

    return draw


def draw_heavy(key: Key, rounds: int = 1000, features: int = 10) -> Table:
    """Return items with t(2) features: now and then one is enormous."""
    rng = key.generator()
    theta = direction(rng, features, 2.0)
    return logistic_table("heavy", rng.standard_t(2, (rounds, features)), theta, PEER_JOB, rng.random(rounds))


def draw_correlated(key: Key, rounds: int = 1500, features: int = 15) -> Table:
    """Return items whose features share a few causes: some directions are hardly ever seen."""
    rng = key.generator()
    theta = direction(rng, features, 2.0)
    mixing = rng.standard_normal((features, features)) / np.sqrt(features)
    items = rng.standard_normal((rounds, features)) @ mixing
    return logistic_table("correl", items, theta, costs_at(0.5), rng.random(rounds))


def draw_onehot(key: Key, rounds: int = 2000, categories: int = 20) -> Table:
    """Return unrelated categories: what is learnt of one says nothing of another."""
    rng = key.generator()
    theta = rng.standard_normal(categories)
    items = np.eye(categories)[rng.integers(categories, size=rounds)]
    return logistic_table("onehot", items, theta, costs_at(0.6), rng.random(rounds))


def draw_costly(key: Key, rounds: int = 500, features: int = 5) -> Table:
    """Return items that are rarely worth an act: a false alarm costs 1, a miss 0.4."""
    rng = key.generator()
    theta = rng.uniform(-1, 1, features)
    costs = Costs(miss=0.4, false_alarm=1.0, hit=0.05)
    return logistic_table("costly", rng.standard_normal((rounds, features)), theta, costs, rng.random(rounds))


def draw_nonlinear(key: Key, rounds: int = 2000, slopes: int = 6) -> Table:
    """Return items whose chance also has squares and products that no feature shows."""
    rng = key.generator()
    x = rng.standard_normal((rounds, slopes))
    scores = (
        x @ direction(rng, slopes, 1.5)
        + rng.normal(0, 0.8) * (x[:, 0] ** 2 - 1)
        + rng.normal(0, 0.8) * x[:, 1] * x[:, 2]
    )
    chances = np.exp(-np.logaddexp(0.0, -(scores - 0.5)))
    labels = (rng.random(rounds) < chances).astype(np.int8)
    return Table("nonlinear", np.column_stack([x, np.ones(rounds)]), chances, labels, PEER_JOB)


def drawn_environments() -> list[Environment]:
    """Return the environments with a fixed recipe, in the order of the report."""
    root = float(np.sqrt(10.0))
    return [
        Environment("i", "the paper's problem (i): d = 5, T = 500", 500, 5, _paper("i")),
        Environment("ii", "the paper's problem (ii): d = 20, items of variance 8, T = 1000", 1000, 20, _paper("ii")),
        Environment("iii", "the paper's problem (iii): every item near the boundary, T = 500", 500, 1, _paper("iii")),
        Environment("peer", "d = 20, |theta*| = 2, T = 2000, +0.7 / -0.3", 2000, 20, _normal("peer", 20, 2000, 2.0)),
        Environment(
            "rare",
            "intercept -4, 7 slopes N(0, 0.6²), threshold 0.05, T = 2000",
            2000,
            8,
            _with_intercept("rare", -4.0, 7, 0.6, 0.05, 2000),
        ),
        Environment(
            "mis-large", "|theta*| = 3 sqrt(10), d = 10, T = 1000", 1000, 10, _normal("mis-large", 10, 1000, 3 * root)
        ),
        Environment(
            "mis-small", "|theta*| = sqrt(10) / 3, d = 10, T = 1000", 1000, 10, _normal("mis-small", 10, 1000, root / 3)
        ),
        Environment("heavy", "items with t(2) features, d = 10, |theta*| = 2, T = 1000", 1000, 10, draw_heavy),
        Environment("correl", "correlated features, d = 15, threshold 0.5, T = 1500", 1500, 15, draw_correlated),
        Environment(
            "onehot", "20 unrelated categories, theta* ~ N(0, I), threshold 0.6, T = 2000", 2000, 20, draw_onehot
        ),
        Environment(
            "costly", "miss 0.4, false alarm 1, hit 0.05 (threshold 0.74), d = 5, T = 500", 500, 5, draw_costly
        ),
        Environment(
            "icept",
            "intercept -2, 5 slopes N(0, 1), threshold 0.4, T = 3000",
            3000,
            6,
            _with_intercept("icept", -2.0, 5, 1.0, 0.4, 3000),
        ),
        Environment("d50", "d = 50, |theta*| = 2, T = 2000", 2000, 50, _normal("d50", 50, 2000, 2.0)),
        Environment("d200", "d = 200, |theta*| = 2, T = 2000", 2000, 200, _normal("d200", 200, 2000, 2.0)),
        Environment("long", "d = 10, |theta*| = 2, T = 20,000", 20_000, 10, _normal("long", 10, 20_000, 2.0)),
        Environment(
            "nonlinear", "squares and products that no feature shows, d = 7, T = 2000", 2000, 7, draw_nonlinear
        ),
    ]
