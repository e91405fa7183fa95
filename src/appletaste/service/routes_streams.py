"""Streams: which there are, how one stands, making one, its mode, its costs, and whether its record verifies."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import msgspec

from ..costs import Costs
from ..errors import (
    AppleTasteError,
    ConflictError,
    CostsError,
    InputError,
    OptionError,
    RecordError,
    StoreError,
)
from ..features import Encoder
from ..policies import Policy, policy
from ..streams import Stream
from ..streams.staffing import Staffing, seat
from ..streams.verify import Verifier
from .answers import Changed, ColumnRead, StreamNames, StreamRead, VerifiedRead
from .bodies import CostsBody, CostSheet, ModeBody, NewStream
from .operations import Call, Operation, Reply
from .problems import Problem, invalid
from .review.numbers import VerifiedAt
from .routes_decisions import STREAM

#: Where the store keeps when each record was last checked.
VERIFIED = "verified"


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
    )


def labels_of(policy: Policy) -> int | None:
    """Return how many labels a policy has learnt; None: it keeps none."""
    belief = policy.learner.belief
    labels = None if belief is None else belief.labels
    return None if labels is None else labels.n


def sheet_of(costs: CostSheet) -> Costs:
    """Return what each outcome costs, or the problem that nothing can be decided by it."""
    try:
        return Costs(**msgspec.structs.asdict(costs))
    except CostsError:
        raise invalid("wrong-value", "/costs", "hit < miss and false_alarm > correct_pass, all finite") from None


def make(store: Any, asked: NewStream) -> Stream:
    """Make a stream as it was asked for."""
    costs = sheet_of(asked.costs)
    if (asked.n_features is None) == (asked.examples is None):
        raise invalid("one-of", "/n_features", "either n_features or examples")
    features = None
    if asked.examples is not None:
        try:
            features = Encoder().fit(asked.examples)
        except (InputError, TypeError, ValueError):
            raise invalid("wrong-value", "/examples", "records alike, with columns that differ") from None
    width = asked.n_features if features is None else features.n_features
    assert width is not None
    try:
        staffing = Staffing.of(asked.capacity, asked.audit, asked.time_zone)
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
            store, asked.name, player, features=features, mode=asked.mode, expire_after=asked.expire_after
        )
    except ConflictError:
        raise Problem("stream-exists") from None
    except StoreError:
        raise
    except AppleTasteError:
        raise Problem("validation") from None


async def create(call: Call) -> Reply:
    """Make a stream; the key must be for its name."""
    if not call.key.sees(call.body.name):
        raise Problem("insufficient-scope", scope="admin")
    stream = await asyncio.to_thread(make, call.host.store, call.body)
    writer = call.host.take(stream)
    if call.host.owners is not None:
        await call.host.owners.announce(stream.name)
    return Reply.of(await writer.do(described), 201)


async def names(call: Call) -> Reply:
    """Return the streams that the key may see."""
    return Reply.of(StreamNames([name for name in call.host.names() if call.key.sees(name)]))


async def show(call: Call) -> Reply:
    """Return how a stream stands."""
    return await call.writer.do(lambda stream: Reply.of(described(stream)))


async def set_mode(call: Call) -> Reply:
    """Let another mode hold."""
    said, by = call.body, call.who(call.body.by)
    return await call.writer.do(lambda stream: Reply.of(Changed(stream.set_mode(said.mode, by=by, reason=said.reason))))


async def set_costs(call: Call) -> Reply:
    """Let other costs be the usual ones."""
    by, sheet = call.who(call.body.by), sheet_of(call.body.costs)

    def work(stream: Stream) -> Reply:
        if stream.settings["costs_by_item"] is not None:
            raise Problem("cannot-happen", detail="the costs of this stream are formulas over columns, and stay")
        return Reply.of(Changed(stream.set_costs(sheet, by=by)))

    return await call.writer.do(work)


async def verify(call: Call) -> Reply:
    """Fold the record again from nothing, and compare, while decisions go on.

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


OPERATIONS = (
    Operation("list_streams", "GET", "/v1/streams", "The streams that the key may see", names, "", {200: StreamNames}),
    Operation(
        "create_stream",
        "POST",
        "/v1/streams",
        "Make a stream",
        create,
        "admin",
        {201: StreamRead},
        NewStream,
        limit=1 << 20,
        problems=("stream-exists",),
    ),
    Operation("show_stream", "GET", STREAM, "What a stream takes, and how it stands", show, "read", {200: StreamRead}),
    Operation(
        "set_mode",
        "POST",
        STREAM + "/mode",
        "Let another mode hold: shadow, live, frozen or safe",
        set_mode,
        "admin",
        {200: Changed},
        ModeBody,
        problems=("cannot-happen",),
    ),
    Operation(
        "set_costs",
        "POST",
        STREAM + "/costs",
        "Let other costs be the usual ones",
        set_costs,
        "admin",
        {200: Changed},
        CostsBody,
        problems=("cannot-happen",),
    ),
    Operation(
        "verify",
        "POST",
        STREAM + "/verify",
        "Fold the record again from nothing and compare, bit for bit",
        verify,
        "admin",
        {200: VerifiedRead},
    ),
)
