"""What a stream keeps in memory, as the fold of its record: the player, the map, the mode, and what is awaited."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import AppleTasteError, RecordError
from ..features import FeatureMap
from ..policies import Player
from ..policies.forest import Forest
from ..policies.player import named, part_of
from ..policies.trees import Found, TreesLearner
from ..posteriors import Arrays
from ..records.codec import pack, unpack, unpack_item
from ..records.events import (
    Adopted,
    Corrected,
    CostsChanged,
    Created,
    Decided,
    Enacted,
    Erased,
    Event,
    Expired,
    Labelled,
    ModeChanged,
    Recorded,
    Retracted,
    StaffingChanged,
    Worded,
)
from ..records.stores.store import Row
from ..times import instant
from .answers import SAFE
from .desk import restaffed
from .saving import rebuild_player
from .staffing import staffing_of

#: Returns how an id was decided, from the record.
Lookup = Callable[[str], Decided]
_KINDS = {"number": float, "date": str}


class Fold:
    """The state that a record leads to; passes leave nothing in it but what the policy itself keeps (4 bytes each).

    A map that changes (``FeatureMap.changes``) is a part of the state: the records are in the rows, in order, so that
    the map follows from them as all else does.
    """

    def __init__(
        self, player: Player, features: FeatureMap | None, modes: list[tuple[int, str]], kind: type | None
    ) -> None:
        self.player, self.features = player, features
        player.policy.fits_trees = False  # trees that are adopted are events
        #: Every mode with the number of the event from which on it holds.
        self.modes = modes
        #: What the team calls things; None: nobody has said so.
        self.words: dict[str, str] | None = None
        self.kind = kind  #: of the times: numbers or dates; None: no decision was made yet
        #: What waits for its label, in the order in which waiting began: the number of its event, and when it was made.
        self.pending: dict[str, tuple[int, float]] = {}

    @property
    def mode(self) -> str:
        """The mode that holds now."""
        return self.modes[-1][1]

    @property
    def map_changes(self) -> bool:
        """Whether the map is a part of the state."""
        return self.features is not None and self.features.changes

    def awaited_since(self, id: str) -> float | None:
        """Return since when the label of a decision is awaited, in seconds; None: it is not, or times are no dates."""
        return self.pending[id][1] if self.kind is str and id in self.pending else None

    @property
    def oldest(self) -> float | None:
        """Since when the first label is awaited, in seconds; None: none is, times are no dates, or one just arrived."""
        with suppress(RuntimeError):  # whoever watches is in another thread
            return next((since for _, since in self.pending.values()), None) if self.kind is str else None
        return None

    # ---- what happens

    def take(self, row: Row, event: Event, lookup: Lookup) -> None:
        """Take in the next event of a record: a decision is made again and compared, anything else is followed.

        Whoever opens, verifies or looks back at a record goes through here. ``RecordError`` names an event that cannot
        have happened; ``lookup`` finds the decision that something happened to.
        """
        try:
            if isinstance(event, Decided):
                if row.item is None:
                    raise RecordError(f"event {row.seq}: the features of {event.id!r} are missing", row.seq)
                self.replay(row.seq, event, row.item)
            else:
                self.follow(row.seq, event, lookup)
        except RecordError:
            raise
        except (AppleTasteError, ArithmeticError, LookupError, TypeError) as error:
            raise RecordError(f"event {row.seq} cannot have happened: {error}", row.seq) from error

    def replay(self, seq: int, event: Decided, item: bytes) -> None:
        """Decide again on an item of the record, and compare."""
        decision, player = event.decision, self.player
        if self.mode == SAFE:
            self.decided(seq, event, None)
            return
        if self.map_changes:
            self._map_again(seq, event, item)
        now = instant(event.time)
        prospect = player.look(decision.x, costs=decision.costs, time=now, stratum=event.stratum)
        if player.draw(prospect)[:2] != decision[:2]:
            raise RecordError(
                f"event {seq}, decision {event.id!r}: the record says that it acted with probability "
                f"{decision.probability!r}, and the fold gives {prospect.acting!r}",
                seq,
            )
        player.commit(prospect, decision)
        self.decided(seq, event, now)

    def _map_again(self, seq: int, event: Decided, item: bytes) -> None:
        """Let the map make the vector of a record again, and compare."""
        features, (_, record) = self.features, unpack_item(item)
        if features is None or record is None:
            return
        x = features.transform({name: record[name] for name in features.fields if name in record})
        if x.tobytes() != event.decision.x.tobytes():
            raise RecordError(f"event {seq}, decision {event.id!r}: the map makes another vector of its record", seq)

    def decided(self, seq: int, event: Decided, now: float | None) -> None:
        """Take note of a decision that the player has carried on from; one in safe mode is nothing to the player."""
        decision, self.kind = event.decision, type(event.time)
        if decision.act and decision.round:
            self.pending[event.id] = seq, float(decision.round) if now is None else now

    def follow(self, seq: int, event: Event, lookup: Lookup) -> None:
        """Take in anything else that happened; ``lookup`` finds the decision that it happened to."""
        player = self.player
        if isinstance(event, Labelled):
            player.learn(lookup(event.id).decision._replace(act=True), event.label)
            self.pending.pop(event.id, None)
        elif isinstance(event, Recorded):
            waited = self.pending.pop(event.id, None)
            if waited is not None:
                player.give_up(lookup(event.id).decision)
        elif isinstance(event, Corrected):
            player.correct(lookup(event.id).decision._replace(act=True), event.label)
        elif isinstance(event, Retracted):
            made = lookup(event.id)
            player.retract(made.decision._replace(act=True))
            self._wait(seq, event, made)
        elif isinstance(event, Expired):
            player.give_up(lookup(event.id).decision)
            self.pending.pop(event.id, None)
        elif isinstance(event, Enacted):
            self._enacted(seq, event, lookup(event.id))
        elif isinstance(event, Erased):
            self.pending.pop(event.id, None)
        elif isinstance(event, ModeChanged):
            self.modes.append((seq, event.mode))
        elif isinstance(event, CostsChanged):
            player.policy.reprice(event.costs)
        elif isinstance(event, StaffingChanged):
            self.player = restaffed(player, *staffing_of(event.budget, event.audit))
        elif isinstance(event, Adopted):
            self._adopt(event)
        elif isinstance(event, Worded):
            self.words = event.words
        elif isinstance(event, Created):
            self.modes, self.words = [(seq, event.settings["mode"])], event.settings.get("words")

    @property
    def learner(self) -> TreesLearner | None:
        """What learns, where trees may take part."""
        found = self.player.policy.learner
        return found if isinstance(found, TreesLearner) else None

    def _adopt(self, event: Adopted) -> None:
        learner = self.learner
        if learner is None:
            raise RecordError("the policy takes no trees")
        self.adopt(found_in(event, learner))

    def adopt(self, found: Found) -> None:
        """Go on with trees that were found, or without any."""
        assert self.learner is not None
        self.learner.adopt(found)

    def _enacted(self, seq: int, event: Enacted, made: Decided) -> None:
        if not made.decision.round:  # one of safe mode is nothing to the player
            return
        self.player.enact(made.decision, event.act)
        if event.act:
            self._wait(seq, event, made)
        else:
            self.pending.pop(event.id, None)

    def _wait(self, seq: int, event: Retracted | Enacted, made: Decided) -> None:
        """Wait for a label since an event; where the event has no time, since the decision was made."""
        since = instant(made.time if event.time is None else event.time)
        self.pending[event.id] = seq, float(made.decision.round) if since is None else since

    # ---- snapshots

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, without the seed."""
        times = next((name for name, kind in _KINDS.items() if kind is self.kind), None)
        found = {"player": without_seed(self.player.header()), "modes": list(self.modes), "times": times}
        return found if self.words is None else found | {"words": self.words}

    def arrays(self) -> Arrays:
        """Return all that is carried, copied."""
        seqs = np.array([seq for seq, _ in self.pending.values()], dtype=np.int64)
        clocks = np.array([clock for _, clock in self.pending.values()], dtype=np.float64)
        ids = np.frombuffer(pack(list(self.pending)), dtype=np.uint8)
        found: Arrays = {
            **named("player", self.player.arrays()),
            "pending.ids": ids,
            "pending.seqs": seqs,
            "pending.clocks": clocks,
        }
        if self.features is not None and self.features.changes:
            found["map.header"] = np.frombuffer(pack(self.features.header()), dtype=np.uint8)
            found |= named("map", dict(self.features.arrays()))
        return found

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: Arrays, seed: int, features: FeatureMap | None) -> Fold:
        """Return the state that ``header`` and ``arrays`` describe; ``features`` is a map that never changes."""
        player = rebuild_player(with_seed(header["player"], seed), part_of(arrays, "player"))
        if "map.header" in arrays:
            features = FeatureMap.restore(unpack(arrays["map.header"].tobytes()), part_of(arrays, "map"))
        fold = cls(player, features, [(seq, mode) for seq, mode in header["modes"]], _KINDS.get(header["times"]))
        fold.words = header.get("words")
        pairs = zip(arrays["pending.seqs"].tolist(), arrays["pending.clocks"].tolist(), strict=True)
        fold.pending = dict(zip(unpack(arrays["pending.ids"].tobytes()), pairs, strict=True))
        return fold


def adopted(found: Found, time: str) -> Adopted:
    """Return the event of trees that are adopted, or that labels do not speak for."""
    forest = None if found.stays else found.forest
    named, losses, model = ("", [], b"") if forest is None else (forest.sha256, forest.losses.tolist(), forest.packed)
    return Adopted(found.labels, named, None if found.stays else found.evidence, losses, model, time)


def found_in(event: Adopted, learner: TreesLearner) -> Found:
    """Return the trees of an event, checked: what they say, and that they are for the items of this policy."""
    if event.evidence is None:
        return Found(learner.forest, event.labels, 0, math.nan, None)
    forest = Forest.read(event.model) if event.model else None
    if (forest.sha256 if forest else "") != event.sha256:
        raise RecordError(f"the model of trees is not the one that the event names, {event.sha256[:12]}")
    if forest is not None and not learner.takes(forest):
        raise RecordError("the model of trees is for other items")
    return Found(forest, event.labels, 0, event.evidence, None)


def without_seed(header: dict[str, Any]) -> dict[str, Any]:
    """Return the header of a player without the seed of its policy, which is a secret.

    Examples
    --------
    >>> without_seed({"kind": "awaiting", "policy": {"kind": "policy", "seed": 7}})
    {'kind': 'awaiting', 'policy': {'kind': 'policy'}}
    """
    return {
        name: without_seed(part) if name in ("player", "policy") else part
        for name, part in header.items()
        if name != "seed"
    }


def with_seed(header: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the header of a player with the seed in its place, whatever stood there."""
    if header["kind"] == "policy":
        return {**header, "seed": seed}
    inner = "player" if "player" in header else "policy"
    return {**header, inner: with_seed(header[inner], seed)}


def as_text(header: dict[str, Any]) -> str:
    """Return a header as JSON, the same text for the same settings."""
    return json.dumps(header)
