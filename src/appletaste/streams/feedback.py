"""What happens to a decision after it was made: its label, its correction, who did otherwise, and being forgotten."""

from __future__ import annotations

from typing import Any

from .._checks import check_text
from ..decision import check_label
from ..errors import ConflictError, FeedbackError, InputError, RecordError
from ..records.codec import sha256, unpack_item
from ..records.durable import DurableRecord
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
from ..records.states import Entries
from ..times import instant, written
from .answers import (
    ALREADY_APPLIED,
    APPLIED,
    CALLER,
    FROZEN,
    RECORDED,
    SAFE,
    SHADOW,
    Answer,
    Case,
    LabelReceipt,
    mode_at,
)
from .clock import present, when_after
from .journal import Journal
from .reader import Reader
from .recovery import first_map, latest_fold
from .snapshots import describe, put_chunks, read_manifest
from .verify import verify

LONGEST_NOTE = 10_000


class Feedback:
    """What becomes of the decisions of one stream; each verb checks, then adds to the journal."""

    def __init__(self, journal: Journal, reader: Reader, expire_after: float | None) -> None:
        self._journal, self._reader, self._expire_after = journal, reader, expire_after

    def find(self, id: str) -> Case:
        """Return a decision, as it was answered, and all that became of it."""
        journal = self._journal
        found = journal.found(id)
        later = [event for _, event in journal.record.later(id)]
        entries = Entries([found.event, *later])
        learnt, outcome, by, labelled_by, notes = False, None, None, None, []
        for event in later:
            if isinstance(event, Labelled | Corrected | Recorded):
                labelled_by = event.by or None
            if isinstance(event, Labelled | Retracted):
                learnt = isinstance(event, Labelled)
                labelled_by = labelled_by if learnt else None
            elif isinstance(event, Recorded):
                outcome = event.label
            elif isinstance(event, Enacted):
                by = event.by
            elif isinstance(event, Noted):
                notes.append((event.by, event.text))
        mode = mode_at(journal.fold.modes, found.seq)
        act = found.event.decision.act
        if mode == SHADOW:
            act = next((e.act for e in later if isinstance(e, Enacted) and e.by == CALLER), act)  # written together
        features = self._reader.features
        answer = Answer(id, found.seq, found.event.decision, found.event.time, mode, act, True, features)
        entry = entries[id]
        passed = outcome if not entry.decision.act else None
        return Case(answer, entry, learnt, passed, labelled_by, by, found.erased, tuple(notes))

    # ---- labels

    def label(self, id: str, value: int, time: Any, by: str) -> LabelReceipt:
        """Learn the label of an act, once; the label of a pass is recorded and never learnt."""
        journal = self._journal
        fold = journal.fold
        value, by = check_label(value), _name(by)
        if id in fold.pending and fold.mode not in (FROZEN, SAFE):
            told = self._label_time(journal.decided(id).time, time)
            journal.add(Labelled(id, value, told, by))
            journal.settle()
            return LabelReceipt(id, APPLIED, OBSERVED, False)
        return self._label(id, value, time, by)

    def _label(self, id: str, value: int, time: Any, by: str) -> LabelReceipt:
        journal, case = self._journal, self.find(id)
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
        late, learns = entry.state == EXPIRED, journal.fold.mode not in (FROZEN, SAFE)
        if entry.decision.act and not case.erased and learns and entry.decision.round:
            journal.add(Labelled(id, value, told, by))
            status = APPLIED
        else:
            journal.add(Recorded(id, value, told, by))
            status = RECORDED
        journal.settle()
        return LabelReceipt(id, status, OBSERVED if entry.decision.act else entry.state, late)

    def _label_time(self, made: float | str | None, time: Any) -> float | str | None:
        """Return when a label arrived, as the record has it; by the machine's clock where nobody says."""
        if time is not None:
            return when_after(made, time)
        if not isinstance(made, str):
            return None
        now = self._journal.now()
        earliest = instant(made)
        return now if earliest is not None and earliest <= self._journal.record.now() / 1e6 else made

    def correct(self, id: str, value: int, time: Any, by: str) -> LabelReceipt:
        """Replace a label by another; what was learnt from it is learnt anew."""
        case, value, by = self._labelled(id, "correct"), check_label(value), _name(by)
        known = case.entry.label if case.entry.decision.act else case.outcome
        if known == value:
            return LabelReceipt(id, ALREADY_APPLIED, case.entry.state, False)
        told = self._label_time(case.entry.time, time)
        self._journal.add(Corrected(id, value, told, by) if case.learnt else Recorded(id, value, told, by))
        self._journal.settle()
        state = CORRECTED if case.learnt else case.entry.state
        return LabelReceipt(id, APPLIED if case.learnt else RECORDED, state, False)

    def retract(self, id: str, time: Any, by: str) -> LabelReceipt:
        """Withdraw a label as if it had never arrived: the decision is pending again."""
        case, by = self._labelled(id, "retract"), _name(by)
        if not case.learnt:
            raise FeedbackError(f"the label of decision {id!r} was recorded and not learnt: correct it instead")
        self._journal.add(Retracted(id, self._label_time(case.entry.time, time), by))
        self._journal.settle()
        return LabelReceipt(id, APPLIED, PENDING, False)

    def _labelled(self, id: str, verb: str) -> Case:
        case = self.find(id)
        if case.entry.label is None and case.outcome is None:
            raise FeedbackError(f"decision {id!r} is {case.entry.state} and has no label to {verb}; label() adds one")
        if case.learnt:
            self.check_revisable()
        return case

    def check_revisable(self) -> None:
        """Refuse to correct what was learnt where the stream does not learn now, or its policy keeps no labels."""
        fold = self._journal.fold
        if fold.mode in (FROZEN, SAFE):
            raise InputError(f"the stream is {fold.mode}, and learns nothing: set its mode first, or wait")
        if not fold.player.policy.keeps_labels:
            fold.player.policy.revise([])  # says why it cannot

    def expire(self, now: Any, by: str) -> list[str]:
        """Give up waiting for the labels of decisions that have waited too long; return their ids."""
        journal, length = self._journal, self._expire_after
        fold = journal.fold
        if length is None:
            raise InputError("nothing expires in this stream: create it with expire_after=")
        if now is None and fold.kind is not float:
            now = journal.now()
        clock, told, by = present(fold.kind, now), written(now), _name(by)
        overdue = [id for id, (_, made) in fold.pending.items() if made + length <= clock]
        with journal.group(overdue):
            for id in overdue:
                journal.add(Expired(id, told, by))
        return overdue

    # ---- people

    def enacted(self, id: str, act: bool, by: str, time: Any) -> Case:
        """Record that somebody acted, or passed, whatever was decided."""
        if not isinstance(act, bool):
            raise InputError(f"act is True or False, got {act!r}")
        who = _name(by) if isinstance(by, str) else ""
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
        self._journal.add(Enacted(id, act, who, self._label_time(case.entry.time, time)))
        self._journal.settle()
        return self.find(id)

    def note(self, id: str, text: str, by: str) -> int:
        """Write something down about a decision, or about the stream (an empty id); return the number of the event."""
        journal = self._journal
        if id:
            journal.found(id)
        if not (isinstance(text, str) and 0 < len(text) <= LONGEST_NOTE and isinstance(by, str)):
            raise InputError(f"a note is a text of 1 to {LONGEST_NOTE} characters")
        seq = journal.add(Noted(id, check_text("a note", text), _name(by), journal.now()))
        journal.settle()
        return seq

    def erase(self, id: str, verified: int) -> Case:
        """Erase the features of a decision; its action, its probability and the SHA-256 of the features stay."""
        self._journal.check_alone("an erasure")
        journal, case = self._journal, self.find(id)
        if case.erased:
            return case
        if case.learnt and journal.fold.player.policy.keeps_labels:
            journal.add(Retracted(id, journal.now()))
        if id in journal.fold.pending:
            journal.add(Expired(id, journal.now()))
        journal.settle()
        journal.keeper.wait()
        journal.compared = max(journal.compared, verified)
        compared = self._compared()
        try:
            self._forget_levels(id)
            self._erase(id, case.answer.seq, compared)
        except BaseException as error:
            journal.stop(error)
            raise
        return self.find(id)

    def _compared(self) -> int:
        """Compare the record once more while all features are there; return the last event, 0: it does not verify.

        Where all of it up to the latest snapshot is known to verify, only what came since is compared.
        """
        journal = self._journal
        place, events = journal.record.place, journal.record.written.seq
        latest = place.snapshots()[-1][0]
        try:
            if latest > journal.compared or not latest:
                return verify(place).events
            verifies = latest_fold(DurableRecord(place))[1:] == (latest, None)
        except RecordError:  # which is no reason to keep what somebody wants to be forgotten
            return 0
        return events if verifies else 0

    def _forget_levels(self, id: str) -> None:
        """Let a map that changes forget the names of levels that no other decision has, and that it began without."""
        journal, item = self._journal, self._journal.found(id).item
        features = journal.fold.features
        if features is None or not features.changes or item is None:
            return
        _, record = unpack_item(item)
        began = first_map(journal.record.place)
        if record is None or began is None:
            return
        own, levels = {}, features.levels
        for name, column in levels.items():
            level = column.read(record.get(name), features.missing)
            if level in column.numbered and level not in began.levels[name].numbered:
                own[name] = level
        for row in journal.record.place.read() if own else ():
            if row.kind == "decided" and row.item is not None and row.id != id:
                other = unpack_item(row.item)[1] or {}
                own = {
                    name: level
                    for name, level in own.items()
                    if levels[name].read(other.get(name), features.missing) != level
                }
        for name, level in own.items():
            levels[name].forget(level)

    def _erase(self, id: str, made: int, compared: int) -> None:
        journal = self._journal
        record, place = journal.record, journal.record.place
        seq, digest = record.written
        arrays = journal.fold.arrays()
        manifest = describe(seq, digest, journal.fold.header(), arrays)
        put_chunks(place, manifest, arrays)
        erased = Erased(id, sha256(manifest.packed()).digest(), journal.now(), compared)
        row = record.row(erased, record.stamp(record.now()))
        first, packed = place.snapshots()[0]
        chunks = manifest.chunks() | read_manifest(packed).chunks()
        place.erase(row, record.written, made, (seq, manifest.packed()), (first,), chunks)
        record.note_written(row)
        journal.fold.follow(row.seq, Erased(id, b""), journal.decided)
        journal.snapshot_written(seq)
        journal.compared = row.seq if compared else 0


def _name(by: str) -> str:
    """Return who somebody is said to be, or say what is wrong with it; empty: nobody was named."""
    if not isinstance(by, str):
        raise InputError(f"by is the name of a person or a system, got {by!r}")
    return check_text("a name", by)
