"""How a stream decides: items are judged one after the other, and then recorded one after the other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision, new_tuple
from ..errors import AppleTasteError, ConflictError, InputError, StoreError
from ..logs.bodies import pack_item
from ..logs.events import Decided, Enacted
from ..logs.kept import Found
from ..streams.clock import KINDS_OF_TIME
from ..times import instant, written
from .answers import Answer
from .changing import Changing
from .items import Asked
from .keeping import stamp_text
from .modes import CALLER, SAFE, SHADOW

#: So many items are judged before they are recorded; whatever interrupts that stops the stream.
TOGETHER = 256


class Made(NamedTuple):
    """A decision that was made, and is to be recorded."""

    event: Decided
    at: int  #: by the clock of the machine
    item: bytes
    own_costs: bool
    now: float  #: the time of the item as a number
    act: bool  #: the action that stands


class Deciding(Changing):
    """The part of a ``Stream`` that decides."""

    def _decide(
        self, asked: Sequence[Asked | AppleTasteError], baselines: Sequence[bool | None], start: int = 0
    ) -> list[Answer | AppleTasteError]:
        """Decide on items from a place on, and return the answers; the last of them may be an error.

        Stops behind the first item that cannot be decided, before an id that this call has already decided, and where
        the items are enough. All items are judged, and then all recorded: the code of a step stays at hand meanwhile
        (docs/decisions/0015-the-service.md). In shadow mode what the caller does comes in between, so that every item
        is taken by itself.
        """
        mode, told, made = self._state.mode, list[Any](), dict[str, int]()
        try:
            for k in range(start, min(len(asked), start + TOGETHER)):
                one, baseline = asked[k], baselines[k]
                if isinstance(one, AppleTasteError):
                    told.append(one)
                    break
                if made and (one.id in made or mode == SHADOW):
                    break
                try:
                    found = self._make(one, baseline, mode, made)
                except AppleTasteError as error:
                    if self._stopped or isinstance(error, StoreError):
                        raise
                    told.append(error)
                    break
                if type(found) is Made:
                    made[found.event.id] = len(told)
                told.append(found)
            for place in made.values():
                told[place] = self._keep(told[place], mode)
        except BaseException as error:
            if made:  # what was made is in memory, and not in the record
                self._stop(error)
            raise
        return told

    def _keep(self, made: Made, mode: str) -> Answer:
        """Record a decision that was made, and return the answer."""
        event, at, item, own_costs, now, act = made
        id, decision, moment, _ = event
        seq = self.record.add(event, at, item, own_costs)
        self._state.decided(seq, event, now)
        if mode == SHADOW:
            self._happen(Enacted(id, act, CALLER, moment))
        return Answer(id, seq, decision, moment, mode, act, False, self._reader.features)

    def _make(self, asked: Asked, baseline: bool | None, mode: str, made: Collection[str]) -> Made | Answer:
        """Make a decision that is to be recorded, or find the one that was; an error has changed nothing.

        ``made`` are the ids of those that were made before it.
        """
        id, x, item, time, stratum, costs = asked
        record, state = self.record, self._state
        if id is None:
            id = self._next_id(made)
        else:
            known = record.decision(id)
            if known is not None:
                return self._again(known, asked, baseline)
        at = record.now()
        moment, now = self._moment(time, at)
        player, kept = state.player, pack_item(x, item)
        if baseline is not None and not isinstance(baseline, bool):
            raise InputError(f"baseline is the caller's own action, True or False, got {baseline!r}")
        if mode == SHADOW and baseline is None:
            raise InputError("in shadow mode the caller's own action stands: give baseline=True (act) or False (pass)")
        if mode == SAFE:
            decision = self._fixed(x, costs or self.costs)
        else:  # the item was checked by the reader, once
            round_ = player.policy.round
            try:
                decision = player.play(x, costs or player.policy.costs, now, stratum)
            except BaseException as error:
                if player.policy.round != round_ or not isinstance(error, AppleTasteError):  # commit may have begun
                    self._stop(error)
                raise
        record.at, state.kind = at, type(moment)
        if baseline is not None:
            decision = decision._replace(why={**decision.why, "baseline": float(baseline)})
        act = bool(baseline) if mode == SHADOW else decision.act
        event = new_tuple(Decided, (id, decision, moment, stratum))
        return new_tuple(Made, (event, at, kept, costs is not None, now, act))

    def _fixed(self, x: NDArray[np.float64], costs: Costs) -> Decision:
        """Return the decision of safe mode, which no policy made."""
        act = self._settings["fallback"]
        return Decision(act, float(act), x, costs, 0, {})

    def _next_id(self, made: Collection[str]) -> str:
        """Return the id of an item that came without one: the number of its event, behind those that were made."""
        id = str(len(self.record) + len(made) + 1)
        while id in made or self.record.decision(id) is not None:
            id += "'"
        return id

    def _moment(self, time: Any, at: int) -> tuple[float | str, float]:
        """Return the time of an item as the record has it, and as a number; all are numbers, or all are dates."""
        kind = self._state.kind
        if time is None and kind is not float:
            return stamp_text(at), at / 1e6
        number = instant(time)
        told = written(time)
        if told is None or (kind is not None and type(told) is not kind):
            raise InputError(
                f"times are all numbers or all dates: earlier times are {KINDS_OF_TIME[kind or type(None)]}, and this "
                f"one is {'left out' if told is None else 'not'}"
            )
        assert number is not None
        return told, number

    def _again(self, known: Found, asked: Asked, baseline: bool | None) -> Answer:
        """Return the answer of an id that was decided, if it was about this very item."""
        _, (id, decision, _, stratum), stamp, erased = known
        if erased:
            raise ConflictError(
                f"there is a decision {id!r} already, and its features were erased: nobody can tell whether this is "
                "the same item. Give every item an id of its own"
            )
        same = decision.x.tobytes() == asked.x.tobytes() and stratum == asked.stratum
        same = same and stamp.own_costs == (asked.costs is not None)
        if not same or (asked.costs is not None and asked.costs != decision.costs):
            raise ConflictError(
                f"there is a decision {id!r} already, about another item: every item needs an id of its own"
            )
        answer = self.find(id).answer
        if baseline is not None and answer.mode == SHADOW and answer.act != baseline:
            raise ConflictError(f"there is a decision {id!r} already, and the caller's own action was the other one")
        return answer
