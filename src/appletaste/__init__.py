"""Decide which items to act on when the true label is seen only if you act.

The public names, loaded when first used: importing the package costs nothing, and ``appletaste --help`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .audit import Audit as Audit
    from .audit_plan import AuditPlan as AuditPlan
    from .audit_plan import plan_audit as plan_audit
    from .budget import Budget as Budget
    from .costs import Costs as Costs
    from .decision import Decision as Decision
    from .decision import Decisions as Decisions
    from .decision import Observation as Observation
    from .desk import Desk as Desk
    from .engines import engine as engine
    from .errors import AppleTasteError as AppleTasteError
    from .errors import CostsError as CostsError
    from .errors import DataError as DataError
    from .errors import EngineError as EngineError
    from .errors import FeedbackError as FeedbackError
    from .errors import InputError as InputError
    from .errors import MissingExtraError as MissingExtraError
    from .errors import OneClassWarning as OneClassWarning
    from .errors import OptionError as OptionError
    from .errors import PoorFitWarning as PoorFitWarning
    from .errors import SaveFileError as SaveFileError
    from .evaluate import DecisionLog as DecisionLog
    from .evaluate import Estimate as Estimate
    from .evaluate import Missed as Missed
    from .evaluate import Refusal as Refusal
    from .evaluate import WhatIf as WhatIf
    from .evaluate import missed as missed
    from .evaluate import obp_feedback as obp_feedback
    from .evaluate import vw_dsjson as vw_dsjson
    from .evaluate import vw_text as vw_text
    from .evaluate import what_if as what_if
    from .example_file import write_orders as write_orders
    from .explaining import Contribution as Contribution
    from .explaining import Explanation as Explanation
    from .explaining import Reason as Reason
    from .explaining import explain as explain
    from .features import Encoder as Encoder
    from .features import FeatureMap as FeatureMap
    from .features import Records as Records
    from .features import TransformerMap as TransformerMap
    from .features import read_records as read_records
    from .keys import Key as Key
    from .ledger import Ledger as Ledger
    from .ledger import Receipt as Receipt
    from .metrics import Summary as Summary
    from .metrics import calibration as calibration
    from .metrics import precision as precision
    from .metrics import recall as recall
    from .metrics import summarise as summarise
    from .policies import Awaiting as Awaiting
    from .policies import Bayesian as Bayesian
    from .policies import CbpSide as CbpSide
    from .policies import Constant as Constant
    from .policies import CurrentPosterior as CurrentPosterior
    from .policies import Oracle as Oracle
    from .policies import Policy as Policy
    from .policies import PolicyInfo as PolicyInfo
    from .policies import SupLogistic as SupLogistic
    from .policies import load as load
    from .policies import policies as policies
    from .policies import policy as policy
    from .polyagamma import random_polyagamma as random_polyagamma
    from .posteriors import Adf as Adf
    from .posteriors import Ball as Ball
    from .posteriors import Box as Box
    from .posteriors import Certificate as Certificate
    from .posteriors import Exact as Exact
    from .posteriors import Gaussian as Gaussian
    from .posteriors import Gibbs as Gibbs
    from .posteriors import Laplace as Laplace
    from .posteriors import Map as Map
    from .problems import Table as Table
    from .problems import problem as problem
    from .replaying import Delay as Delay
    from .replaying import PolicyReplay as PolicyReplay
    from .replaying import ReplayResult as ReplayResult
    from .replaying import replay as replay
    from .reporting import write_report as write_report
    from .rules import EpsilonGreedy as EpsilonGreedy
    from .rules import InformationDirected as InformationDirected
    from .rules import Memoryless as Memoryless
    from .rules import Thompson as Thompson
    from .rules import Traditional as Traditional
    from .rules import UpperBound as UpperBound
    from .rules import ValueOfInformation as ValueOfInformation
    from .simulate import Entry as Entry
    from .simulate import Trace as Trace
    from .simulate import play as play
    from .simulate import replicate as replicate
    from .watching import Alarm as Alarm
    from .watching import DriftReport as DriftReport
    from .watching import DriftWatch as DriftWatch
    from .watching import PageHinkley as PageHinkley
    from .watching import Stability as Stability
    from .watching import drift as drift
    from .watching import psi as psi

__version__ = "0.1.0"

#: Where each name is; the same as above, for when the program runs.
_HOME = {
    "audit": "Audit",
    "audit_plan": "AuditPlan plan_audit",
    "budget": "Budget",
    "costs": "Costs",
    "decision": "Decision Decisions Observation",
    "desk": "Desk",
    "engines": "engine",
    "errors": (
        "AppleTasteError CostsError DataError EngineError FeedbackError InputError MissingExtraError "
        "OneClassWarning OptionError PoorFitWarning SaveFileError"
    ),
    "evaluate": "DecisionLog Estimate Missed Refusal WhatIf missed obp_feedback vw_dsjson vw_text what_if",
    "example_file": "write_orders",
    "explaining": "Contribution Explanation Reason explain",
    "features": "Encoder FeatureMap Records TransformerMap read_records",
    "keys": "Key",
    "ledger": "Ledger Receipt",
    "metrics": "Summary calibration precision recall summarise",
    "policies": (
        "Awaiting Bayesian CbpSide Constant CurrentPosterior Oracle Policy PolicyInfo SupLogistic load policies policy"
    ),
    "polyagamma": "random_polyagamma",
    "posteriors": "Adf Ball Box Certificate Exact Gaussian Gibbs Laplace Map",
    "problems": "Table problem",
    "replaying": "Delay PolicyReplay ReplayResult replay",
    "reporting": "write_report",
    "rules": "EpsilonGreedy InformationDirected Memoryless Thompson Traditional UpperBound ValueOfInformation",
    "simulate": "Entry Trace play replicate",
    "watching": "Alarm DriftReport DriftWatch PageHinkley Stability drift psi",
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = ["__version__", *sorted(_MODULE_OF)]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'appletaste' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
