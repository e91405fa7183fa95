"""How a stream decides: items are made ready, then judged, and then recorded, each time one after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision, new_tuple
from ..errors import AppleTasteError, ConflictError, InputError, StoreError
from ..policies.items import check_item
from ..records.codec import pack_item, unpack_item
from ..records.durable import Found
from ..records.events import Decided, Enacted
from ..times import instant, written
from .answers import CALLER, SAFE, SHADOW, Answer
from .clock import KINDS_OF_TIME
from .feedback import Feedback
from .journal import Journal, stamp_text
from .reader import Asked, Reader

#: Microseconds that a stamp may be ahead of the clock, so that items of one moment have a time each; beyond, the clock
#: was set back, and the time of an item is that of the clock.
TIES = 1_000_000
#: So many items are judged before they are recorded; whatever interrupts that stops the stream.
TOGETHER = 256


class Ready(NamedTuple):
    """An item that can be decided: its id is new, and its time is one of this stream."""

    id: str
    x: NDArray[np.float64]
    asked: Asked
    at: int  #: the stamp of its event
    moment: float | str  #: the time of the item as the record has it
    now: float  #: and as a number
    kept: bytes  #: the item as the record has it
    mark: Any  #: how far a map that changes had come before the item; None: it stays as it is


class Decider:
    """Decides on items for one stream, as many at once as can be."""

    def __init__(self, journal: Journal, reader: Reader, fallback: bool, feedback: Feedback) -> None:
        self._journal, self._reader, self._fallback, self._feedback = journal, reader, fallback, feedback

    def decide(
        self, asked: Sequence[Asked | Exception], start: int = 0, most: int = TOGETHER
    ) -> list[Answer | Exception]:
        """Decide on ``most`` items from a place on, and return the answers; the last of them may be an error.

        Stops behind the first item that cannot be decided, and before an id that this call has already decided. All
        items are made ready, then all judged, and then all recorded: the code of a step stays at hand meanwhile
        (docs/decisions/0015-the-service.md). In shadow mode what the caller does comes in between, so that every item
        is taken by itself.
        """
        told: list[Any] = []
        ready: list[Ready] = []
        places: dict[str, int] = {}
        fold = self._journal.fold
        mode, at, kind = fold.mode, 0, fold.kind
        for one in asked[start : start + most]:
            if isinstance(one, Exception):
                told.append(one)
                break
            if places and (one.id in places or mode == SHADOW):
                break
            try:
                found = self.ready(one, mode, places, at, kind)
            except BaseException as error:
                if isinstance(error, StoreError) or not isinstance(error, AppleTasteError):
                    self._undo(ready)
                    raise
                told.append(error)
                break
            if type(found) is Ready:
                at, kind = found.at, type(found.moment)
                places[found.id] = len(told)
                ready.append(found)
            told.append(found)
        if not ready:
            return told
        try:
            for k, decision in enumerate(self._played(ready, mode)):  # an error is the last
                item = ready[k]
                place = places[item.id]
                if isinstance(decision, AppleTasteError):
                    self._undo(ready[k:])  # as if neither this item nor those behind it had come
                    return [*told[:place], decision]
                told[place] = self._keep(item, decision, mode)
        except BaseException as error:  # what was decided is in memory, and not in the record
            self._journal.stop(error)
            raise
        return told

    def ready(self, asked: Asked, mode: str, before: Collection[str], at: int, kind: type | None) -> Ready | Answer:
        """Make an item ready to be decided, or find how it was; nothing changes but a map that does.

        ``before`` are the ids of those that are decided before it, ``at`` is the time of the last of them by the clock
        of the machine, and ``kind`` what times are in this stream.
        """
        id, x, item, time, _, _, baseline, cells = asked
        record = self._journal.record
        if id is None:
            id = self._next_id(before)
        else:
            known = record.decision(id)
            if known is not None:
                return self._again(known, asked)
        clock = record.now()
        at = record.stamp(clock, at)
        moment, now = _moment(time, at if at - clock < TIES else clock, kind)
        if baseline is not None and not isinstance(baseline, bool):
            raise InputError(f"baseline is the caller's own action, True or False, got {baseline!r}")
        if mode == SHADOW and baseline is None:
            raise InputError("in shadow mode the caller's own action stands: give baseline=True (act) or False (pass)")
        if x is not None:
            return new_tuple(Ready, (id, x, asked, at, moment, now, pack_item(x, item), None))
        features, policy = self._reader.features, self._journal.fold.player.policy
        assert features is not None  # or there would be a vector
        assert cells is not None
        mark = features.mark()
        try:
            x = check_item(features.vector(cells, update=mode != SAFE), policy.n_features, policy.slots)
            return new_tuple(Ready, (id, x, asked, at, moment, now, pack_item(x, item), mark))
        except BaseException:
            features.rewind(mark)
            raise

    def _undo(self, ready: Sequence[Ready]) -> None:
        """Let a map that changes be as it was before these items were made ready."""
        mark = next((one.mark for one in ready if one.mark is not None), None)
        if mark is not None and self._reader.features is not None:
            self._reader.features.rewind(mark)

    def _played(self, ready: Sequence[Ready], mode: str) -> list[Decision | AppleTasteError]:
        """Decide on items in turn and carry on, those with the same costs in one call where the player can.

        An error is about an item that cannot be decided, and is the last.
        """
        player = self._journal.fold.player
        policy = player.policy
        if mode == SAFE:
            return [self._fixed(one.x, one.asked.costs or policy.costs) for one in ready]
        done: list[Decision | AppleTasteError] = []
        together = len(ready) > 1
        for run in _alike(ready) if together else (ready,):
            costs, items, k = run[0].asked.costs or policy.costs, [one.x for one in run], 0
            while k < len(items):
                round_ = policy.round
                try:  # the items were checked by the reader, once
                    many = player.play_many(items[k:], costs) if together else None
                    if many is None:
                        together, many = False, [player.play(items[k], costs, run[k].now, run[k].asked.stratum)]
                except AppleTasteError as error:  # about the first of them
                    if policy.round != round_:  # it has begun to carry on
                        raise
                    return [*done, error]
                done += many
                k += len(many)
        return done

    def _keep(self, ready: Ready, decision: Decision, mode: str) -> Answer:
        """Record a decision that was made, and return the answer."""
        id, _, (_, _, _, _, stratum, own, baseline, _), at, moment, now, kept, _ = ready
        journal, act = self._journal, decision.act
        if baseline is not None:
            decision = decision._replace(why={**decision.why, "baseline": float(baseline)})
            act = baseline if mode == SHADOW else act
        event = new_tuple(Decided, (id, decision, moment, stratum))
        seq = journal.record.add(event, at, kept, own is not None)
        journal.fold.decided(seq, event, now)
        journal.activity.decided(decision)
        if mode == SHADOW:
            journal.add(Enacted(id, act, CALLER, moment))
        return Answer(id, seq, decision, moment, mode, act, False, self._reader.features)

    def _fixed(self, x: NDArray[np.float64], costs: Costs) -> Decision:
        """Return the decision of safe mode, which no policy made."""
        act = self._fallback
        return Decision(act, float(act), x, costs, 0, {})

    def _next_id(self, made: Collection[str]) -> str:
        """Return the id of an item that came without one: the number of its event, behind those that were made."""
        record = self._journal.record
        id = str(len(record) + len(made) + 1)
        while id in made or record.decision(id) is not None:
            id += "'"
        return id

    def _again(self, known: Found, asked: Asked) -> Answer:
        """Return the answer of an id that was decided, if it was about this very item."""
        _, (id, decision, _, stratum), stamp, item = known
        if item is None:
            raise ConflictError(
                f"there is a decision {id!r} already, and its features were erased: nobody can tell whether this is "
                "the same item. Give every item an id of its own"
            )
        same = self._same_item(item, decision, asked) and stratum == asked.stratum
        same = same and stamp.own_costs == (asked.costs is not None)
        if not same or (asked.costs is not None and asked.costs != decision.costs):
            raise ConflictError(
                f"there is a decision {id!r} already, about another item: every item needs an id of its own"
            )
        answer = self._feedback.find(id).answer
        if asked.baseline is not None and answer.mode == SHADOW and answer.act != asked.baseline:
            raise ConflictError(f"there is a decision {id!r} already, and the caller's own action was the other one")
        return answer

    def _same_item(self, item: bytes, decision: Decision, asked: Asked) -> bool:
        """Return whether an item is the one that was decided: by its vector, or where the map changes by its cells."""
        if asked.x is not None:
            return decision.x.tobytes() == asked.x.tobytes()
        _, record = unpack_item(item)
        return record is not None and repr(self._reader.own(record).cells) == repr(asked.cells and asked.cells.cells)


def _moment(time: Any, clock: int, kind: type | None) -> tuple[float | str, float]:
    """Return the time of an item as the record has it, and as a number; all are of one ``kind``: numbers, or dates."""
    if time is None and kind is not float:
        return stamp_text(clock), clock / 1e6
    number = instant(time)
    told = written(time)
    if told is None or (kind is not None and type(told) is not kind):
        raise InputError(
            f"times are all numbers or all dates: earlier times are {KINDS_OF_TIME[kind or type(None)]}, and this "
            f"one is {'left out' if told is None else 'not'}"
        )
    assert number is not None
    return told, number


def _alike(ready: Sequence[Ready]) -> Iterator[list[Ready]]:
    """Give items in their order, those together that have the same costs."""
    return (list(run) for _, run in groupby(ready, lambda one: id(one.asked.costs)))
