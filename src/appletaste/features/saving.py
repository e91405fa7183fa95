"""What a saved map holds: settings and levels as JSON, statistics as an array (docs/save-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import SaveFileError
from .columns import Category, Column, Hashed, Hasher
from .curves import Curve
from .dates import Date, Days
from .levels import Open
from .numbers import Number
from .score import Score
from .seen import Seen

if TYPE_CHECKING:
    from .feature_map import FeatureMap

FORMAT = 5


def header_of(features: FeatureMap) -> dict[str, Any]:
    """Return everything of a map but its statistics."""
    return {
        "kind": "features",
        "format": FORMAT,
        "encoder": asdict(features.encoder),
        "missing": list(features.missing),
        "columns": [column.header() for column in features.columns],
        "curves": [curve.header() for curve in features.curves],
        "dropped": list(features.dropped),
        "seen": {name: seen.header() for name, seen in features.seen.items()},
        "made": features.made,
        "missing_fields": dict(features.missing_fields),
        "unreadable": features.unreadable,
    }


def rebuild(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> FeatureMap:
    """Return the map that was described."""
    from .encoder import Encoder
    from .feature_map import FeatureMap

    if "encoder" not in header:
        raise ValueError("the file holds a policy and no feature map")
    if header["format"] != FORMAT:
        raise SaveFileError(f"a feature map of save format {header['format']}; this version reads format {FORMAT}")
    encoder = Encoder(**header["encoder"])
    hasher = Hasher(encoder.hashing or 0)
    settings = (encoder.standardise, encoder.clip, encoder.online)
    columns: list[Column] = []
    for saved in header["columns"]:
        if saved["kind"] == Number.kind:
            columns.append(Number(saved["name"], *settings, saved["indicator"]))
        elif saved["kind"] == Score.kind:
            columns.append(Score(saved["name"], *settings, saved["indicator"], saved["edge"]))
        elif saved["kind"] == Date.kind:
            date = Date(saved["name"], saved["cycles"], saved["since"], saved["indicator"], *settings)
            date.unreadable = header["unreadable"][date.name]
            columns.append(date)
        elif saved["kind"] == Days.kind:
            columns.append(Days(saved["name"], saved["later"], saved["earlier"], *settings, saved["indicator"]))
        elif saved["kind"] == Category.kind:
            columns.append(Category(saved["name"], saved["levels"], saved["room"], saved["missing"]))
        elif saved["kind"] == Open.kind:
            columns.append(Open(saved["name"], saved["levels"]))
        elif saved["kind"] == Hashed.kind:
            columns.append(Hashed(saved["name"], hasher))
        else:
            raise ValueError(f"there is no kind of column {saved['kind']!r}")
    running = [number for column in columns for number in column.running()]
    for number, statistics in zip(running, arrays["statistics"].tolist(), strict=True):
        number.take(*statistics)
    by_name = {column.name: column for column in columns if isinstance(column, Number)}
    curves = [Curve(by_name[saved.pop("name")], **saved) for saved in map(dict, header["curves"])]
    seen = {name: Seen.restore(saved) for name, saved in header["seen"].items()}
    features = FeatureMap(encoder, columns, tuple(header["missing"]), hasher, tuple(header["dropped"]), curves, seen)
    features.made = header["made"]
    features.missing_fields.update(header["missing_fields"])
    return features
