"""What a stream of decisions says afterwards: what was missed, what another policy would cost, and why."""

from .alternatives import OwnThreshold, Plan
from .answers import Estimate, Refusal
from .audit_plan import AuditPlan, plan_audit
from .explain import Contribution, Explanation, explain
from .groups import ByGroup, Group, missed_by, what_if_by
from .missed import Missed, missed
from .money_missed import MoneyMissed
from .what_if import Comparison, WhatIf, compare, what_if

__all__ = [
    "AuditPlan",
    "ByGroup",
    "Comparison",
    "Contribution",
    "Estimate",
    "Explanation",
    "Group",
    "Missed",
    "MoneyMissed",
    "OwnThreshold",
    "Plan",
    "Refusal",
    "WhatIf",
    "compare",
    "explain",
    "missed",
    "missed_by",
    "plan_audit",
    "what_if",
    "what_if_by",
]
