"""Two kinds of answer: a number with its interval, or a refusal with the reason.

The truth stands beside an estimate where the log has one: a replay knows every label. No estimate looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..logs.decision_log import DecisionLog

if TYPE_CHECKING:
    from .by_design import ByDesign
    from .support import Support


def brief(value: float) -> str:
    """Return a number to four digits, and large ones whole with thousands apart.

    Examples
    --------
    >>> brief(0.47671), brief(-1680.2)
    ('0.4767', '-1,680')
    """
    return f"{value:.4g}" if abs(value) < 1_000 else f"{value:,.0f}"


def per_cent(share: float) -> str:
    """Return a chance or a share in per cent, with as many digits as matter.

    Examples
    --------
    >>> per_cent(0.5), per_cent(0.0619), per_cent(0.00123), per_cent(0.9991)
    ('50 %', '6.2 %', '0.12 %', '99.91 %')
    """
    least = 100.0 * min(share, 1.0 - share)
    digits = 0 if least >= 9.95 else 1 if least >= 0.995 else 2
    return f"{100.0 * share:.{digits}f} %"


def known_truth(shown: str) -> str:
    """Return how a truth is told beside an estimate.

    Examples
    --------
    >>> known_truth("1,040")
    'the truth, known in a replay: 1,040'
    """
    return f"the truth, known in a replay: {shown}"


@dataclass(frozen=True)
class Estimate:
    """A number, and an interval that covers the truth at the stated level under the stated assumption.

    Examples
    --------
    >>> print(Estimate(12.0, 7.0, 21.0, 0.9, "recorded probabilities are honest"))
    12 (90 % interval 7 to 21)
    """

    value: float
    low: float
    high: float
    level: float
    assumes: str  #: what the interval rests on
    truth: float | None = None  #: where the log knows it, as that of a replay does (``truths``)

    def covers(self, truth: float) -> bool:
        """Return whether the truth lies in the interval."""
        return bool(self.low <= truth <= self.high)

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        told = "" if self.truth is None else f"; {known_truth(brief(self.truth))}"
        if self.low != self.low:
            return f"{brief(self.value)} (no interval: {self.assumes}{told})"
        ends = f"{self.level:.0%} interval {brief(self.low)} to {brief(self.high)}".replace("%", " %", 1)
        return f"{brief(self.value)} ({ends}{told})"

    def as_dict(self) -> dict[str, Any]:
        """Return the answer for JSON; an interval that is not there is None, a truth that nobody knows is left out."""
        found: dict[str, Any] = for_json(vars(self))
        return found if self.truth is not None else {name: part for name, part in found.items() if name != "truth"}


@dataclass(frozen=True)
class Refusal:
    """No number: why the log cannot give one, and what would help. It is false, so ``if answer:`` tells them apart.

    Examples
    --------
    >>> answer = Refusal("no label has arrived yet", "wait")
    >>> bool(answer)
    False
    """

    reason: str
    remedy: str = ""

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"no answer: {self.reason}" + (f"; {self.remedy}" if self.remedy else "")

    def as_dict(self) -> dict[str, Any]:
        """Return the refusal for JSON."""
        return {"refused": self.reason, "remedy": self.remedy}


Answer = Estimate | Refusal


def beside(answer: Answer, truth: float | None) -> Answer:
    """Return an answer with the truth beside it; a refusal, or an answer to which no truth is known, as it is."""
    return replace(answer, truth=truth) if isinstance(answer, Estimate) and truth is not None else answer


def minus(cost: Answer) -> Answer:
    """Return a cost as a saving."""
    if isinstance(cost, Refusal):
        return cost
    truth = None if cost.truth is None else 0.0 - cost.truth
    return Estimate(0.0 - cost.value, 0.0 - cost.high, 0.0 - cost.low, cost.level, cost.assumes, truth)


def positives_among(log: DecisionLog, chosen: NDArray[np.bool_]) -> float | None:
    """Return how many of the chosen items are positive, if the log knows.

    Examples
    --------
    >>> row = {"act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
    >>> log = DecisionLog.from_rows([{"id": k, "truth": k % 2, **row} for k in range(4)])
    >>> positives_among(log, np.array([True, True, False, False]))
    1.0
    """
    return None if log.truth is None else float((log.truth[chosen] == 1).sum())


def design_beside(design: ByDesign, log: DecisionLog, support: Support) -> ByDesign:
    """Return design-based answers with the truth about the same items, the supported part."""
    missed = positives_among(log, support.usable & ~log.act)
    caught = positives_among(log, support.usable & log.act)
    if missed is None or caught is None:
        return design
    recall = caught / (caught + missed) if caught + missed else 1.0
    return replace(
        design,
        missed=beside(design.missed, missed),
        missed_hajek=beside(design.missed_hajek, missed),
        recall=beside(design.recall, recall),
        recall_hajek=beside(design.recall_hajek, recall),
    )


def cost_of_acting(log: DecisionLog, acting: NDArray[np.float64] | NDArray[np.bool_]) -> float | None:
    """Return what acting with these probabilities costs more than passing everything, if the log knows."""
    if log.truth is None:
        return None
    return float((acting * np.where(log.truth == 1, -log.catch_gain, log.alarm_price)).sum())
