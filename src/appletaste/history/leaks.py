"""What would make a replay say more, or less, than the truth: leaks, codes, and ranges that move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Message, Remedy, worded
from ..features import Encoder
from ..tables import Records
from ..tables.records import WARM_UP
from ..tables.values import written_otherwise
from ..times import DAY, instants
from .clock_column import mixed_zones
from .labelled import BLOCKS, LabelledTable, edges
from .separation import disorder, sampled, told_apart

#: The area under the ROC curve, on held-out rows, from which a column alone tells the label nearly always.
LEAK = 0.99
#: Values of a code, at most; rows that a value needs to count; how probable disorder may be by chance; its least share.
CODES, ROWS, CHANCE, DISORDER = 200, 20, 1e-3, 0.3
#: The share of later rows beyond the range of n first ones, and how many. Where nothing moves the share is nearly
#: Gamma(2, 1/n), 2/n on average; 17/n has a probability of 18 exp(-17) = 7e-7.
BEYOND, BEYOND_FIRST, BEYOND_ROWS = 0.05, 17.0, 10
#: The share of rows of which a date is later than the time; of texts that are dates; the fewest values to say so.
LATER, DATES, OWN_ROWS = 0.5, 0.95, 50
#: A value with less than this share of the first rows and more than that of a later tenth; the most values of a number.
RARE, USUAL, FEW = 0.1, 0.5, 20
#: Columns that a note of a replay names.
NAMED = 5
#: What lets the scale of a column follow the column.
ONLINE = Remedy("encoder", {"online": True})


@dataclass(frozen=True)
class Finding:
    """One thing that is worth knowing of a table: a code for machines, a sentence and a remedy for people."""

    code: str
    column: str | None  #: None: the table as a whole
    message: Message

    @property
    def remedy(self) -> Remedy | None:
        """The setting that would cure it, where there is one."""
        return next((part for part in self.message.parts if isinstance(part, Remedy)), None)

    def as_dict(self, door: Callable[[Remedy], str] = str) -> dict[str, Any]:
        """Return the finding as JSON has it."""
        cure = None if self.remedy is None else {"option": self.remedy.option, "value": self.remedy.value}
        return {"code": self.code, "column": self.column, "message": worded(self.message, door), "remedy": cure}


@dataclass(frozen=True)
class Seen:
    """A table as the checks look at it, in the order of time or of the file."""

    records: Records
    labels: NDArray[np.int8]  #: UNKNOWN where there is none
    times: NDArray[np.float64] | None = None  #: seconds since 1970
    order: str = "the file"  #: the order of what the rows are in
    ordered: bool = False  #: whether somebody has said that they are in the order of time
    first: int = WARM_UP  #: rows that features are fitted on
    telling: dict[str, float] = field(default_factory=dict)  #: what ``told`` has found

    @staticmethod
    def of(stream: LabelledTable) -> Seen | None:
        """Return the table of a replay; a matrix has no names to tell."""
        if not isinstance(stream.records, Records):
            return None
        times = stream.times if stream.dated else None
        timed = stream.times is not None
        return Seen(stream.records, stream.labels, times, "time" if timed else "the file", timed)

    def in_order(self, encoder: Any) -> Seen:
        """Return the table as one in the order of time, which whoever plays it as it is says, and met by an encoder."""
        return replace(self, ordered=True, first=encoder.warm_up if isinstance(encoder, Encoder) else self.first)

    @cached_property
    def sample(self) -> NDArray[np.intp]:
        """The rows that are looked at for what tells the label."""
        return sampled(self.labels)

    def told(self, name: str) -> float:
        """Return how well a column alone tells the label, NaN where that cannot be said."""
        if name not in self.telling:
            chosen = self.sample
            column, labels = self.records.columns[name][chosen], self.labels[chosen]
            self.telling[name] = told_apart(column, labels)
            if self.times is not None and name in self.records.dates:  # which is a feature, as days before the time
                days = told_apart((self.times[chosen] - instants(column)) / DAY, labels)
                self.telling[name] = max(self.telling[name], days)
        return self.telling[name]


def is_number(column: NDArray[Any]) -> bool:
    """Return whether a column holds numbers."""
    return column.dtype == np.float64


def absent(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a value is missing."""
    return np.isnan(column) if is_number(column) else np.array([value is None for value in column.tolist()], bool)


def present(column: NDArray[Any]) -> NDArray[Any]:
    """Return the values that are not missing."""
    found: NDArray[Any] = column[~absent(column)]
    return found


def dates_of(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column of dates as seconds since 1970, NaN where missing; None where it holds anything else."""
    if is_number(column):
        return None
    known = present(column)
    if not len(known) or np.isnan(instants(known[:OWN_ROWS])).mean() > 1.0 - DATES:
        return None
    found = instants(column)
    return found if np.isfinite(found).sum() >= DATES * len(known) else None


def leaks(seen: Seen) -> Iterator[Finding]:
    """LEAK: a column that alone tells the label nearly always."""
    for name in seen.records.columns:
        told = seen.told(name)
        if told >= LEAK:
            yield Finding(
                "LEAK",
                name,
                Message(
                    f"column {name!r} alone tells the label: the column says which is which of a positive and a "
                    f"negative in {100 * told:.1f} % of pairs. Is the column known before the decision? If not, leave "
                    "the column out: ",
                    Remedy("drop", [name]),
                ),
            )


def later_dates(seen: Seen) -> Iterator[Finding]:
    """DATE_AFTER: a date that is later than the time of the item in most rows."""
    times = seen.times
    for name, column in seen.records.columns.items():
        dates = None if times is None else dates_of(column)
        if dates is None or times is None:
            continue
        known = np.isfinite(dates)
        share = float((dates[known] > times[known]).mean())
        if share > LATER:
            yield Finding(
                "DATE_AFTER",
                name,
                Message(
                    f"column {name!r} is a date after the time of the item in {100 * share:.0f} % of rows: the column "
                    "is known only afterwards. Leave the column out: ",
                    Remedy("drop", [name]),
                    "; if the column says when the label arrived: ",
                    Remedy("label_time", name),
                ),
            )


def foreign_dates(seen: Seen) -> Iterator[Finding]:
    """DATE_FORMAT: dates that are not in ISO 8601, which are levels of a category and no dates."""
    for name, column in seen.records.columns.items():
        if not is_number(column) and written_otherwise(column[:WARM_UP]):
            yield Finding(
                "DATE_FORMAT",
                name,
                Message(
                    f"column {name!r} looks like a date, such as {present(column)[0]!r}, and is used as a text: dates "
                    "are read in ISO 8601, 2024-05-31 or 2024-05-31T14:05. Say how these are written, for example ",
                    Remedy("date_format", "%d.%m.%Y"),
                    ", or leave the column out: ",
                    Remedy("drop", [name]),
                ),
            )


def infinite_cells(seen: Seen) -> Iterator[Finding]:
    """INFINITE: cells of a number that are beyond all numbers, and missing therefore."""
    for name, count in seen.records.infinite:
        if name in seen.records.columns:
            cells = f"{count} cell that is" if count == 1 else f"{count} cells that are"
            read = "is read as missing: correct the cell" if count == 1 else "are read as missing: correct the cells"
            told = f"column {name!r} has {cells} infinite or of 1e100 or more, and {read}, or write nothing there"
            yield Finding("INFINITE", name, Message(told))


def zones(seen: Seen) -> Iterator[Finding]:
    """TIME_ZONES: dates of which some have a zone and others have none."""
    for name in seen.records.dates:
        if name in seen.records.columns:
            for told in mixed_zones(name, seen.records.columns[name]):
                yield Finding("TIME_ZONES", name, Message(told))


def codes(seen: Seen) -> Iterator[Finding]:
    """CODE: whole numbers of few values by which the rate of positives goes up and down without an order."""
    columns, written = seen.records.columns, seen.records.padded
    numbers = [name for name, column in columns.items() if is_number(column) and name not in written]
    for name in numbers:
        values = seen.records.columns[name][seen.sample]
        known = ~np.isnan(values)
        values, labels = values[known], seen.labels[seen.sample][known]
        if not is_whole(values[:OWN_ROWS]) or not is_whole(values):
            continue
        distinct, places, rows = np.unique(values, return_inverse=True, return_counts=True)
        common = rows[places] >= ROWS
        if not (rows >= ROWS).sum() >= 3 or len(distinct) > CODES or not 0 < labels[common].sum() < common.sum():
            continue
        share, chance = disorder(values[common], labels[common])
        if share >= DISORDER and chance < CHANCE / len(numbers):
            yield Finding(
                "CODE",
                name,
                Message(
                    f"column {name!r} has {len(distinct)} whole numbers, and the rate of positives goes up and down "
                    "with them without an order: they look like a code. A number is used by its size; give each value "
                    "a weight of its own: ",
                    Remedy("categories", [name]),
                ),
            )


def postcodes(seen: Seen) -> Iterator[Finding]:
    """CODE: numbers that are written as codes are, with zeros in front."""
    for name in seen.records.padded:
        if name in seen.records.columns:
            yield Finding(
                "CODE",
                name,
                Message(
                    f"column {name!r} is written with zeros in front, as postcodes and the numbers of branches are, "
                    "and used by its size. If its values are names, give each a weight of its own: ",
                    Remedy("categories", [name]),
                ),
            )


def moving_ranges(seen: Seen) -> Iterator[Finding]:
    """MOVING_RANGE: later rows of a number are beyond the range of the first 500."""
    for name, column in seen.records.columns.items():
        if not is_number(column) or len(column) <= seen.first:
            continue
        first, later = present(column[: seen.first]), present(column[seen.first :])
        if len(first) < OWN_ROWS or not len(later):
            continue
        low, high = float(first.min()), float(first.max())
        beyond = int(((later < low) | (later > high)).sum())
        share = beyond / len(later)
        if beyond >= BEYOND_ROWS and share > max(BEYOND, BEYOND_FIRST / len(first)):
            was = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
            yield Finding(
                "MOVING_RANGE",
                name,
                Message(
                    f"column {name!r} is {was} in the first {seen.first} rows in the order of {seen.order}, and beyond "
                    f"that in {100 * share:.0f} % of later rows. Values beyond are held at the edge, where a policy "
                    "cannot tell them apart. If the column moves with time, let the range follow the column, ",
                    ONLINE,
                    ", put a difference or ratio in its place, or, if the column tells little, leave the column out: ",
                    Remedy("drop", [name]),
                ),
            )


def rare_at_first(seen: Seen) -> Iterator[Finding]:
    """RARE_AT_FIRST: a value that is rare in the first 500 rows in the order of time, and usual in a later tenth."""
    for name, column in seen.records.columns.items():
        risen = _risen(column, seen.first) if seen.ordered and name not in seen.records.dates else None
        if risen is None:
            continue
        value, before, after, first, last = risen
        sentence = (
            f"column {name!r} is {shown(value)} in {100 * before:.0f} % of the first {seen.first} rows in the order of "
            f"{seen.order}, and in {100 * after:.0f} % of rows {first + 1} to {last}. What a policy learns of a value "
            "from a few early rows moves nearly every score later. "
        )
        cure: tuple[str | Remedy, ...] = ("Let the scale follow the column, ", ONLINE)
        if not is_number(column):  # which has no scale
            rows = min(10 * seen.first, len(column) // 2)
            cure = ("Fit the features on more rows, ", Remedy("encoder", {"warm_up": rows}))
        yield Finding(
            "RARE_AT_FIRST", name, Message(sentence, *cure, ", or leave the column out: ", Remedy("drop", [name]))
        )


def _risen(column: NDArray[Any], fitted: int) -> tuple[Any, float, float, int, int] | None:
    """Return the value that rises most from the first rows to a later tenth, both shares and the tenth; or None.

    A number has few values, and one beyond the range of the first rows is a matter of ``moving_ranges``.
    """
    first = present(column[:fitted])
    if len(column) <= fitted or len(first) < OWN_ROWS or (is_number(column) and len(np.unique(present(column))) > FEW):
        return None
    starts = edges(len(column), BLOCKS).tolist()
    before, rises = Counter(first.tolist()), []
    for start, end in pairwise(starts):
        later = Counter(present(column[start:end]).tolist())
        if start < fitted or not later:
            continue
        value, rows = later.most_common(1)[0]
        within = not is_number(column) or first.min() <= value <= first.max()
        share, was = rows / (end - start), before[value] / fitted
        if within and was < RARE and share > USUAL:
            rises.append((share - was, start, (value, was, share, start, end)))
    return max(rises, key=lambda rise: (rise[0], -rise[1]))[2] if rises else None


#: Checks whose findings are notes of every replay.
NOTED = (leaks, later_dates, foreign_dates, zones, infinite_cells, postcodes)


def replay_notes(seen: Seen, moved: Sequence[Finding] = (), rare: Sequence[Finding] = ()) -> list[Message]:
    """Return what the readers of a replay should know of its columns: leaks, codes, and columns that have moved."""
    notes = [finding.message for check in NOTED for finding in check(seen)]
    coded, left = [finding.column for finding in codes(seen)], [finding.column for finding in moved]
    if coded:
        told = (
            f"whole numbers that look like codes, since the rate of positives has no order in them: {_named(coded)}. "
        )
        notes.append(Message(told, "Give each value a weight of its own: ", Remedy("categories", coded[:NAMED])))
    if left:
        edge = f"range of the first {seen.first} rows, and are held at its edge"
        told = f"columns that leave the {edge}: {_named(left)}. "
        follow = ("If they move with time, let the range follow them, ", ONLINE, ", or leave out those that tell ")
        notes.append(Message(told, *follow, "little: ", Remedy("drop", left[:NAMED])))
    return [*notes, *(finding.message for finding in rare[:NAMED])]


def _named(columns: Sequence[str | None]) -> str:
    """Return the first few of some columns, and how many more there are."""
    more = "" if len(columns) <= NAMED else f" and {len(columns) - NAMED} more"
    return ", ".join(map(repr, columns[:NAMED])) + more


def shown(value: Any) -> str:
    """Return a value of a column as a message has it."""
    return f"{value:g}" if isinstance(value, float) else repr(str(value)[:30])


def is_whole(values: NDArray[np.float64]) -> bool:
    """Return whether all of some numbers are whole; of none, no."""
    return bool(len(values)) and bool(np.all(values == np.floor(values)))
