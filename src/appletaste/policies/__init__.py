"""Policies: a posterior and a rule, or an estimator of their own, behind one interface."""

from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .learner import Learner, Method
from .player import Player, Prospect
from .policy import Policy
from .posterior import CurrentPosterior
from .reasons import REASONS, Reason
from .registry import (
    OPTION_HELP,
    POLICIES,
    PolicyInfo,
    PolicySpec,
    find,
    list_policies,
    option_help,
    policy,
    rebuild_policy,
)
from .sup_logistic import SupLogistic

__all__ = [
    "OPTION_HELP",
    "POLICIES",
    "REASONS",
    "Bayesian",
    "CbpSide",
    "Constant",
    "CurrentPosterior",
    "Learner",
    "Method",
    "Oracle",
    "Player",
    "Policy",
    "PolicyInfo",
    "PolicySpec",
    "Prospect",
    "Reason",
    "SupLogistic",
    "find",
    "list_policies",
    "option_help",
    "policy",
    "rebuild_policy",
]
