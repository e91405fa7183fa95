"""Questions to a stream: what is believed, what is missed, and has the stream changed."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np

from .. import evaluate
from .._files import for_json
from ..drift import check
from ..errors import OptionError
from ..streams import Stream
from .answers import Coefficient, Estimates, ModelRead
from .operations import Call, Query, Reply, operation
from .review.curves import curves_read
from .review.numbers import CurvesRead
from .review.routes_numbers import Day, day_of
from .routes_decisions import STREAM
from .routes_log import table

Level = Annotated[float, msgspec.Meta(gt=0, lt=1)]
_LEVEL = Query(Level, 0.9, "The confidence of the intervals.")


def described(stream: Stream) -> ModelRead:
    """Return what the policy of a stream believes now."""
    policy, coefficients = stream.player.policy, None
    try:
        belief = policy.posterior
        mean = belief.mean
        sd = None if belief.is_point else np.sqrt(np.diag(belief.covariance)).tolist()
        width = policy.n_features
        names = [f"x{k + 1}" for k in range(width)] if stream.features is None else stream.features.names()
        parts = zip(names, mean.tolist(), [None] * width if sd is None else sd, strict=True)
        coefficients = [Coefficient(*part) for part in parts]
    except OptionError:  # a policy without a model
        coefficients = None
    return ModelRead(policy.name, policy.round, len(stream), coefficients)


@operation("GET", STREAM + "/model", scope="read")
async def model(call: Call[None]) -> Reply[ModelRead]:
    """Return what the policy believes now."""
    return await call.writer.do(lambda stream: Reply.of(described(stream)))


@operation("GET", STREAM + "/missed", scope="read", query={"level": _LEVEL}, problems=("cannot-happen",))
async def missed(call: Call[None]) -> Reply[Estimates]:
    """Say how many positives were passed, with intervals, or why the log cannot say."""
    following, level = call.host.following(call.stream), call.query["level"]

    def work() -> Any:
        with following.catch_up().lock:  # whoever asks again hears the same until something happens
            name, seq = ("missed", level), following.seq
            return following.once(name, seq, lambda: evaluate.missed(table(following.writer), level).as_dict())

    return Reply.of(for_json(await call.host.aside(work)))


@operation(
    "GET",
    STREAM + "/model/curves",
    scope="read",
    query={"since": Query(Day | None, None, "A day that the columns are compared with.")},
)
async def curves(call: Call[None]) -> Reply[CurvesRead]:
    """Return what each column adds to the score, with bands, calibration, and what has moved since a day."""
    since, following = day_of(call, "since"), call.host.following(call.stream)

    def copied(stream: Stream) -> tuple[Any, ...]:
        return stream.player.policy.copy(), stream.features, stream.settings["costs_by_item"] is not None

    policy, features, by_item = await call.writer.do(copied)
    return Reply.of(await call.host.aside(lambda: curves_read(following.catch_up(), policy, features, by_item, since)))


@operation("GET", STREAM + "/drift", scope="read", problems=("cannot-happen",))
async def drift(call: Call[None]) -> Reply[Estimates]:
    """Say whether the stream is still the one that was learnt."""
    writer = call.writer

    def work() -> Any:
        found = check(table(writer), names=writer.names)
        return {"alarms": list(found), "items": found.items, "labels": found.labels, "notes": list(found.notes)}

    return Reply.of(for_json(await call.host.aside(work)))
