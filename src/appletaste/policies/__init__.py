"""Policies: a posterior and a rule, or an estimator of their own, behind one interface."""

from .base import Learner, Method, Policy
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .loading import load
from .registry import OPTION_HELP, POLICIES, PolicyInfo, find, policies, policy
from .sup_logistic import SupLogistic

__all__ = [
    "OPTION_HELP",
    "POLICIES",
    "Bayesian",
    "CbpSide",
    "Constant",
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
