"""What is believed, column by column, for the page: curves with bands, calibration, and what has moved since a day."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
from msgspec import Struct, field

from ..._files import for_json
from ...errors import InputError, OptionError
from ...evaluate import Estimate
from ...features import FeatureMap
from ...features.model_curves import ColumnCurve
from ...policies import Policy
from ...records.events import UNKNOWN
from ...reports.facts import share
from ...reports.model import Model, model_from, told_of
from ...streams import Stream
from ...streams.recovery import policy_at
from ..operations import STREAM, Call, Query, Reply, operation
from .days import LEVEL, Amount, Day, day_of
from .read_model import ReadModel, day_name

#: Bins of the picture of calibration, and labels that one of them has at least.
BINS, LEAST = 10, 20
NO_MAP = "the items of this stream are vectors, so there are no columns to draw; GET .../model has the coefficients"


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


def curves_read(
    read_model: ReadModel, policy: Policy, features: FeatureMap | None, by_item: bool, since: int | None
) -> CurvesRead:
    """Return everything; ``since`` is the number of the day that the columns are compared with."""
    bins = calibration(read_model)
    labels = sum(one.count for one in bins)
    nothing: dict[str, Any] = dict.fromkeys(("columns", "positives", "threshold", "typical", "certificate", "since"))
    if features is None:
        return CurvesRead(**nothing, calibration=bins, labels=labels, notes=[NO_MAP])
    try:
        model = model_from(policy, features, by_item)
    except OptionError as error:  # a policy without a model
        return CurvesRead(**nothing, calibration=bins, labels=labels, notes=[str(error)])
    notes = model.sentences()
    then, told = (None, None) if since is None else earlier(read_model, features, by_item, since, notes)
    low, high = model.interval
    found = model.certificate
    return CurvesRead(
        columns=[column_read(column, then) for column in model.curves],
        calibration=bins,
        labels=model.labels,
        positives=model.positives,
        threshold=model.threshold,
        typical=Amount(model.chance, None if model.point else low, None if model.point else high),
        certificate=None if found is None else for_json({**vars(found), "per_feature": found.per_feature}),
        since=told,
        notes=notes,
    )


def earlier(
    read_model: ReadModel, features: FeatureMap, by_item: bool, since: int, notes: list[str]
) -> tuple[Model | None, dict[str, Any] | None]:
    """Return the model as it was before the first decision of a day, and what to say of it."""
    with read_model.lock:
        rows = np.flatnonzero(read_model.columns.number("day") >= since)
        last = int(read_model.columns.number("seq")[rows[0]]) - 1 if len(rows) else read_model.seq
    try:
        model: Model = read_model.once(
            "then", last, lambda: model_from(policy_at(read_model.writer.place, last), features, by_item)
        )
    except InputError as error:
        notes.append(str(error))
        return None, None
    return model, {"day": day_name(since), "events": last, "labels": model.labels}


def column_read(column: ColumnCurve, then: Model | None) -> CurveRead:
    """Return one column, with what it was on an earlier day where that is known."""
    before, moved = then_of(column, then)
    given: dict[str, Any] = {}
    bands = [band_of(mean, spread) for mean, spread in zip(column.mean, column.spread, strict=True)]
    rows = zip(column.values, bands, before, strict=True)
    if column.by_level:
        counts = column.seen or (None,) * len(column.values)
        given["levels"] = [
            CurveLevel(level=str(value), count=count, then=past, **band)
            for (value, band, past), count in zip(rows, counts, strict=True)
        ]
    else:
        grid = np.array(column.values, dtype=np.float64).tolist()
        given["points"] = [
            CurvePoint(x=x, then=past, **band) for x, band, past in zip(grid, bands, before, strict=True)
        ]
        pairs = zip(column.edges, column.edges[1:], column.seen, strict=False)
        given["histogram"] = [Bin(low, high, count) for low, high, count in pairs]
    if column.missing is not None:
        given["missing"] = CurveLevel(level="missing", count=column.missing_seen, **band_of(*column.missing))
    return CurveRead(
        column.name, column.kind, column.moves, told_of(column), typical=column.typical, change=moved, **given
    )


def band_of(mean: float, spread: float) -> dict[str, float]:
    """Return a mean with the ends of its bands."""
    fifty, ninety = (NormalDist().inv_cdf(0.5 + 0.5 * band) * spread for band in (0.5, LEVEL))
    ends = {"low50": mean - fifty, "high50": mean + fifty, "low90": mean - ninety, "high90": mean + ninety}
    return {"mean": mean, **ends}


def then_of(column: ColumnCurve, then: Model | None) -> tuple[Sequence[float | None], float | None]:
    """Return what a column added on an earlier day at each of its values, and how far it has moved most since."""
    curves = () if then is None else then.curves
    past = next((one for one in curves if one.name == column.name and one.values == column.values), None)
    if past is None:
        return [None] * len(column.mean), None
    moves = np.array(column.mean) - np.array(past.mean)
    return past.mean, float(moves[int(np.argmax(np.abs(moves)))])


def calibration(read_model: ReadModel) -> list[CalibrationBin]:
    """Return labelled acts by the chance that they had, in bins of equally many; Wilson's interval for each share."""
    with read_model.lock:
        columns = read_model.columns
        chance, label = np.array(columns.amount("chance")), np.array(columns.flag("label"))
    known = (label != UNKNOWN) & ~np.isnan(chance)
    chance, label = chance[known], label[known]
    if not len(chance):
        return []
    order = np.argsort(chance, kind="stable")
    chance, label = chance[order], label[order]
    parts = max(1, min(BINS, len(chance) // LEAST))
    found = []
    for mine in np.array_split(np.arange(len(chance)), parts):
        seen = share(int(label[mine].sum()), len(mine), LEVEL)
        assert isinstance(seen, Estimate)  # there are labels
        ends = (float(chance[mine[0]]), float(chance[mine[-1]]))
        found.append(CalibrationBin(*ends, len(mine), float(chance[mine].mean()), seen.value, seen.low, seen.high))
    return found


@operation(
    "GET",
    STREAM + "/model/curves",
    scope="read",
    query={"since": Query(Day | None, None, "A day that the columns are compared with.")},
)
async def curves(call: Call[None]) -> Reply[CurvesRead]:
    """Return what each column adds to the score, with bands, calibration, and what has moved since a day."""
    since, read_model = day_of(call, "since"), call.host.read_model(call.stream)

    def copied(stream: Stream) -> tuple[Any, ...]:
        return stream.player.policy.copy(), stream.features, stream.settings["costs_by_item"] is not None

    policy, features, by_item = await call.writer.do(copied)
    return Reply.of(await call.host.aside(lambda: curves_read(read_model.catch_up(), policy, features, by_item, since)))
