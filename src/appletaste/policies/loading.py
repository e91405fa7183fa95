"""Reading saved policies back (docs/save-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from numpy.typing import NDArray

from .._files import open_archive
from ..costs import Costs
from ..posteriors import Adf, Arrays, Ball, Box, Exact, Gaussian, Gibbs, Laplace, Map
from ..rules import EpsilonGreedy, InformationDirected, Thompson, Traditional, UpperBound, ValueOfInformation
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .policy import Policy
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
    with open_archive(path, "policy", FORMAT) as (header, state):
        return rebuild(header, parts_of(state)["policy"])


def parts_of(state: Mapping[str, NDArray[Any]]) -> dict[str, Arrays]:
    """Return the arrays of a file by whom they belong to: the policy, its features, what it awaits."""
    parts: dict[str, Arrays] = {"policy": {}, "features": {}, "awaiting": {}}
    for name, array in state.items():
        place, _, rest = name.partition(".")
        whose, own = (place, rest) if place in parts and rest else ("policy", name)
        parts[whose][own] = array
    return parts


def rebuild(header: dict[str, Any], state: Arrays) -> Policy:
    """Return the policy that ``header_of`` and ``state_of`` describe."""
    policy = Policy(
        decode(header["method"]),
        n_features=header["n_features"],
        costs=Costs(**header["costs"]),
        seed=header["seed"],
        name=header["name"],
    )
    policy._take(state, state["rounds"].tolist(), header["round"], header.get("now"))
    return policy
