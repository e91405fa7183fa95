"""Whole tables for a stream: new items that are decided, labels that are learnt; all is checked before the first."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..costs import Costs
from ..decision import UNKNOWN
from ..errors import DataError, InputError, Message, OneClassWarning, OptionError, Remedy, after
from ..features import FeatureMap
from ..features.defaults import unreadable_dates
from ..history.clock_column import clock_of, in_front, moments_of
from ..history.leaks import Seen, infinite_cells
from ..records.codec import unpack_item
from ..records.events import Decided
from ..tables import Records, read_records
from ..tables.label_column import PAIRS, read_labels
from ..tables.records import check_column, listed
from ..tables.values import MISSING, as_level, as_number
from .answers import ALREADY_APPLIED, RECORDED, Answer, Case
from .clock import check_kind, when_after
from .reader import ID, LABEL, NEGATIVE, POSITIVE, STRATUM, TIME, UNIT
from .stream import Stream


@dataclass(frozen=True)
class Items:
    """New items in the order of their table."""

    records: Records  #: the fields of the map, and no others
    rows: list[dict[str, Any]]  #: all that is kept of each item: its fields, and the columns of its id, time and costs
    ids: list[str | None]  #: None: the stream is to make the id
    times: list[float | str | None]
    strata: list[str | None]
    costs: list[Costs] | None  #: of each item; None: the usual ones
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
    stream: Stream,
    *,
    id: str | None = None,
    time: str | None = None,
    stratum: str | None = None,
    make_ids: bool = False,
    drop: Sequence[str] = (),
    missing: Sequence[str] = (),
    **written: Any,
) -> Items:
    """Read a table of new items with the map of a stream; columns that are not named are those of ``stream.roles``.

    Every cell is read here, so that a row that cannot be decided is said, with its line, before any row is decided; so
    is a row whose costs, by the formulas of the stream, are missing, infinite or below 0. Dates are counted up to the
    time of the item, whatever its column is called in this table.

    Examples
    --------
    >>> import appletaste as at
    >>> people = [{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}]
    >>> features = at.Encoder().fit(people)
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "people", policy, features=features)
    >>> read_items([{"case": 7, "age": 40, "job": "pilot"}], stream, id="case").ids
    ['7']
    """
    features, roles = _map_of(stream), stream.roles
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
    sheet = stream.costs_by_item
    prices = [name for name in (() if sheet is None else sheet.columns) if name not in (*own, *extra)]
    try:
        records = read_records(
            source,
            missing=(*features.missing, *missing),
            columns=list(dict.fromkeys([*own, *extra, *prices])),
            numbers=[*numbers, *prices],
            categories=[*(name for name in own if name not in numbers), *extra],
            **written,
            warm_up=10**9,  # the names of all rows: a field that only a late one has is looked at too
        )
        costs, notes = _costs(records, stream)
    except DataError as error:
        raise DataError(_of_a_stream(error)) from None
    for name in drop:
        check_column(name, [*records.columns, *records.dropped], records.source)
    features.check_known(records.source, [name for name in records.dropped if name not in drop])
    times, said = _times(records, time, roles)
    for row, told in enumerate(times):
        if told is not None:
            with _in_row(records, row):
                check_kind(stream.times, told)
    strata: list[str | None] = [None] * len(records)
    if stratum is not None:
        strata = [level or "missing" for level in _levels(records, stratum)]
    plain = replace(records, columns={name: records.columns[name] for name in own})
    if clock is not None:
        if not isinstance(times[0], str):
            raise DataError(
                f"{records.where(0)}: column {time!r} holds numbers such as {times[0]:g}, and this stream counts days "
                "up to a date. Write times as 2024-05-31 or 2024-05-31T14:05"
            )
        plain = in_front(clock, np.array(times, dtype=object), plain)
    seen = Seen(plain, np.full(len(plain), UNKNOWN, dtype=np.int8))
    infinite = [finding.message for finding in infinite_cells(seen)]
    notes = (*said, *notes, *unreadable_dates(features, plain), *infinite)
    ids = [None] * len(records) if id is None else _ids(records, id)
    known = {
        name: records.columns[name] for name in (*own, *prices, *extra) if name in (*own, *prices, *roles.values())
    }
    kept = replace(records, columns=known)
    if clock is not None:
        kept = in_front(clock, np.array(times, dtype=object), kept)
    return Items(plain, [_plain(row) for row in kept.rows()], ids, times, strata, costs, notes)


def _map_of(stream: Stream) -> FeatureMap:
    if stream.features is None:
        raise InputError(
            f"stream {stream.name!r} takes vectors and has no map from columns to features, so that no table can be "
            "decided. Create a stream from a table of past items: appletaste stream create --history"
        )
    return stream.features


@contextmanager
def _in_row(records: Records, row: int) -> Iterator[None]:
    """Say in which row it was that something was wrong."""
    try:
        yield
    except InputError as error:
        raise DataError(after(f"{records.where(row)}: ", error)) from None


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as a record has it: None where a cell is missing."""
    return {name: None if value != value else value for name, value in row.items()}


def _costs(records: Records, stream: Stream) -> tuple[list[Costs] | None, tuple[str, ...]]:
    """Return what each row costs, and what to tell about that; a row whose costs cannot be is refused."""
    sheet = stream.costs_by_item
    if sheet is None:
        return None, ()
    numbers = {name: records.numbers(name) for name in sheet.columns}
    found = sheet.of_table(numbers, records.where, len(records), records.source)
    return found.each(), tuple(found.notes(records.where))


def read_told(
    source: Any,
    stream: Stream,
    *,
    id: str | None = None,
    label: str | None = None,
    positive: str | None = None,
    time: str | None = None,
    **written: Any,
) -> Labels:
    """Read a table of labels that have arrived; columns that are not named are those of ``stream.roles``.

    The time of a label is read only where it is named: the role is that of the decisions' time.
    """
    roles = stream.roles
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
        **written,
        warm_up=10**9,
        missing=MISSING if stream.features is None else stream.features.missing,
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
    """Return the positive value that the history of a stream had, and spell the labels as the history does.

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
        f"{records.where(row)}: label {levels[row]!r} in column {name!r}, and the history of this stream had "
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


def _of_a_stream(error: DataError) -> Message:
    """Return what an error says with its remedies for a stream: what a column is was settled when it was made."""
    told = after("", error)
    parts: list[str | Remedy] = []
    for part in told.parts:
        if isinstance(part, Remedy) and part.option in ("categories", "numbers"):
            parts.append("create the stream anew with ")
        parts.append(part)
    return Message(*parts)


# ---- deciding a table


def decide_table(stream: Stream, items: Items, progress: Callable[[int], None] | None = None) -> list[Answer]:
    """Decide every row of a table, in its order, in one transaction; an id that was decided gives that decision again.

    An id that comes again with other values refuses the whole table before anything is decided. ``progress`` is told
    how many rows are done.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "people", policy, features=features, roles={"id": "case"})
    >>> items = read_items([{"case": "a", "age": 31}, {"case": "b", "age": 60}], stream)
    >>> [answer.act for answer in decide_table(stream, items)]
    [True, True]
    >>> [answer.again for answer in decide_table(stream, items)]
    [True, True]
    """
    with stream.group([id for id in items.ids if id is not None]):
        _check_items(stream, items)
        try:
            return stream.decide_many(
                items.rows,
                ids=items.ids,
                times=items.times,
                strata=items.strata,
                costs=items.costs,
                progress=progress,
            )
        except InputError as error:
            if error.item is None:
                raise
            raise DataError(after(f"{items.records.where(error.item)}: ", error)) from None


def _check_items(stream: Stream, items: Items) -> None:
    """Refuse a table in which an id that is known, or comes twice, is of another item."""
    features = _map_of(stream)
    first: dict[str, int] = {}
    for row, id in enumerate(items.ids):
        if id is None:
            continue
        costs = None if items.costs is None else items.costs[row]
        known = stream.record.decision(id)
        if known is not None:
            if known.item is None:
                raise DataError(
                    f"{items.records.where(row)}: id {id!r} was decided, and its features were erased since, so that "
                    "nobody can tell whether this is the same item. Leave out the row; nothing was decided"
                )
            record = unpack_item(known.item)[1]
            differ = ["its columns"] if record is None else _differing(features, items.rows[row], record)
            differ += ["the stratum"] if known.event.stratum != items.strata[row] else []
            usual = costs is None and not known.stamp.own_costs
            differ += [] if usual or known.event.decision.costs == costs else ["the costs"]
            _refuse(differ, items, row, id, "was decided before")
        elif first.setdefault(id, row) != row:
            other = first[id]
            differ = _differing(features, items.rows[row], items.rows[other])
            differ += ["the stratum"] if items.strata[row] != items.strata[other] else []
            differ += [] if items.costs is None or costs == items.costs[other] else ["the costs"]
            _refuse(differ, items, row, id, f"is in {items.records.where(other)} too")


def _differing(features: FeatureMap, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Return the columns in which two records differ for the map, in words."""
    mine, theirs = (
        features.cells({name: row[name] for name in features.fields if name in row}) for row in (one, other)
    )
    return [f"column {name!r}" for name in mine if repr(mine[name]) != repr(theirs[name])]


def _refuse(differ: list[str], items: Items, row: int, id: str, known: str) -> None:
    if differ:
        raise DataError(
            f"{items.records.where(row)}: id {id!r} {known}, with another value: {listed(differ)}. Every item needs an "
            "id of its own, and what was decided stays as it was. Correct the id, or leave out the row; nothing was "
            "decided"
        )


# ---- learning a table of labels

#: What became of a label, and what that means.
LEARNT, CORRECTED, KNOWN, PASSED, KEPT = "learnt", "corrected", "known", "passed", "recorded"
UNHEARD_OF, ABSENT = "unknown", "missing"
OUTCOMES = {
    LEARNT: "learnt",
    CORRECTED: "corrected: another label was replaced",
    KNOWN: "known already, and learnt once",
    PASSED: "of passed items, recorded and not learnt: such labels arrive for some kinds of items only",
    KEPT: "recorded, and not learnt: the stream does not learn now",
    UNHEARD_OF: "with an id that this stream has not decided",
    ABSENT: "missing, and skipped",
}


class Outcome(NamedTuple):
    """What became of a label."""

    id: str
    label: int | None
    done: str  #: a word of ``OUTCOMES``
    late: bool = False  #: the label arrived after the review had expired


def label_table(stream: Stream, told: Labels, correct: bool = False, by: str = "") -> list[Outcome]:
    """Learn the labels of a table, each once; labels that nothing can be learnt from are told apart, and counted.

    A label that differs from the one that is known refuses the whole table before anything is learnt, unless
    ``correct`` says that the table is right. ``by`` is who says so.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "orders", policy)
    >>> _ = stream.decide([1.0], id="a")
    >>> table = [{"case": "a", "bad": "yes"}, {"case": "b", "bad": "no"}]
    >>> [outcome.done for outcome in label_table(stream, read_told(table, stream, id="case", label="bad"))]
    ['learnt', 'unknown']
    """
    with stream.group(told.ids):
        _check_labels(stream, told, correct)
        outcomes = []
        for row, (id, value, time) in enumerate(zip(told.ids, told.values, told.times, strict=True)):
            if value is None or id not in stream:
                outcomes.append(Outcome(id, value, ABSENT if value is None else UNHEARD_OF))
                continue
            case = stream.find(id)
            with _in_row(told.records, row):
                if _label_of(case) in (None, value):
                    receipt = stream.label(id, value, time=time, by=by)
                    done = {ALREADY_APPLIED: KNOWN, RECORDED: KEPT}.get(receipt.status, LEARNT)
                else:
                    receipt, done = stream.correct(id, value, time=time, by=by), CORRECTED
            if done in (KEPT, KNOWN) and not case.entry.decision.act:
                done = PASSED
            outcomes.append(Outcome(id, value, done, receipt.late))
        return outcomes


def _label_of(case: Case) -> int | None:
    """Return the label that is known of a decision, learnt or only recorded."""
    return case.entry.label if case.entry.decision.act else case.outcome


def _check_labels(stream: Stream, told: Labels, correct: bool) -> None:
    """Refuse a table that contradicts itself or what is known, or that is not of this stream."""
    first: dict[str, int] = {}
    for row, (id, value, time) in enumerate(zip(told.ids, told.values, told.times, strict=True)):
        here = told.records.where(row)
        if value is None:
            continue
        if told.values[first.setdefault(id, row)] != value:
            raise DataError(
                f"{here}: id {id!r} has the label {value}, and another in {told.records.where(first[id])}. Leave out "
                "the row that is wrong; nothing was learnt"
            )
        if id not in stream:
            continue
        case = stream.find(id)
        known = _label_of(case)
        if known not in (None, value) and not correct:
            was = f"{here}: id {id!r} has the label {known} already, and the table says {value}"
            remedy = Message(f"{was}. If the table is right, ", Remedy("correct"), "; nothing was learnt")
            raise DataError(remedy)
        if known != value:
            with _in_row(told.records, row):
                when_after(case.entry.time, time)
                if known is not None and case.learnt:
                    stream.check_revisable()
    ours = next((event.id for _, event in stream.events() if isinstance(event, Decided)), None)
    if ours is not None and told.ids and not any(id in stream for id in told.ids):
        raise DataError(
            Message(
                f"{told.records.source}: none of its {len(told)} ids is of this stream, whose ids are like "
                f"{ours!r}; the first here is {told.ids[0]!r}. Is it the right column? ",
                Remedy("id"),
            )
        )
