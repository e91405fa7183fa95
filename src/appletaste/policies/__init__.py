"""Policies: a posterior and a rule, or an estimator of their own, behind one interface."""

import sys
from types import ModuleType

from .awaiting import Awaiting
from .base import Policy
from .bayesian import Bayesian
from .believed import CurrentPosterior
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .learner import Learner, Method
from .loading import load
from .registry import OPTION_HELP, POLICIES, PolicyInfo, find, policies, policy
from .sup_logistic import SupLogistic


class _CallableModule(ModuleType):
    """``appletaste.policies()`` is public; once this package is loaded its name there means the package."""

    def __call__(self) -> list[PolicyInfo]:
        return policies()


sys.modules[__name__].__class__ = _CallableModule

__all__ = [
    "OPTION_HELP",
    "POLICIES",
    "Awaiting",
    "Bayesian",
    "CbpSide",
    "Constant",
    "CurrentPosterior",
    "Learner",
    "Method",
    "Oracle",
    "Policy",
    "PolicyInfo",
    "SupLogistic",
    "find",
    "load",
    "policies",
    "policy",
]
