"""``look``: a table before it is played, column by column, and what is wrong with it."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..decision import UNKNOWN
from ..errors import Message, OneClassWarning, OptionError, Remedy, worded
from ..features import Encoder
from ..features.dates import Date
from ..pages.page import Table, show
from ..tables import read_records
from ..tables.records import check_column
from ..times import instants
from .clock_column import clock_of, in_front, mixed_zones, moments_of
from .findings import CHECKS, OWN_TEXT
from .labelled import is_matrix
from .leaks import OWN_ROWS, Finding, Seen, is_number, present
from .roles import Roles, guess

#: Bars of a picture: bins of a number or date, and levels of a category before all others.
BARS, LEVELS = 16, 8
#: Findings that say of a column that it has a role.
SAID = {"id": {"IDENTIFIER"}, "label_time": {"DATE_AFTER", "LABEL_KNOWN"}}
HEADER = ("column", "used as", "missing", "distinct", "range, or frequent levels", "tells", "findings")


@dataclass(frozen=True)
class Bar:
    """One bar of the picture of a column."""

    name: str
    share: float  #: of all rows
    rate: float  #: of positives among those with a label; NaN where there are none


@dataclass(frozen=True)
class ColumnLook:
    """One column as it will be used."""

    name: str
    kind: str  #: number, category, date or text
    missing: float  #: the share of rows
    distinct: int
    summary: str  #: the range, or the most frequent levels
    tells: float  #: the share of pairs of a positive and a negative that it alone tells apart; NaN without a label
    bars: tuple[Bar, ...]
    findings: tuple[Finding, ...]
    made: str = ""  #: of a date: the features that it becomes

    def as_dict(self, door: Callable[[Remedy], str] = str) -> dict[str, Any]:
        """Return the column as JSON has it."""
        bars = [{"name": bar.name, "share": bar.share, "positive_rate": bar.rate} for bar in self.bars]
        return {
            "column": self.name,
            "kind": self.kind,
            "made": self.made,
            "missing": self.missing,
            "distinct": self.distinct,
            "summary": self.summary,
            "tells": self.tells,
            "bars": bars,
            "findings": [finding.as_dict(door) for finding in self.findings],
        }


@dataclass(frozen=True)
class Look:
    """A table before it is played; ``print`` it, or ``write`` it as a page.

    Every finding has a stable ``code``, a sentence and, where a setting would cure it, a remedy. ``codes`` has them by
    column.
    """

    source: str
    rows: int
    label: str | None
    time: str | None
    positives: float  #: the share of positives among the labels; NaN without any
    unlabelled: float  #: the share of rows without a label, where there is a label column
    columns: tuple[ColumnLook, ...]
    findings: tuple[Finding, ...]  #: all of them, the gravest first
    roles: Roles  #: which column seems to be what; the label and the time are those that were named, if any

    @property
    def codes(self) -> dict[str | None, list[str]]:
        """The codes of the findings by column; those of the table as a whole under None."""
        found: dict[str | None, list[str]] = {}
        for finding in self.findings:
            found.setdefault(finding.column, []).append(finding.code)
        return found

    @property
    def title(self) -> str:
        """One line on the table."""
        label = "no label" if self.label is None else f"label {self.label!r}: {100 * self.positives:.1f} % positive"
        order = "the file" if self.time is None else repr(self.time)
        return f"{self.source}: {self.rows} rows, {len(self.columns)} columns, {label}, in the order of {order}"

    def table(self) -> Table:
        """Return one row for each column."""
        rows = [
            (
                one.name,
                f"{one.kind}: {one.made}" if one.made else one.kind,
                f"{100 * one.missing:.1f} %",
                str(one.distinct),
                one.summary,
                show(one.tells, 2),
                " ".join(finding.code for finding in one.findings) or "-",
            )
            for one in self.columns
        ]
        return Table(self.title, HEADER, rows)

    def sentences(self, door: Callable[[Remedy], str] = str) -> list[str]:
        """Return every finding as a line, the gravest first; then what columns seem to be, where no line says so."""
        found = [f"{finding.code}: {worded(finding.message, door)}" for finding in self.findings]
        found = found or ["nothing to remark on"]
        for role, message in self.roles.sentences():
            column = getattr(self.roles, role)
            if column not in (self.label, self.time) and not SAID.get(role, set()) & set(self.codes.get(column, ())):
                found.append(worded(message, door))
        return found

    def __str__(self) -> str:
        return "\n".join([self.table().text(), *self.sentences()])

    def __repr__(self) -> str:
        return f"<Look: {self.title}; {len(self.findings)} findings>"

    def as_dict(self, door: Callable[[Remedy], str] = str) -> dict[str, Any]:
        """Return everything as JSON has it; numbers that do not exist are None."""
        found: dict[str, Any] = for_json(
            {
                "source": self.source,
                "rows": self.rows,
                "label": self.label,
                "time": self.time,
                "roles": self.roles.as_dict(),
                "positives": self.positives,
                "label_missing": self.unlabelled,
                "columns": [column.as_dict(door) for column in self.columns],
                "findings": [finding.as_dict(door) for finding in self.findings],
            }
        )
        return found

    def write(self, folder: str | PathLike[str], door: Callable[[Remedy], str] = str) -> None:
        """Write ``index.html``, ``look.md`` and ``look.json`` into a folder, which must be new or hold a look."""
        from .look_page import write_look

        write_look(self, Path(folder), door)


def look(
    source: Any, label: str | None = None, *, time: str | None = None, drop: Sequence[str] = (), **reading: Any
) -> Look:
    """Look at a table before it is played: its columns as they will be used, and what is wrong with them.

    Parameters
    ----------
    source, label
        A file, data frame, dict of columns or iterable of dicts, and its label column if it has one (see
        ``read_records``, which takes ``positive``, ``missing``, ``numbers``, ``categories`` and how a file is written
        from here). A label may be missing in some rows.
    time, drop
        The column of the clock, in whose order the rows are looked at; columns that are no features. Dates are counted
        in days before the clock, unless the clock is dropped, too.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> bad = (rng.random(600) < 0.3).astype(int)
    >>> table = {"age": rng.normal(40, 9, 600), "paid_back": 3 * bad + 1, "branch": ["north"] * 600, "bad": bad}
    >>> found = look(table, "bad")
    >>> found.codes
    {'paid_back': ['LEAK'], 'branch': ['CONSTANT']}
    >>> print(found.findings[1].message)
    column 'branch' has 'north' in every row: leave the column out: drop=['branch']
    """
    if is_matrix(source):
        raise OptionError("the columns of a matrix have no names to tell; give the table behind it")
    if isinstance(drop, str):
        raise OptionError(f"drop is a list of columns, got the text {drop!r}: drop=[{drop!r}]")
    if time is not None and time == label:
        raise OptionError(f"{time!r} cannot be both the label and the time")
    if label is not None and label in drop:
        raise OptionError(Message(f"{label!r} is the label: take it out of ", Remedy("drop")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # said as a finding
        without = tuple(name for name in drop if name != time)
        records = read_records(source, label=label, drop=without, unlabelled=True, **reading)
    labels = np.full(len(records), UNKNOWN, dtype=np.int8) if records.labels is None else records.labels
    seen, table, counted = Seen(records, labels), records, None
    notes: tuple[str, ...] = ()
    if time is not None:
        check_column(time, records.columns, records.source)
        clock, dated, _ = clock_of(time, records)
        order = np.argsort(clock, kind="stable")
        notes = mixed_zones(time, records.columns[time]) if records.columns[time].dtype == object else ()
        rest = replace(records, columns={name: column for name, column in records.columns.items() if name != time})
        seen = Seen(rest[order], labels[order], clock[order] if dated else None, repr(time), True)
        table = seen.records
        counted = time if dated and time not in drop else None
        if counted is not None:
            table = in_front(time, moments_of(records.columns[time], clock)[order], table)
    findings = tuple(Finding("TIME_ZONES", time, Message(told)) for told in notes)
    findings += tuple(finding for check in CHECKS for finding in check(seen))
    dates = [column for column in Encoder().fit(table, time=counted).columns if isinstance(column, Date)]
    made = {date.name: ", ".join([*date.cycles, *(["days"] if date.since else [])]) or "no feature" for date in dates}
    columns = tuple(_column(seen, name, findings, made.get(name, "")) for name in seen.records.columns)
    known = labels[labels != UNKNOWN]
    shares = (float(known.mean()), 1.0 - len(known) / len(labels)) if len(known) else (math.nan, math.nan)
    roles = guess(records, Roles(label=label, time=time))
    return Look(records.source, len(records), label, time, *shares, columns, findings, roles)


def _column(seen: Seen, name: str, findings: Sequence[Finding], made: str) -> ColumnLook:
    column = seen.records.columns[name]
    values, dates = present(column), instants(column) if name in seen.records.dates else None
    distinct = len(np.unique(values)) if is_number(column) else len(set(values.tolist()))
    if is_number(column):
        kind, summary = "number", _range(values, "{:.4g}".format)
    elif dates is not None:
        kind, summary = "date", _range(dates[np.isfinite(dates)], _day)
    else:
        kind = "text" if len(values) >= OWN_ROWS and distinct > OWN_TEXT * len(values) else "category"
        summary = ", ".join(str(level)[:20] for level, _ in Counter(values.tolist()).most_common(3))
        summary += ", ..." if distinct > 3 else ""
    own = tuple(finding for finding in findings if finding.column == name)
    bars = _bars(column, dates, seen.labels)
    missing = 1.0 - len(values) / len(column)
    return ColumnLook(name, kind, missing, distinct, summary, seen.told(name), bars, own, made)


def _range(values: NDArray[np.float64], shown: Callable[[float], str]) -> str:
    if not len(values):
        return "-"
    low, middle, high = (shown(float(np.quantile(values, q))) for q in (0.0, 0.5, 1.0))
    return low if low == high else f"{low} to {high}, median {middle}"


def _day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _bars(column: NDArray[Any], dates: NDArray[np.float64] | None, labels: NDArray[np.int8]) -> tuple[Bar, ...]:
    """Return the bars of a picture: bins of equal width between the 1st and the 99th per cent, or frequent levels."""
    numbers = column if is_number(column) else dates
    if numbers is not None:
        known = numbers[np.isfinite(numbers)]
        shown = "{:.4g}".format if dates is None else _day
        values = np.unique(known[:OWN_ROWS])
        if len(values) < BARS and len(values := np.unique(known)) < BARS:
            names = [shown(float(value)) for value in values]
            places = np.searchsorted(values, numbers)
        else:
            low, high = np.quantile(known, [0.01, 0.99])
            cuts = np.linspace(low, high, BARS + 1)[1:-1]
            ends = [f"up to {shown(cuts[0])}", *(f"to {shown(cut)}" for cut in cuts[1:]), f"above {shown(cuts[-1])}"]
            names, places = ends, np.searchsorted(cuts, numbers)
        places = np.where(np.isfinite(numbers), places, len(names))
        names = [*names, "missing"]
    else:
        ranked = [level for level, _ in Counter(column.tolist()).most_common() if level is not None][:LEVELS]
        index = {level: place for place, level in enumerate(ranked)}
        index[None] = len(ranked) + 1
        places = np.array([index.get(level, len(ranked)) for level in column.tolist()])
        names = [*(str(level) for level in ranked), "other", "missing"]
    rows = np.bincount(places, minlength=len(names))
    known_rows = np.bincount(places[labels != UNKNOWN], minlength=len(names))
    positives = np.bincount(places[labels == 1], minlength=len(names))
    rates = np.where(known_rows > 0, positives / np.maximum(known_rows, 1), math.nan)
    used = [k for k in range(len(names)) if rows[k] or names[k] not in ("other", "missing")]
    return tuple(Bar(names[k], float(rows[k] / len(column)), float(rates[k])) for k in used)
