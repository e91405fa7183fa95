"""Streams: which there are, how one stands, making one, its mode, its costs, its model, and whether it verifies."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from ...costs import Costs
from ...errors import (
    AppleTasteError,
    ConflictError,
    CostsError,
    InputError,
    OptionError,
    RecordError,
    StoreError,
)
from ...features import Encoder
from ...policies import Policy, policy
from ...streams import Stream
from ...streams.audit import AUTO
from ...streams.staffing import Staffing, seat
from ...streams.verify import Verifier
from ...words import Words
from ..operations import STREAM, Call, Reply, operation
from ..problems import Problem, invalid
from ..types import MOST, Body, Cell, Changed, CostSheet, Name, Who, WordSheet


class StreamNames(Struct, frozen=True):
    """The streams that a key may see."""

    streams: list[str]


@operation("GET", "/v1/streams", scope="")
async def list_streams(call: Call[None]) -> Reply[StreamNames]:
    """List the streams that the key may see."""
    return Reply.of(StreamNames([name for name in call.host.names() if call.key.sees(name)]))


class ColumnRead(Struct, frozen=True):
    """A column of records."""

    name: str
    kind: str
    wants: str


class StreamRead(Struct, frozen=True):
    """A stream: what it takes, and how it stands."""

    name: str
    mode: str
    events: int
    policy: str
    costs: dict[str, float | str]
    n_features: int
    columns: list[ColumnRead] | None
    pending: int
    trouble: str | None
    labels: int | None  #: that were learnt; null: the policy keeps none
    words: dict[str, str]  #: what the team calls things
    notes: list[str]  #: on how the stream was made


def described(stream: Stream) -> StreamRead:
    """Return how a stream stands."""
    settings, policy_, features = stream.settings, stream.player.policy, stream.features
    columns = None
    if features is not None:
        columns = [ColumnRead(column.name, column.kind, column.wants) for column in features.columns]
    trouble = None if stream.trouble is None else f"event {stream.trouble.seq} does not verify"
    return StreamRead(
        stream.name,
        stream.mode,
        len(stream),
        policy_.name,
        settings["costs_by_item"] or dict(stream.costs.outcomes()),
        policy_.n_features,
        columns,
        len(stream.awaited),
        trouble,
        labels_of(policy_),
        stream.words.as_dict(),
        stream.notes,
    )


def labels_of(policy: Policy) -> int | None:
    """Return how many labels a policy has learnt; None: it keeps none."""
    belief = policy.learner.belief
    labels = None if belief is None else belief.labels
    return None if labels is None else labels.n


@operation("GET", STREAM, scope="read")
async def show_stream(call: Call[None]) -> Reply[StreamRead]:
    """Return what a stream takes, and how it stands."""
    return await call.writer.do(lambda stream: Reply.of(described(stream)))


class NewStream(Body, frozen=True):
    """A stream to make: of vectors with ``n_features`` numbers, or of records like ``examples``.

    Columns that are ``shown`` come along with each record, for reviewers to see and to find; they are not learnt.
    """

    name: Name
    costs: CostSheet
    n_features: Annotated[int, Meta(ge=1, le=2000)] | None = None
    examples: Annotated[list[dict[str, Cell]], Meta(min_length=2, max_length=MOST)] | None = None
    shown: Annotated[list[Annotated[str, Meta(min_length=1, max_length=256)]], Meta(max_length=100)] = msgspec.field(
        default_factory=list
    )
    policy: Annotated[str, Meta(max_length=100)] = "voi"
    capacity: Annotated[str, Meta(max_length=100)] | None = None
    audit: Annotated[str, Meta(max_length=100)] | None = None
    time_zone: Annotated[str, Meta(max_length=100)] | None = None
    mode: Literal["shadow", "live", "frozen"] = "live"
    expire_after: Annotated[float, Meta(gt=0)] | None = None
    words: WordSheet | None = None


def words_of(said: WordSheet | None) -> Words | None:
    """Return what a team calls things, or the problem with a word."""
    if said is None:
        return None
    try:
        return Words.of({name: word for name, word in msgspec.to_builtins(said).items() if word})
    except OptionError as error:
        raise invalid("wrong-value", "/words", str(error)) from None


def sheet_of(costs: CostSheet) -> Costs:
    """Return what each outcome costs, or the problem that nothing can be decided by it."""
    try:
        return Costs(**msgspec.structs.asdict(costs))
    except CostsError:
        raise invalid("wrong-value", "/costs", "hit < miss and false_alarm > correct_pass, all finite") from None


def make(store: Any, asked: NewStream) -> Stream:
    """Make a stream as it was asked for."""
    costs, words = sheet_of(asked.costs), words_of(asked.words)
    if (asked.n_features is None) == (asked.examples is None):
        raise invalid("one-of", "/n_features", "either n_features or examples")
    features = None
    if asked.examples is not None:
        try:
            features = Encoder().fit(asked.examples, drop=asked.shown)
        except (InputError, TypeError, ValueError):
            raise invalid("wrong-value", "/examples", "records alike, with columns that differ") from None
    width = asked.n_features if features is None else features.n_features
    assert width is not None
    try:
        staffing = Staffing.of(asked.capacity, asked.audit or AUTO, asked.time_zone)
        if staffing is not None:
            staffing.check(timed=True)
    except (InputError, OptionError):
        raise invalid("wrong-value", "/capacity", "such as 120/day or 5%; an audit such as 2%") from None
    try:
        player = seat(policy(asked.policy, n_features=width, costs=costs), staffing)
    except InputError:
        raise invalid("wrong-value", "/policy", "the name of a policy that 'appletaste policies' lists") from None
    try:
        return Stream.create(
            store,
            asked.name,
            player,
            features=features,
            mode=asked.mode,
            expire_after=asked.expire_after,
            words=words,
            audit=0 if staffing is None else staffing.audit or 0,
        )
    except ConflictError:
        raise Problem("stream-exists") from None
    except StoreError:
        raise
    except AppleTasteError:
        raise Problem("validation") from None


@operation("POST", "/v1/streams", scope="admin", status=201, limit=1 << 20, problems=("stream-exists",))
async def create_stream(call: Call[NewStream]) -> Reply[StreamRead]:
    """Make a stream; the key must be for its name."""
    if not call.key.sees(call.body.name):
        raise Problem("insufficient-scope", scope="admin")
    stream = await asyncio.to_thread(make, call.host.store, call.body)
    writer = call.host.take(stream)
    return Reply.of(await writer.do(described), 201)


class ModeBody(Body, frozen=True):
    """Another mode."""

    mode: Literal["shadow", "live", "frozen", "safe"]
    by: Who | None = None
    reason: Annotated[str, Meta(max_length=1000)] = ""


@operation("POST", STREAM + "/mode", scope="admin", problems=("cannot-happen",))
async def set_mode(call: Call[ModeBody]) -> Reply[Changed]:
    """Change the mode: shadow, live, frozen or safe."""
    said, by = call.body, call.who(call.body.by)
    return await call.writer.do(lambda stream: Reply.of(Changed(stream.set_mode(said.mode, by=by, reason=said.reason))))


class CostsBody(Body, frozen=True):
    """Other usual costs."""

    costs: CostSheet
    by: Who | None = None


@operation("POST", STREAM + "/costs", scope="admin", problems=("cannot-happen",))
async def set_costs(call: Call[CostsBody]) -> Reply[Changed]:
    """Change the usual costs from now on."""
    by, sheet = call.who(call.body.by), sheet_of(call.body.costs)

    def work(stream: Stream) -> Reply[Changed]:
        if stream.settings["costs_by_item"] is not None:
            raise Problem("cannot-happen", detail="the costs of this stream are formulas over columns, and stay")
        return Reply.of(Changed(stream.set_costs(sheet, by=by)))

    return await call.writer.do(work)


class WordsBody(Body, frozen=True):
    """Other words."""

    words: WordSheet
    by: Who | None = None


@operation("POST", STREAM + "/words", scope="admin", problems=("cannot-happen",))
async def set_words(call: Call[WordsBody]) -> Reply[Changed]:
    """Change what a team calls things; all words are replaced, and nothing is decided by them."""
    by, words = call.who(call.body.by), words_of(call.body.words)
    assert words is not None
    return await call.writer.do(lambda stream: Reply.of(Changed(stream.set_words(words, by=by))))


class Coefficient(Struct, frozen=True):
    """What is believed of one coefficient."""

    name: str
    mean: float
    sd: float | None


class ModelRead(Struct, frozen=True):
    """What the policy believes now; ``coefficients`` is null for a policy without a model."""

    policy: str
    rounds: int
    events: int
    coefficients: list[Coefficient] | None


def believed(stream: Stream) -> ModelRead:
    """Return what the policy of a stream believes now."""
    policy, coefficients = stream.player.policy, None
    try:
        belief = policy.posterior
        mean = belief.mean
        sd = None if belief.is_point else np.sqrt(np.diag(belief.covariance)).tolist()
        width = policy.n_features
        names = [f"x{k + 1}" for k in range(width)] if stream.features is None else stream.features.names()
        names += [] if belief.forest is None else ["trees"]
        parts = zip(names, mean.tolist(), [None] * len(mean) if sd is None else sd, strict=True)
        slots = set(policy.slots)  # a column with many levels has an effect for each of them, and no coefficient
        coefficients = [Coefficient(*part) for place, part in enumerate(parts) if place not in slots]
    except OptionError:  # a policy without a model
        coefficients = None
    return ModelRead(policy.name, policy.round, len(stream), coefficients)


@operation("GET", STREAM + "/model", scope="read")
async def model(call: Call[None]) -> Reply[ModelRead]:
    """Return what the policy believes now."""
    return await call.writer.do(lambda stream: Reply.of(believed(stream)))


#: Where the store keeps when each record was last checked.
VERIFIED = "verified"


class VerifiedRead(Struct, frozen=True):
    """Whether the record verifies; where it does not, the first event that differs."""

    verifies: bool
    events: int
    first_difference: int | None
    told: str


class VerifiedAt(Struct, frozen=True):
    """When the record was last folded again, and whether that gave the same."""

    events: int
    time: str
    verifies: bool
    told: str


@operation("POST", STREAM + "/verify", scope="admin")
async def verify(call: Call[None]) -> Reply[VerifiedRead]:
    """Fold the record again from nothing and compare, bit for bit, while decisions go on.

    Where that finds a difference the writer looks once more by itself, since a snapshot may have been replaced under
    the eyes of whoever was reading; if there is one, the stream is in safe mode from then on.
    """
    store, name, place = call.host.store, call.stream, call.writer.place

    def aside() -> VerifiedRead | None:
        try:
            found = Verifier(place).run()
        except RecordError:
            return None
        return None if store.check() else VerifiedRead(True, found.events, None, str(found))

    def again(stream: Stream) -> VerifiedRead:
        try:
            found = stream.verify()
        except RecordError as error:
            return VerifiedRead(False, len(stream), error.seq, "the record does not verify")
        return VerifiedRead(True, found.events, None, str(found))

    told = await call.host.aside(aside) or await call.writer.do(again, alone=True)
    kept = VerifiedAt(told.events, datetime.now(UTC).isoformat(), told.verifies, told.told)
    await asyncio.to_thread(store.put, VERIFIED, name, msgspec.json.encode(kept))
    return Reply.of(told)
