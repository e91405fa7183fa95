"""Saved policies: one zip file of NumPy arrays with a JSON header, no pickle (docs/save-format.md)."""

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..costs import Costs
from ..errors import AppleTasteError, SaveFileError
from ..posteriors import Ball, Box, Gaussian, Gibbs, Map
from ..rules import EpsilonGreedy, InformationDirected, Thompson, Traditional
from .base import Policy
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .sup_logistic import SupLogistic

FORMAT = 1
_SETTINGS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Ball, Box, Gaussian, Gibbs, Map),
        *(Thompson, InformationDirected, Traditional, EpsilonGreedy),
        *(Bayesian, CbpSide, SupLogistic, Constant, Oracle),
    )
}


def encode(value: Any) -> Any:
    """Return settings as JSON: a dataclass becomes an object with its kind and its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"kind": type(value).__name__, **fields}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    return value


def decode(value: Any) -> Any:
    """Return the settings that ``encode`` was given."""
    if isinstance(value, dict):
        fields = {name: decode(part) for name, part in value.items() if name != "kind"}
        return _SETTINGS[value["kind"]](**fields)
    if isinstance(value, list):
        return [decode(part) for part in value]
    return value


def save(policy: Policy, path: str | PathLike[str]) -> None:
    """Write a policy to a file, aside first and then renamed, so that no reader ever sees half of one."""
    if type(policy.method).__name__ not in _SETTINGS:
        raise SaveFileError(f"cannot save {policy.name}: only the policies of this package have a saved form")
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
    handle, aside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        Path(aside).replace(target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def load(path: str | PathLike[str]) -> Policy:
    """Read a saved policy; it continues exactly where it was saved."""
    try:
        with np.load(path, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes())
            if header["format"] != FORMAT:
                raise SaveFileError(
                    f"{path} has save format {header['format']}; this version reads format {FORMAT}"
                )
            policy = Policy(
                decode(header["method"]),
                n_features=header["n_features"],
                costs=Costs(**header["costs"]),
                seed=header["seed"],
                name=header["name"],
            )
            state = {name.removeprefix("state."): file[name] for name in file.files if name.startswith("state.")}
            policy._learner.restore(state)
            policy.round = header["round"]
            return policy
    except (FileNotFoundError, IsADirectoryError, PermissionError, SaveFileError):
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, zlib.error, AppleTasteError) as error:
        raise SaveFileError(f"{path} is not a readable appletaste policy, or is damaged: {error}") from error
