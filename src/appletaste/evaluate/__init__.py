"""What a stream of decisions says afterwards: what was missed, what another policy would cost, and why."""

from .alternatives import OwnThreshold
from .answers import Estimate, Refusal
from .audit_plan import AuditPlan, plan_audit
from .explain import Contribution, Explanation, explain
from .missed import Missed, missed
from .money_missed import MoneyMissed
from .what_if import WhatIf, what_if

__all__ = [
    "AuditPlan",
    "Contribution",
    "Estimate",
    "Explanation",
    "Missed",
    "MoneyMissed",
    "OwnThreshold",
    "Refusal",
    "WhatIf",
    "explain",
    "missed",
    "plan_audit",
    "what_if",
]
