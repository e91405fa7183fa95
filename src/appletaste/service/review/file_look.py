"""A look at a file that was sent: what each column holds, what it could be, and which seems to be what."""

from __future__ import annotations

import dataclasses
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ...errors import DataError, InputError, Remedy, worded
from ...history.leaks import Finding, is_number, present
from ...history.look import ColumnLook, look
from ...tables import Records, read_records
from ...tables.label_column import read_labels
from ...tables.values import MISSING
from .file_answers import FileColumn, FileRead, LookBar, Suggested
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
    ("take the tick of 'settled_on' away", 'the column with the time')
    >>> in_words(Remedy("encoder", {"online": True}))
    'on the command line, --encoder online=true'
    """
    if remedy.option == "drop" and remedy.value:
        return f"take the tick of {', '.join(map(repr, remedy.value))} away"
    if isinstance(remedy.value, dict):
        return f"on the command line, --{remedy.option} {remedy.parts}"
    name = WORDS.get(remedy.option, remedy.option.replace("_", " "))
    if remedy.value is None:
        return name
    values = remedy.value if isinstance(remedy.value, list) else [remedy.value]
    return f"{name} {', '.join(repr(value) if isinstance(value, str) else str(value) for value in values)}"


def words_of(path: Path, told: str | Exception, name: str = "the file") -> str:
    """Return what the library says of a file, in the words of the page."""
    return plain_words(path, worded(told, in_words), name)


def look_at(file: str, path: Path) -> FileRead:
    """Return a look at a file, or the problem that it is no table to decide by."""
    try:
        records = read_records(path)
        found = look(records)
    except InputError as error:
        raise unreadable(words_of(path, error)) from None
    if len(records.columns) < 2:
        raise unreadable("the file has one column: a table has a column with labels and others to decide by")
    columns = [_column(records, one) for one in found.columns]
    suggested = {role: _likeliest(role, columns) for role in (LABEL, TIME, ID, AMOUNT)}
    label = suggested[LABEL]
    if label is None:
        raise unreadable(
            "no column has two values, such as 0 and 1 or yes and no: one has to say of past items what turned out"
        )
    said: dict[str | None, list[str]] = {}
    for finding in findings_of(records, label, suggested[TIME], found.findings):
        said.setdefault(finding.column, []).append(f"{finding.code}: {words_of(path, finding.message)}")
    columns = [replace(one, findings=said.get(one.name, [])) for one in columns]
    return FileRead(file, found.rows, columns, Suggested(**suggested), said.get(None, []))


def findings_of(records: Records, label: str, time: str | None, blind: Sequence[Finding]) -> Sequence[Finding]:
    """Return what is wrong with the columns if these are the label and the time; what was found blind where not."""
    column, rest = records.columns[label], {name: one for name, one in records.columns.items() if name != label}

    def labels_by(positive: Any) -> NDArray[np.int8]:
        return read_labels(label, column.tolist(), positive, MISSING, records.source, "row {}".format, True)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say is a finding
            try:
                labels = labels_by(None)
            except DataError:  # neither value says that it is positive: the rarer one is likelier to be
                labels = labels_by(Counter(present(column).tolist()).most_common()[-1][0])
            return look(dataclasses.replace(records, columns=rest, labels=labels), label, time=time).findings
    except InputError:  # the label or the time is another one after all
        return blind


def _column(records: Records, seen: ColumnLook) -> FileColumn:
    values = present(records.columns[seen.name])
    levels = None
    if seen.distinct <= LEVELS:
        counted = Counter(np.asarray(values).tolist()).most_common()
        levels = [f"{level:g}" if isinstance(level, float) else str(level) for level, _ in counted]
    bars = [LookBar(bar.name, bar.share) for bar in seen.bars]
    could = _could_be(records, seen)
    return FileColumn(seen.name, seen.kind, seen.missing, seen.distinct, seen.summary, bars, could, [], levels)


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
