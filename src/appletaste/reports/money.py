"""What a report says in money: what each outcome came to, what to compare with, and what is not counted."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..evaluate import Estimate, Refusal
from ..evaluate.answers import Answer
from ..evaluate.support import excluded
from ..logs import DecisionLog
from .facts import HANDFUL, Facts, Slice, added


@dataclass(frozen=True)
class Outcome:
    """One line of the cost sheet."""

    name: str  #: hit, false_alarm, awaited, miss or correct_pass
    decisions: Answer
    cost: Answer
    saved: Answer  #: against passing


def cost_sheet(facts: Facts) -> tuple[Outcome, ...]:
    """Return each outcome with its number and what it cost; labels that arrived are known, what was missed is not.

    Acts whose label is missing are put down as the model's chances have them.
    """
    log, level = facts.log, facts.level
    positive, negative, awaited = log.label == 1, log.label == 0, log.act & ~log.labelled
    gain, price = log.catch_gain, log.alarm_price
    passes, found = facts.missed.passes, facts.missed.design.missed
    nothing = _exactly(0.0, level)
    sheet = [
        Outcome("hit", *(_exactly(v, level) for v in (positive.sum(), log.hit[positive].sum(), gain[positive].sum()))),
        Outcome(
            "false_alarm",
            *(_exactly(v, level) for v in (negative.sum(), log.false_alarm[negative].sum(), -price[negative].sum())),
        ),
    ]
    if awaited.any():
        sheet.append(Outcome("awaited", _exactly(awaited.sum(), level), *_expected(log, awaited, level)))
    sheet.append(Outcome("miss", found, facts.whole.missed, nothing))
    rest: Answer = found
    if isinstance(found, Estimate):
        rest = Estimate(passes - found.value, passes - found.high, passes - found.low, level, found.assumes)
    return (*sheet, Outcome("correct_pass", rest, _of_passes(log, rest, level), nothing))


def _exactly(value: float, level: float) -> Estimate:
    return Estimate(float(value), float(value), float(value), level, "counted")


def _expected(log: DecisionLog, some: NDArray[np.bool_], level: float) -> tuple[Answer, Answer]:
    """Return what acts without a label are expected to cost and to save, by the model's chances, without interval."""
    if log.chance is None or np.isnan(log.chance[some]).any():
        unknown = Refusal("the labels have not arrived", "wait for labels")
        return unknown, unknown
    c, by = log.chance[some], "by the model's chances"
    cost = float((c * log.hit[some] + (1 - c) * log.false_alarm[some]).sum())
    saved = float((c * log.catch_gain[some] - (1 - c) * log.alarm_price[some]).sum())
    nan = float("nan")
    return Estimate(cost, nan, nan, level, by), Estimate(saved, nan, nan, level, by)


def _of_passes(log: DecisionLog, number: Answer, level: float) -> Answer:
    """Return what so many correct passes cost."""
    costs = log.correct_pass
    if not costs.any():
        return _exactly(0.0, level)
    if isinstance(number, Refusal):
        return number
    first = float(costs[0])
    if first < 0.0 or not (costs == first).all():
        return Refusal("what passing a negative costs differs from item to item", "give every item one such cost")
    return Estimate(first * number.value, first * number.low, first * number.high, level, number.assumes)


def now_and_before(facts: Facts) -> tuple[Slice, Slice] | None:
    """Return what to compare: the days chosen and those before, or the last two periods of the log.

    Periods of a handful of items are passed over. None where there is nothing to compare.
    """
    enough = [some for some in to_compare(facts) if some.decisions >= HANDFUL]
    return (enough[-1], enough[-2]) if len(enough) > 1 else None


def to_compare(facts: Facts) -> list[Slice]:
    """Return the days before and the days chosen, or, where nobody chose days, the periods of the log in order."""
    if facts.reported.days_before is None:
        return list(facts.periods)
    now = replace(facts.whole, name=str(facts.reported.days))
    return [now] if facts.before is None else [facts.before, now]


def per_thousand(some: Slice) -> dict[str, Answer]:
    """Return the three amounts for every 1,000 decisions that each counts, as months of other lengths compare.

    What was saved may be known exactly and still be luck: its interval here allows for other items of the same kind.
    """
    saved = _scaled(some.saved, some.settled, some.saved_swing)
    caught, missed = _scaled(some.caught, some.settled, some.caught_swing), _scaled(some.missed, some.supported)
    return {"saved": saved, "missed": missed, "at_stake": added(caught, missed)}


def _scaled(answer: Answer, counted: int, swing: float = 0.0) -> Answer:
    if isinstance(answer, Refusal):
        return answer
    scale, reach = 1000.0 / max(1, counted), NormalDist().inv_cdf(0.5 + 0.5 * answer.level) * swing
    low, high = (math.hypot(end - answer.value, reach) for end in (answer.low, answer.high))
    value = answer.value
    return Estimate(scale * value, scale * (value - low), scale * (value + high), answer.level, answer.assumes)


def not_counted(facts: Facts) -> list[str]:
    """Return which decisions the amounts leave out."""
    notes = []
    if facts.unsettled:
        notes.append(f"Saved: {excluded(facts.unsettled)}.")
    if facts.unheard:
        notes.append(
            f"Saved: {facts.unheard:,} items acted on are not counted: no label of their kind has arrived yet."
        )
    if facts.missed.unsupported_passes and facts.whole.missed:
        passes = facts.missed.unsupported_passes
        notes.append(f"Missed: {passes:,} passed items are excluded, of which the log cannot speak (yet).")
    return notes
