"""What was believed earlier: the record folded again up to an event, from the latest snapshot before it."""

from __future__ import annotations

from ..costs import Costs
from ..errors import InputError
from ..policies import Policy
from ..records.codec import unpack_event
from ..records.durable import DurableRecord
from ..records.events import Decided
from ..records.stores.store import Place
from .fold import State
from .snapshots import read_manifest, restore


def policy_at(place: Place, seq: int) -> Policy:
    """Return the policy of a stream as it was after an event; 0: before the first.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "orders", policy)
    >>> _ = stream.decide([0.5], id="a"), stream.decide([0.5], id="b")
    >>> policy_at(stream.record.place, 2).round, stream.player.policy.round
    (1, 2)
    """
    before = [packed for number, packed in place.snapshots() if number <= seq]
    manifest = read_manifest(before[-1])
    state = restore(place, manifest, int.from_bytes(place.secret, "big"))
    _fold(state, place, manifest.seq, seq)
    return state.player.policy


def _fold(state: State, place: Place, after: int, last: int) -> None:
    sheets: dict[tuple[float, ...], Costs] = {}
    record = DurableRecord(place)

    def lookup(id: str) -> Decided:
        found = record.decision(id)
        assert found is not None  # whatever happened, happened to a decision
        return found.event

    for row in place.read(after):
        if row.seq > last:
            return
        event = unpack_event(row.kind, row.body, row.item, sheets)
        if isinstance(event, Decided):
            if row.item is None:
                raise InputError("features of decisions were erased since, so what was believed then cannot be told")
            state.replay(row.seq, event)
        else:
            state.follow(row.seq, event, lookup)
