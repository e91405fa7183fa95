"""A look at a file that was sent: what each column holds, what it could be, and which seems to be what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ...errors import InputError, Remedy, worded
from ...history import ColumnLook, Finding, Look, could_be, look
from ...history.leaks import present
from ...history.roles import with_labels
from ...tables import Records, read_records
from .file_answers import FileColumn, FileRead, LookBar, Suggested
from .files import plain_words, unreadable

#: Levels that are told of a column.
LEVELS = 20
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
    roles, possible = found.roles, could_be(records)
    if roles.label is None:
        raise unreadable(
            "no column has two values, such as 0 and 1 or yes and no: one has to say of past items what turned out"
        )
    said: dict[str | None, list[str]] = {}
    for finding in findings_of(records, found):
        said.setdefault(finding.column, []).append(f"{finding.code}: {words_of(path, finding.message)}")
    columns = [_column(records, one, possible[one.name], said.get(one.name, [])) for one in found.columns]
    suggested = Suggested(roles.label, roles.time, roles.id, roles.amount)
    return FileRead(file, found.rows, columns, suggested, said.get(None, []))


def findings_of(records: Records, blind: Look) -> Sequence[Finding]:
    """Return what is wrong with the columns if label and time are what they seem; what was found blind where not."""
    try:
        labelled = with_labels(records, blind.roles)
        return look(labelled, blind.roles.label, time=blind.roles.time).findings
    except InputError:  # the label or the time is another one after all
        return blind.findings


def _column(records: Records, seen: ColumnLook, could: list[str], findings: list[str]) -> FileColumn:
    levels = None
    if seen.distinct <= LEVELS:
        counted = Counter(present(records.columns[seen.name]).tolist()).most_common()
        levels = [f"{level:g}" if isinstance(level, float) else str(level) for level, _ in counted]
    bars = [LookBar(bar.name, bar.share) for bar in seen.bars]
    return FileColumn(seen.name, seen.kind, seen.missing, seen.distinct, seen.summary, bars, could, findings, levels)
