"""Checks at the door that settings share: numbers in range, and values that can be compared, hashed and saved."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .errors import InputError, Message, OptionError, Remedy


def number(name: str, value: Any, least: float = -math.inf, most: float = math.inf, above: float = -math.inf) -> float:
    """Return a finite number in [least, most] and beyond ``above``, or say what it must be.

    Examples
    --------
    >>> number("epsilon", 0.1, least=0, most=1)
    0.1
    """
    if not is_finite(value) or not (least <= value <= most and value > above):
        wanted = [f"> {above:g}"] if above > -math.inf else []
        wanted += [f">= {least:g}"] if least > -math.inf else []
        wanted += [f"<= {most:g}"] if most < math.inf else []
        raise OptionError(f"{name} must be a finite number {' and '.join(wanted)}".rstrip() + f", got {shown(value)}")
    return float(value)


def whole(name: str, value: Any, least: int, most: int = 10**9) -> int:
    """Return a whole number in [least, most], or say what it must be."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not least <= value <= most:
        raise OptionError(f"{name} must be a whole number from {least} to {most}, got {shown(value)}")
    return int(value)


def check_port(port: Any) -> int:
    """Return a port to listen on, 0 for any that is free, or say what a port is: 99999 would be taken for 34463.

    Examples
    --------
    >>> check_port(8080)
    8080
    """
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        told = f" is a whole number from 1 to 65535, or 0 for any that is free, got {shown(port)}"
        raise OptionError(Message(Remedy("port"), told))
    return port


def check_text(what: str, text: str) -> str:
    """Return a text that every store and every table can hold, or say that it cannot.

    Examples
    --------
    >>> check_text("an id", "case-17")
    'case-17'
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} is a text in Unicode, and this one has half a character in it") from None
    if "\0" in text:
        raise InputError(f"{what} has no zero byte in it")
    return text


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold: no truth value, no length of time, no NaN, no 10**400.

    Examples
    --------
    >>> is_finite(3), is_finite(True), is_finite(10**400), is_finite(np.timedelta64(3, "s"))
    (True, False, False, False)
    """
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """Return a value for a message; a whole number may have more digits than Python writes out."""
    try:
        text = repr(value)
    except ValueError:
        return "a whole number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} letters)"


def freeze(value: Any) -> Any:
    """Return numbers, however nested or packed, as tuples."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(freeze(part) for part in value) if isinstance(value, list | tuple) else value
