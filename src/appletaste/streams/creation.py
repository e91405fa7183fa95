"""How a stream begins: its first event with the settings, its seed, and the snapshot of what it begins with."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Mapping
from typing import Any

from .._checks import check_text
from ..costs_by_item import CostsByItem
from ..errors import InputError, UnauditedWarning
from ..features import FeatureMap
from ..policies import Player
from ..policies.player import named
from ..records.codec import sha256
from ..records.durable import DurableRecord
from ..records.events import Created
from ..records.stores.store import NOTHING, Place, Store
from ..records.timepiece import Clock
from ..times import span
from ..words import Words
from .answers import check_mode
from .audit import Audit, most_spent
from .desk import Desk, restaffed
from .fold import Fold, with_seed
from .reader import Reader
from .recovery import FORMAT
from .saving import rebuild_player
from .snapshots import describe, put_chunks
from .staffing import Share, lane_of

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
    words: Words | None,
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
    fold = Fold(fresh, features, [(0, check_mode(mode))], None)
    arrays = fold.arrays()
    if features is not None:
        arrays |= named("features", dict(features.arrays()))
    manifest = describe(0, NOTHING, fold.header(), arrays)
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
    if words is not None:
        settings["words"] = words.own

    def fill(place: Place) -> None:
        put_chunks(place, manifest, arrays)
        place.put_snapshot(0, manifest.packed(), (), manifest.chunks())
        record = DurableRecord(place, clock)
        record.add(Created(settings, sha256(manifest.packed()).digest()), record.stamp(record.now()))
        record.write()

    return DurableRecord(store.create(name, seed.to_bytes(SEED_BITS // 8, "big"), fill), clock)


def audited(player: Player, audit: Share | Audit | None, name: str) -> Player:
    """Return the player with these audits; None: as it is, and one without audits is warned of."""
    if audit is not None:
        caps, now = (player.budget, player.audit) if isinstance(player, Desk) else (None, None)
        wanted = lane_of(audit)
        return player if wanted == now else restaffed(player, caps, wanted)
    lane = player.audit if isinstance(player, Desk) else None
    if isinstance(player, Player) and lane is None and player.policy.name != "always":
        most = 1000.0 * most_spent(player.policy.costs)
        warnings.warn(
            f"stream {name!r} has no audits: what the policy is sure to pass is never seen, and nobody can say what "
            f'was missed. audit="auto" audits as many passes as pay, 1 % at most, for {most:,.4g} in 1,000 items at '
            "most; audit=0: none",
            UnauditedWarning,
            stacklevel=3,
        )
    return player


def _check_map(features: FeatureMap, player: Player) -> None:
    if not isinstance(features, FeatureMap):
        raise InputError(f"features are a map, Encoder().fit(records), got {type(features).__name__}")
    if features.n_features != player.policy.n_features:
        raise InputError(
            f"this map gives vectors of {features.n_features} features, the policy takes {player.policy.n_features}"
        )


def reader_of(settings: dict[str, Any], fold: Fold) -> Reader:
    """Return what reads the items of a stream, by its settings and the map of its fold."""
    formulas, policy = settings["costs_by_item"], fold.player.policy
    sheet = None if formulas is None else CostsByItem(**formulas)
    return Reader(fold.features, settings["roles"], sheet, policy.n_features, policy.slots)
