"""The record: what happened to a stream of decisions, one event after the other (docs/decisions/0009-the-house.md).

An event is a value that is never changed. Events are numbered from 1 in the order in which they were appended; all
else, the ledger, the decision log, what the policy has learnt, is a fold of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..decision import Decision


class Decided(NamedTuple):
    """An item was acted on or passed."""

    id: str
    decision: Decision
    time: float | str | None = None
    stratum: str | None = None


class Labelled(NamedTuple):
    """The label of an act arrived, before or after the review had expired."""

    id: str
    label: int
    time: float | str | None = None


class Corrected(NamedTuple):
    """A label was replaced by another."""

    id: str
    label: int
    time: float | str | None = None


class Retracted(NamedTuple):
    """A label was withdrawn as if it had never arrived."""

    id: str
    time: float | str | None = None


class Expired(NamedTuple):
    """The label of an act is no longer waited for: unknown, never negative."""

    id: str
    time: float | str | None = None


Event = Decided | Labelled | Corrected | Retracted | Expired
#: Every kind of event by its name in files.
KINDS: dict[str, Any] = {
    "decided": Decided,
    "labelled": Labelled,
    "corrected": Corrected,
    "retracted": Retracted,
    "expired": Expired,
}
