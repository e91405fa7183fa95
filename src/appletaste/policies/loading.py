"""A saved policy, rebuilt (docs/save-format.md)."""

from __future__ import annotations

from typing import Any

from ..costs import Costs
from ..posteriors import Adf, Arrays, Ball, Box, Exact, Gaussian, Gibbs, Laplace, Map
from ..rules import (
    EpsilonGreedy,
    InformationDirected,
    Thompson,
    Traditional,
    UpperBound,
    ValueOfInformation,
)
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .pairs import Pairs
from .policy import Policy
from .settings import decode
from .sup_logistic import SupLogistic
from .widening import Widened

#: Every kind of settings that a saved policy may name.
SETTINGS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Ball, Box, Exact, Gaussian, Gibbs, Map, Laplace, Adf),
        *(Thompson, InformationDirected, Traditional, EpsilonGreedy, ValueOfInformation, UpperBound),
        *(Bayesian, CbpSide, SupLogistic, Constant, Oracle, Widened, Pairs),
    )
}


def rebuild_policy(header: dict[str, Any], arrays: Arrays) -> Policy:
    """Return the policy that ``Policy.header`` and ``Policy.arrays`` describe; it continues bit for bit."""
    policy = Policy(
        decode(header["method"], SETTINGS),
        n_features=header["n_features"],
        costs=Costs(**header["costs"]),
        seed=header["seed"],
        name=header["name"],
    )
    policy.restore(arrays, header["round"], header["now"])
    return policy
