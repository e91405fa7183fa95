"""``load``: whatever was saved, as it was; and players from saved files and snapshots, each kind by its header."""

from __future__ import annotations

from os import PathLike
from typing import Any

from .._files import open_archive
from ..errors import SaveFileError
from ..features import FeatureMap
from ..policies import Player, rebuild_policy
from ..policies.player import FORMAT, part_of
from ..posteriors import Arrays
from .awaiting import Awaiting
from .desk import Desk
from .staffing import staffing_of

#: What a saved file may hold, in words.
KINDS = {"policy": "a policy", "awaiting": "a policy that awaits labels", "desk": "a desk"}
#: What older versions wrote, with the record of its decisions.
LEDGER = "ledger"


def load(path: str | PathLike[str]) -> Player | FeatureMap:
    """Read a saved policy, awaiting policy, desk or feature map; it continues exactly where it was saved.

    A stream is in a store, which ``Stream.open`` opens.

    Examples
    --------
    >>> import tempfile, appletaste as at
    >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(f"{folder}/orders.at")
    ...     at.load(f"{folder}/orders.at").name
    'voi'
    """
    with open_archive(path, "file") as (header, state):
        kind = header.get("kind")
        if kind == "features":
            return FeatureMap.load(path)
        if kind == LEDGER:
            raise SaveFileError(
                f"{path} is the desk file, or ledger, of an earlier version. Decisions live in a stream now: make one "
                "from the same history with 'appletaste stream create'. The earlier version can still write the "
                "decision log of the file, which missed, drift and report read"
            )
        if kind not in KINDS:
            known = ", ".join(KINDS.values())
            raise SaveFileError(
                f"{path} does not say that it holds {known} or a feature map: an older version wrote it"
            )
        if header["format"] != FORMAT:
            raise SaveFileError(
                f"{path} holds {KINDS[kind]} in save format {header['format']}; this version reads format {FORMAT}"
            )
        return rebuild_player(header, state)


def load_policy(path: str | PathLike[str]) -> Player:
    """Read a saved policy, alone, awaiting or at a desk, as ``load`` does; type checkers know that it decides.

    Examples
    --------
    >>> import tempfile, appletaste as at
    >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy.save(f"{folder}/orders.at")
    ...     at.load_policy(f"{folder}/orders.at").decide([1.0]).act
    True
    """
    found = load(path)
    if isinstance(found, FeatureMap):
        raise SaveFileError(f"{path} is a feature map and no policy: at.load reads either, and at.FeatureMap.load maps")
    return found


def rebuild_player(header: dict[str, Any], arrays: Arrays) -> Player:
    """Return the player that ``header`` and ``arrays`` describe; it continues bit for bit."""
    player: Player = _REBUILT[header["kind"]](header, arrays)
    return player


def _awaiting(header: dict[str, Any], arrays: Arrays) -> Awaiting:
    awaiting = Awaiting(rebuild_policy(header["policy"], part_of(arrays, "policy")), header.get("strangers", False))
    awaiting.restore(part_of(arrays, "waiting"))
    return awaiting


def _desk(header: dict[str, Any], arrays: Arrays) -> Desk:
    player = rebuild_player(header["player"], part_of(arrays, "player"))
    desk = Desk(player, *staffing_of(header["budget"], header["audit"]))
    desk.restore(arrays, float(header["shadow_price"]))
    return desk


_REBUILT: dict[str, Any] = {"policy": rebuild_policy, "awaiting": _awaiting, "desk": _desk}
