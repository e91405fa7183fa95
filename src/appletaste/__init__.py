"""Decide which items to act on when the true label is seen only if you act.

The names that most people need are here; the rest live in their rooms, ``at.rules.Thompson()``. Everything is loaded
when it is first used: importing the package costs nothing, and ``appletaste --help`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .costs import Costs as Costs
    from .costs_by_item import CostsByItem as CostsByItem
    from .decision import Decision as Decision
    from .errors import AppleTasteError as AppleTasteError
    from .evaluate import explain as explain
    from .evaluate import missed as missed
    from .evaluate import plan_audit as plan_audit
    from .evaluate import what_if as what_if
    from .features import Encoder as Encoder
    from .features import FeatureMap as FeatureMap
    from .keys import Key as Key
    from .logs import DecisionLog as DecisionLog
    from .policies import Policy as Policy
    from .policies import list_policies as list_policies
    from .policies import policy as policy
    from .posteriors import random_polyagamma as random_polyagamma
    from .problems import problem as problem
    from .replays import replay as replay
    from .reports import write_report as write_report
    from .service import connect as connect
    from .simulate import play as play
    from .simulate import replicate as replicate
    from .streams import Audit as Audit
    from .streams import Budget as Budget
    from .streams import Desk as Desk
    from .streams import Stream as Stream
    from .streams import load as load
    from .streams import load_policy as load_policy
    from .tables import read_records as read_records

__version__ = "0.1.0"

#: Where each name is; the same as above, for when the program runs.
_HOME = {
    "costs": "Costs",
    "costs_by_item": "CostsByItem",
    "decision": "Decision",
    "errors": "AppleTasteError",
    "evaluate": "explain missed plan_audit what_if",
    "features": "Encoder FeatureMap",
    "tables": "read_records",
    "keys": "Key",
    "logs": "DecisionLog",
    "policies": "Policy list_policies policy",
    "posteriors": "random_polyagamma",
    "problems": "problem",
    "replays": "replay",
    "reports": "write_report",
    "service": "connect",
    "simulate": "play replicate",
    "streams": "Audit Budget Desk Stream load load_policy",
}
#: The rooms, in the order of a decision's life; then ways of producing and of studying it.
ROOMS = (
    *("tables", "features", "history", "posteriors", "rules", "policies", "streams", "records", "logs", "evaluate"),
    *("drift", "reports", "problems", "simulate", "replays", "service", "paper", "theory", "engines"),
    *("adapters", "decision", "errors"),
)
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name in ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'appletaste' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return ["__version__", *__all__, *ROOMS]
