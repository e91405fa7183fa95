"""Which column of a table is what: said by somebody, or guessed by what the columns hold and what they are called."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Message, OneClassWarning, Remedy
from ..tables import Records
from ..tables.label_column import read_labels
from ..tables.records import check_column
from ..times import DAY, dates_in, instants
from .leaks import is_number, present

LABEL, TIME, LABEL_TIME, ID, STRATUM = "label", "time", "label_time", "id", "stratum"
SCORE, AMOUNT = "score", "amount"
#: Words in the name of a column that say what it is.
NAMED = {
    LABEL: r"label|fraud|bad|default|target|outcome|churn|cancel|positive|chargeback|spam|^y$|^is_",
    TIME: r"time|date|placed|booked|created|_at$|_on$",
    LABEL_TIME: r"settled|label|resolved|closed|returned|charge_?back|paid|confirmed|outcome|verdict|known_(at|on)",
    ID: r"(^|_)id$|^id|number$|order$|case$|key$",
    STRATUM: r"stratum|segment|region|country|channel|branch|market",
    SCORE: r"(^|_)(score|risk|prob|probability|rating)($|_)",
    AMOUNT: r"amount|value|price|total|sum|turnover|limit",
}
#: What the name of a column of plain numbers says that one unit of it is.
UNIT_NAMED = {
    "ms": r"(^|_)(ms|millis|milliseconds?)($|_)",
    "s": r"(^|_)(s|secs?|seconds?)($|_)",
    "minute": r"(^|_)(mins?|minutes?)($|_)",
    "hour": r"(^|_)hours?($|_)",
    "day": r"(^|_)days?($|_)",
}
#: Distinct values from which on a number may be an amount, a score or a clock; the most levels of a stratum.
SPREAD, STRATA = 20, 50


@dataclass(frozen=True)
class Roles:
    """Which column of a table is what; None: none of them, or nobody knows."""

    label: str | None = None
    positive: str | None = None  #: the value of the label that means that acting was right, if neither says so itself
    time: str | None = None  #: when the items came
    time_unit: str | None = None  #: what one unit of a time of plain numbers is
    label_time: str | None = None  #: when the labels arrived
    id: str | None = None
    stratum: str | None = None
    score: str | None = None  #: another model's
    amount: str | None = None  #: money, which costs can be made of

    def as_dict(self) -> dict[str, str | None]:
        """Return the roles for JSON."""
        return asdict(self)

    def sentences(self) -> Iterator[tuple[str, Message]]:
        """Yield each role that a replay asks for and some column seems to have, and a sentence that says so."""
        seems = "column {!r} seems to be {}".format
        if self.label is not None:
            parts: list[str | Remedy] = [f"{seems(self.label, 'the label')}: ", Remedy(LABEL, self.label)]
            parts += [] if self.positive is None else [", ", Remedy("positive", self.positive)]
            yield LABEL, Message(*parts)
        if self.time is not None:
            parts = [f"{seems(self.time, 'the time')}: ", Remedy(TIME, self.time)]
            parts += [] if self.time_unit is None else [", ", Remedy("time_unit", self.time_unit)]
            yield TIME, Message(*parts)
        if self.label_time is not None:
            told = f"column {self.label_time!r} seems to say when labels arrived; for a replay: "
            yield LABEL_TIME, Message(told, Remedy(LABEL_TIME, self.label_time))
        if self.score is not None:
            told = f"{seems(self.score, 'the score of another model')}; for a replay: "
            yield SCORE, Message(told, Remedy(SCORE, self.score))
        if self.id is not None:
            yield ID, Message(f"{seems(self.id, 'the id')}, which is no feature: ", Remedy("drop", [self.id]))


class _Held(NamedTuple):
    """What a column holds."""

    values: NDArray[Any]  #: that are not missing
    rows: int
    distinct: int
    number: bool
    date: bool  #: texts that are dates in ISO 8601

    @property
    def spread(self) -> bool:
        """Whether these are numbers of which there are many."""
        return self.number and self.distinct > SPREAD

    @property
    def clock(self) -> bool:
        """Whether these are numbers that could be times: dates in disguise, or such as never fall from row to row."""
        full = self.spread and len(self.values) == self.rows
        return full and (dates_in(self.values) is not None or bool((np.diff(self.values) >= 0.0).all()))


def could_be(records: Records) -> dict[str, list[str]]:
    """Return the roles that each column could have, by what it holds and, of numbers and strata, by its name.

    A label has two values, a time is a date (or a number that is called one, and is one or never falls), an id is
    another in every row, a stratum a text of few levels, an amount a number that is never below 0.

    Examples
    --------
    >>> from appletaste import read_records
    >>> table = {"order": ["a", "b", "c"], "placed_at": ["2024-05-01", "2024-05-02", "2024-05-02"], "bad": [0, 1, 0]}
    >>> could_be(read_records(table))
    {'order': ['id'], 'placed_at': ['label', 'time'], 'bad': ['label']}
    """
    return {name: _roles_of(name, _held(records, name)) for name in records.columns}


def _held(records: Records, name: str) -> _Held:
    column = records.columns[name]
    values = present(column)
    distinct = len(np.unique(values)) if is_number(column) else len(set(values.tolist()))
    return _Held(values, len(column), distinct, is_number(column), name in records.dates)


def _roles_of(name: str, held: _Held) -> list[str]:
    found = [LABEL] if held.distinct == 2 else []
    if held.date or (_called(TIME, name) and held.clock):
        found.append(TIME)
    if held.distinct == held.rows and not held.date and TIME not in found:
        whole = not held.number or bool((held.values == np.floor(held.values)).all())
        found += [ID] if whole else []
    if not held.number and not held.date and 2 <= held.distinct <= STRATA and _called(STRATUM, name):
        found.append(STRATUM)
    if held.spread and ID not in found and TIME not in found:
        found += [SCORE] if _called(SCORE, name) else []
        found += [AMOUNT] if held.values.min() >= 0.0 else []
    return found


def guess(records: Records, given: Roles | None = None) -> Roles:
    """Return which column seems to be what; roles that are ``given`` stay, and no column has two.

    By its name among the columns that could be it (``could_be``). Where no name says so, a label is the last column
    that could be one, since it comes about last; a time and an id are the first. When labels arrived is a date that is
    called so and that is never before the day of the time. Of a label neither of whose values says that it is the
    positive one, the rarer is likelier to be.

    Examples
    --------
    >>> from appletaste import read_records
    >>> table = {
    ...     "order": ["a", "b", "c"], "placed_at": ["2024-05-01", "2024-05-02", "2024-05-02"],
    ...     "settled_on": ["2024-05-09", "2024-05-08", "2024-05-02"], "state": ["good", "lost", "good"],
    ... }
    >>> found = guess(read_records(table))
    >>> found.label, found.positive, found.time, found.label_time, found.id, found.amount
    ('state', 'lost', 'placed_at', 'settled_on', 'order', None)
    """
    roles, possible = given or Roles(), could_be(records)
    taken = {column for role, column in roles.as_dict().items() if role not in ("positive", "time_unit")}
    for role in (LABEL, TIME, ID, STRATUM, SCORE, AMOUNT):
        could = [name for name, those in possible.items() if role in those and name not in taken]
        if getattr(roles, role) is None and (column := _likeliest(role, could)) is not None:
            taken.add(column)
            roles = replace(roles, **{role: column})
    if roles.label in records.columns and roles.positive is None:
        roles = replace(roles, positive=_positive(records, str(roles.label)))
    if roles.time in records.columns:
        if roles.label_time is None:
            roles = replace(roles, label_time=_label_time(records, str(roles.time), taken))
        if roles.time_unit is None:
            roles = replace(roles, time_unit=_unit(records, str(roles.time)))
    return roles


def _called(role: str, name: str) -> bool:
    return re.search(NAMED[role], name, re.IGNORECASE) is not None


def _likeliest(role: str, could: list[str]) -> str | None:
    """Return the column that seems to have a role, of those that could."""
    named = [name for name in could if _called(role, name)]
    if role == TIME:
        named = [name for name in named if not _called(LABEL_TIME, name)] or named
    chosen = named or ([] if role in (AMOUNT, SCORE, STRATUM) else could)
    if not chosen:
        return None
    return chosen[-1] if role == LABEL else chosen[0]


def _label_time(records: Records, time: str, taken: set[str | None]) -> str | None:
    """Return the date that is called as the time of a label is, and never is before the day of the item."""
    if time not in records.dates:
        return None
    begun = instants(records.columns[time])
    for name in records.dates:
        if name not in taken and _called(LABEL_TIME, name):
            early = instants(records.columns[name]) + DAY <= begun  # false where there is no date
            if not early.any():
                return name
    return None


def _unit(records: Records, time: str) -> str | None:
    column = records.columns[time]
    if not is_number(column) or dates_in(present(column)) is not None:
        return None
    return next((unit for unit, words in UNIT_NAMED.items() if re.search(words, time, re.IGNORECASE)), None)


def _positive(records: Records, label: str) -> str | None:
    """Return the rarer value of a label where neither says that it is positive; None: one of them does."""
    try:
        _labels(records, label, None)
    except DataError:
        counts = Counter(present(records.columns[label]).tolist()).most_common()
        if len(counts) != 2:
            return None
        rarer = counts[-1][0]
        return f"{rarer:g}" if isinstance(rarer, float) else str(rarer)
    return None


def _labels(records: Records, label: str, positive: str | None) -> NDArray[np.int8]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)
        values = records.columns[label].tolist()
        return read_labels(label, values, positive, records.missing, records.source, "row {}".format, True)


def with_labels(records: Records, roles: Roles) -> Records:
    """Return records whose label is read out of its column, as ``read_records`` does where a label is named.

    Examples
    --------
    >>> from appletaste import read_records
    >>> records = read_records({"x": [1.0, 2.0, 3.0], "state": ["good", "lost", "good"]})
    >>> with_labels(records, guess(records)).labels
    array([0, 1, 0], dtype=int8)
    """
    if roles.label is None:
        return records
    check_column(roles.label, records.columns, records.source)
    rest = {name: column for name, column in records.columns.items() if name != roles.label}
    labels = _labels(records, roles.label, roles.positive)
    return replace(records, columns=rest, labels=labels, dropped=(*records.dropped, roles.label))
