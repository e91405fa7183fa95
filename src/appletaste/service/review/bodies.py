"""What the page asks in numbers, as types; a field that a type does not have is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from ..types import Body, CostSheet, Name, Who

CapacityText = Annotated[str, Meta(min_length=1, max_length=100, description="Such as 120/day, 5% or Mon-Fri 120.")]
AuditText = Annotated[str, Meta(min_length=1, max_length=20, description="A share of passes, such as 2%.")]
Zone = Annotated[str, Meta(min_length=1, max_length=100, description="Such as Europe/Berlin.")]
Column = Annotated[str, Meta(min_length=1, max_length=1000, description="The name of a column of the file.")]
Formula = Annotated[str, Meta(min_length=1, max_length=1000)]
Price = Annotated[float, Meta(ge=-1e15, le=1e15)] | Formula


class WhatIf(Body, frozen=True):
    """Another way to decide; what is left out stays as it is today, and null is no limit, or no audits."""

    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    costs: CostSheet | None = None
    capacity: CapacityText | UnsetType | None = UNSET
    audit: AuditText | UnsetType | None = UNSET
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.9


class CapacityBody(Body, frozen=True):
    """Other reviewers; null: any number of acts."""

    capacity: CapacityText | None
    time_zone: Zone | None = None
    by: Who | None = None


class AuditBody(Body, frozen=True):
    """Another share of passes to audit; null: none."""

    audit: AuditText | None
    by: Who | None = None


class Prices(Body, frozen=True):
    """What each outcome costs: numbers, or formulas over the columns of the file."""

    miss: Price
    false_alarm: Price
    hit: Price = 0.0
    correct_pass: Price = 0.0


class Played(Body, frozen=True, kw_only=True):
    """How a file is read as a stream."""

    label: Column
    costs: Prices
    positive: Annotated[str, Meta(min_length=1, max_length=1000)] | None = None
    time: Column | None = None
    id: Column | None = None
    stratum: Column | None = None
    drop: Annotated[list[Column], Meta(max_length=1000)] = field(default_factory=list)
    capacity: CapacityText | None = None
    audit: AuditText | None = None
    time_zone: Zone | None = None


class FileStream(Played, frozen=True, kw_only=True):
    """A stream to make from a file."""

    name: Name
    mode: Literal["shadow", "live"] = "shadow"
    teach: bool = True
    expire_after_days: Annotated[float, Meta(gt=0, le=36500)] | None = None
