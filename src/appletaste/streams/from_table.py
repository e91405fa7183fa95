"""A desk made from a history: the map is fitted on all of it, and its labels are learnt if somebody asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostColumns, CostsByItem
from ..decision import UNKNOWN
from ..errors import InputError, Message, OptionError, Remedy
from ..features import Encoder, FeatureMap
from ..features.defaults import chosen_encoder, made_of_dates, made_of_score, unreadable_dates, with_dates, with_score
from ..history.findings import CHECKS
from ..history.labelled import LabelledTable, cost_notes, read_labelled
from ..history.leaks import Seen
from ..policies import Player, Policy, PolicySpec, policy
from ..policies.items import History
from ..tables import Records, read_records
from ..tables.records import check_column
from ..tables.values import as_level
from .awaiting import Awaiting
from .desk import Desk
from .ledger import Ledger
from .requests import ID, LABEL, NEGATIVE, POSITIVE, STRATUM, TIME, UNIT
from .staffing import Share, Staffing, check_forgetting

#: Rows encoded at a time.
BLOCK = 10_000
#: Findings of ``look`` that a desk should not be made with unread.
GRAVE = ("LEAK", "DATE_AFTER", "LABEL_KNOWN", "DATE_FORMAT", "TIME_ZONES", "INFINITE", "IDENTIFIER")


@dataclass(frozen=True)
class Created:
    """A desk that was made: its ledger, how many rows the history had, what was learnt of it, and what to know."""

    ledger: Ledger
    features: FeatureMap
    rows: int
    history: History | None  #: None: nothing was taught
    notes: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are decided by; the time, which dates are counted from, is none of them by itself."""
        return tuple(column.name for column in self.features.columns if column.names or column.hashed)


def create_desk(
    path: str | PathLike[str] | None,
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
    seed: int = 1,
    **reading: Any,
) -> Created:
    """Make a desk from a table of past items, and write it to a file; None: to none, for a ``Stream`` to begin with.

    All of the history lies before the first decision, so the map is fitted on all of its rows (``warm_up`` of the
    encoder is their number). Which columns are the id, the time, the stratum and the label is kept in the file, and so
    need not be said again; so are formulas of costs.

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
        Limited reviewers and audits, as ``replay`` takes them: ``120/day`` or ``5%``; ``2%``.
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
    reading
        What ``read_records`` takes: ``positive``, ``missing``, ``categories``, ``numbers``, ``separator``.
    """
    target = None if path is None else _free(Path(path))
    roles = {ID: id, TIME: time, UNIT: time_unit, STRATUM: stratum, LABEL: label}
    _check_apart({**roles, "time of the label": label_time}, drop)
    sheet = CostsByItem.of(costs)
    by_item = sheet if isinstance(sheet, CostsByItem) else None
    staffing = Staffing.of(capacity, audit, time_zone) or Staffing()
    stream = read_labelled(
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
    table, labels = stream.table, _arrived(stream)
    if not isinstance(table, Records):
        raise OptionError("a desk is made from columns with names, and those of a matrix have none: give a data frame")
    usual = sheet if isinstance(sheet, Costs) else cast(CostColumns, stream.costs).average()
    staffing.check(time is not None, stream.day)
    if stratum is not None:
        check_column(stratum, table.columns, table.source)
    if time_features and stream.moments is None:
        told = " needs a column of dates that is not dropped: name the column with "
        raise OptionError(Message(Remedy("time_features"), told, Remedy("time")))
    counted = None if stream.moments is None or time_features else stream.clock
    entry = PolicySpec(name, dict(options or {}))
    # without a file the desk is for a stream, whose map stays as it is: levels that come later share one column
    usual_map = Encoder(curves=entry.takes_groups, many=entry.takes_levels and path is not None)
    chosen = with_score(with_dates(chosen_encoder(encoder, usual_map), dates), score)
    features = replace(chosen, warm_up=len(stream)).fit(table, time=counted)
    given: dict[str, Any] = {"groups": features.groups} if features.grouped else {}
    given |= options or {}
    if given.get("pairs") is True:
        given["pairs"] = features.units
    player = policy(name, n_features=features.n_features, costs=usual, seed=seed, **given)
    check_forgetting(name, player, stream.clock, stream.day)
    history = _teach(player, features, table, labels, stream.times) if teach else None
    ledger = Ledger(_seated(player, staffing, late))
    ledger.roles = {role: column for role, column in roles.items() if column is not None}
    ledger.roles |= _label_values(source, label, reading)
    ledger.costs_by_item = by_item
    if target is None:
        ledger.saved_as(None, features)
    else:
        ledger.save(target, features)
    return Created(ledger, features, len(stream), history, _notes(stream, labels, features, counted))


def _free(target: Path) -> Path:
    """Return the name of a file that can be written, and that there is not yet."""
    if target.exists():
        raise InputError(f"{target} is there already: give another name, or delete the file first")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    return target


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


def _arrived(stream: LabelledTable) -> NDArray[np.int8]:
    """Return the labels that have arrived; where a column says when, one without a time has not."""
    return stream.labels if stream.told is None else np.where(np.isinf(stream.told), UNKNOWN, stream.labels)


def _teach(
    player: Policy, features: FeatureMap, table: Records, labels: NDArray[np.int8], times: NDArray[np.float64] | None
) -> History:
    """Let the policy learn the labels of a history, in its order, each with the time of its item."""
    known = [None if label < 0 else int(label) for label in labels.tolist()]
    for start in range(0, len(table), BLOCK):
        block = features.transform_many(table[start : start + BLOCK], update=False)
        for row, x in enumerate(block, start):
            label = known[row]
            if label is not None:
                player.teach(x, label, time=None if times is None else float(times[row]))
    return History.of(known)


def _notes(
    stream: LabelledTable, labels: NDArray[np.int8], features: FeatureMap, counted: str | None
) -> tuple[str, ...]:
    """Return what to know of a history: what a desk should not be made with unread, and what was made of it."""
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


def _seated(player: Policy, staffing: Staffing, late: bool) -> Player:
    """Return the policy, with the labels on their way kept in mind and at its desk where there is one."""
    alone: Player = Awaiting(player) if late else player
    return alone if staffing == Staffing() else Desk(alone, staffing.budget, staffing.audit)


def _label_values(source: Any, label: str, reading: Mapping[str, Any]) -> dict[str, str]:
    """Return the two values of the label where somebody had to say which one is positive."""
    positive = reading.get("positive")
    if positive is None:
        return {}
    how = {name: reading[name] for name in ("missing", "separator") if name in reading}
    levels = read_records(source, columns=[label], categories=[label], **how).columns[label].tolist()
    wanted = as_level(positive, ())
    others = [level for level in levels if level not in (None, wanted)]
    return {POSITIVE: str(wanted)} | ({NEGATIVE: others[0]} if others else {})
