"""Decide which items to act on when the true label is seen only if you act.

The public names, loaded when first used: importing the package costs nothing, and ``appletaste --help`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .costs import Costs
    from .decision import Decision, Observation
    from .errors import (
        AppleTasteError,
        CostsError,
        FeedbackError,
        InputError,
        MissingExtraError,
        OptionError,
        SaveFileError,
    )
    from .keys import Key
    from .metrics import Summary, calibration, precision, recall, summarise
    from .policies import (
        Bayesian,
        CbpSide,
        Constant,
        Oracle,
        Policy,
        PolicyInfo,
        SupLogistic,
        load,
        policies,
        policy,
    )
    from .polyagamma import random_polyagamma
    from .posteriors import Ball, Box, Gaussian, Gibbs, Map
    from .problems import Table, problem, problems
    from .rules import EpsilonGreedy, InformationDirected, Thompson, Traditional
    from .simulate import Trace, play, replicate

__version__ = "0.1.0"

_HOME = {
    "costs": ("Costs",),
    "decision": ("Decision", "Observation"),
    "errors": (
        "AppleTasteError",
        "CostsError",
        "FeedbackError",
        "InputError",
        "MissingExtraError",
        "OptionError",
        "SaveFileError",
    ),
    "keys": ("Key",),
    "metrics": ("Summary", "calibration", "precision", "recall", "summarise"),
    "policies": (
        "Bayesian",
        "CbpSide",
        "Constant",
        "Oracle",
        "Policy",
        "PolicyInfo",
        "SupLogistic",
        "load",
        "policies",
        "policy",
    ),
    "polyagamma": ("random_polyagamma",),
    "posteriors": ("Ball", "Box", "Gaussian", "Gibbs", "Map"),
    "problems": ("Table", "problem", "problems"),
    "rules": ("EpsilonGreedy", "InformationDirected", "Thompson", "Traditional"),
    "simulate": ("Trace", "play", "replicate"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'appletaste' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
