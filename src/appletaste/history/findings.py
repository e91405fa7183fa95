"""What else a table shows before it is played: one function for each finding, with a stable code and a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decision import UNKNOWN
from ..errors import Message, Remedy
from ..features import Encoder
from ..tables.label_column import SOME_LABELS
from ..tables.records import WARM_UP
from ..tables.values import written_otherwise
from .leaks import (
    OWN_ROWS,
    ROWS,
    Finding,
    Seen,
    absent,
    codes,
    foreign_dates,
    infinite_cells,
    is_number,
    is_whole,
    later_dates,
    leaks,
    moving_ranges,
    postcodes,
    present,
    rare_at_first,
    shown,
    zones,
)

#: The share of rows with the same value in a column that is nearly constant.
NEARLY = 0.995
#: Distinct texts and whole numbers among the values of an identifier.
OWN_TEXT, OWN_NUMBER = 0.9, 0.99
#: Rarer labels there should be, in all and for each feature; and the share of missing values that is worth a word.
RARE, RARE_EACH, MISSING = 30, 10, 0.5
#: The share of changes from row to row of a number that moves with their order; the least told apart of a rare value.
CHANGES, TOLD = 0.05, 0.55
_CALENDAR = re.compile(r"(^|[^a-z])(year|month|week|quarter|day|yr)s?([^a-z]|$)", re.IGNORECASE)


def calendars(seen: Seen) -> Iterator[Finding]:
    """CALENDAR: a year, month, week or day that moves with the order of the rows."""
    for name, column in seen.records.columns.items():
        if not is_number(column):
            continue
        values = present(column)
        if len(values) < OWN_ROWS or not is_whole(values) or values.min() == values.max():
            continue
        named, years = _CALENDAR.search(name.replace("_", " ")), values.min() >= 1900 and values.max() <= 2100
        moves = float(np.mean(values[1:] != values[:-1])) < CHANGES
        if moves and (years or (named and values.min() >= 0 and values.max() <= 366)):
            yield Finding(
                "CALENDAR",
                name,
                Message(
                    f"column {name!r} is a part of the calendar, and moves with the order of the rows: what is learnt "
                    "of one period says nothing of the next. Leave the column out, ",
                    Remedy("drop", [name]),
                    ", and let the policy forget with half_life where the stream changes",
                ),
            )


def constants(seen: Seen) -> Iterator[Finding]:
    """CONSTANT and NEAR_CONSTANT: a column that says the same of every row, or of nearly every row."""
    for name, column in seen.records.columns.items():
        values = present(column)
        if not len(values) or (len(values) == len(column) and np.all(values == values[0])):
            what = "no value at all" if not len(values) else f"{shown(values[0])} in every row"
            told = Message(f"column {name!r} has {what}: leave the column out: ", Remedy("drop", [name]))
            yield Finding("CONSTANT", name, told)
            continue
        levels, counts = np.unique(values.astype(str) if column.dtype == object else values, return_counts=True)
        share = float(counts.max()) / len(column)
        if share >= NEARLY and not seen.told(name) > TOLD:
            told = Message(
                f"column {name!r} has {shown(levels[counts.argmax()])} in {100 * share:.1f} % of rows: there is "
                "little to learn from such a column. Leave the column out unless you know better: ",
                Remedy("drop", [name]),
            )
            yield Finding("NEAR_CONSTANT", name, told)


def identifiers(seen: Seen) -> Iterator[Finding]:
    """Find IDENTIFIER: another value in nearly every row; of a date, where nothing says when the items came."""
    for name, column in seen.records.columns.items():
        values, dated = present(column), name in seen.records.dates
        if (dated and seen.times is not None) or (not is_number(column) and written_otherwise(column[:WARM_UP])):
            continue
        if len(values) < OWN_ROWS or (is_number(column) and not is_whole(values)):
            continue
        if len(np.unique(values)) > (OWN_NUMBER if is_number(column) else OWN_TEXT) * len(values):
            such = f"column {name!r} has another %s in nearly every row, such as {shown(values[0])}"
            told = Message(
                f"{such % 'value'}: a name, not a feature. Nothing can be learnt from such a column: ",
                Remedy("drop", [name]),
            )
            if dated:
                told = Message(f"{such % 'date'}. If the date says when the item came: ", Remedy("time", name))
            yield Finding("IDENTIFIER", name, told)


def gaps(seen: Seen) -> Iterator[Finding]:
    """MISSING: a column that is missing in most rows."""
    for name, column in seen.records.columns.items():
        share = 1.0 - len(present(column)) / len(column)
        if MISSING <= share < 1.0:
            told = f"column {name!r} is missing in {100 * share:.0f} % of rows; that the value is missing is a feature"
            yield Finding("MISSING", name, Message(told))


def duplicates(seen: Seen) -> Iterator[Finding]:
    """DUPLICATE: rows that are there twice, and columns that say the same as another."""
    columns, n = seen.records.columns, len(seen.records)
    keys = {name: _codes(column) for name, column in columns.items()}
    widths = {name: int(key.max()) + 1 for name, key in keys.items()}
    rows = np.unique(np.column_stack([*keys.values(), seen.labels]), axis=0)
    if len(rows) < n and np.log([*widths.values()]).sum() > np.log(100.0 * n):  # with few values, rows are alike anyway
        more = n - len(rows)
        told = (
            f"{more} row{'s are copies' if more > 1 else ' is a copy'} of an earlier row, the label included: a policy "
            "that meets an item again knows the answer. Leave out copies of one and the same item"
        )
        yield Finding("DUPLICATE", None, Message(told))
    first: dict[bytes, str] = {}
    for name, key in keys.items():
        if 2 <= widths[name] <= n / 2:
            same = first.setdefault(key.tobytes(), name)
            if same != name:
                yield _same_columns(name, same)
    numbers = [name for name, column in columns.items() if is_number(column) and widths[name] > n / 2]
    table = np.array([columns[name] for name in numbers])
    for i, name in enumerate(numbers):
        alike = [other for k, other in enumerate(numbers[:i]) if _in_line(table[i], table[k])]
        if alike:
            yield _same_columns(name, alike[0])


def labels(seen: Seen) -> Iterator[Finding]:
    """LABEL_MISSING and FEW_POSITIVES: whether there is enough to learn from."""
    known = seen.labels[seen.labels != UNKNOWN]
    if not len(known):
        return
    missing = len(seen.labels) - len(known)
    if missing:
        told = (
            f"the label is missing in {missing} of {len(seen.labels)} rows ({100 * missing / len(seen.labels):.1f} %). "
            "A replay needs every label. "
        )
        yield Finding("LABEL_MISSING", None, Message(told, *SOME_LABELS))
    positives, negatives = int((known == 1).sum()), int((known == 0).sum())
    rarer, word = (positives, "positives") if positives <= negatives else (negatives, "negatives")
    features = Encoder().fit(seen.records).n_features
    if rarer < max(RARE, RARE_EACH * features):
        told = (
            f"there are {rarer} {word} for {features} features: what is learnt from so few is uncertain "
            f"({RARE_EACH} for each feature, and {RARE} in all, would be better). More rows, or fewer columns"
        )
        yield Finding("FEW_POSITIVES", None, Message(told))


def known_labels(seen: Seen) -> Iterator[Finding]:
    """LABEL_KNOWN: a column that tells exactly in which rows the label is known, and nothing among these rows."""
    known = seen.labels != UNKNOWN
    if not ROWS <= int(known.sum()) <= len(known) - ROWS:
        return
    for name, column in seen.records.columns.items():
        values, missing = _codes(column), absent(column)
        also: list[str | Remedy] = []
        first = int(np.argmax(known))
        if np.array_equal(values == values[first], known):
            what = "missing" if missing[first] else shown(column[first])
            also = ["; if it says on which items somebody acts today, for a replay: ", Remedy("today", name)]
        elif np.array_equal(~missing, known):
            what = "there"
            if name in seen.records.dates:
                also = ["; if it says when the label arrived: ", Remedy("label_time", name)]
        else:
            continue
        told = Message(
            f"column {name!r} is {what} in all {int(known.sum())} rows with a label, and in none of the others: the "
            "column tells where somebody looked, and what its other values mean cannot be learnt. If the column is not "
            "known before the decision, leave the column out: ",
            Remedy("drop", [name]),
            *also,
        )
        yield Finding("LABEL_KNOWN", name, told)


#: Every check, the gravest first.
CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    *(
        leaks,
        later_dates,
        known_labels,
        foreign_dates,
        zones,
        infinite_cells,
        labels,
        calendars,
        moving_ranges,
        rare_at_first,
        postcodes,
        codes,
    ),
    *(identifiers, duplicates, constants, gaps),
)


def _codes(column: NDArray[Any]) -> NDArray[np.intp]:
    """Return a number for each value, in the order in which they first come; missing is a value."""
    if is_number(column):
        _, first, places = np.unique(column, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[places]
    known: dict[Any, int] = {}
    return np.array([known.setdefault(level, len(known)) for level in column.tolist()], dtype=np.intp)


def _in_line(one: NDArray[np.float64], two: NDArray[np.float64]) -> bool:
    """Return whether two columns lie on a line, missing in the same rows."""
    known = np.isfinite(one)
    if not np.array_equal(known, np.isfinite(two)) or known.sum() < OWN_ROWS:
        return False
    for rows in (known.nonzero()[0][:OWN_ROWS], known):  # nearly all pairs are told apart by a few rows
        with np.errstate(invalid="ignore", divide="ignore"):  # constant there
            r = np.corrcoef(one[rows], two[rows])[0, 1]
        if not abs(r) > 1.0 - 1e-9:
            return False
    return True


def _same_columns(name: str, same: str) -> Finding:
    told = Message(
        f"column {name!r} says the same as {same!r}: each value of one goes with one value of the other. Leave one "
        "out: ",
        Remedy("drop", [name]),
    )
    return Finding("DUPLICATE", name, told)
