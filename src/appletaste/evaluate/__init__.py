"""What a stream of decisions says afterwards: what was missed, what another policy would cost, and why."""

from .agreement import Agreement, TrueMissed, agreement, of_reviewers, without_errors
from .alternatives import OwnThreshold, Plan
from .answers import Estimate, Refusal
from .audit_plan import AuditPlan, plan_audit
from .explain import Contribution, Explanation, explain
from .groups import ByGroup, Group, missed_by, what_if_by
from .missed import Missed, missed
from .money_missed import MoneyMissed
from .true_costs import TrueWhatIf, what_if_without_errors
from .what_if import Comparison, WhatIf, compare, what_if

__all__ = [
    "Agreement",
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
    "TrueMissed",
    "TrueWhatIf",
    "WhatIf",
    "agreement",
    "compare",
    "explain",
    "missed",
    "missed_by",
    "of_reviewers",
    "plan_audit",
    "what_if",
    "what_if_by",
    "what_if_without_errors",
    "without_errors",
]
