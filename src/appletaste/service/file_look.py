"""A look at a file that was sent: what each column holds, what it could be, and which seems to be what."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..features import Records, read_records
from ..remedies import Remedy, worded
from ..replays.findings import is_number, present
from ..replays.looking import ColumnLook, look
from .desk_numbers import FileColumn, FileRead, LookBar, Suggested
from .files import plain_words, unreadable

LABEL, TIME, ID, AMOUNT = "label", "time", "id", "amount"
#: Words in the name of a column that say what it is.
NAMED = {
    LABEL: r"label|fraud|bad|default|target|outcome|churn|positive|chargeback|spam|^y$|^is_",
    TIME: r"time|date|placed|booked|created|_at$|_on$",
    ID: r"(^|_)id$|^id|number$|order$|case$|key$",
    AMOUNT: r"amount|value|price|total|sum|turnover|limit",
}
#: A label that comes about later: the last of several such columns is the likelier one.
LAST = (LABEL,)
#: Levels that are told of a column, and distinct values from which on a number may be an amount.
LEVELS, SPREAD = 20, 20
#: How the page words a setting that a message names.
WORDS = {
    "drop": "leave out",
    "time": "the column with the time",
    "label_time": "the column that says when labels arrived",
    "positive": "the value that means positive",
    "capacity": "the number of reviewers",
    "audit": "the share of audits",
    "time_zone": "the time zone",
    "order": "play the file in the order of",
    "categories": "take as text:",
    "numbers": "take as numbers:",
}


def in_words(remedy: Remedy) -> str:
    """Return a setting in the words of the page.

    Examples
    --------
    >>> in_words(Remedy("drop", ["settled_on"])), in_words(Remedy("time"))
    ("leave out 'settled_on'", 'the column with the time')
    """
    name = WORDS.get(remedy.option, remedy.option.replace("_", " "))
    if remedy.value is None:
        return name
    values = remedy.value if isinstance(remedy.value, list) else [remedy.value]
    return f"{name} {', '.join(repr(value) if isinstance(value, str) else str(value) for value in values)}"


def words_of(path: Path, told: str | Exception) -> str:
    """Return what the library says of a file, in the words of the page."""
    return plain_words(path, worded(told, in_words))


def look_at(file: str, path: Path) -> FileRead:
    """Return a look at a file, or the problem that it is no table to decide by."""
    try:
        records = read_records(path)
        found = look(records)
    except InputError as error:
        raise unreadable(words_of(path, error)) from None
    if len(records.columns) < 2:
        raise unreadable("the file has one column: a table has a column with labels and others to decide by")
    columns = [_column(records, one, path) for one in found.columns]
    suggested = {role: _likeliest(role, columns) for role in (LABEL, TIME, ID, AMOUNT)}
    if suggested[LABEL] is None:
        raise unreadable(
            "no column has two values, such as 0 and 1 or yes and no: one has to say of past items what turned out"
        )
    whole = [words_of(path, finding.message) for finding in found.findings if finding.column is None]
    return FileRead(file, found.rows, columns, Suggested(**suggested), whole)


def _column(records: Records, seen: ColumnLook, path: Path) -> FileColumn:
    values = present(records.columns[seen.name])
    levels = None
    if seen.distinct <= LEVELS:
        counted = Counter(np.asarray(values).tolist()).most_common()
        levels = [f"{level:g}" if isinstance(level, float) else str(level) for level, _ in counted]
    bars = [LookBar(bar.name, bar.share) for bar in seen.bars]
    said = [words_of(path, finding.message) for finding in seen.findings]
    could = _could_be(records, seen)
    return FileColumn(seen.name, seen.kind, seen.missing, seen.distinct, seen.summary, bars, could, said, levels)


def _could_be(records: Records, seen: ColumnLook) -> list[str]:
    """Return the roles that a column could have, by what it holds."""
    column, found = records.columns[seen.name], []
    values = present(column)
    if seen.distinct == 2:
        found.append(LABEL)
    if seen.kind == "date":
        found.append(TIME)
    if seen.distinct == len(records) and not seen.missing and seen.kind != "date":
        whole = not is_number(column) or bool((values == np.floor(values)).all())
        found += [ID] if whole else []
    if is_number(column) and seen.distinct > SPREAD and ID not in found and len(values) and values.min() >= 0.0:
        found.append(AMOUNT)
    return found


def _likeliest(role: str, columns: list[FileColumn]) -> str | None:
    """Return the column that seems to have a role: by its name, or as the first (a label: the last) that could."""
    could = [one.name for one in columns if role in one.could_be]
    named = [name for name in could if re.search(NAMED[role], name, re.IGNORECASE)]
    if role == AMOUNT:
        could = []
    chosen = named or could
    if not chosen:
        return None
    return chosen[-1] if role in LAST else chosen[0]
