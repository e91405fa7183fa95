"""The label column of a table: two values, one of which means that acting was right."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decision import UNKNOWN
from ..errors import DataError, Message, OneClassWarning, Remedy
from .values import as_level

#: Pairs that say by themselves which is which: negative, positive. pandas writes 0.0 and 1.0 where a label was missing
#: once, databases f and t.
PAIRS = (("0", "1"), ("0.0", "1.0"), ("false", "true"), ("f", "t"), ("no", "yes"), ("n", "y"))
#: What a table is good for whose labels are known in some rows only.
SOME_LABELS = (
    "A file with labels in some rows only can be the past that a policy starts from: ",
    Remedy("history"),
    " of a replay, 'appletaste stream create --teach', or in Python read_records(..., unlabelled=True) and "
    "policy.learn_history",
)


def read_labels(
    name: str,
    values: Sequence[Any],
    positive: Any,
    missing: tuple[str, ...],
    source: str,
    where: Callable[[int], str],
    unlabelled: bool = False,
) -> NDArray[np.int8]:
    """Return labels as 0 and 1, or say which value is in the way and what to do about it.

    With ``unlabelled`` a label may be missing, and is -1.

    Examples
    --------
    >>> read_labels("ok", ["yes", "no", "yes"], None, (), "a file", "row {}".format)
    array([1, 0, 1], dtype=int8)
    >>> read_labels("credit", ["good", "bad"], "good", (), "a file", "row {}".format)
    array([1, 0], dtype=int8)
    >>> read_labels("ok", ["yes", "", "no"], None, ("",), "a file", "row {}".format, unlabelled=True)
    array([ 1, -1,  0], dtype=int8)
    """
    levels = []
    for row, value in enumerate(values):
        level = as_level(value, missing)
        if level is None and not unlabelled:
            told = (
                f"{where(row)}: no label in column {name!r} (got {value!r}). A label is never filled in: give it, or "
            )
            raise DataError(Message(f"{told}leave out the rows that have none. ", *SOME_LABELS))
        levels.append(level)
    counts = Counter(level for level in levels if level is not None)
    if not counts:
        raise DataError(f"{source}: no row has a label in column {name!r}; is it the right column?")
    pair = next((pair for pair in PAIRS if {level.casefold() for level in counts} <= set(pair)), None)
    if positive is None and pair:
        positives = {level for level in counts if level.casefold() == pair[1]}
    else:
        positives = {_positive_value(name, counts, positive, source, lambda level: where(levels.index(level)))}
    found = (UNKNOWN if level is None else level in positives for level in levels)
    labels = np.fromiter(found, dtype=np.int8, count=len(levels))
    known = labels[labels != UNKNOWN]
    if known.min() == known.max():
        warnings.warn(
            f"every label of {source} is {next(iter(counts))!r}: nothing can be learnt from one class. Is {name!r} "
            "the right column, and is the file whole? (A file sorted by class must be shuffled before it is split)",
            OneClassWarning,
            stacklevel=3,
        )
    return labels


def _positive_value(
    name: str, counts: Counter[str], positive: Any, source: str, first_place: Callable[[str], str]
) -> str:
    """Return the value that means positive where the values do not say so, or say what is in the way."""
    wanted = None if positive is None else as_level(positive, ())
    if len(counts) > 2:
        folded = {level.casefold() for level in counts}
        known = {wanted, *next((pair for pair in PAIRS if set(pair) <= folded), ())}
        if len(counts) > 3 or (wanted not in counts and len(known) < 3):
            first = ", ".join(repr(level) for level, _ in counts.most_common(6))
            more = "" if len(counts) <= 6 else f" and {len(counts) - 6} more"
            told = (
                f"{source}: column {name!r} has {len(counts)} values, {first}{more}. A label has two: name another "
                "column with "
            )
            raise DataError(Message(told, Remedy("label"), ", or make a column of two values from this one"))
        odd = min((level for level in counts if level.casefold() not in known), key=lambda level: counts[level])
        others = ", ".join(repr(level) for level in list(counts)[:6] if level != odd)
        told = (
            f"{first_place(odd)}: label {odd!r} in column {name!r}, besides {others}. A label has two values: correct "
            f"or leave out the {counts[odd]} row(s) with {odd!r}, or name another column with "
        )
        raise DataError(Message(told, Remedy("label")))
    if wanted is None:
        told = (
            f"{source}: column {name!r} holds {' and '.join(map(repr, counts))}. Say which value means that acting "
            "was right: "
        )
        choices = [part for level in counts for part in (" or ", Remedy("positive", level))]
        raise DataError(Message(told, *choices[1:]))
    if len(counts) == 2 and wanted not in counts:
        told, values = (
            f"{source}: no label in column {name!r} is ",
            f"; its values are {' and '.join(map(repr, counts))}",
        )
        raise DataError(Message(told, Remedy("positive", positive), values))
    return wanted
