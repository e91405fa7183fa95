"""Players from saved files and snapshots: each kind by what its header says."""

from __future__ import annotations

from typing import Any

from ..policies import Player, rebuild_policy
from ..policies.player import part_of
from ..posteriors import Arrays
from .audit import Audit
from .awaiting import Awaiting
from .budget import Budget
from .desk import Desk


def rebuild_player(header: dict[str, Any], arrays: Arrays) -> Player:
    """Return the player that ``header`` and ``arrays`` describe; it continues bit for bit."""
    player: Player = _KINDS[header["kind"]](header, arrays)
    return player


def staffing_of(budget: dict[str, Any] | None, audit: dict[str, Any] | None) -> tuple[Budget | None, Audit | None]:
    """Return a budget and a lane from their settings."""
    return (
        None if budget is None else Budget.from_settings(budget),
        None if audit is None else Audit.from_settings(audit),
    )


def _awaiting(header: dict[str, Any], arrays: Arrays) -> Awaiting:
    awaiting = Awaiting(rebuild_policy(header["policy"], part_of(arrays, "policy")))
    awaiting.restore(part_of(arrays, "waiting"))
    return awaiting


def _desk(header: dict[str, Any], arrays: Arrays) -> Desk:
    player = rebuild_player(header["player"], part_of(arrays, "player"))
    desk = Desk(player, *staffing_of(header["budget"], header["audit"]))
    desk.restore(arrays, float(header["shadow_price"]))
    return desk


_KINDS: dict[str, Any] = {"policy": rebuild_policy, "awaiting": _awaiting, "desk": _desk}
