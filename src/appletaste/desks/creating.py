"""A desk made from a history: the map is fitted on all of it, and its labels are learnt if somebody asks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..errors import DataError, InputError, OneClassWarning, OptionError
from ..features import Encoder, FeatureMap, Records, read_records
from ..features.reading import check_column
from ..features.values import as_level
from ..policies import Player, Policy, policy
from ..policies.history import History
from ..remedies import Message, Remedy
from ..replays import look
from ..replays.players import Staffing
from ..replays.table import UNITS, clock_of
from ..streams import Awaiting, Desk, Ledger
from ..times import DAY
from .tables import ID, LABEL, NEGATIVE, POSITIVE, STRATUM, TIME, UNIT

#: Rows encoded at a time.
BLOCK = 10_000
#: Findings of ``look`` that a desk should not be made with unread.
GRAVE = ("LEAK", "DATE_AFTER", "IDENTIFIER")


@dataclass(frozen=True)
class Created:
    """A desk that was made: its ledger, how many rows the history had, what was learnt of it, and what to know."""

    ledger: Ledger
    features: FeatureMap
    rows: int
    history: History | None  #: None: nothing was taught
    notes: tuple[str, ...]


def create_desk(
    path: str | PathLike[str],
    source: Any,
    label: str,
    *,
    costs: Costs | CostsByItem,
    name: str = "voi",
    options: Mapping[str, Any] | None = None,
    id: str | None = None,
    time: str | None = None,
    time_unit: str | None = None,
    stratum: str | None = None,
    capacity: str | None = None,
    audit: str | None = None,
    late: bool = True,
    teach: bool = False,
    drop: Sequence[str] = (),
    encoder: Encoder | None = None,
    seed: int = 1,
    **reading: Any,
) -> Created:
    """Make a desk from a table of past items, and write it to a file.

    All of the history lies before the first decision, so the map is fitted on all of its rows (``warm_up`` of the
    encoder is their number). Which columns are the
    id, the time, the stratum and the label is kept in the file, and so need not be said again.

    Parameters
    ----------
    source, label
        The history, and the column with its labels, which may be missing in some rows.
    name, options
        The policy.
    id, time, stratum
        Columns with these roles; the id and the time are no features.
    capacity, audit
        Limited reviewers and audits, as ``replay`` takes them: ``120/day`` or ``5%``; ``2%``.
    late
        Whether labels arrive late; the policy then keeps in mind which labels are on their way (``Awaiting``).
    teach
        Whether the labels of the history are learnt.
    reading
        What ``read_records`` takes: ``positive``, ``missing``, ``categories``, ``numbers``, ``separator``.
    """
    target = Path(path)
    if target.exists():
        raise InputError(f"{target} is there already: give another name, or delete the file first")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} in")
    if time_unit is not None and (time is None or time_unit not in UNITS):
        told = f" is one of {', '.join(UNITS)}, for a column of times, which is named with "
        raise OptionError(Message(Remedy("time_unit"), told, Remedy("time")))
    roles = {ID: id, TIME: time, UNIT: time_unit, STRATUM: stratum, LABEL: label}
    _check_apart(roles, drop)
    if isinstance(costs, CostsByItem):
        raise OptionError("a desk takes numbers for costs")
    staffing = Staffing.of(capacity, audit) or Staffing()
    records = _read(source, label, [*drop, *([] if id is None else [id])], reading)
    notes = [finding.message for finding in look(records, time=time).findings if finding.code in GRAVE]
    records, clock, dated, said = _in_order(records, time, time_unit)
    staffing.check(time is not None, DAY if dated or time_unit else None)
    if stratum is not None:
        check_column(stratum, records.columns, records.source)
    features = replace(encoder or Encoder(), warm_up=len(records)).fit(records)
    player = policy(name, n_features=features.n_features, costs=costs, seed=seed, **(options or {}))
    history = _teach(player, features, records, clock) if teach else None
    ledger = Ledger(_seated(player, staffing, late))
    ledger.roles = {role: column for role, column in roles.items() if column is not None}
    ledger.roles |= _label_values(source, label, reading)
    ledger.save(target, features)
    return Created(ledger, features, len(records), history, (*notes, *said))


def _check_apart(roles: Mapping[str, str | None], drop: Sequence[str]) -> None:
    """Refuse a column with two roles, or one that is to be left out as well."""
    taken: dict[str, str] = {}
    for role in (ID, TIME, LABEL):
        column = roles[role]
        if column is None:
            continue
        if column in taken:
            raise OptionError(f"{column!r} cannot be both the {taken[column]} and the {role}")
        if column in drop:
            told = f"{column!r} is the {role}, which is no feature anyway: take it out of "
            raise OptionError(Message(told, Remedy("drop")))
        taken[column] = role


def _read(source: Any, label: str, drop: Sequence[str], reading: Mapping[str, Any]) -> Records:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OneClassWarning)
        try:
            return read_records(source, label=label, drop=tuple(drop), unlabelled=True, **reading)
        except OneClassWarning as warning:
            raise DataError(str(warning)) from None


def _in_order(
    records: Records, time: str | None, unit: str | None
) -> tuple[Records, NDArray[np.float64] | None, bool, tuple[str, ...]]:
    """Return a history in the order of its time, without that column; its times, and whether they are dates."""
    if time is None:
        return records, None, False, ()
    check_column(time, records.columns, records.source)
    clock, dated, notes = clock_of(time, records, unit)
    columns = {name: column for name, column in records.columns.items() if name != time}
    if not columns:
        raise DataError(f"{records.source} has no column besides the label and the time: there is nothing to decide by")
    order = np.argsort(clock, kind="stable")
    rest = replace(records, columns=columns, dropped=(*records.dropped, time))
    return rest[order], clock[order], dated, notes


def _teach(player: Policy, features: FeatureMap, records: Records, clock: NDArray[np.float64] | None) -> History:
    """Let the policy learn the labels of a history, in its order."""
    labels = [] if records.labels is None else [None if label < 0 else int(label) for label in records.labels.tolist()]
    for start in range(0, len(records), BLOCK):
        block = features.transform_many(records[start : start + BLOCK], update=False)
        for row, x in enumerate(block, start):
            label = labels[row]
            if label is not None:
                player.teach(x, label, time=None if clock is None else float(clock[row]))
    return History.of(labels)


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
