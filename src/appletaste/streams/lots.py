"""The lane of second looks: labelled decisions that are drawn by lot and looked at again, blind and by another person.

The lot of a decision is a number from 0 to 1 made of the seed of the stream and its id. Nobody who does not know the
seed can foresee which labels will be looked at again, and whether one is depends on nothing that was seen. A decision
is drawn at a rate if its lot is below the rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._checks import check_text, number
from ..decision import check_label
from ..errors import ConflictError, FeedbackError, InputError, UnknownDecisionError
from ..records.codec import sha256
from ..records.durable import DurableRecord
from ..records.events import Corrected, Decided, Enacted, Event, Labelled, LookedAgain, Recorded, Retracted
from ..times import written

#: The share of labels that is looked at again where nobody says another.
RATE = 0.05


class SecondLook(NamedTuple):
    """A second look at a decision that was acted on, and the label that stood then."""

    id: str
    first: int
    second: int
    audit: bool  #: the act was an audit
    first_by: str  #: who gave the first label; empty: nobody was named
    second_by: str
    rate: float


class _Known(NamedTuple):
    """A label that stands."""

    label: int
    by: str


def lot_of(secret: bytes, id: str) -> float:
    """Return the lot of a decision, a number from 0 to 1 that only whoever knows the seed can tell.

    Examples
    --------
    >>> lots = [lot_of(b"seed", str(k)) for k in range(1000)]
    >>> 30 < sum(lot < 0.05 for lot in lots) < 70, lot_of(b"seed", "7") == lots[7], lot_of(b"other", "7") == lots[7]
    (True, True, False)
    """
    digest = sha256(b"second look\0" + secret + b"\0" + id.encode()).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) * 2.0**-53


class SecondLooks:
    """The labels that stand on acts, and the second looks at them, as events are taken in one after the other."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.audits: dict[str, bool] = {}  #: of every act, whether it is an audit
        self.labels: dict[str, _Known] = {}
        self.looks: dict[str, SecondLook] = {}
        for event in events:
            self.take(event)

    def take(self, event: Event) -> None:
        """Take in the next event of the record."""
        id = event.id
        if isinstance(event, Decided):
            if event.decision.act:
                self.audits[id] = event.decision.audit
        elif isinstance(event, Enacted):
            self.audits.pop(id, None)
            if event.act:
                self.audits[id] = False
        elif id not in self.audits:
            return
        elif isinstance(event, Labelled | Recorded | Corrected):
            self.labels[id] = _Known(event.label, event.by)
        elif isinstance(event, Retracted):
            self.labels.pop(id, None)
        elif isinstance(event, LookedAgain) and id in self.labels:
            first, by = self.labels[id]
            look = SecondLook(id, first, event.label, self.audits[id], by, event.by, event.rate)
            self.looks.setdefault(id, look)

    def due(self, secret: bytes, rate: float, by: str) -> list[str]:
        """Return which labelled decisions are drawn at a rate and not looked at again yet, without those of ``by``."""
        number("rate", rate, above=0.0, most=1.0)
        return [
            one
            for one, known in self.labels.items()
            if one not in self.looks and not (by and known.by == by) and lot_of(secret, one) < rate
        ]


def second_looks_of(record: DurableRecord) -> SecondLooks:
    """Return the labels that stand by a whole record, and the second looks."""
    return SecondLooks(event for _, event in record.read())


def looked_again(record: DurableRecord, id: str, value: int, rate: float, time: Any, by: str) -> LookedAgain | None:
    """Return the event of a second look, checked; None: the same was said before."""
    number("rate", rate, above=0.0, most=1.0)
    value, by = check_label(value), check_text("a name", by)
    made = record.decision(id)
    if made is None:
        raise UnknownDecisionError(f"there is no decision {id!r}")
    found = SecondLooks([made.event, *(event for _, event in record.later(id))])
    if id not in found.labels:
        raise FeedbackError(f"decision {id!r} has no label of an act: there is nothing to look at a second time")
    if lot_of(record.place.secret, id) >= rate:
        raise FeedbackError(
            f"decision {id!r} was not drawn at a rate of {rate:g}: second looks go where the lot says "
            "(second_looks_due), or they tell nothing of the others"
        )
    said = found.looks.get(id)
    if said is not None:
        if (said.second, said.second_by) == (value, by):
            return None
        raise ConflictError(f"decision {id!r} was looked at a second time already")
    if by and found.labels[id].by == by:
        raise InputError(f"{by!r} gave the label of decision {id!r}: a second look is another person's")
    return LookedAgain(id, value, rate, written(time), by)
