"""What the page asks for in numbers, as types: days, the model, what if, alarms and health."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field


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


class Band(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a column adds to the score, with bands; ``then`` is what it added on the chosen day."""

    mean: float
    low50: float
    high50: float
    low90: float
    high90: float
    then: float | None = None


class CurvePoint(Band, frozen=True, omit_defaults=True, kw_only=True):
    """A column at a number."""

    x: float


class CurveLevel(Band, frozen=True, omit_defaults=True, kw_only=True):
    """A column at a level."""

    level: str
    count: int | None = None


class Bin(Struct, frozen=True):
    """How many rows of the past had values from one number to another."""

    from_: float = field(name="from")
    to: float
    count: int


class CurveRead(Struct, frozen=True, omit_defaults=True):
    """One column; ``moves`` says how much it matters, ``change`` how far it has moved most since the chosen day."""

    name: str
    kind: str
    moves: float
    told: str
    typical: float | str | None = None
    points: list[CurvePoint] | None = None
    histogram: list[Bin] | None = None
    levels: list[CurveLevel] | None = None
    missing: CurveLevel | None = None
    change: float | None = None


class CalibrationBin(Struct, frozen=True):
    """Labelled acts whose chance was from one number to another: the mean chance, and the share of positives."""

    from_: float = field(name="from")
    to: float
    count: int
    predicted: float
    seen: float
    low: float
    high: float


class CurvesRead(Struct, frozen=True):
    """What is believed, column by column; ``columns`` is null for a stream of vectors or a policy without a model."""

    columns: list[CurveRead] | None
    calibration: list[CalibrationBin]
    labels: int | None
    positives: int | None
    threshold: float | None
    typical: Amount | None
    certificate: dict[str, Any] | None
    since: dict[str, Any] | None
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


class Acknowledged(Struct, frozen=True):
    """Who has taken note of an alarm."""

    by: str
    time: str
    text: str


class AlarmRead(Struct, frozen=True):
    """An alarm: when, what, how sure, and what to do."""

    id: str
    raised: str | float | None
    what: str
    column: str | None
    statistic: float
    threshold: float
    item: int
    since: int
    until: int
    remedy: str
    acknowledged: Acknowledged | None


class AlarmList(Struct, frozen=True):
    """All alarms, the latest first, and what could not be watched."""

    alarms: list[AlarmRead]
    items: int
    notes: list[str]


class ModeSince(Struct, frozen=True):
    """The mode that holds, and since when."""

    mode: str
    since: str
    by: str
    reason: str


class VerifiedAt(Struct, frozen=True):
    """When the record was last folded again, and whether that gave the same."""

    events: int
    time: str
    verifies: bool
    told: str


class Commits(Struct, frozen=True):
    """How long the last commits took, the sync of the disk among it, in milliseconds."""

    count: int
    median: float
    most: float


class StreamHealth(Struct, frozen=True):
    """How a stream is."""

    mode: ModeSince
    events: int
    verified: VerifiedAt | None
    store: str
    commits: Commits | None
    queue: int  #: requests that wait for the writer
    pending: int  #: decisions whose label is awaited
    trouble: str | None
    capacity: str | None
    audit: str | None
    time_zone: str | None  #: whose days a capacity is of; null: those of UTC
