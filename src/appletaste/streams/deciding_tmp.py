"""Many items decided through a ledger: all checked first, then one by one in the order of their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decision import Decision
from ..errors import DataError, InputError, after
from ..features import FeatureMap
from ..tables.records import listed
from .ledger import Ledger
from .requests import Items


class Answer(NamedTuple):
    """What was decided for a row."""

    id: str
    decision: Decision
    again: bool  #: the decision was made earlier, and is given again


def decide_many(ledger: Ledger, items: Items, progress: Callable[[int], None] | None = None) -> list[Answer]:
    """Decide every row of a table, in its order; an id that was decided before gives the decision of then.

    An id that comes again with other values refuses the whole table before anything is decided. ``progress`` is told
    how many rows are done.

    Examples
    --------
    >>> import appletaste as at
    >>> from appletaste.streams.requests import read_items
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> ledger = at.Ledger(at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> ledger.saved_as(None, features)
    >>> items = read_items([{"case": "a", "age": 31}, {"case": "b", "age": 60}], ledger, id="case")
    >>> [answer.decision.act for answer in decide_many(ledger, items)]
    [True, True]
    >>> [answer.again for answer in decide_many(ledger, items)]
    [True, True]
    """
    features = ledger.features
    assert features is not None  # opening.read_desk has said so
    vectors = features.transform_many(items.records, update=False)
    new = _new_rows(ledger, features, items, vectors)
    if new:  # a level that is new to the map may take a place now, in the order of the rows
        vectors[new] = features.transform_many(items.records[np.array(new)])
    fresh, answers = frozenset(new), []
    for row, given in enumerate(items.ids):
        id = ledger.next_id() if given is None else given
        if row in fresh:
            try:
                decision = ledger.decide(
                    vectors[row], id=id, time=items.times[row], costs=items.costs[row], stratum=items.strata[row]
                )
            except InputError as error:
                raise DataError(after(f"{items.records.where(row)}: ", error)) from None
        else:
            decision = ledger[id].decision
        answers.append(Answer(id, decision, row not in fresh))
        if progress is not None:
            progress(row + 1)
    return answers


def _new_rows(ledger: Ledger, features: FeatureMap, items: Items, vectors: NDArray[np.float64]) -> list[int]:
    """Return the rows that are to be decided, if every other row is what its id says."""
    new: list[int] = []
    first: dict[str, int] = {}
    for row, id in enumerate(items.ids):
        if id is None:
            new.append(row)
        elif id in ledger:
            entry = ledger[id]
            differ = _differing(features, vectors[row], entry.decision.x)
            differ += ["the stratum"] if entry.stratum != items.strata[row] else []
            differ += ["the costs"] if entry.decision.costs != items.costs[row] else []
            _refuse(differ, items, row, id, "was decided before", features.changes)
        elif id in first:
            differ = _differing(features, vectors[row], vectors[first[id]])
            differ += ["the stratum"] if items.strata[row] != items.strata[first[id]] else []
            differ += ["the costs"] if items.costs[row] != items.costs[first[id]] else []
            _refuse(differ, items, row, id, f"is in {items.records.where(first[id])} too", False)
        else:
            first[id] = row
            new.append(row)
    return new


def _differing(features: FeatureMap, one: NDArray[np.float64], other: NDArray[np.float64]) -> list[str]:
    """Return the columns in which two vectors differ, in words."""
    if np.array_equal(one, other):
        return []
    found = [
        f"column {column.name!r}"
        for column in features.columns
        if not column.hashed and (one != other)[column.start : column.start + len(column.names)].any()
    ]
    return found or ["its columns"]


def _refuse(differ: list[str], items: Items, row: int, id: str, known: str, changes: bool) -> None:
    if differ:
        levels = " (the map of this desk changes, so a level may have got a place of its own since)" if changes else ""
        raise DataError(
            f"{items.records.where(row)}: id {id!r} {known}, with another value: {listed(differ)}{levels}. Every item "
            "needs an id of its own, and what was decided stays as it was. Correct the id, or leave out the row; "
            "nothing was decided"
        )
