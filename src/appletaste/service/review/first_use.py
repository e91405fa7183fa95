"""From a file to a running stream: a look at the file, a replay of it in money, the stream, and first lines of code.

By a key that administers all.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct, field

from ..._files import for_json
from ...costs import Costs
from ...costs_by_item import CostsByItem
from ...errors import ConflictError, InputError, Remedy, worded
from ...evaluate.answers import brief, per_cent
from ...history import ColumnLook, Finding, Look, could_be, look
from ...history.leaks import present
from ...history.roles import with_labels
from ...records.stores import Store
from ...replays import ReplayResult, replay
from ...streams import Stream
from ...streams.audit import AUTO
from ...streams.from_history import Prepared, from_history
from ...tables import Records, read_records
from ...times import DAY
from ..api.access import check_whole
from ..api.streams import StreamRead, described
from ..api.streams import words_of as words_of_team
from ..door import NUMBER
from ..operations import CSV, Call, Reply, operation
from ..problems import Problem
from ..types import Body, Name, WordSheet
from .uploads import LARGEST, latest_rows, plain_words, take_in, unreadable, with_file
from .what_if import AuditText, CapacityText, Zone

FILE = "/v1/files/{file}"
_ADDRESS = re.compile(rb"[A-Za-z0-9.-]+(:\d{1,5})?")
Column = Annotated[str, Meta(min_length=1, max_length=1000, description="The name of a column of the file.")]
Formula = Annotated[str, Meta(min_length=1, max_length=1000)]
Price = Annotated[float, Meta(ge=-1e15, le=1e15)] | Formula
#: Levels that are told of a column.
LEVELS = 20
#: How the page words a setting that a message names.
WORDS = {
    "time": "the column with the time",
    "label_time": "the column that says when labels arrived",
    "positive": "the value that means positive",
    "capacity": "the number of reviewers",
    "audit": "the share of audits",
    "time_zone": "the time zone",
    "order": "play the file in the order of",
    "categories": "say below that it is a code:",
    "numbers": "take as numbers:",
}
#: Rows that are played at most, the latest; and in how many orders a file without a time is played, if it is short.
PLAYED, ORDERS, SHORT = 20_000, 3, 5_000
POLICY = "voi"
#: Points of the picture.
POINTS = 100
#: Values that are shown of a column, of how many rows, and how long one may be.
SAMPLES, ROWS_SAMPLED, SAMPLE_LENGTH = 4, 200, 32


# ---- types


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
    label_time: Column | None = None  #: says when the label arrived
    categories: Annotated[list[Column], Meta(max_length=1000)] = field(default_factory=list)  #: numbers that are codes


class FileStream(Played, frozen=True, kw_only=True):
    """A stream to make from a file."""

    name: Name
    mode: Literal["shadow", "live"] = "shadow"
    teach: bool = True
    words: WordSheet | None = None
    expire_after_days: Annotated[float, Meta(gt=0, le=36500)] | None = None


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
    samples: list[str] = field(default_factory=list)  #: the first values that differ


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


# ---- a look


def in_words(remedy: Remedy) -> str:
    """Return a setting in the words of the page.

    Examples
    --------
    >>> in_words(Remedy("drop", ["settled_on"])), in_words(Remedy("time"))
    ("take the tick of 'settled_on' away", 'the column with the time')
    >>> in_words(Remedy("encoder", {"online": True}))
    'on the command line, --encoder online=true'
    """
    if remedy.option == "drop" and remedy.value:
        return f"take the tick of {', '.join(map(repr, remedy.value))} away"
    if isinstance(remedy.value, dict):
        return f"on the command line, --{remedy.option} {remedy.parts}"
    name = WORDS.get(remedy.option, remedy.option.replace("_", " "))
    if remedy.value is None:
        return name
    values = remedy.value if isinstance(remedy.value, list) else [remedy.value]
    return f"{name} {', '.join(repr(value) if isinstance(value, str) else str(value) for value in values)}"


def words_of(path: Path, told: str | Exception, name: str = "the file") -> str:
    """Return what the library says of a file, in the words of the page."""
    return plain_words(path, worded(told, in_words), name)


def look_at(file: str, path: Path) -> FileRead:
    """Return a look at a file, or the problem that it is no table to decide by."""
    try:
        records = read_records(path)
        found = look(records)
    except InputError as error:
        raise unreadable(words_of(path, error)) from None
    if len(records.columns) < 2:
        raise unreadable("the file has one column: a table has a column with labels and others to decide by")
    roles, possible = found.roles, could_be(records)
    if roles.label is None:
        raise unreadable(
            "no column has two values, such as 0 and 1 or yes and no: one has to say of past items what turned out"
        )
    said: dict[str | None, list[str]] = {}
    for finding in findings_of(records, found):
        said.setdefault(finding.column, []).append(f"{finding.code}: {words_of(path, finding.message)}")
    columns = [_column(records, one, possible[one.name], said.get(one.name, [])) for one in found.columns]
    suggested = Suggested(roles.label, roles.time, roles.id, roles.amount)
    return FileRead(file, found.rows, columns, suggested, said.get(None, []))


def findings_of(records: Records, blind: Look) -> Sequence[Finding]:
    """Return what is wrong with the columns if label and time are what they seem; what was found blind where not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say is a finding
            labelled = with_labels(records, blind.roles)
            return look(labelled, blind.roles.label, time=blind.roles.time).findings
    except InputError:  # the label or the time is another one after all
        return blind.findings


def _column(records: Records, seen: ColumnLook, could: list[str], findings: list[str]) -> FileColumn:
    levels = None
    if seen.distinct <= LEVELS:
        counted = Counter(present(records.columns[seen.name]).tolist()).most_common()
        levels = [f"{level:g}" if isinstance(level, float) else str(level) for level, _ in counted]
    bars = [LookBar(bar.name, bar.share) for bar in seen.bars]
    return FileColumn(
        seen.name,
        seen.kind,
        seen.missing,
        seen.distinct,
        seen.summary,
        bars,
        could,
        findings,
        levels,
        samples_of(records, seen.name),
    )


def samples_of(records: Records, name: str) -> list[str]:
    """Return the first few values of a column that differ, as they are read; long texts are cut."""
    found: dict[str, None] = {}
    for value in present(records.columns[name])[:ROWS_SAMPLED].tolist():
        text = f"{value:.6g}" if isinstance(value, float) else str(value)
        found.setdefault(text if len(text) <= SAMPLE_LENGTH else f"{text[: SAMPLE_LENGTH - 1]}…")
        if len(found) == SAMPLES:
            break
    return list(found)


# ---- a replay, and the stream


def costs_of(asked: Played) -> Costs | CostsByItem:
    """Return what outcomes cost: numbers, or formulas."""
    return CostsByItem.of(msgspec.structs.asdict(asked.costs))


def roles_of(asked: Played) -> dict[str, Any]:
    """Return how a file is read, as ``replay`` and ``from_history`` both take it."""
    given: dict[str, Any] = {"time": asked.time, "capacity": asked.capacity}
    given |= {"audit": asked.audit or AUTO, "time_zone": asked.time_zone}
    given |= {"label_time": asked.label_time, "categories": asked.categories}
    return {**given, **({} if asked.positive is None else {"positive": asked.positive})}


def play(path: Path, asked: Played) -> ReplayRead:
    """Play a file as a stream, and say what it would have cost."""
    with TemporaryDirectory(dir=path.parent) as folder:  # of this replay alone: another may have other times
        shorter, rows = latest_rows(path, asked.time, PLAYED, Path(folder))
        name = "the file" if shorter == path else f"the file of the latest {PLAYED:,} rows"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what there is to say is among the notes
                result = replay(
                    shorter,
                    asked.label,
                    costs=costs_of(asked),
                    policies=(POLICY,),
                    shuffles=None if asked.time is not None else ORDERS if rows <= SHORT else 1,
                    drop=[*dict.fromkeys([*asked.drop, *([] if asked.id is None else [asked.id])])],
                    **roles_of(asked),
                )
        except (InputError, UnicodeError) as error:
            raise unreadable(words_of(shorter, error, name)) from None
    notes = [words_of(shorter, note, name) for note in result.notes]
    if rows > PLAYED:
        notes.insert(0, f"the latest {PLAYED:,} of {rows:,} rows were played; the stream learns from all of them")
    return ReplayRead(plain_title(result), _rows(result), _money(result), replay_words(result), notes)


def plain_title(result: ReplayResult) -> str:
    """Return one line on what was played, without the seed."""
    return result.title.split(", seed")[0]


def _rows(result: ReplayResult) -> list[ReplayRow]:
    found = []
    for label, one in result.as_dict().items():
        cost, saved = one["cost_per_1000"], one["saved_per_1000"]
        found.append(
            ReplayRow(
                label,
                one["policy"],
                cost["mean"],
                cost["se"],
                saved.get("never"),
                saved.get("always"),
                one["precision"],
                one["recall"],
                one["act_rate"],
                one["labels"],
            )
        )
    return found


def _money(result: ReplayResult) -> list[MoneyPoint]:
    """Return what each way to decide had cost after so many items, on average over orders."""
    curves = {label: one.curves.mean(axis=0) for label, one in result.policies.items()}
    places = np.unique(np.linspace(0, len(result.points) - 1, min(POINTS, len(result.points))).astype(int))
    found = [MoneyPoint(0, dict.fromkeys(curves, 0.0))]
    for place in places.tolist():
        costs = {label: float(curve[place]) for label, curve in curves.items()}
        found.append(MoneyPoint(int(result.points[place]), costs))
    return found


def replay_words(result: ReplayResult) -> list[str]:
    """Return what a replay says, in sentences."""
    mine = result[POLICY]
    never, always = (result.saved(POLICY, other).mean for other in ("never", "always"))
    said = [
        f"Every 1,000 items would have cost {brief(mine.cost_per_1000.mean)}: {brief(abs(never))} "
        f"{'less' if never >= 0 else 'more'} than never acting, and {brief(abs(always))} "
        f"{'less' if always >= 0 else 'more'} than always acting."
    ]
    right = "" if math.isnan(mine.precision) else f" {per_cent(mine.precision)} of the acts are right."
    found = "" if math.isnan(mine.recall) else f" {per_cent(mine.recall)} of the positives are found."
    said.append(f"It acts on {per_cent(mine.act_rate)} of the items.{right}{found}")
    best = result["oracle"].cost_per_1000.mean
    said.append(f"Nobody can do better than {brief(best)}: that is hindsight, which acts on the positives alone.")
    if result.verdict is not None:
        first = worded(result.verdict, in_words)
        said.insert(0, f"{first[0].upper()}{first[1:]}{'' if first.endswith('?') else '.'}")
    return said


def make(store: Store, path: Path, asked: FileStream) -> tuple[Stream, Prepared]:
    """Make a stream from a file; its labels are learnt unless somebody says otherwise."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what there is to say is among the notes
            prepared = from_history(
                path,
                asked.label,
                costs=costs_of(asked),
                id=asked.id,
                stratum=asked.stratum,
                drop=asked.drop,
                teach=asked.teach,
                **roles_of(asked),
            )
    except (InputError, UnicodeError) as error:
        raise unreadable(words_of(path, error)) from None
    waits = None if asked.expire_after_days is None else DAY * asked.expire_after_days
    words = words_of_team(asked.words)
    return prepared.create(store, asked.name, mode=asked.mode, expire_after=waits, words=words), prepared


def last_row(path: Path) -> dict[str, Any]:
    """Return the last row of a file."""
    return {name: column[-1] for name, column in read_records(path).columns.items()}


def example_item(row: dict[str, Any], asked: FileStream, needed: Mapping[str, str], numeric: str) -> dict[str, Any]:
    """Return a row of a file as the stream takes it; ``needed`` has the columns and what each wants."""
    found: dict[str, Any] = {}
    for name, wants in needed.items():
        if name == asked.time:
            continue  # the time of the decision stands in for it
        value = row[name]
        if isinstance(value, float | np.floating):
            value = float(value)
            found[name] = value if wants == numeric or math.isnan(value) else f"{value:g}"
        else:
            found[name] = value
    plain: dict[str, Any] = for_json(found)
    return plain


def lines_of_code(address: str, key: str, asked: FileStream, item: dict[str, Any]) -> tuple[str, str]:
    """Return the lines that send a first decision, in Python and for a shell."""
    shadow = asked.mode == "shadow"
    own = ", baseline=False" if shadow else ""
    python = "\n".join(
        [
            "import appletaste as at",
            f"stream = at.connect({address!r}, key={key!r}).stream({asked.name!r})",
            f"print(stream.decide({item!r}, id='first-1'{own}).as_dict())",
        ]
    )
    body = {"id": "first-2", "item": item, **({"baseline": False} if shadow else {})}
    curl = (
        f"curl {address}/v1/streams/{asked.name}/decisions -H 'Authorization: Bearer {key}' "
        f"-H 'Content-Type: application/json' -d {shlex.quote(json.dumps(body))}"
    )
    return python, curl


# ---- routes


@operation("POST", "/v1/files", scope="admin", status=201, takes=CSV, limit=LARGEST, problems=("unreadable-file",))
async def send_file(call: Call[bytes]) -> Reply[FileRead]:
    """Send a table as CSV, and get a look at its columns. A file that is no table leaves nothing behind."""
    check_whole(call)
    return Reply.of(await take_in(call, look_at), 201)


@operation("POST", FILE + "/replay", scope="admin", problems=("unknown-file", "unreadable-file"))
async def replay_file(call: Call[Played]) -> Reply[ReplayRead]:
    """Play a file as a stream in which a label is seen only if you act."""
    check_whole(call)
    return Reply.of(await with_file(call, play, call.body))


@operation(
    "POST", FILE + "/stream", scope="admin", status=201, problems=("unknown-file", "unreadable-file", "stream-exists")
)
async def stream_of_file(call: Call[FileStream]) -> Reply[StreamMade]:
    """Make a stream from a file, and a key for it that is told this once."""
    check_whole(call)
    asked, host = call.body, call.host

    def work(path: Path) -> tuple[Stream, int, list[str], dict[str, Any]]:
        if asked.name in host.store.names():
            raise Problem("stream-exists")
        last = last_row(path)
        try:
            stream, made = make(host.store, path, asked)
        except ConflictError:
            raise Problem("stream-exists") from None
        taught = 0 if made.history is None else made.history.learnt
        return stream, taught, [words_of(path, note) for note in made.notes], last

    stream, taught, notes, last = await with_file(call, work)
    writer = host.take(stream)
    name = f"first use of {asked.name}"[:100]
    secret, _ = await asyncio.to_thread(host.keys.create, name, ["decide", "label"], [asked.name], None, call.key.name)
    item = example_item(last, asked, writer.door.kinds, NUMBER)
    python, curl = lines_of_code(address_of(call), secret, asked, item)
    told = await writer.do(described)
    return Reply.of(StreamMade(told, TryIt(secret, python, curl), taught, notes), 201)


def address_of(call: Call[Any]) -> str:
    """Return where whoever asks reaches the service, as far as the request says."""
    host = call.headers.get(b"host", b"")
    safe = call.headers.get(b"x-forwarded-proto") == b"https"
    known = host.decode() if _ADDRESS.fullmatch(host) else "127.0.0.1:8080"
    return f"{'https' if safe else 'http'}://{known}"
