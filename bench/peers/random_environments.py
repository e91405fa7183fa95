"""A few hundred environments that nobody chose: dimension, horizon, threshold, truth and items all drawn."""

from __future__ import annotations

import numpy as np

from appletaste import Key
from appletaste.problems import Table
from appletaste.problems.drawn import logistic_table

from .environments import Environment, costs_at, direction

FEATURES = (2, 4, 8, 16, 32)
ROUNDS = (300, 1000, 3000)
KINDS = ("normal", "t3", "binary", "onehot", "correlated")


def draw_items(rng: np.random.Generator, kind: str, rounds: int, features: int) -> np.ndarray:
    """Return items of one kind."""
    if kind == "t3":
        return rng.standard_t(3, (rounds, features))
    if kind == "binary":
        return (rng.random((rounds, features)) < rng.uniform(0.05, 0.5)).astype(float)
    if kind == "onehot":
        return np.eye(features)[rng.integers(features, size=rounds)]
    items = rng.standard_normal((rounds, features))
    if kind == "correlated":
        return items @ rng.standard_normal((features, features)) / np.sqrt(features)
    return items


def draw_random(key: Key) -> Table:
    """Return the one table of one random environment."""
    rng = key.generator()
    features, rounds = int(rng.choice(FEATURES)), int(rng.choice(ROUNDS))
    kind = str(rng.choice(KINDS))
    threshold, length = rng.uniform(0.05, 0.9), 2.0 * np.exp(0.5 * rng.standard_normal())
    items = draw_items(rng, kind, rounds, features)
    if rng.random() < 0.6:
        items = np.column_stack([items, np.ones(rounds)])
    theta = direction(rng, items.shape[1], length)
    return logistic_table("random", items, theta, costs_at(float(threshold)), rng.random(rounds))


def random_suite() -> Environment:
    """Return the whole suite as one environment whose replications are environments."""
    summary = "d from 2 to 32, T 300, 1000 or 3000, threshold U(0.05, 0.9), five kinds of items; a new one each time"
    return Environment("random", summary, round(float(np.mean(ROUNDS))), 13, draw_random)
