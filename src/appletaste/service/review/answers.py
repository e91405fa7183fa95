"""What the page asks for, as types: who has signed in, the queue, and a case with all that is known of it."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ..answers import CaseRead, KeyRead
from ..bodies import Cell, CostSheet, Time


class SessionRead(Struct, frozen=True):
    """Who has signed in, null: nobody; ``csrf`` goes along with every change by cookie as ``X-CSRF-Token``."""

    key: KeyRead | None
    streams: list[str]
    csrf: str | None


class QueueItem(Struct, frozen=True):
    """An item whose label is awaited; ``worth`` and ``chance`` are those of the decision."""

    id: str
    worth: float | None
    amount: float
    chance: float | None
    time: Time | None
    code: str | None
    why: str
    stratum: str | None
    by: str | None  #: who holds it
    until: str | None
    escalated: bool


class CodeRead(Struct, frozen=True):
    """How many items wait for one reason."""

    count: int
    why: str


class QueueRead(Struct, frozen=True):
    """A window of the queue."""

    items: list[QueueItem]
    total: int  #: after the filters
    waiting: int
    strata: list[str]
    codes: dict[str, CodeRead]


class ContributionRead(Struct, frozen=True):
    """What one column adds to the score against the average item, with 90 % of what is believed of it."""

    column: str
    words: str  #: such as "job = retired"
    value: Cell
    contribution: float
    low: float
    high: float


class UsualNumber(Struct, frozen=True, tag="number", tag_field="kind"):
    """Between which numbers 90 % of the items lie."""

    low: float
    median: float
    high: float


class UsualLevels(Struct, frozen=True, tag="category", tag_field="kind"):
    """The most frequent values with their shares, and the share of the value of this item."""

    top: list[tuple[str, float]]
    share: float


class Similar(Struct, frozen=True):
    """A past case whose label is known; ``likeness`` is 1 where nothing differs."""

    id: str
    likeness: Annotated[float, Meta(ge=0, le=1)]
    label: int
    chance: float | None
    act: bool
    time: Time | None


class Happened(Struct, frozen=True):
    """Something that happened to a decision."""

    seq: int
    time: str
    kind: str
    by: str
    text: str


class WholeCase(CaseRead, frozen=True, kw_only=True):
    """A case with all that is known of it; what is believed is believed now."""

    chance_now: float | None
    interval: tuple[float, float] | None  #: 90 % of what is believed of the chance
    costs: CostSheet
    amount: float
    item: dict[str, Cell] | None  #: null: erased
    contributions: list[ContributionRead]  #: the largest first
    usual: dict[str, UsualNumber | UsualLevels]
    similar: list[Similar]
    history: list[Happened]
    by: str | None  #: who holds the item
    until: str | None
    escalated: bool
    suggested: bool | UnsetType = UNSET


class ClaimedItem(QueueItem, frozen=True, kw_only=True):
    """An item to review, held for somebody; ``worth`` is by what is believed now where work was asked for by worth."""

    item: dict[str, Cell] | list[float] | None
    reasons: list[str]
    case: WholeCase


class Claimed(Struct, frozen=True):
    """Work that is held for whoever asked."""

    items: list[ClaimedItem]
    waiting: int  #: items whose labels are awaited, all in all


class Released(Struct, frozen=True):
    """Work that was given back."""

    released: list[str]
