"""Tables for a desk: new items with their ids, times and strata, and labels that have arrived."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..costs import Costs
from ..decision import UNKNOWN
from ..errors import DataError, Message, OneClassWarning, OptionError, Remedy, after
from ..features.defaults import unreadable_dates
from ..history.clock_column import clock_of, in_front, moments_of
from ..history.leaks import Seen, infinite_cells
from ..tables import Records, read_records
from ..tables.label_column import PAIRS, read_labels
from ..tables.records import check_column
from ..tables.values import MISSING, as_level, as_number
from .ledger import Ledger

#: The roles that a column can have besides being a feature, as ``Ledger.roles`` names them.
ID, TIME, UNIT, STRATUM, LABEL, POSITIVE, NEGATIVE = (
    "id",
    "time",
    "time_unit",
    "stratum",
    "label",
    "positive",
    "negative",
)


@dataclass(frozen=True)
class Items:
    """New items in the order of their table."""

    records: Records  #: the fields of the map, and no others
    ids: list[str | None]  #: None: the ledger is to make the id
    times: list[float | str | None]
    strata: list[str | None]
    costs: list[Costs]  #: the usual ones, or those of each item
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True)
class Labels:
    """Labels in the order of their table; None where a label is missing."""

    ids: list[str]
    values: list[int | None]
    times: list[float | str | None]
    records: Records
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def read_items(
    source: Any,
    ledger: Ledger,
    *,
    id: str | None = None,
    time: str | None = None,
    stratum: str | None = None,
    make_ids: bool = False,
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
    separator: str | None = None,
) -> Items:
    """Read a table of new items with the map of a ledger; columns that are not named are those of ``ledger.roles``.

    Every cell is read here, so that a row that cannot be decided is said, with its line, before any row is decided; so
    is a row whose costs, by the formulas of the ledger, are missing, infinite or below 0. Dates are counted up to the
    time of the item, whatever its column is called in this table.

    Examples
    --------
    >>> import appletaste as at
    >>> people = [{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}]
    >>> features = at.Encoder().fit(people)
    >>> ledger = at.Ledger(at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> ledger.saved_as(None, features)
    >>> read_items([{"case": 7, "age": 40, "job": "pilot"}], ledger, id="case").ids
    ['7']
    """
    features, roles = ledger.features, ledger.roles
    assert features is not None  # opening.read_desk has said so
    if make_ids and id is not None:
        raise OptionError(
            Message("ids are made or read, not both: leave out ", Remedy("make_ids"), " or ", Remedy("id"))
        )
    id = None if make_ids else roles.get(ID) if id is None else id
    time, stratum = roles.get(TIME) if time is None else time, roles.get(STRATUM) if stratum is None else stratum
    if id is None and not make_ids:
        raise OptionError(
            Message(
                "every item needs an id, by which its label will find it: name the column with ",
                Remedy("id"),
                ". Without such a column ids can be made with ",
                Remedy("make_ids"),
                ", and a table that is given twice is then decided twice",
            )
        )
    clock = None if time is None else next((name for name in (roles.get(TIME), time) if name in features.fields), None)
    own = [name for name in features.fields if name != clock]
    numbers = [column.name for column in features.columns if column.numeric]
    extra = [name for name in (id, time, stratum) if name is not None and name not in own]
    sheet = ledger.costs_by_item
    prices = [name for name in (() if sheet is None else sheet.columns) if name not in (*own, *extra)]
    try:
        records = read_records(
            source,
            missing=(*features.missing, *missing),
            columns=list(dict.fromkeys([*own, *extra, *prices])),
            numbers=[*numbers, *prices],
            categories=[*(name for name in own if name not in numbers), *extra],
            separator=separator,
            warm_up=10**9,  # the names of all rows: a field that only a late one has is looked at too
        )
        costs, notes = _costs(records, ledger)
    except DataError as error:
        raise DataError(_of_a_desk(error)) from None
    for name in drop:
        check_column(name, [*records.columns, *records.dropped], records.source)
    features.check_known(records.source, [name for name in records.dropped if name not in drop])
    times, said = _times(records, time, roles)
    strata: list[str | None] = [None] * len(records)
    if stratum is not None:
        strata = [level or "missing" for level in _levels(records, stratum)]
    plain = replace(records, columns={name: records.columns[name] for name in own})
    if clock is not None:
        if not isinstance(times[0], str):
            raise DataError(
                f"{records.where(0)}: column {time!r} holds numbers such as {times[0]:g}, and this desk counts days up "
                "to a date. Write times as 2024-05-31 or 2024-05-31T14:05"
            )
        plain = in_front(clock, np.array(times, dtype=object), plain)
    seen = Seen(plain, np.full(len(plain), UNKNOWN, dtype=np.int8))
    infinite = [finding.message for finding in infinite_cells(seen)]
    notes = (*said, *notes, *unreadable_dates(features, plain), *infinite)
    return Items(plain, [None] * len(records) if id is None else _ids(records, id), times, strata, costs, notes)


def _costs(records: Records, ledger: Ledger) -> tuple[list[Costs], tuple[str, ...]]:
    """Return what each row costs, and what to tell about that; a row whose costs cannot be is refused."""
    sheet = ledger.costs_by_item
    if sheet is None:
        return [ledger.policy.costs] * len(records), ()
    numbers = {name: records.numbers(name) for name in sheet.columns}
    found = sheet.of_table(numbers, records.where, len(records), records.source)
    return found.each(), tuple(found.notes(records.where))


def read_told(
    source: Any,
    ledger: Ledger,
    *,
    id: str | None = None,
    label: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    separator: str | None = None,
) -> Labels:
    """Read a table of labels that have arrived; columns that are not named are those of ``ledger.roles``.

    The time of a label is read only where it is named: the role is that of the decisions' time.
    """
    roles = ledger.roles
    names = {}
    for role, given in ((ID, id), (LABEL, label)):
        name = roles.get(role) if given is None else given
        if name is None:
            raise OptionError(Message(f"which column holds the {role}? Name the column with ", Remedy(role)))
        names[role] = name
    if len({*names.values(), time}) < 3:
        raise OptionError("the id, the label and the time are columns of their own, and two of them are the same")
    records = read_records(
        source,
        columns=[*names.values(), *([] if time is None else [time])],
        categories=[*names.values(), *([] if time is None else [time])],
        separator=separator,
        warm_up=10**9,
        missing=MISSING if ledger.features is None else ledger.features.missing,
    )
    ids, levels = _ids(records, names[ID]), _levels(records, names[LABEL])
    chosen = positive if positive is not None else _as_in_history(levels, names[LABEL], records, roles)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassWarning)  # labels arrive a few at a time
        found = read_labels(names[LABEL], levels, chosen, records.missing, records.source, records.where, True)
    values = [None if value < 0 else int(value) for value in found.tolist()]
    times, notes = _times(records, time, roles)
    return Labels(ids, values, times, records, notes)


def _as_in_history(levels: list[str | None], name: str, records: Records, roles: Mapping[str, str]) -> str | None:
    """Return the positive value that the history of a desk had, and spell the labels as the history does.

    None: nobody had to say which value is positive, or these labels are 0/1, yes/no or true/false and the history's
    are not.
    """
    if POSITIVE not in roles:
        return None
    pair = {value.casefold(): value for value in (roles[POSITIVE], roles.get(NEGATIVE, roles[POSITIVE]))}
    there = {level.casefold() for level in levels if level is not None}
    if there <= pair.keys():
        levels[:] = [None if level is None else pair[level.casefold()] for level in levels]
        return roles[POSITIVE]
    if any(there <= set(known) for known in PAIRS):
        return None
    row = next(row for row, level in enumerate(levels) if level is not None and level.casefold() not in pair)
    told = (
        f"{records.where(row)}: label {levels[row]!r} in column {name!r}, and the history of this desk had "
        f"{' and '.join(map(repr, pair.values()))}. Correct the cell, or say which value means that acting was right: "
    )
    raise DataError(Message(told, Remedy("positive")))


def _levels(records: Records, name: str) -> list[str | None]:
    """Return a column as texts, None where nothing is there; 3 and 3.0 are one text."""
    return [as_level(value, ()) for value in records.columns[name].tolist()]


def _ids(records: Records, name: str) -> list[Any]:
    ids = _levels(records, name)
    for row, one in enumerate(ids):
        if one is None:
            raise DataError(f"{records.where(row)}: no id in column {name!r}; give the id, or leave out the row")
    return ids


def _times(
    records: Records, name: str | None, roles: Mapping[str, str]
) -> tuple[list[float | str | None], tuple[str, ...]]:
    """Return the times of the rows as a record has them: dates as text, as they are written, or numbers."""
    if name is None:
        return [None] * len(records), ()
    texts = _levels(records, name)
    for row, text in enumerate(texts):
        if text is None:
            raise DataError(f"{records.where(row)}: no time in column {name!r}; give it, or leave out the row")
    if _is_number(texts[0]):
        for row, text in enumerate(texts):
            if not _is_number(text):
                first = f"as {texts[0]} in {records.where(0)}"
                raise DataError(
                    f"{records.where(row)}: column {name!r} is to hold times, numbers {first}, got {text!r}"
                )
        records = replace(records, columns={name: np.array([as_number(text, ()) for text in texts])})
    clock, dated, notes = clock_of(name, records, roles.get(UNIT))
    return list((moments_of(records.columns[name], clock) if dated else clock).tolist()), notes


def _is_number(text: Any) -> bool:
    try:
        return math.isfinite(as_number(text, ()))
    except ValueError:
        return False


def _of_a_desk(error: DataError) -> Message:
    """Return what an error says with its remedies for a desk: what a column is was settled when the desk was made."""
    told = after("", error)
    parts: list[str | Remedy] = []
    for part in told.parts:
        if isinstance(part, Remedy) and part.option in ("categories", "numbers"):
            parts.append("create the desk anew with ")
        parts.append(part)
    return Message(*parts)
