"""The seam between belief and action: a rule turns the score of an item, with the costs, into a probability."""

from __future__ import annotations

from typing import Protocol

from ..costs import Costs
from ..posteriors import Score

#: The probability of acting, and the numbers behind it for ``Decision.why``.
Verdict = tuple[float, dict[str, float]]


class Rule(Protocol):
    """A way to decide; configured, and without memory unless it says so."""

    def judge(self, score: Score, costs: Costs) -> Verdict:
        """Return the probability of acting and why."""
