"""Items and their costs at the door: fresh arrays of finite numbers, or a word about what is wrong with them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..costs import Costs
from ..errors import InputError
from ..kernels.linear import first_unusable
from ..posteriors import Vector


def check_item(x: ArrayLike, n_features: int) -> Vector:
    """Return x as a fresh float64 vector, or say what is wrong with it."""
    try:
        item = np.array(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"an item must be {n_features} numbers, got {x!r}") from None
    if item.shape != (n_features,):
        raise InputError(f"an item must have shape ({n_features},), got {item.shape}")
    bad = first_unusable(item)
    if bad >= 0:
        raise InputError(f"feature {bad} is {item[bad]}: features must be finite and below 1e100 in size")
    return item


def is_item(x: Any, n_features: int) -> bool:
    """Return whether x is what ``check_item`` returns."""
    right = type(x) is np.ndarray and x.dtype == np.float64 and x.shape == (n_features,)
    return right and first_unusable(x) < 0


def check_items(items: ArrayLike, n_features: int) -> Vector:
    """Return items as a fresh float64 matrix, or say what is wrong with them."""
    try:
        table = np.array(items, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError(f"items must be rows of {n_features} numbers") from None
    if table.ndim != 2 or table.shape[1] != n_features:
        raise InputError(f"items must have shape (n, {n_features}), got {table.shape}")
    bad = first_unusable(table.reshape(-1))
    if bad >= 0:
        row, column = divmod(bad, n_features)
        raise InputError(
            f"feature {column} of item {row} is {table[row, column]}: features must be finite and below 1e100"
        )
    return table


def check_costs(costs: Costs | None, usual: Costs) -> Costs:
    """Return the costs of an item: those given, or the stream's."""
    if costs is None:
        return usual
    if not isinstance(costs, Costs):
        raise InputError(f"costs must be an appletaste.Costs, got {type(costs).__name__}")
    return costs
