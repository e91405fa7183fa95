"""Reading saved policies back (docs/save-format.md)."""

from __future__ import annotations

import json
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..costs import Costs
from ..errors import AppleTasteError, SaveFileError
from ..posteriors import Adf, Ball, Box, Exact, Gaussian, Gibbs, Laplace, Map
from ..rules import EpsilonGreedy, InformationDirected, Thompson, Traditional, UpperBound, ValueOfInformation
from .base import Policy
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .saving import FORMAT
from .sup_logistic import SupLogistic

#: Every kind of settings that a saved policy may name.
SETTINGS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Ball, Box, Exact, Gaussian, Gibbs, Map, Laplace, Adf),
        *(Thompson, InformationDirected, Traditional, EpsilonGreedy, ValueOfInformation, UpperBound),
        *(Bayesian, CbpSide, SupLogistic, Constant, Oracle),
    )
}

#: What a broken zip file, or settings that cannot be, raise beyond the ordinary.
DAMAGE = (zipfile.BadZipFile, zlib.error, AppleTasteError)


def decode(value: Any) -> Any:
    """Return the settings that ``encode`` was given."""
    if isinstance(value, dict):
        fields = {name: decode(part) for name, part in value.items() if name != "kind"}
        return SETTINGS[value["kind"]](**fields)
    if isinstance(value, list):
        return [decode(part) for part in value]
    return value


def load(path: str | PathLike[str]) -> Policy:
    """Read a saved policy; it continues exactly where it was saved."""
    try:
        with Path(path).open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            header = json.loads(file["header"].tobytes())
            if header["format"] != FORMAT:
                raise SaveFileError(f"{path} has save format {header['format']}; this version reads format {FORMAT}")
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
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, RuntimeError, *DAMAGE) as error:
        raise SaveFileError(f"{path} is not a readable appletaste policy, or is damaged: {error}") from error
