"""What a saved policy holds: its settings as JSON, its state as arrays (docs/save-format.md)."""

from __future__ import annotations

import dataclasses
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from .._files import write_archive
from ..errors import InputError, SaveFileError

if TYPE_CHECKING:
    from ..features import FeatureMap
    from ..posteriors import Arrays
    from .policy import Policy

FORMAT = 2


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


def header_of(policy: Policy) -> dict[str, Any]:
    """Return the settings of a policy, as JSON."""
    return {
        "format": FORMAT,
        "name": policy.name,
        "method": encode(policy.method),
        "n_features": policy.n_features,
        "costs": policy.costs.outcomes(),
        "seed": int(policy.seed),
        "round": policy.round,
        "now": policy.now,
    }


def state_of(policy: Policy) -> dict[str, Any]:
    """Return all that a policy carries, as arrays."""
    return {**policy.learner.arrays(), "rounds": np.array(policy._rounds, dtype=np.int64)}


def save(
    policy: Policy, path: str | PathLike[str], features: FeatureMap | None = None, awaiting: Arrays | None = None
) -> None:
    """Write a policy to a file, with the map that makes its vectors and what is on its way, if there are such."""
    header, state = header_of(policy), state_of(policy)
    if features is not None:
        if features.n_features != policy.n_features:
            raise InputError(
                f"this map gives vectors of {features.n_features} features, the policy takes {policy.n_features}"
            )
        header["features"] = features.header()
        state |= {f"features.{name}": array for name, array in features.arrays().items()}
    state |= {f"awaiting.{name}": array for name, array in (awaiting or {}).items()}
    write_archive(path, header, state)
