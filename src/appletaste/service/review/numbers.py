"""What the page asks for in numbers, as types: days, and what if."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Amount(Struct, frozen=True, omit_defaults=True):
    """A number with the ends of its interval; or, where the log cannot say, why and what would help."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    too_few: str | None = None


class Capacity(Struct, frozen=True):
    """Acts that were made of those that there are reviewers for."""

    used: int
    limit: int


class Counted(Struct, frozen=True, kw_only=True):
    """What some decisions came to. Cost and saving are null where the log cannot say."""

    decided: int
    acted: int
    explored: int
    audited: int
    overruled: int
    labelled: int
    positive: int
    waiting: int
    arrived: float | None  #: as a share of the acts
    cost: Amount | None  #: what the acts cost: reviews and false alarms
    saved: Amount | None  #: against passing everything
    precision: Amount | None
    capacity: Capacity | None


class DayRead(Counted, frozen=True, kw_only=True):
    """One day."""

    day: str


class TotalsRead(Counted, frozen=True, kw_only=True):
    """All days of a range together."""

    missed: Amount
    recall: Amount
    label_delay_days: float | None
    shadow_price: float | None


class DaysRead(Struct, frozen=True):
    """The days of a range, both ends included; ``first`` and ``last`` are those of the whole stream."""

    days: list[DayRead]
    totals: TotalsRead
    first: str | None
    last: str | None
    notes: list[str]


class Settings(Struct, frozen=True):
    """A way to decide, and what it comes to on the log."""

    threshold: float | None  #: null: each item has its own, by its costs
    capacity: str | None
    audit: str | None
    acts: float
    acts_a_day: float
    cost: Amount  #: relative to passing everything


class Flip(Struct, frozen=True):
    """A decision that would be another."""

    id: str
    chance: float
    act_now: bool
    act_then: bool


class WhatIfRead(Struct, frozen=True):
    """What another way to decide would have cost, beside today's; and the estimates behind it."""

    threshold: float | None
    capacity: str | None
    audit: str | None
    acts_a_day: float
    cost: Amount
    now: Settings
    flips: list[Flip]
    flip_count: int
    words: list[str]
    ips: dict[str, Any]
    snips: dict[str, Any]
    dr: dict[str, Any]
    logged: dict[str, Any]
    saving: dict[str, Any]
    acts: float
    logged_acts: int
    effective_sample_size: float
    largest_weight: float
    unsupported_share: float
    decisions: int
    left_out: int
    would_act: int
    would_pass: int
