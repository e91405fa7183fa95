"""A stream from past items: the map is fitted on all of them, and their labels are learnt if somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostColumns, CostsByItem
from ..decision import UNKNOWN
from ..errors import Message, OptionError, Remedy
from ..features import Encoder, FeatureMap
from ..features.defaults import (
    chosen_encoder,
    default_encoder,
    made_of_dates,
    made_of_score,
    unreadable_dates,
    with_dates,
    with_score,
)
from ..history.findings import CHECKS
from ..history.labelled import LabelledTable, cost_notes, read_labelled
from ..history.leaks import Seen
from ..keys import Key
from ..policies import Player, Policy, PolicySpec, policy
from ..policies.items import History
from ..records.stores import Store
from ..tables import Records, read_records
from ..tables.dialect import WRITTEN
from ..tables.records import check_column
from ..tables.values import as_level
from .audit import AUTO, Bill
from .desk import Desk
from .reader import ID, LABEL, NEGATIVE, POSITIVE, STRATUM, TIME, UNIT
from .staffing import Share, Staffing, check_forgetting, seat
from .stream import Stream

#: Rows encoded at a time.
BLOCK = 10_000
#: Findings of ``look`` that a stream should not be made with unread.
GRAVE = ("LEAK", "DATE_AFTER", "LABEL_KNOWN", "DATE_FORMAT", "TIME_ZONES", "INFINITE", "IDENTIFIER")


@dataclass(frozen=True)
class Prepared:
    """What a stream begins with: its player and its map, the columns with roles, and what to know of the history."""

    player: Player
    features: FeatureMap
    roles: dict[str, str]
    costs_by_item: CostsByItem | None
    rows: int  #: of the history
    history: History | None  #: what was learnt of it; None: nothing was taught
    notes: tuple[str, ...]
    seed: int | None  #: of the player; None: a secret one
    audits_cost: float | None = None  #: the most that audits which must pay cost for 1,000 items, by the history

    def create(self, store: str | PathLike[str] | Store, name: str, **settings: Any) -> Stream:
        """Make the stream in a store (``Stream.create``, whose other settings may be given)."""
        given = {"features": self.features, "roles": self.roles, "costs_by_item": self.costs_by_item, "seed": self.seed}
        given |= {"audit": (self.player.audit if isinstance(self.player, Desk) else None) or 0}
        return Stream.create(store, name, self.player, **{**given, **settings})


def policy_seed(seed: int, number: int = 0) -> int:
    """Return the seed of a policy in a pass of a replay with a seed; a stream with the same one draws the same."""
    return int(Key(seed).at("replay", number, "policy").word())


def from_history(
    source: Any,
    label: str,
    *,
    costs: Costs | CostsByItem | Mapping[str, Any],
    name: str = "voi",
    options: Mapping[str, Any] | None = None,
    id: str | None = None,
    time: str | None = None,
    time_unit: str | None = None,
    label_time: str | None = None,
    stratum: str | None = None,
    capacity: Share | None = None,
    time_zone: str | None = None,
    audit: Share | None = None,
    late: bool = True,
    teach: bool = False,
    drop: Sequence[str] = (),
    encoder: Encoder | Mapping[str, Any] | None = None,
    time_features: bool = False,
    dates: Mapping[str, tuple[str, str]] | None = None,
    score: str | None = None,
    seed: int | None = None,
    **reading: Any,
) -> Prepared:
    """Prepare a stream from a table of past items; ``.create("shop.db", "orders")`` makes it.

    All of the history lies before the first decision, so the map is fitted on all of its rows (``warm_up`` of the
    encoder is their number), with the encoder that ``replay(new, history=past)`` takes: what is rehearsed is what runs.
    The stream keeps which columns are the id, the time, the stratum and the label, and formulas of costs.

    Parameters
    ----------
    source, label
        The history, and the column with its labels, which may be missing in some rows.
    costs
        Of every item alike, or formulas over columns; the usual costs of the policy are then the mean of the history.
        A column of a formula may be a feature as well, or dropped.
    name, options
        The policy.
    id, time, stratum
        Columns with these roles; the id and the time are no features. Other dates are counted in days before a time
        that holds dates, unless the time is dropped, too.
    label_time
        When the labels of the history arrived; no feature. A label without such a time has not arrived, and is not
        learnt. Policies that forget by the time go by that of the item, whenever its label arrived.
    capacity, audit, time_zone
        Limited reviewers and audits, as ``replay`` takes them in the order of time: ``120/day`` or ``5%``; ``2%``,
        ``auto`` (the default: as many as pay, 1 % at most) or ``0``.
    late
        Whether labels arrive late; the policy then keeps in mind which labels are on their way (``Awaiting``).
    teach
        Whether the labels of the history are learnt.
    encoder
        An ``Encoder`` in the place of the default one, or settings that change it, ``{"levels": 20}``.
    time_features, dates
        As ``replay`` takes them: whether the hour, weekday and month of the time are features, and days between dates.
    score
        The column with another model's score (see ``Encoder``).
    seed
        That of a ``replay``: the stream then draws as the replay does. None: 128 secret random bits, which is right for
        all but rehearsals.
    reading
        What ``read_records`` takes: ``positive``, ``missing``, ``categories``, ``numbers``, and how the file is
        written (``separator``, ``decimal``, ``date_format``, ``sheet``).

    Examples
    --------
    >>> past = {"amount": [5.0, 80.0, 7.0, 95.0], "bad": [0, 1, 0, 1]}
    >>> prepared = from_history(past, "bad", costs={"miss": 5, "false_alarm": 1, "hit": 0}, teach=True)
    >>> stream = prepared.create("memory", "orders")
    >>> stream.decide({"amount": 90.0}, id="a").chance > stream.decide({"amount": 6.0}, id="b").chance
    True
    """
    roles = {ID: id, TIME: time, UNIT: time_unit, STRATUM: stratum, LABEL: label}
    _check_apart({**roles, "time of the label": label_time}, drop)
    _check_ids(source, id, reading)
    sheet = CostsByItem.of(costs)
    by_item = sheet if isinstance(sheet, CostsByItem) else None
    staffing = Staffing.of(capacity, AUTO if audit is None else audit, time_zone)
    past = read_labelled(
        source,
        label,
        drop=[*drop, *([] if id is None else [id])],
        time=time,
        time_unit=time_unit,
        label_time=label_time,
        costs=by_item,
        some_labels=True,
        **reading,
    )
    table, labels = past.table, _arrived(past)
    if not isinstance(table, Records):
        raise OptionError(
            "a stream is made from columns with names, and those of a matrix have none: give a data frame"
        )
    usual = sheet if isinstance(sheet, Costs) else cast(CostColumns, past.costs).average()
    if staffing is not None:
        staffing.check(time is not None, past.day, past.dated)
    if stratum is not None:
        check_column(stratum, table.columns, table.source)
    if time_features and past.moments is None:
        told = " needs a column of dates that is not dropped: name the column with "
        raise OptionError(Message(Remedy("time_features"), told, Remedy("time")))
    counted = None if past.moments is None or time_features else past.clock
    spec = PolicySpec(name, dict(options or {}))
    features = _encoder(past, spec, encoder, dates, score).fit(table, time=counted)
    given: dict[str, Any] = {"groups": features.groups} if features.grouped else {}
    given |= options or {}
    own_seed = None if seed is None else policy_seed(seed)
    learner = policy(name, n_features=features.n_features, costs=usual, seed=own_seed or 0, **given)
    check_forgetting(name, learner, past.clock, past.day)
    history = _teach(learner, features, table, labels, past.times) if teach else None
    known = {role: column for role, column in roles.items() if column is not None}
    return Prepared(
        seat(learner, staffing, late),
        features,
        known | _label_values(source, label, reading),
        by_item,
        len(past),
        history,
        _notes(past, labels, features, counted),
        own_seed,
        _audits_cost(past, labels, usual, staffing),
    )


def _encoder(
    past: LabelledTable,
    spec: PolicySpec,
    given: Encoder | Mapping[str, Any] | None,
    dates: Mapping[str, tuple[str, str]] | None,
    score: str | None,
) -> Encoder:
    """Return the encoder of a replay in the order of time, for what the policy can learn, fitted on all rows."""
    usual = cast(Encoder, default_encoder(past.records, shuffled=False, curves=True))
    usual = replace(usual, curves=spec.takes_groups, many=spec.takes_levels)
    chosen = with_score(with_dates(chosen_encoder(given, usual), dates), score)
    if not isinstance(chosen, Encoder):
        raise OptionError(f"a stream keeps the map of an Encoder, got {type(chosen).__name__}")
    return replace(chosen, warm_up=len(past))


def _check_apart(roles: Mapping[str, str | None], drop: Sequence[str]) -> None:
    """Refuse a column with two roles, or one that is to be left out as well."""
    taken: dict[str, str] = {}
    for role, column in roles.items():
        if column is None or role in (UNIT, STRATUM):
            continue
        if column in taken:
            raise OptionError(f"{column!r} cannot be both the {taken[column]} and the {role}")
        if column in drop and role in (ID, LABEL):  # a time is dropped if no dates are to be counted from it
            told = f"{column!r} is the {role}, which is no feature anyway: take it out of "
            raise OptionError(Message(told, Remedy("drop")))
        taken[column] = role


def _check_ids(source: Any, id: str | None, reading: Mapping[str, Any]) -> None:
    """Refuse a column whose values come again and again as the id: an item that comes again is not decided again."""
    if id is None or not isinstance(source, str | PathLike | Mapping):
        return
    how = {name: reading[name] for name in WRITTEN if name in reading}
    cells = read_records(source, columns=[id], categories=[id], **how).columns[id].tolist()
    if 2 * len(set(cells)) < len(cells):
        told = f"column {id!r} has {len(set(cells))} values in {len(cells)} rows, and an id is one for each item: name "
        raise OptionError(Message(told, "another column with ", Remedy("id")))


def _arrived(stream: LabelledTable) -> NDArray[np.int8]:
    """Return the labels that have arrived; where a column says when, one without a time has not."""
    return stream.labels if stream.told is None else np.where(np.isinf(stream.told), UNKNOWN, stream.labels)


def _audits_cost(
    past: LabelledTable, labels: NDArray[np.int8], usual: Costs, staffing: Staffing | None
) -> float | None:
    """Return what audits that must pay cost for 1,000 items at most, by the labels of a history; None: no such."""
    if staffing is None or staffing.audit is None or not staffing.audit.spend:
        return None
    known, sheet = labels >= 0, usual if past.costs is None else past.costs
    if not known.any():
        return None
    gain, alarm = (np.broadcast_to(one, labels.shape)[known] for one in (sheet.catch_gain, sheet.alarm_price))
    bill = Bill.of(labels[known].astype(np.float64), gain, alarm, np.ones(int(known.sum())))
    return 1000.0 * staffing.audit.spend * min(bill.never, bill.always)


def _teach(
    player: Policy, features: FeatureMap, table: Records, labels: NDArray[np.int8], times: NDArray[np.float64] | None
) -> History:
    """Let the policy learn the labels of a history, in its order, each with the time of its item."""
    known = [None if label < 0 else int(label) for label in labels.tolist()]
    for start in range(0, len(table), BLOCK):
        rows = slice(start, start + BLOCK)
        block = features.transform_many(table[rows], update=False)
        player.learn_history(block, known[rows], None if times is None else times[rows].tolist())
    return History.of(known)


def _notes(
    stream: LabelledTable, labels: NDArray[np.int8], features: FeatureMap, counted: str | None
) -> tuple[str, ...]:
    """Return what to know of a history: what a stream should not be made with unread, and what was made of it."""
    table, seen = stream.table, Seen.of(replace(stream, labels=labels))
    assert isinstance(table, Records)
    assert seen is not None  # only a matrix has nothing to see
    notes: list[str] = [finding.message for check in CHECKS for finding in check(seen) if finding.code in GRAVE]
    notes += stream.notes
    if stream.told_by is not None:
        notes.append(
            f"column {stream.told_by!r} says when labels arrived, and is no feature. What is learnt is as old as its "
            f"item ({stream.clock!r}), whenever its label arrived"
        )
    notes += [*made_of_dates(features, counted), *unreadable_dates(features, table), *made_of_score(features)]
    return (*notes, *cost_notes(stream))


def _label_values(source: Any, label: str, reading: Mapping[str, Any]) -> dict[str, str]:
    """Return the two values of the label where somebody had to say which one is positive."""
    positive = reading.get("positive")
    if positive is None:
        return {}
    how = {name: reading[name] for name in ("missing", *WRITTEN) if name in reading}
    levels = read_records(source, columns=[label], categories=[label], **how).columns[label].tolist()
    wanted = as_level(positive, ())
    others = [level for level in levels if level not in (None, wanted)]
    return {POSITIVE: str(wanted)} | ({NEGATIVE: others[0]} if others else {})
