"""How a stream begins, and how it is found again: its settings, its seed, and the player that it begins with."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from .._checks import check_text
from ..costs_by_item import CostsByItem
from ..errors import InputError, Message, RecordError, Remedy
from ..features import FeatureMap
from ..policies import Player
from ..policies.player import named, part_of
from ..records.codec import sha256
from ..records.durable import Clock, DurableRecord, checked
from ..records.events import Created
from ..records.stores.store import NOTHING, Head, Place, Store
from ..times import span
from .fold import State, with_seed
from .modes import check_mode
from .reader import Reader
from .rebuilding import rebuild_player
from .snapshots import describe, load_arrays, put_chunks, read_manifest

#: The version of the settings of a stream.
FORMAT = 1
SEED_BITS = 128


def secret_seed() -> int:
    """Return 128 random bits: whoever knows them can foresee audits."""
    return secrets.randbits(SEED_BITS)


def begin(
    store: Store,
    name: str,
    player: Player,
    clock: Clock,
    *,
    features: FeatureMap | None,
    roles: Mapping[str, str],
    costs_by_item: CostsByItem | None,
    expire_after: Any,
    mode: str,
    fallback: bool,
    seed: int | None,
) -> DurableRecord:
    """Make a stream in a store: its first event, and the snapshot of its player before any other."""
    if not (isinstance(name, str) and 0 < len(name) <= 100):
        raise InputError("a stream has a name of 1 to 100 characters, such as 'orders'")
    check_text("a name", name)
    if not isinstance(player, Player):
        raise InputError(f"a stream is played by a policy, an Awaiting or a Desk, got {type(player).__name__}")
    if player.policy.round:
        raise InputError(
            f"this policy has made {player.policy.round} decisions, and a stream begins without any: give one that "
            "has made none; labels that it was taught are welcome"
        )
    if features is not None:
        _check_map(features, player)
    if seed is None:
        seed = secret_seed()
    elif isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << SEED_BITS:
        raise InputError(f"a seed is a whole number of at most {SEED_BITS} bits")
    fresh = rebuild_player(with_seed(player.header(), seed), player.arrays())
    state = State(fresh, [(0, check_mode(mode))], None)
    arrays = state.arrays()
    if features is not None:
        arrays |= named("features", dict(features.arrays()))
    manifest = describe(0, NOTHING, state.header(), arrays)
    settings = {
        "format": FORMAT,
        "name": name,
        "features": None if features is None else features.header(),
        "roles": dict(roles),
        "costs_by_item": None if costs_by_item is None else costs_by_item.outcomes(),
        "expire_after": None if expire_after is None else span("expire_after", expire_after),
        "mode": mode,
        "fallback": bool(fallback),
    }

    def fill(place: Place) -> None:
        put_chunks(place, manifest, arrays)
        place.put_snapshot(0, manifest.packed(), (), manifest.chunks())
        record = DurableRecord(place, clock)
        record.add(Created(settings, sha256(manifest.packed()).digest()), record.now())
        record.write()

    return DurableRecord(store.create(name, seed.to_bytes(SEED_BITS // 8, "big"), fill), clock)


def _check_map(features: FeatureMap, player: Player) -> None:
    if not isinstance(features, FeatureMap):
        raise InputError(f"features are a map, Encoder().fit(records), got {type(features).__name__}")
    if features.n_features != player.policy.n_features:
        raise InputError(
            f"this map gives vectors of {features.n_features} features, the policy takes {player.policy.n_features}"
        )
    if features.changes:
        told = (
            "the map of a stream stays as it is, so that the same record gives the same vector for ever: fit it with "
        )
        raise InputError(
            Message(told, Remedy("online", False), ", ", Remedy("spare", 0), " and ", Remedy("many", False))
        )


def settings_of(place: Place) -> Created:
    """Return the first event of a stream, which has its settings."""
    head = place.head()
    if head.seq == 0:
        raise RecordError(
            f"stream {place.name!r} was never finished: its process ended while the stream was made. Create the "
            "stream again",
            1,
        )
    for _, event in checked(place.read(), Head(0, NOTHING), {}):  # all that follows is read by these settings
        if isinstance(event, Created):
            if event.settings["format"] != FORMAT:
                raise RecordError(
                    f"stream {place.name!r} has settings of format {event.settings['format']}; this version reads "
                    f"format {FORMAT}",
                    1,
                )
            return event
        break
    raise RecordError(f"the first event of stream {place.name!r} does not say how it began", 1)


def reader_of(place: Place, created: Created, n_features: int) -> Reader:
    """Return what reads the items of a stream."""
    settings, features = created.settings, None
    if settings["features"] is not None:
        first = read_manifest(place.snapshots()[0][1])
        features = FeatureMap.restore(settings["features"], part_of(load_arrays(place, first), "features"))
    formulas = settings["costs_by_item"]
    return Reader(features, settings["roles"], None if formulas is None else CostsByItem(**formulas), n_features)
