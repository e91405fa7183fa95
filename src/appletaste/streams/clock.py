"""The clock of a stream: times are all numbers, all dates, or all left out, and nothing happens before its decision."""

from __future__ import annotations

from typing import Any

from ..errors import FeedbackError, InputError
from ..times import before, instant, written

#: What the times of a stream can be, as a record has them, in words.
KINDS_OF_TIME = {float: "numbers", str: "dates", type(None): "left out"}


def check_kind(kind: type | None, told: float | str | None) -> None:
    """Refuse the time of an item that is of another kind than the times before it; ``kind`` None: there are none."""
    if kind is not None and type(told) is not kind:
        raise InputError(
            f"times are all numbers, all dates, or all left out: earlier times are {KINDS_OF_TIME[kind]}, this time is "
            f"{told!r}"
        )


def present(kind: type | None, now: Any) -> float:
    """Return the present time as a number, on the clock that decisions with times of a kind were made by.

    Without times the clock is the number of decisions.

    Examples
    --------
    >>> present(str, "1970-01-02"), present(type(None), 7)
    (86400.0, 7.0)
    >>> present(float, "2024-05-31")
    Traceback (most recent call last):
    ...
    appletaste.errors.InputError: the times of these decisions are numbers, and the present time has to be on the ...
    """
    clock = instant(now)
    if clock is None:
        raise InputError("give the present time, got None")
    on_it = str if kind is str else float
    if kind is not None and type(written(now)) is not on_it:
        raise InputError(
            f"the times of these decisions are {KINDS_OF_TIME[kind]}, and the present time has to be on the same "
            f"clock: give a {'date' if on_it is str else 'number'}, got {now!r}"
        )
    return clock


def when_after(made: float | str | None, time: Any) -> float | str | None:
    """Return when something happened as a record has it; not before the decision, which was made at ``made``.

    Examples
    --------
    >>> when_after(3.0, 5), when_after("2024-05-31", None)
    (5.0, None)
    """
    now, told = instant(time), written(time)
    if now is None or made is None:
        return told
    if type(told) is not type(made):
        raise InputError(
            f"times are all numbers or all dates: the decision was made at {made!r}, and its label has {told!r}"
        )
    if before(told, made):
        raise FeedbackError(
            f"a label cannot arrive before its decision: the decision was made at {made}, and its label has the "
            f"time {told}. Is it the time of another item, or in another time zone?"
        )
    return told
