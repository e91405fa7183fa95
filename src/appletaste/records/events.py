"""The record: what happened to a stream of decisions, one event after the other (docs/decisions/0009-the-house.md).

An event is a value that is never changed. Events are numbered from 1 in the order in which they were appended; all
else, the ledger, the decision log, what the policy has learnt, is a fold of them. What became of a decision is one of
five words, declared here and nowhere else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..decision import UNKNOWN, Decision

PENDING = "pending"  #: acted on; the label has not arrived
OBSERVED = "observed"  #: the label arrived
CORRECTED = "corrected"  #: the label arrived and was replaced by another
EXPIRED = "expired"  #: nobody waits for the label any more; it is unknown, never negative
NEVER_DUE = "never_due"  #: passed, so there will be no label
STATES = (PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE)

__all__ = ["CORRECTED", "EXPIRED", "NEVER_DUE", "OBSERVED", "PENDING", "STATES", "UNKNOWN"]


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
    by: str = ""  #: who said so; empty: nobody was named


class Corrected(NamedTuple):
    """A label was replaced by another."""

    id: str
    label: int
    time: float | str | None = None
    by: str = ""  #: who said so; empty: nobody was named


class Retracted(NamedTuple):
    """A label was withdrawn as if it had never arrived."""

    id: str
    time: float | str | None = None
    by: str = ""  #: who said so; empty: nobody was named


class Expired(NamedTuple):
    """The label of an act is no longer waited for: unknown, never negative."""

    id: str
    time: float | str | None = None
    by: str = ""  #: who said so; empty: nobody was named


class Recorded(NamedTuple):
    """A label that nothing is learnt from: of a pass, of a stream that is frozen, of an item that was erased."""

    id: str
    label: int
    time: float | str | None = None
    by: str = ""  #: who said so; empty: nobody was named


class LookedAgain(NamedTuple):
    """Somebody looked at a labelled item a second time, without being told the first label; no correction."""

    id: str
    label: int
    rate: float  #: the share of labelled items that was drawn by lot when this one was
    time: float | str | None = None
    by: str = ""  #: who said so; empty: nobody was named


class Enacted(NamedTuple):
    """Somebody did otherwise than was decided, or the action of the caller stood beside ours (``shadow``)."""

    id: str
    act: bool
    by: str
    time: float | str | None = None


class Noted(NamedTuple):
    """Somebody wrote something down about a decision, or about the stream where ``id`` is empty."""

    id: str
    text: str
    by: str = ""
    time: float | str | None = None


class Erased(NamedTuple):
    """The features of a decision were erased; ``anchor`` is the digest of the snapshot from which the fold goes on."""

    id: str
    anchor: bytes
    time: float | str | None = None
    compared: int = 0  #: the last event up to which the record was folded and compared before the features went


class Created(NamedTuple):
    """A stream began: all its settings but the seed, and the digest of the player that it began with."""

    settings: dict[str, Any]
    anchor: bytes
    id: str = ""


class ModeChanged(NamedTuple):
    """From here on another mode holds (``appletaste.streams.answers``)."""

    mode: str
    by: str = ""
    reason: str = ""
    time: float | str | None = None
    id: str = ""


class CostsChanged(NamedTuple):
    """From here on other costs are the usual ones."""

    costs: dict[str, float]
    by: str = ""
    time: float | str | None = None
    id: str = ""


class StaffingChanged(NamedTuple):
    """From here on another budget and another audit lane hold; each as its ``settings``, None: there is none."""

    budget: dict[str, Any] | None
    audit: dict[str, Any] | None
    by: str = ""
    time: float | str | None = None
    id: str = ""


class Worded(NamedTuple):
    """From here on the team calls things so (``appletaste.words``); nothing is decided by it."""

    words: dict[str, str]
    by: str = ""
    time: float | str | None = None
    id: str = ""


class Adopted(NamedTuple):
    """From here on the policy decides with these trees, fitted on the labels learnt first; or with none."""

    labels: int  #: that they were fitted on
    sha256: str  #: of the model; empty: the labels do not speak for trees, and there are none from here on
    evidence: float | None  #: log Bayes factor; None: nothing better could be fitted; what was in use stays
    losses: list[float]  #: mean log loss on held-out labels: of the trees, and of the share of positives
    model: bytes = b""  #: ``policies.forest.Forest``
    time: float | str | None = None
    id: str = ""


class ClockSet(NamedTuple):
    """The clock of the machine was set by more than an hour since the events before were written."""

    seconds: float  #: by how much; below zero: back, or behind the last event of the record
    time: float | str | None = None
    id: str = ""


Event = (
    Decided
    | Labelled
    | Corrected
    | Retracted
    | Expired
    | Recorded
    | LookedAgain
    | Enacted
    | Noted
    | Erased
    | Created
    | ModeChanged
    | CostsChanged
    | StaffingChanged
    | Worded
    | Adopted
    | ClockSet
)
#: Every kind of event by its name in files.
KINDS: dict[str, Any] = {
    "decided": Decided,
    "labelled": Labelled,
    "corrected": Corrected,
    "retracted": Retracted,
    "expired": Expired,
    "recorded": Recorded,
    "looked_again": LookedAgain,
    "enacted": Enacted,
    "noted": Noted,
    "erased": Erased,
    "created": Created,
    "mode": ModeChanged,
    "costs": CostsChanged,
    "staffing": StaffingChanged,
    "worded": Worded,
    "adopted": Adopted,
    "clock": ClockSet,
}
