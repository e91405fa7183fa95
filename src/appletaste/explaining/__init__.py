"""Why one item was acted on or passed: contributions by feature name, expected costs and a reason code."""

from .asking import explain
from .explanation import Contribution, Explanation
from .reasons import REASONS, Reason

__all__ = ["REASONS", "Contribution", "Explanation", "Reason", "explain"]
