"""Labels that were wrong: the posterior that the right history would have given (docs/decisions/0006-streams.md)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from ..decision import Decision, Observation
from ..errors import FeedbackError, OptionError

if TYPE_CHECKING:
    from .policy import Policy


def revise(policy: Policy, changes: Iterable[tuple[Decision, int | None]]) -> None:
    """Learn all stored labels again, in their order, with some of them changed or, with None, taken out.

    Nothing is changed if any of the changes cannot be made.
    """
    learner, asked = policy.learner, list(changes)
    if not hasattr(learner, "revise"):
        raise OptionError(f"{policy.name} cannot change labels it has learnt: its learner has no revise()")
    for decision, label in asked:
        Observation(decision, 0 if label is None else label)
    if not policy._keeps_labels:  # says why it cannot, or has nothing to change
        learner.revise({})
        return
    found = {place: label for decision, label in asked for place in places_of(policy, decision)}
    if not found:
        return
    learner.revise({place: None if label is None else int(label) for place, label in found.items()})
    policy._rounds = array("q", (r for place, r in enumerate(policy._rounds) if found.get(place, 0) is not None))


def places_of(policy: Policy, decision: Decision) -> list[int]:
    """Return where the label of a decision is among those learnt; it is there as often as it was learnt."""
    rounds = np.array(policy._rounds, dtype=np.int64)
    found = []
    for place in np.flatnonzero(rounds == decision.round).tolist():
        item = policy.learner.item(place)  # type: ignore[attr-defined]
        if item is None or np.array_equal(item, np.asarray(decision.x, dtype=np.float64)):
            found.append(place)
    if not found:
        raise FeedbackError(
            f"no label was learnt for the decision of round {decision.round}, so there is none to change: "
            "learn(decision, label) takes it in"
        )
    return found
