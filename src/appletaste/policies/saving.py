"""Saved policies: one zip file of NumPy arrays with a JSON header, no pickle (docs/save-format.md)."""

from __future__ import annotations

import dataclasses
import json
import os
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SaveFileError

if TYPE_CHECKING:
    from .base import Policy

FORMAT = 1


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


def save(policy: Policy, path: str | PathLike[str]) -> None:
    """Write a policy to a file, aside first and then renamed, so that no reader ever sees half of one."""
    header = {
        "format": FORMAT,
        "name": policy.name,
        "method": encode(policy.method),
        "n_features": policy.n_features,
        "costs": policy.costs.outcomes(),
        "seed": int(policy.seed),
        "round": policy.round,
    }
    arrays: dict[str, Any] = {f"state.{name}": array for name, array in policy._learner.arrays().items()}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to save {target.name} in")
    aside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with aside.open("wb") as file:
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
