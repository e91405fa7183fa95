"""Settings as JSON and back: what a saved policy says of how it decides (docs/save-format.md)."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from ..errors import SaveFileError


def encode(value: Any) -> Any:
    """Return settings as JSON: a dataclass becomes an object with its kind and its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        if not kind.__module__.startswith("appletaste."):
            raise SaveFileError(f"cannot save {kind.__name__}: only the settings of this package have a saved form")
        return {"kind": kind.__name__, **{f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise SaveFileError(f"cannot save {type(value).__name__}: only the settings of this package have a saved form")


def decode(value: Any, kinds: dict[str, Any]) -> Any:
    """Return the settings that ``encode`` was given; ``kinds`` are those that a file may name."""
    if isinstance(value, dict):
        fields = {name: decode(part, kinds) for name, part in value.items() if name != "kind"}
        if value["kind"] not in kinds:
            raise SaveFileError(
                f"the file has settings of the kind {value['kind']!r}, which are not known: a later version wrote the "
                "file, or an adapter that is to be imported first, such as appletaste.adapters.sklearn"
            )
        return kinds[value["kind"]](**fields)
    if isinstance(value, list):
        return [decode(part, kinds) for part in value]
    return value
