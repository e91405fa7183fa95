"""What a stream answers: a decision as it was given, what became of it, and what was done with a label.

And its modes: whose action stands, and whether anything is learnt.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

from .._files import for_json
from ..decision import Decision
from ..errors import OptionError
from ..features import FeatureMap
from ..policies.reasons import Reason, reason_for
from ..records.codec import json_bytes
from ..records.states import Entry

SHADOW, LIVE, FROZEN, SAFE = "shadow", "live", "frozen", "safe"
#: Every mode, and what it means.
MODES = {
    SHADOW: "the caller's own action stands; what the policy would do is recorded beside it",
    LIVE: "the policy's action stands, and its labels are learnt",
    FROZEN: "the policy's action stands, and nothing is learnt",
    SAFE: "a fixed action stands, and nothing is learnt; entered by itself when the record does not verify",
}
#: Who is said to have acted where the action of the caller stands.
CALLER = "caller"
#: The reason of a decision that no policy made.
SAFE_REASON = Reason("SAFE", "the stream is in safe mode: a fixed action stands, whatever the item")
APPLIED, ALREADY_APPLIED, RECORDED = "applied", "already_applied", "recorded_not_learned"


class Answer:
    """A decision as it was given; the same id gives the same fields for ever, to the byte.

    ``act`` is the action that stands: in shadow mode the caller's own, and ``decision.act`` is what the policy would
    have done. Words are made when somebody asks for them.
    """

    __slots__ = ("_features", "act", "again", "decision", "id", "mode", "seq", "time")

    def __init__(
        self,
        id: str,
        seq: int,
        decision: Decision,
        time: float | str | None,
        mode: str,
        act: bool,
        again: bool,
        features: FeatureMap | None,
    ) -> None:
        self.id, self.seq, self.decision, self.time, self.mode, self.act = id, seq, decision, time, mode, act
        self.again = again  #: the decision was made earlier, and is given again
        self._features = features

    @property
    def probability(self) -> float:
        """The probability with which the policy acts on the item."""
        return self.decision.probability

    @property
    def chance(self) -> float:
        """The model's P(positive); NaN where there is none."""
        return self.decision.chance

    def __repr__(self) -> str:
        done = "act" if self.act else "pass"
        return f"<Answer {self.id!r}: {done}, probability {self.probability:.3g}, event {self.seq}, {self.mode}>"

    def as_dict(self) -> dict[str, Any]:
        """Return the answer for JSON."""
        plain: dict[str, Any] = for_json(self._told())
        return plain

    def _told(self) -> dict[str, Any]:
        decision, mode = self.decision, self.mode
        costs, chance = decision.costs, decision.chance
        reason = SAFE_REASON if mode == SAFE else reason_for(decision, self._features)
        code, words = (None, []) if reason is None else (reason.code, [reason.words])
        found = {
            "id": self.id,
            "seq": self.seq,
            "act": self.act,
            "probability": decision.probability,
            "chance": chance,
            "audit": decision.audit,
            "code": code,
            "threshold": costs.threshold,
            "expected_cost": {"act": costs.expected(True, chance), "pass": costs.expected(False, chance)},
            "reasons": words,
            "mode": mode,
            "time": self.time,
        }
        if mode == SHADOW:
            found["suggested"] = decision.act
        return found

    def json(self) -> bytes:
        """Return the answer as JSON: the same bytes whenever the same id is asked."""
        return json_bytes(self._told())  # NaN and infinity are null, as in as_dict


class Case(NamedTuple):
    """A decision and all that became of it."""

    answer: Answer
    entry: Entry  #: what stands: the action that was done, the state, the label
    learnt: bool  #: the label was learnt
    outcome: int | None  #: a label that was recorded of a pass, and never learnt
    labelled_by: str | None  #: who gave the label, or its correction; None: nobody was named
    enacted_by: str | None  #: who did otherwise than was decided
    erased: bool  #: the features were erased
    notes: tuple[tuple[str, str], ...]  #: who wrote what

    def as_dict(self) -> dict[str, Any]:
        """Return the case for JSON: the answer as it was given, and what became of it."""
        entry = self.entry
        later = {
            "state": entry.state,
            "label": entry.label,
            "label_time": entry.label_time,
            "learnt": self.learnt,
            "outcome": self.outcome,
            "labelled_by": self.labelled_by,
            "acted": entry.decision.act,
            "enacted_by": self.enacted_by,
            "erased": self.erased,
            "notes": [{"by": by, "text": text} for by, text in self.notes],
        }
        return {**self.answer.as_dict(), **later}


class LabelReceipt(NamedTuple):
    """What was done with a label."""

    id: str
    status: str  #: applied, already_applied, or recorded_not_learned
    state: str  #: of the decision, now
    late: bool  #: the label arrived after the review had expired


def check_mode(mode: str) -> str:
    """Return a mode, or say which there are."""
    if mode not in MODES:
        raise OptionError(f"a mode is one of {', '.join(MODES)}; got {mode!r}")
    return mode


def mode_at(changes: list[tuple[int, str]], seq: int) -> str:
    """Return the mode that held when an event was written.

    Examples
    --------
    >>> mode_at([(1, "shadow"), (40, "live")], 39)
    'shadow'
    """
    return changes[max(bisect_right(changes, seq, key=lambda change: change[0]) - 1, 0)][1]
