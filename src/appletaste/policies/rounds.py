"""Which labels a policy awaits: one of each act, learnt once and by the policy that made the decision."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ..decision import Decision
from ..errors import FeedbackError, InputError
from .items import check_item
from .learner import Arrays, Learner

#: What is kept of a round: 0 of a pass, 1 where the label was learnt, else a checksum of the item with this bit set.
LEARNT, AWAITED = 1, 2
#: Labels are prompt that come within so many items while no more than so many are awaited, but for a share of all items
#: whose labels may never come.
PROMPT, LOST = 100, 0.01
#: Late labels are evidence by blocks of so many rounds, as soon as this share of the acts in a block has labels.
BLOCK, WHOLE = 25, 0.9
#: And while no more are awaited than this share of those learnt: else those that come first have made the model.
FEW = 0.5
#: Late labels come in the order of decisions while no more than so many are awaited of earlier rounds than the latest
#: that has one, but for a share of all items whose labels may never come.
BEHIND = 5
#: Its stub knows no arrays; a checksum takes 0.1 us.
_checksum: Callable[[Any], int] = crc32


class Rounds:
    """Of each round whether it acted, on which item, and whether the label was learnt.

    Examples
    --------
    >>> rounds, item = Rounds(), np.ones(2)
    >>> rounds.decided(item, act=True)
    >>> rounds.awaits(1, item), rounds.awaits(1, np.zeros(2))
    (True, False)
    >>> rounds.learnt(1, kept=True)
    >>> rounds.awaits(1, item)
    False
    """

    __slots__ = ("_behind", "_front", "_kept", "_late", "_marks", "awaited")

    def __init__(self) -> None:
        #: One for each round, 4 bytes.
        self._marks = array("I")
        #: The round of each label that the learner keeps, in the order of learning: 8 bytes and 0.05 us each.
        self._kept = array("q")
        #: Of blocks that are not whole yet, where the labels that came late are among those kept.
        self._late: dict[int, list[int]] = {}
        #: How many labels are awaited.
        self.awaited = 0
        #: The latest round whose label was learnt, and how many labels are awaited of rounds before.
        self._front = self._behind = 0

    def prompt(self, round_: int) -> bool:
        """Return whether the label of a round comes promptly, as others do.

        Labels that come early where most are late are of another kind than the rest, and no evidence against a model.
        """
        return len(self._marks) - round_ <= PROMPT and self.awaited <= PROMPT + LOST * len(self._marks)

    def in_order(self, round_: int) -> bool:
        """Return whether labels come as late as they like, and in the order of decisions, that of a round too.

        Then which have come says when their items were decided, and nothing of what they are.

        Examples
        --------
        >>> rounds, item = Rounds(), np.ones(2)
        >>> for _ in range(800):
        ...     rounds.decided(item, act=True)
        >>> for round_ in range(1, 201):
        ...     rounds.learnt(round_, kept=True)
        >>> rounds.in_order(201), rounds.in_order(220)
        (True, False)
        """
        front, most = self._front, BEHIND + LOST * len(self._marks)
        if round_ <= front:
            return round_ > front - PROMPT and self._behind - 1 <= most
        return self._behind + self._between(round_) <= most

    def _between(self, round_: int) -> int:
        """Return how many labels are awaited of rounds between the latest that has one and a later round."""
        return _awaited(self._marks[self._front : round_ - 1]) if round_ > self._front + 1 else 0

    def late(self, round_: int) -> tuple[list[int], int] | None:
        """Take note of a label that came late and was learnt last; return what is evidence now, if anything is.

        That is where the late labels of its block are among those kept, once the block is whole, and how many labels of
        the block are missing.

        Examples
        --------
        >>> rounds, item = Rounds(), np.ones(2)
        >>> for _ in range(200):
        ...     rounds.decided(item, act=True)
        >>> for round_ in range(1, 174):
        ...     rounds.learnt(round_, kept=True)
        ...     found = rounds.late(round_)
        >>> len(found[0]), found[1]
        (23, 2)
        """
        first = (round_ - 1) // BLOCK * BLOCK
        marks, late = self._marks[first : first + BLOCK], self._late.setdefault(first, [])
        late.append(len(self._kept) - 1)
        passes, known = marks.count(0), marks.count(LEARNT)
        if len(marks) < BLOCK or known < WHOLE * (BLOCK - passes):
            return None
        del self._late[first]
        was_whole = known - 1 >= WHOLE * (BLOCK - passes)
        return None if was_whole or self.awaited > FEW * len(self._kept) else (late, BLOCK - passes - known)

    def decided(self, x: Any, act: bool) -> None:
        """Take note of the next round."""
        self._marks.append(_checksum(x) | AWAITED if act else 0)
        self.awaited += act

    def decided_many(self, acts: NDArray[np.bool_], items: Any) -> None:
        """Take note of rounds that were decided together."""
        marks = np.zeros(len(acts), dtype=np.uint32)
        for k in np.flatnonzero(acts).tolist():
            marks[k] = _checksum(items[k]) | AWAITED
        self._marks.extend(marks.tolist())
        self.awaited += int(acts.sum())

    def enacted(self, round_: int, x: Any, act: bool) -> None:
        """Take note that a round acted on x, or did not, whatever was decided; its label was not learnt yet."""
        if not 0 < round_ <= len(self._marks) or self._marks[round_ - 1] == LEARNT:
            raise self.refusal(round_)
        more = act - bool(self._marks[round_ - 1])
        self.awaited += more
        self._behind += more * (round_ < self._front)
        self._marks[round_ - 1] = _checksum(x) | AWAITED if act else 0

    def awaits(self, round_: int, x: Any) -> bool:
        """Return whether a round acted on x and its label was not learnt yet."""
        marks = self._marks
        return 0 < round_ <= len(marks) and marks[round_ - 1] == _checksum(x) | AWAITED

    def learnt(self, round_: int, kept: bool) -> None:
        """Take note of a label that was learnt, and whether the learner keeps it; round 0: from elsewhere."""
        if round_:
            if round_ > self._front:
                self._behind += self._between(round_)
                self._front = round_
            else:
                self._behind -= 1
            self._marks[round_ - 1] = LEARNT
            self.awaited -= 1
        if kept:
            self._kept.append(round_)

    def revise(self, asked: list[tuple[Decision, int | None]], learner: Learner, n_features: int) -> None:
        """Let the learner take other labels, and await those anew that were retracted (None)."""
        changed: set[int] = set()
        for decision, _ in asked:
            if decision.round in changed:
                raise FeedbackError(f"the label of round {decision.round} is changed twice: say once what it is")
            changed.add(decision.round)
        if not learner.keeps_labels:
            learner.revise({})  # says why it cannot, or has nothing to change
            for decision, _ in asked:
                if not 0 < decision.round <= len(self._marks) or self._marks[decision.round - 1] != LEARNT:
                    raise _not_learnt(decision)
        else:
            found = {place: label for decision, label in asked for place in self._places(decision, learner)}
            if found:
                learner.revise(found)
                self._kept = array("q", (r for k, r in enumerate(self._kept) if found.get(k, 0) is not None))
                gone = sorted(place for place, label in found.items() if label is None)
                self._late = {
                    block: [place - bisect_left(gone, place) for place in late if place not in gone]
                    for block, late in self._late.items()
                }
        for decision, label in asked:
            if label is None:
                self.awaited += 1
                self._marks[decision.round - 1] = _checksum(check_item(decision.x, n_features, learner.slots)) | AWAITED
        self._look_back()

    def _places(self, decision: Decision, learner: Learner) -> list[int]:
        """Return where the label of a decision is among those that the learner keeps."""
        found = []
        for place in np.flatnonzero(np.array(self._kept, dtype=np.int64) == decision.round).tolist():
            item = learner.item(place)
            if item is None or np.array_equal(item, np.asarray(decision.x, dtype=np.float64)):
                found.append(place)
        if not found:
            raise _not_learnt(decision)
        return found

    def refusal(self, round_: int) -> FeedbackError:
        """Return why no label of a decision is awaited."""
        known = 0 < round_ <= len(self._marks)
        if known and self._marks[round_ - 1] == LEARNT:
            return FeedbackError(
                f"the label of the decision of round {round_} was learnt already, and a label is learnt once: if the "
                "label was wrong, say so with correct(decision, label)"
            )
        if not known:
            found = f"this policy has made {len(self._marks)} decisions"
        elif self._marks[round_ - 1] == 0:
            found = "this policy passed in that round"
        else:
            found = "this policy decided on another item in that round"
        return FeedbackError(
            f"the decision of round {round_} is not one of this policy: {found}. Another policy made it, or this one "
            "before it was read from a file that is older than the decision. teach(x, label) learns a label from "
            "elsewhere"
        )

    def arrays(self) -> Arrays:
        """Return all that is kept, for saving."""
        return {
            "rounds": np.array(self._kept, dtype=np.int64),
            "awaited": np.array(self._marks, dtype=np.uint32),
            **(
                {"late": np.array([k for late in self._late.values() for k in late], dtype=np.int64)}
                if self._late
                else {}
            ),
        }

    def restore(self, arrays: Arrays, round_: int) -> None:
        """Take back what ``arrays`` returned after so many rounds."""
        if len(arrays["awaited"]) != round_:
            raise InputError(f"{round_} rounds were played, and {len(arrays['awaited'])} of them are kept")
        self._kept = array("q", arrays["rounds"].tolist())
        self._marks = array("I", arrays["awaited"].tolist())
        self._late = {}
        for place in arrays["late"].tolist() if "late" in arrays else ():
            self._late.setdefault((self._kept[place] - 1) // BLOCK * BLOCK, []).append(place)
        self.awaited = _awaited(self._marks)
        self._look_back()

    def _look_back(self) -> None:
        """Find the latest round whose label was learnt, and how many labels are awaited of rounds before."""
        learnt = np.flatnonzero(np.array(self._marks, dtype=np.uint32) == LEARNT)
        self._front = int(learnt[-1]) + 1 if len(learnt) else 0
        self._behind = _awaited(self._marks[: self._front])


def _awaited(marks: array[int]) -> int:
    """Return how many labels are awaited of rounds."""
    return len(marks) - marks.count(0) - marks.count(LEARNT)


def _not_learnt(decision: Decision) -> FeedbackError:
    return FeedbackError(
        f"no label was learnt for the decision of round {decision.round}, so there is no label to change: "
        "learn(decision, label) learns one"
    )
