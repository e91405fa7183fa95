"""What is believed, column by column, for the page: curves with bands, calibration, and what has moved since a day."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from ..._files import for_json
from ...errors import InputError, OptionError
from ...evaluate import Estimate
from ...features import FeatureMap
from ...features.model_curves import ColumnCurve
from ...policies import Policy
from ...records.events import UNKNOWN
from ...reports.facts import share
from ...reports.model import Model, model_from, told_of
from ...streams.recovery import policy_at
from .columns import day_name
from .days import LEVEL
from .following import Following
from .numbers import Amount, Bin, CalibrationBin, CurveLevel, CurvePoint, CurveRead, CurvesRead

#: Bins of the picture of calibration, and labels that one of them has at least.
BINS, LEAST = 10, 20
NO_MAP = "the items of this stream are vectors, so there are no columns to draw; GET .../model has the coefficients"


def curves_read(
    following: Following, policy: Policy, features: FeatureMap | None, by_item: bool, since: int | None
) -> CurvesRead:
    """Return everything; ``since`` is the number of the day that the columns are compared with."""
    bins = calibration(following)
    labels = sum(one.count for one in bins)
    nothing: dict[str, Any] = dict.fromkeys(("columns", "positives", "threshold", "typical", "certificate", "since"))
    if features is None:
        return CurvesRead(**nothing, calibration=bins, labels=labels, notes=[NO_MAP])
    try:
        model = model_from(policy, features, by_item)
    except OptionError as error:  # a policy without a model
        return CurvesRead(**nothing, calibration=bins, labels=labels, notes=[str(error)])
    notes = model.sentences()
    then, told = (None, None) if since is None else earlier(following, features, by_item, since, notes)
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
    following: Following, features: FeatureMap, by_item: bool, since: int, notes: list[str]
) -> tuple[Model | None, dict[str, Any] | None]:
    """Return the model as it was before the first decision of a day, and what to say of it."""
    with following.lock:
        rows = np.flatnonzero(following.columns.number("day") >= since)
        last = int(following.columns.number("seq")[rows[0]]) - 1 if len(rows) else following.seq
    try:
        model: Model = following.once(
            "then", last, lambda: model_from(policy_at(following.writer.place, last), features, by_item)
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


def calibration(following: Following) -> list[CalibrationBin]:
    """Return labelled acts by the chance that they had, in bins of equally many; Wilson's interval for each share."""
    with following.lock:
        columns = following.columns
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
