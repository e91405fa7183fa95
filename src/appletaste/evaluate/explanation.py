"""The explanation of one decision: what adds to the score, what it costs to act and to pass, and the reason."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._files import for_json
from ..pages.table import Table
from .reasons import Reason

#: Lines of the printed table; smaller contributions are added up in one line.
LINES = 10
#: Chances that differ by more than this were changed by what was learnt since.
MOVED = 0.0005


class Contribution(NamedTuple):
    """What one column adds to the score of an item, against the average item."""

    column: str
    words: str  #: "job = retired"
    value: float
    sd: float  #: posterior standard deviation of ``value``


@dataclass(frozen=True)
class Explanation:
    """Why an item was, or would be, acted on. ``base`` plus all contributions is ``score``, the posterior mean of z.

    Contributions and ``chance`` are what is believed *now*; a past decision has the chance of its time in
    ``chance_then``, and its reason goes by that. ``print`` it for a table, ``as_dict()`` is for JSON.
    """

    act: bool | None  #: None: not decided yet
    probability: float  #: of acting
    reason: Reason
    contributions: tuple[Contribution, ...]  #: the largest first
    base: float  #: the score of the average item
    base_sd: float
    score: float
    score_sd: float
    chance: float  #: P(positive), now
    chance_then: float | None  #: when it was decided, where that was recorded
    threshold: float  #: acting pays from this chance on
    cost_of_acting: float  #: expected, at ``chance``
    cost_of_passing: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON; a threshold that no chance reaches is None."""
        found: dict[str, Any] = for_json(vars(self))
        return found

    def __str__(self) -> str:
        done = "not decided yet" if self.act is None else "acted" if self.act else "passed"
        then = self.chance_then
        moved = then is not None and abs(then - self.chance) > MOVED
        lines = [
            f"{done}, probability of acting {self.probability:.3g}",
            f"{self.reason}",
            f"chance {self.chance:.3g}" + (f" ({then:.3g} when decided)" if moved else "") + self._from(),
            f"expected cost: act {self.cost_of_acting:.4g}, pass {self.cost_of_passing:.4g}",
            "",
        ]
        shown = self.contributions if len(self.contributions) <= LINES else self.contributions[: LINES - 1]
        rows = [("average item", f"{self.base:+.2f}", f"{self.base_sd:.2f}")]
        rows += [(part.words, f"{part.value:+.2f}", f"{part.sd:.2f}") for part in shown]
        rest = self.contributions[len(shown) :]
        if rest:
            rows.append((f"{len(rest)} more", f"{sum(part.value for part in rest):+.2f}", ""))
        rows.append(("score", f"{self.score:+.2f}", f"{self.score_sd:.2f}"))
        return "\n".join([*lines, Table("", ("", "adds", "sd"), rows).text()])

    def _from(self) -> str:
        if math.isfinite(self.threshold):
            return f"; acting pays from {self.threshold:.3g} on"
        return "; acting never pays at these costs" if self.threshold > 0 else "; acting always pays at these costs"
