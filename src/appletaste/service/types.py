"""Types that several routes share: names, times, costs, and what is answered by many.

A field that a body does not have is refused, and so is a text or a truth value where a number is wanted.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

#: The most of anything in one batch.
MOST = 1000
Id = Annotated[str, Meta(min_length=1, max_length=256, description="The caller's own name of the item.")]
Who = Annotated[
    str, Meta(min_length=1, max_length=100, description="A person or a system; left out: the name of the key.")
]
Name = Annotated[
    str,
    Meta(
        min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$(?!\n)", description="The name of a stream."
    ),
]
Cell = bool | float | str | None
Time = Annotated[float | str, Meta(description="A number of a clock of your own, or a date in ISO 8601.")]
Money = Annotated[float, Meta(ge=-1e15, le=1e15)]


class Body(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What somebody asks."""


class CostSheet(Body, frozen=True):
    """What each outcome costs."""

    miss: Money
    false_alarm: Money
    hit: Money
    correct_pass: Money = 0.0


Word = Annotated[str, Meta(max_length=40)]


class WordSheet(Body, frozen=True, rename={"pass_": "pass"}):
    """What a team calls things: its item, its outcomes, its actions, its currency; what is left out is as usual."""

    item: Word | None = None
    items: Word | None = None
    positive: Word | None = None
    positives: Word | None = None
    negative: Word | None = None
    act: Word | None = None
    acted: Word | None = None
    acting: Word | None = None
    pass_: Word | None = None
    passed: Word | None = None
    passing: Word | None = None
    currency: Word | None = None


class Changed(Struct, frozen=True):
    """The number of the event that says so."""

    seq: int


#: What is computed elsewhere and handed on as it is.
Estimates = dict[str, Any]
