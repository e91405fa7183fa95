"""The modes of a stream: whose action stands, and whether anything is learnt."""

from __future__ import annotations

from bisect import bisect_right

from ..errors import OptionError

SHADOW, LIVE, FROZEN, SAFE = "shadow", "live", "frozen", "safe"
#: Every mode, and what it means.
MODES = {
    SHADOW: "the caller's own action stands; what the policy would do is recorded beside it",
    LIVE: "the policy's action stands, and its labels are learnt",
    FROZEN: "the policy's action stands, and nothing is learnt",
    SAFE: "a fixed action stands, and nothing is learnt; entered by itself when the record does not verify",
}
#: Who is said to have acted where the action of the caller stands.
CALLER = "caller"


def check_mode(mode: str) -> str:
    """Return a mode, or say which there are."""
    if mode not in MODES:
        raise OptionError(f"a mode is one of {', '.join(MODES)}; got {mode!r}")
    return mode


def mode_at(changes: list[tuple[int, str]], seq: int) -> str:
    """Return the mode that held when an event was written.

    Examples
    --------
    >>> mode_at([(1, "shadow"), (40, "live")], 39)
    'shadow'
    """
    return changes[max(bisect_right(changes, seq, key=lambda change: change[0]) - 1, 0)][1]
