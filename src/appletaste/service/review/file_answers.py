"""First use, as types: a file that was taken in, a replay of it, and the stream that was made from it."""

from __future__ import annotations

from msgspec import Struct

from ..api.streams import StreamRead


class LookBar(Struct, frozen=True):
    """One bar of the picture of a column."""

    name: str
    share: float


class FileColumn(Struct, frozen=True, omit_defaults=True):
    """A column of a file: what it holds, a look at it, and what it could be."""

    name: str
    kind: str
    missing: float
    distinct: int
    summary: str
    look: list[LookBar]
    could_be: list[str]
    findings: list[str]
    levels: list[str] | None = None


class Suggested(Struct, frozen=True):
    """Which column seems to be what."""

    label: str | None
    time: str | None
    id: str | None
    amount: str | None


class FileRead(Struct, frozen=True):
    """A file that was taken in."""

    file: str
    rows: int
    columns: list[FileColumn]
    suggested: Suggested
    findings: list[str]


class ReplayRow(Struct, frozen=True):
    """One way to decide, played on the file."""

    name: str
    policy: str
    cost_per_1000: float
    se: float | None
    saved_against_never: float | None
    saved_against_always: float | None
    precision: float | None
    recall: float | None
    act_rate: float
    labels: float


class MoneyPoint(Struct, frozen=True):
    """What each way to decide had cost after so many items."""

    items: int
    costs: dict[str, float]


class ReplayRead(Struct, frozen=True):
    """A replay of a file: the table, the money so far, and what to know."""

    title: str
    rows: list[ReplayRow]
    money: list[MoneyPoint]
    words: list[str]
    notes: list[str]


class TryIt(Struct, frozen=True):
    """Lines of code that send a first decision, with a key that is told this once."""

    key: str
    python: str
    curl: str


class StreamMade(Struct, frozen=True):
    """A stream that was made from a file."""

    stream: StreamRead
    try_it: TryIt
    taught: int
    notes: list[str]
