"""Whether a policy is worth having at all: what stands above the table where never or always acting costs no more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import Message, Remedy
from ..evaluate.answers import brief
from ..features import Encoder
from ..history.leaks import NAMED, ONLINE, Seen, rare_at_first
from .comparators import COMPARATORS

if TYPE_CHECKING:
    from .result import ReplayResult

#: The two rules that need no learning.
CONSTANTS = ("never", "always")
WINS, DRAWS, LOSES = "wins", "draws", "loses"
#: Standard errors within which a difference is a draw.
CHANCE = 2.0


class Standing(NamedTuple):
    """How a policy stands against the better of never and always."""

    constant: str
    saved: float  #: per 1,000 items against that one; below 0: the constant costs less
    se: float  #: over passes; of a single one, over its stretches

    @property
    def verdict(self) -> str:
        """Whether the policy wins, loses, or draws within two standard errors."""
        if self.saved == 0.0 or abs(self.saved) <= CHANCE * self.se:
            return DRAWS
        return WINS if self.saved > 0.0 else LOSES


def standing_of(result: ReplayResult, label: str) -> Standing | None:
    """Return how a policy stands; what policies are measured against stands nowhere."""
    if result[label].entry.name in COMPARATORS:
        return None
    constant = min(CONSTANTS, key=lambda name: result[name].cost_per_1000.mean)
    saved = result.saved(label, constant)
    if result.passes > 1:
        return Standing(constant, saved.mean, saved.se)
    stretches = np.diff(result[constant].curves[0] - result[label].curves[0], prepend=0.0)
    error = 1000.0 * math.sqrt(len(stretches)) * float(stretches.std()) / result[label].items
    return Standing(constant, saved.mean, error)


def verdict_on(result: ReplayResult) -> Message | None:
    """Return what to read first: that never or always acting costs no more than a policy, and what to try; or None."""
    said, tries = said_of(result), advice_for(result)
    return None if said is None else Message(said, *(". ", *tries.parts) if tries else ())


def _standings(result: ReplayResult) -> dict[str, Standing]:
    standings = {label: standing_of(result, label) for label in result}
    return {label: standing for label, standing in standings.items() if standing is not None}


def said_of(result: ReplayResult) -> str | None:
    """Return who costs no less than the better constant, and by how much."""
    standings = _standings(result)
    behind = {label: standing for label, standing in standings.items() if standing.saved <= 0.0}
    if not behind:
        return None
    constant = next(iter(behind.values())).constant
    limited = " as long as there are reviews" if constant == "always" and result.plan.budget is not None else ""
    costs = {label: brief(result[label].cost_per_1000.mean) for label in result}
    lost = [label for label, standing in behind.items() if standing.verdict == LOSES]
    drawn = [label for label in behind if label not in lost]
    line = f"{constant} acting{limited} costs {costs[constant]} for 1,000 items"
    sized = {label: f"{label} {costs[label]}{_more(result, standing)}" for label, standing in behind.items()}
    if lost:
        line += f", {', '.join(sized[label] for label in lost)}: do not go live with {_either(lost)} on this stream"
    if drawn:
        line += f"{'. No better:' if lost else ','} {', '.join(sized[label] for label in drawn)}: "
        line += "a draw, since the difference is within 2 standard errors"
    better = [label for label in standings if label not in behind]
    if better:
        best = min(better, key=lambda label: result[label].cost_per_1000.mean)
        line += f". {best} costs less, {costs[best]}"
    return line if better else line + _of_learning(result, standings)


def _more(result: ReplayResult, standing: Standing) -> str:
    """Return how much more a policy costs than the constant; of several passes with the standard error."""
    if standing.saved == 0.0:
        return ""
    error = f", standard error {brief(standing.se)}" if result.passes > 1 else ""
    return f" ({brief(-standing.saved)} more{error})"


def _either(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"


def advice_for(result: ReplayResult) -> Message | None:
    """Return what to try where no policy costs less than the better constant; None where one does, or none was played.

    What was found on streams in the order of time: a scale that follows its column first, then straight lines.
    """
    plan, standings = result.plan, _standings(result)
    if not standings or any(standing.saved > 0.0 for standing in standings.values()):
        return None
    seen = None if plan.shuffled else Seen.of(plan.stream)
    if seen is None or not isinstance(plan.encoder, Encoder) or len(plan.stream) <= plan.encoder.warm_up:
        return Message("Are the label, the costs and the columns the right ones?")
    if plan.encoder.online and not plan.encoder.curves:
        return Message("Let the policy forget with half_life, or leave out columns that move with time")
    tries: list[str | Remedy] = ["straight lines, ", Remedy("encoder", {"online": True, "curves": False})]
    if not plan.encoder.online:
        tries = ["scales that follow their columns, ", ONLINE]
        rare = [finding.column for finding in rare_at_first(seen.in_order(plan.encoder)) if plan.history is None]
        tries += [", or leave out what was rare at first, ", Remedy("drop", rare[:NAMED])] if rare else []
    return Message("Try ", *tries, "; play the file again before anything goes live")


def _of_learning(result: ReplayResult, standings: dict[str, Standing]) -> str:
    """Return a sentence where the best policy costs less in the second half, so that learning is what was dear."""
    best = min(standings, key=lambda label: result[label].cost_per_1000.mean)
    half = int(np.searchsorted(result.points, result[best].items / 2))
    late = [
        1000.0 * (curve[-1] - curve[half]) / (result.points[-1] - result.points[half])
        for curve in (result[name].curves.mean(axis=0) for name in (best, standings[best].constant))
    ]
    if not late[0] < late[1]:
        return ""
    both = f"{best} costs {brief(late[0])} and {standings[best].constant} acting {brief(late[1])}"
    return f". In the second half alone {both}: learning is what was dear, and a longer file would say more"
