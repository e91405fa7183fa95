"""``load``: whatever was saved, as it was."""

from __future__ import annotations

from os import PathLike

from .._files import fingerprint, open_archive
from ..costs_by_item import CostsByItem
from ..errors import SaveFileError
from ..features import FeatureMap
from ..policies import Player
from ..policies.player import FORMAT, part_of
from ..records.event_arrays import unpack_events
from ..records.record import MemoryRecord
from .ledger import Ledger
from .rebuilding import rebuild_player

#: What a saved file may hold, in words.
KINDS = {"policy": "a policy", "awaiting": "a policy that awaits labels", "desk": "a desk", "ledger": "a ledger"}


def load(path: str | PathLike[str]) -> Player | Ledger | FeatureMap:
    """Read a saved policy, awaiting policy, desk, ledger or feature map; it continues exactly where it was saved.

    Examples
    --------
    >>> import tempfile, appletaste as at
    >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     at.Ledger(policy).save(f"{folder}/orders.at")
    ...     type(at.load(f"{folder}/orders.at")).__name__
    'Ledger'
    """
    with open_archive(path, "file") as (header, state):
        kind = header.get("kind")
        if kind == "features":
            return FeatureMap.load(path)
        if kind not in KINDS:
            known = ", ".join(KINDS.values())
            raise SaveFileError(
                f"{path} does not say that it holds {known} or a feature map: an older version wrote it"
            )
        if header["format"] != FORMAT:
            raise SaveFileError(
                f"{path} holds {KINDS[kind]} in save format {header['format']}; this version reads format {FORMAT}"
            )
        if kind != "ledger":
            return rebuild_player(header, state)
        player = rebuild_player(header["player"], part_of(state, "player"))
        record = MemoryRecord(unpack_events(part_of(state, "events"), player.policy.costs))
        ledger = Ledger.resume(record, player, header["expire_after"])
        features = FeatureMap.load(path) if "features" in header else None
        if features is not None and features.n_features != player.policy.n_features:
            raise SaveFileError(
                f"{path}: its map makes vectors of {features.n_features} features, and its policy takes "
                f"{player.policy.n_features}: they do not belong together"
            )
        ledger.roles = dict(header.get("roles", {}))
        if "costs_by_item" in header:
            ledger.costs_by_item = CostsByItem(**header["costs_by_item"])
        ledger.saved_as(fingerprint(path), features)
        return ledger
