"""What a stream of decisions says afterwards: the decision log, what was missed, and what another policy would cost."""

from .answers import Estimate, Refusal
from .counterfactual import WhatIf, what_if
from .exports import obp_feedback, vw_dsjson, vw_text
from .log import DecisionLog
from .meter import Missed, missed

__all__ = [
    "DecisionLog",
    "Estimate",
    "Missed",
    "Refusal",
    "WhatIf",
    "missed",
    "obp_feedback",
    "vw_dsjson",
    "vw_text",
    "what_if",
]
