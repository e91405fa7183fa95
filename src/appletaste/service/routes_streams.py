"""Streams: which there are, how one stands, making one, its mode, its costs, and whether its record verifies."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ..costs import Costs
from ..errors import AppleTasteError, ConflictError, CostsError, InputError, OptionError, RecordError, StoreError
from ..features import Encoder
from ..live import Stream
from ..policies import policy
from ..replays.players import Staffing
from ..streams import Awaiting, Desk
from .answers import Changed, ColumnRead, StreamNames, StreamRead, VerifiedRead
from .bodies import CostsBody, CostSheet, ModeBody, NewStream
from .operations import Call, Operation, Reply
from .problems import Problem, invalid
from .routes_decisions import STREAM


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
        len(stream.pending),
        trouble,
    )


def _sheet(costs: CostSheet) -> Costs:
    try:
        return Costs(**msgspec.structs.asdict(costs))
    except CostsError:
        raise invalid("wrong-value", "/costs", "hit < miss and false_alarm > correct_pass, all finite") from None


def make(store: Any, asked: NewStream) -> Stream:
    """Make a stream as it was asked for."""
    costs = _sheet(asked.costs)
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
        staffing = Staffing.of(asked.capacity, asked.audit, asked.time_zone) or Staffing()
    except (InputError, OptionError):
        raise invalid("wrong-value", "/capacity", "such as 120/day or 5%; an audit such as 2%") from None
    try:
        player: Any = Awaiting(policy(asked.policy, n_features=width, costs=costs))
        if staffing != Staffing():
            player = Desk(player, staffing.budget, staffing.audit)
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
    said = call.body
    return await call.writer.do(
        lambda stream: Reply.of(Changed(stream.set_mode(said.mode, by=said.by, reason=said.reason)))
    )


async def set_costs(call: Call) -> Reply:
    """Let other costs be the usual ones."""
    said, sheet = call.body, _sheet(call.body.costs)

    def work(stream: Stream) -> Reply:
        if stream.settings["costs_by_item"] is not None:
            raise Problem("cannot-happen", detail="the costs of this stream are formulas over columns, and stay")
        return Reply.of(Changed(stream.set_costs(sheet, by=said.by)))

    return await call.writer.do(work)


async def verify(call: Call) -> Reply:
    """Fold the record again from nothing, and compare; decisions wait meanwhile."""

    def work(stream: Stream) -> Reply:
        try:
            found = stream.verify()
        except RecordError as error:
            return Reply.of(VerifiedRead(False, len(stream), error.seq, "the record does not verify"))
        return Reply.of(VerifiedRead(True, found.events, None, str(found)))

    return await call.writer.do(work, alone=True)


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
