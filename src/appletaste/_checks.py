"""Checks at the door that settings share: numbers in range, and values that can be compared, hashed and saved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .errors import OptionError


def number(name: str, value: Any, least: float = -math.inf, most: float = math.inf, above: float = -math.inf) -> float:
    """Return a finite number in [least, most] and beyond ``above``, or say what it must be.

    Examples
    --------
    >>> number("epsilon", 0.1, least=0, most=1)
    0.1
    """
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not (math.isfinite(value) and least <= value <= most and value > above):
        wanted = [f"> {above:g}"] if above > -math.inf else []
        wanted += [f">= {least:g}"] if least > -math.inf else []
        wanted += [f"<= {most:g}"] if most < math.inf else []
        raise OptionError(f"{name} must be a finite number {' and '.join(wanted)}".rstrip() + f", got {value!r}")
    return float(value)


def whole(name: str, value: Any, least: int, most: int = 10**9) -> int:
    """Return a whole number in [least, most], or say what it must be."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise OptionError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
    return int(value)


def freeze(value: Any) -> Any:
    """Return numbers, however nested or packed, as tuples."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(freeze(part) for part in value) if isinstance(value, list | tuple) else value
