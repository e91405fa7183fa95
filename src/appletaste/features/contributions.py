"""What each named feature adds to a score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError


def contributions(names: Sequence[str], x: ArrayLike, theta: ArrayLike) -> list[tuple[str, float]]:
    """Return the parts x_j theta_j of the score x'theta by name, the largest first, zeros left out.

    Examples
    --------
    >>> contributions(["intercept", "age", "income"], [1.0, 0.5, 0.0], theta=[-0.1, 2.0, 3.0])
    [('age', 1.0), ('intercept', -0.1)]
    """
    parts = vector("an item", x, len(names)) * vector("theta", theta, len(names))
    return largest_first(zip(names, parts.tolist(), strict=True))


def largest_first(parts: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return signed parts in order of their size; those of one name are added, those that add nothing left out."""
    totals: dict[str, float] = {}
    for name, part in parts:
        totals[name] = totals.get(name, 0.0) + part
    return sorted((part for part in totals.items() if part[1]), key=lambda part: -abs(part[1]))


def vector(name: str, values: ArrayLike, width: int) -> NDArray[np.float64]:
    """Return values as a vector, or say how many there must be."""
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (width,):
        raise InputError(f"{name} must have {width} numbers, one for each feature, got shape {found.shape}")
    return found
