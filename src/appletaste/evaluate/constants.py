"""Whether acting on every item, or passing every item, would surely have cost less than what was done.

Passing every item needs no guess: what the acts came to is known once their labels have arrived. Acting on every item
is a question like any other (``what_if``), since nobody knows the labels of what was passed. Both intervals are so wide
that they hold at once: each has half of what the level leaves (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..logs.decision_log import DecisionLog, Log, opened
from .alternatives import Acting
from .answers import Estimate, brief
from .support import FLOOR
from .what_if import ask, ground_of

#: What to try where a constant wins.
TRY = "try another threshold (what-if), or a policy that forgets (half_life), and play the labels again in order"


class Constant(NamedTuple):
    """What would surely have cost less: acting on every item, or passing every item."""

    always: bool  #: acting on every item; else passing every item
    saving: Estimate  #: against what was done
    acts: float
    logged_acts: int

    def __str__(self) -> str:
        way, saving = "always" if self.always else "never", self.saving
        ends = f"{100 * saving.level:.0f} % interval {brief(saving.low)} to {brief(saving.high)}"
        truth = "" if saving.truth is None else f"; the truth, known in a replay: {brief(saving.truth)}"
        known = "known exactly" if saving.low == saving.high else ends
        return (
            f"{way} acting would have cost {brief(saving.value)} less ({known}{truth}): do not go on like this; {TRY}"
        )


def better_constant(log: Log, level: float = 0.9, floor: float = FLOOR) -> Constant | None:
    """Return the constant that would surely have cost less than what a log did, the cheaper if both; or None.

    Examples
    --------
    >>> costs = {"miss": 9.0, "false_alarm": 1.0, "hit": 1.0, "probability": 0.5, "chance": 0.5}
    >>> rows = [{"id": k, "act": k % 2 == 0, "label": 1 if k % 2 == 0 else None, **costs} for k in range(400)]
    >>> print(better_constant(DecisionLog.from_rows(rows)))
    always acting would have cost 1,600 less (90 % interval ... to ...): do not go on like this; try ...
    """
    log = opened(log)
    if not log.act.any():
        return None
    ground = ground_of(log, None, 0.5 + 0.5 * level, floor)
    done, logged_acts = ground.logged, int(ground.log.act.sum())
    rivals = [Constant(False, done, 0.0, logged_acts)] if isinstance(done, Estimate) else []
    if not scarce(ground.log):
        everything = ask(ground, Acting(np.broadcast_to(1.0, len(ground.log))))
        if isinstance(everything.saving, Estimate):
            rivals.append(Constant(True, everything.saving, everything.acts, logged_acts))
    best = surest(rivals)
    return None if best is None else best._replace(saving=replace(best.saving, level=level))


def surest(rivals: Iterable[Constant]) -> Constant | None:
    """Return the constant that saves most, of those that surely save; None: none does."""
    sure = [rival for rival in rivals if rival.saving.low > 0.0]
    return max(sure, key=lambda rival: rival.saving.value) if sure else None


def scarce(log: DecisionLog) -> bool:
    """Return whether acts had a price: a capacity that was not enough to act on everything."""
    return log.price is not None and bool(np.nansum(log.price[:]) > 0.0)
