"""What time it is, for policies that forget by the clock; others take no notice (docs/drift.md)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from ..times import instant

if TYPE_CHECKING:
    from .policy import Policy


def now_of(policy: Policy, time: Any) -> float | None:
    """Return the moment that a policy is told, as a number; None if it does not forget by the time.

    The time of an item may be left out only where nobody needs it.
    """
    now = instant(time)
    if not policy.timed:
        return None
    if now is None:
        raise OptionError(
            f"{policy.name} forgets by the time (its half_life is a length of time), so every item needs one: "
            "decide(x, time=...), a number or a date; or give half_life as a number of items"
        )
    return now


def advance(policy: Policy, time: Any) -> float | None:
    """Let a policy forget up to a time; return it as a number, or None where it does not matter."""
    now = now_of(policy, time)
    if now is not None:
        policy._learner.advance(now)  # type: ignore[attr-defined]
    return now


@contextmanager
def glimpse(policy: Policy, time: Any) -> Iterator[None]:
    """Let a policy be for a while what it will be at a time; a time is not needed, and then it is as it stands."""
    now = None if time is None else now_of(policy, time)
    if now is None:
        yield
        return
    with policy._learner.glimpse(now):  # type: ignore[attr-defined]
        yield
