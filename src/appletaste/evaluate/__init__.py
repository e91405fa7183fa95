"""What a stream of decisions says afterwards: what was missed, what another policy would cost, and why."""

from .alternatives import OwnThreshold
from .answers import Estimate, Refusal
from .audit_plan import AuditPlan, plan_audit
from .explain import explain
from .explanation import Contribution, Explanation
from .missed import Missed, missed
from .money_missed import MoneyMissed
from .reasons import REASONS, Reason
from .what_if import WhatIf, what_if

__all__ = [
    "REASONS",
    "AuditPlan",
    "Contribution",
    "Estimate",
    "Explanation",
    "Missed",
    "MoneyMissed",
    "OwnThreshold",
    "Reason",
    "Refusal",
    "WhatIf",
    "explain",
    "missed",
    "plan_audit",
    "what_if",
]
