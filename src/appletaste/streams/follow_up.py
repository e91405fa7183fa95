"""What happens to a decision after it was made: its label, its correction, who did otherwise, and being forgotten."""

from __future__ import annotations

from typing import Any

from .._checks import check_text
from ..decision import check_label
from ..errors import ConflictError, FeedbackError, InputError
from ..records.codec import sha256
from ..records.entries import Entries
from ..records.events import (
    CORRECTED,
    EXPIRED,
    OBSERVED,
    PENDING,
    Corrected,
    Enacted,
    Erased,
    Expired,
    Labelled,
    Noted,
    Recorded,
    Retracted,
)
from ..times import instant, written
from .answers import ALREADY_APPLIED, APPLIED, RECORDED, Answer, Case, LabelReceipt
from .clock import present, when_after
from .journal import Keeping
from .modes import CALLER, FROZEN, SAFE, SHADOW, mode_at
from .snapshots import describe, put_chunks, read_manifest

LONGEST_NOTE = 10_000


class Labelling(Keeping):
    """The part of a ``Stream`` that follows up on decisions."""

    def find(self, id: str) -> Case:
        """Return a decision, as it was answered, and all that became of it."""
        found = self._find(id)
        later = [event for _, event in self.record.later(id)]
        entries = Entries([found.event, *later])
        learnt, outcome, by, notes = False, None, None, []
        for event in later:
            if isinstance(event, Labelled | Retracted):
                learnt = isinstance(event, Labelled)
            elif isinstance(event, Recorded):
                outcome = event.label
            elif isinstance(event, Enacted):
                by = event.by
            elif isinstance(event, Noted):
                notes.append((event.by, event.text))
        mode = mode_at(self._state.modes, found.seq)
        act = found.event.decision.act
        if mode == SHADOW:
            act = next(e.act for e in later if isinstance(e, Enacted) and e.by == CALLER)
        answer = Answer(id, found.seq, found.event.decision, found.event.time, mode, act, True, self.features)
        entry = entries[id]
        passed = outcome if not entry.decision.act else None
        return Case(answer, entry, learnt, passed, by, found.erased, tuple(notes))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.record.decision(id) is not None

    # ---- labels

    def label(self, id: str, value: int, *, time: Any = None) -> LabelReceipt:
        """Learn the label of an act, once; the label of a pass is recorded and never learnt.

        The same value again changes nothing; another value is a conflict, and needs ``correct``.
        """
        alone = self._alone
        before = alone.enter()
        try:
            self._check_running()
            value = check_label(value)
            if id in self._state.pending and self.mode not in (FROZEN, SAFE):
                told = self._label_time(self._find(id).event.time, time)
                self._happen(Labelled(id, value, told))
                self._settle()
                return LabelReceipt(id, APPLIED, OBSERVED, False)
            return self._label(id, value, time)
        finally:
            alone.user = before

    def _label(self, id: str, value: int, time: Any) -> LabelReceipt:
        case = self.find(id)
        entry = case.entry
        known = entry.label if entry.decision.act else case.outcome
        if known is not None:
            if known != value:
                raise ConflictError(
                    f"decision {id!r} already has the label {known}, got {value}: if {value} is right, call "
                    f"correct({id!r}, {value})"
                )
            return LabelReceipt(id, ALREADY_APPLIED, entry.state, False)
        told = self._label_time(entry.time, time)
        late = entry.state == EXPIRED
        if entry.decision.act and not case.erased and self.mode not in (FROZEN, SAFE) and entry.decision.round:
            self._happen(Labelled(id, value, told))
            status = APPLIED
        else:
            self._happen(Recorded(id, value, told))
            status = RECORDED
        self._settle()
        return LabelReceipt(id, status, OBSERVED if entry.decision.act else entry.state, late)

    def _label_time(self, made: float | str | None, time: Any) -> float | str | None:
        """Return when a label arrived, as the record has it; by the machine's clock where nobody says."""
        if time is not None:
            return when_after(made, time)
        if not isinstance(made, str):
            return None
        now = self._now()
        earliest = instant(made)
        return now if earliest is not None and earliest <= self.record.now() / 1e6 else made

    def correct(self, id: str, value: int, *, time: Any = None) -> LabelReceipt:
        """Replace a label by another; what was learnt from it is learnt anew."""
        with self._alone:
            case, value = self._labelled(id, "correct"), check_label(value)
            known = case.entry.label if case.entry.decision.act else case.outcome
            if known == value:
                return LabelReceipt(id, ALREADY_APPLIED, case.entry.state, False)
            told = self._label_time(case.entry.time, time)
            self._happen(Corrected(id, value, told) if case.learnt else Recorded(id, value, told))
            self._settle()
            state = CORRECTED if case.learnt else case.entry.state
            return LabelReceipt(id, APPLIED if case.learnt else RECORDED, state, False)

    def retract(self, id: str, *, time: Any = None) -> LabelReceipt:
        """Withdraw a label as if it had never arrived: the decision is pending again."""
        with self._alone:
            case = self._labelled(id, "retract")
            if not case.learnt:
                raise FeedbackError(f"the label of decision {id!r} was recorded and not learnt: correct it instead")
            self._happen(Retracted(id, self._label_time(case.entry.time, time)))
            self._settle()
            return LabelReceipt(id, APPLIED, PENDING, False)

    def _labelled(self, id: str, verb: str) -> Case:
        self._check_running()
        case = self.find(id)
        if case.entry.label is None and case.outcome is None:
            raise FeedbackError(f"decision {id!r} is {case.entry.state} and has no label to {verb}; label() adds one")
        if case.learnt:
            if self.mode in (FROZEN, SAFE):
                raise InputError(f"the stream is {self.mode}, and learns nothing: set its mode first, or wait")
            if not self.player.policy.keeps_labels:
                self.player.policy.revise([])  # says why it cannot
        return case

    def expire(self, now: Any = None) -> list[str]:
        """Give up waiting for the labels of decisions that are ``expire_after`` old or older; return their ids.

        Without ``now`` the time is that of the machine; a stream whose times are numbers has a clock of its own, and
        needs to be told.
        """
        with self._alone:
            self._check_running()
            length = self._settings["expire_after"]
            if length is None:
                raise InputError("nothing expires in this stream: create it with expire_after=")
            if now is None and self._state.kind is not float:
                now = self._now()
            clock, told = present(self._state.kind, now), written(now)
            found = [id for id, (_, made) in self._state.pending.items() if made + length <= clock]
            with self.together(found):
                for id in found:
                    self._happen(Expired(id, told))
            return found

    # ---- people

    def enacted(self, id: str, act: bool, by: str, *, time: Any = None) -> Case:
        """Record that somebody acted, or passed, whatever was decided; the label of such an act is learnt.

        The probability that was recorded was then not the one that counted: the decision log has 1 for such an act and
        0 for such a pass, so that estimates by design leave them out.
        """
        with self._alone:
            self._check_running()
            if not isinstance(act, bool):
                raise InputError(f"act is True or False, got {act!r}")
            who = check_text("a name", by) if isinstance(by, str) and by else ""
            if not who:
                raise InputError("say who did otherwise than was decided: by='the name of a person or a system'")
            case = self.find(id)
            if case.entry.decision.act == act:
                return case
            if case.erased:
                raise FeedbackError(f"the features of decision {id!r} were erased: nothing more is learnt from it")
            if case.entry.label is not None or case.outcome is not None:
                raise ConflictError(
                    f"decision {id!r} has a label already, so that the item was {'acted on' if not act else 'passed'} "
                    "as far as anybody knows: retract the label first"
                )
            self._happen(Enacted(id, act, who, self._label_time(case.entry.time, time)))
            self._settle()
            return self.find(id)

    def note(self, id: str, text: str, *, by: str = "") -> int:
        """Write something down about a decision, or about the stream (an empty id); return the number of the event."""
        with self._alone:
            self._check_running()
            if id:
                self._find(id)
            if not (isinstance(text, str) and 0 < len(text) <= LONGEST_NOTE and isinstance(by, str)):
                raise InputError(f"a note is a text of 1 to {LONGEST_NOTE} characters")
            seq = self._happen(Noted(id, check_text("a note", text), check_text("a name", by), self._now()))
            self._settle()
            return seq

    def erase(self, id: str) -> Case:
        """Erase the features of a decision; its action, its probability and the SHA-256 of the features stay.

        A label that was learnt is retracted first, so that the policy knows nothing of the item any more. Snapshots
        that knew it are dropped, and another one is written, from which ``verify`` goes on.
        """
        with self._alone:
            self._check_running()
            case = self.find(id)
            if case.erased:
                return case
            if case.learnt and self.player.policy.keeps_labels:
                self._happen(Retracted(id, self._now()))
            if id in self._state.pending:
                self._happen(Expired(id, self._now()))
            self._settle()
            self._keeper.wait()
            try:
                self._erase(id, case.answer.seq)
            except BaseException as error:
                self._stop(error)
                raise
            return self.find(id)

    def _erase(self, id: str, made: int) -> None:
        record, place = self.record, self.record.place
        seq, digest = record.written
        arrays = self._state.arrays()
        manifest = describe(seq, digest, self._state.header(), arrays)
        put_chunks(place, manifest, arrays)
        row = record.row(Erased(id, sha256(manifest.packed()).digest(), self._now()), record.now())
        first, packed = place.snapshots()[0]
        chunks = manifest.chunks() | read_manifest(packed).chunks()
        place.erase(row, record.written, made, (seq, manifest.packed()), (first,), chunks)
        record.took(row)
        self._state.follow(row.seq, Erased(id, b""), self._decided)
        self._snapshot_at = seq
