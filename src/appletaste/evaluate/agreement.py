"""Reviewers who err: their agreement and error rates from second looks, and what was missed without their errors.

A label says positive with the chance s of a positive (sensitivity) and 1 - c of a negative (c: specificity). Of N items
with M positives, M s + (N - M) (1 - c) are called positive in the mean, so

    M = (M~ - (1 - c) N) / (s + c - 1)        (Rogan & Gladen 1978),

with M~ what ``missed`` says of the labels as they are. At 1 % positives and c = 0.98 two thirds of M~ are errors. A
second look says whether two people agree, not what is true, so there are two readings.

- ``truth``: the second look is right, as that of a senior or of a laboratory. Then s and c are shares of it, with
  Jeffreys' posterior Beta(k + 1/2, n - k + 1/2).
- ``independent``: whoever looks errs with the same s and c, and given the truth one person's error says nothing of the
  other's. Audits and the policy's own acts hold different shares of positives, so that both are told from how often
  two people agree (Hui & Walter 1980). The posterior is on a grid, with flat priors on shares.

Errors of the labels, of the second looks and of the sampling go into one interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..logs.decision_log import Log, opened
from ..streams.lots import SecondLook
from .answers import Answer, Estimate, Refusal, brief, per_cent
from .by_design import ByDesign, by_design
from .money_missed import money_missed
from .stand_ins import DRAWS, Floats, generator, interval
from .support import FLOOR, check_question, support_of

Reading = Literal["truth", "independent"]
READINGS: dict[str, str] = {
    "truth": "second looks are right",
    "independent": "whoever looks errs alike, and independently of others given the truth",
}
#: Second looks below which nothing is said of a desk, or of a reviewer.
LEAST_LOOKS = 20
#: Where a smaller share of passed items is called positive, so many wrong positives would be much of it.
RARE, WRONG = 0.05, 0.02
#: Points of the grid on each of s, 1 - c and a share of positives.
GRID = 60


@dataclass(frozen=True)
class Agreement:
    """What second looks say of those who label."""

    looks: int
    agree: int
    agreement: Answer  #: the share on which both looks agree
    sensitivity: Answer  #: of positives, those that are called positive
    specificity: Answer  #: of negatives, those that are called negative
    reading: Reading

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.looks:,} second looks, {self.agree:,} agree: {self.agreement}",
                f"sensitivity: {self.sensitivity}",
                f"specificity: {self.specificity}",
                f"if {READINGS[self.reading]}",
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        shown = {name: getattr(self, name).as_dict() for name in ("agreement", "sensitivity", "specificity")}
        return {"looks": self.looks, "agree": self.agree, **shown, "reading": self.reading}


@dataclass(frozen=True)
class TrueMissed:
    """What was missed and recall, without the errors of the labels."""

    missed: Answer
    recall: Answer
    money: Answer  #: what the missed positives cost
    agreement: Agreement

    def __str__(self) -> str:
        if isinstance(self.missed, Refusal):  # one reason for all three
            return f"without errors of reviewers: {self.missed}\n{self.agreement}"
        return "\n".join(
            [
                f"missed, without errors of reviewers: {self.missed}",
                f"recall, without errors of reviewers: {self.recall}",
                f"money missed, the same way:          {self.money}",
                str(self.agreement),
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        return {name: getattr(self, name).as_dict() for name in ("missed", "recall", "money", "agreement")}


def agreement(looks: Iterable[SecondLook], level: float = 0.9, reading: Reading = "truth") -> Agreement:
    """Say how often two people agree, and what that says of those who label.

    Examples
    --------
    >>> looks = [SecondLook(str(k), int(k < 30), int(k < 28), k % 2 == 0, "ann", "bob", 0.1) for k in range(300)]
    >>> found = agreement(looks)
    >>> found.agree, 0.97 < found.specificity.low < found.specificity.high < 1.0
    (298, True)
    >>> print(agreement(looks[:5]).agreement)
    no answer: 5 second looks are too few: 20 are needed; look at more labels a second time
    """
    if reading not in READINGS:
        raise InputError(f"a reading is {' or '.join(map(repr, READINGS))}, got {reading!r}")
    found = list(looks)
    agree = sum(look.first == look.second for look in found)
    if len(found) < LEAST_LOOKS:
        few = Refusal(
            f"{len(found)} second looks are too few: {LEAST_LOOKS} are needed", "look at more labels a second time"
        )
        return Agreement(len(found), agree, few, few, few, reading)
    drawn = errors_of(found, reading)
    assumes = f"second looks were drawn by lot; {READINGS[reading]}"
    share = _jeffreys(agree, len(found), "agreement")
    shown = Estimate(agree / len(found), *interval(share, level), level, "second looks were drawn by lot")
    if isinstance(drawn, Refusal):
        return Agreement(len(found), agree, shown, drawn, drawn, reading)
    both: list[Answer] = [Estimate(float(one.mean()), *interval(one, level), level, assumes) for one in drawn]
    return Agreement(len(found), agree, shown, both[0], both[1], reading)


def of_reviewers(looks: Iterable[SecondLook], level: float = 0.9) -> dict[str, Agreement]:
    """Return the agreement of each reviewer who gave first labels; with fewer than 20 looks there is none to tell."""
    by_name: dict[str, list[SecondLook]] = {}
    for look in looks:
        by_name.setdefault(look.first_by, []).append(look)
    return {name: agreement(mine, level) for name, mine in sorted(by_name.items()) if name}


def without_errors(
    log: Log, looks: Sequence[SecondLook], level: float = 0.9, reading: Reading = "truth", floor: float = FLOOR
) -> TrueMissed:
    """Say what was missed without the errors of the labels, from second looks drawn by lot.

    Assumes that s and c are the same for audits and for other acts, and that labels of passed items would have had
    them too. Where s + c may be as little as 1, labels say nothing, and the answer is a refusal.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=3000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> ids = log.id[log.labelled][:200]
    >>> looks = [SecondLook(i, y, y, False, "", "", 0.1) for i, y in zip(ids, log.label[log.labelled][:200].tolist())]
    >>> found, as_labelled = without_errors(log, looks), at.missed(log)
    >>> found.missed.covers(as_labelled.design.missed.value)
    True
    """
    log = opened(log)
    check_question(log, "missed", level, floor)
    looks = list(looks)
    told = agreement(looks, level, reading)
    support = support_of(log, floor)
    design = by_design(log, support, level, floor)
    refused = _refused(design, told)
    if refused is not None:
        return TrueMissed(refused, refused, refused, told)
    drawn = errors_of(looks, reading)
    assert not isinstance(drawn, Refusal)  # or it is refused already
    s, c = drawn
    passed, acted = support.usable & ~log.act, support.usable & log.act & log.labelled
    rng = generator("without errors")
    count, total = float(passed.sum()), float(acted.sum())
    positives = float((log.label[acted] == 1).sum())
    assumes = f"{design.missed.assumes}; second looks were drawn by lot; {READINGS[reading]}"  # type: ignore[union-attr]
    missed = _corrected(spread_of(design.missed, rng), s, c, count, rng)
    # of labels that were given, how many are wrong is a matter of chance as well
    caught = np.minimum(_corrected(np.full(DRAWS, positives), s, c, total, rng), total)
    money_passed = float(np.asarray(log.miss[passed], dtype=np.float64).sum())
    cost = money_missed(log, support, level, design.missed).cost
    paid = _corrected(spread_of(cost, rng), s, c, money_passed, rng, money_passed / max(count, 1.0))
    bottom = np.maximum(caught + missed, 1e-300)
    recall = np.where(caught + missed > 0.0, caught / bottom, 1.0)
    return TrueMissed(
        _estimate(missed, level, assumes),
        _estimate(recall, level, assumes),
        _estimate(paid, level, assumes) if money_passed > 0.0 else Refusal("passing a positive costs nothing here"),
        told,
    )


def _refused(design: ByDesign, told: Agreement) -> Refusal | None:
    return design.missed if isinstance(design.missed, Refusal) else useless(told)


def useless(told: Agreement) -> Refusal | None:
    """Return why labels with such second looks cannot be corrected; None: they can."""
    s, c = told.sensitivity, told.specificity
    if isinstance(s, Refusal) or isinstance(c, Refusal):
        return s if isinstance(s, Refusal) else c if isinstance(c, Refusal) else None
    if s.low + c.low <= 1.0:
        return Refusal(
            f"by the second looks labels may say nothing of the truth: sensitivity from {per_cent(s.low)} on, "
            f"specificity from {per_cent(c.low)} on",
            "look at more labels a second time, of positives above all",
        )
    return None


def _estimate(draws: Floats, level: float, assumes: str) -> Estimate:
    return Estimate(float(np.median(draws)), *interval(draws, level), level, assumes)


def spread_of(answer: Answer, rng: np.random.Generator) -> Floats:
    """Return draws of an estimate, each half of its interval that of a normal one."""
    assert isinstance(answer, Estimate)
    z = rng.standard_normal(DRAWS)
    quantile = _quantile(answer.level)
    low, high = (answer.value - answer.low) / quantile, (answer.high - answer.value) / quantile
    return np.asarray(answer.value + np.where(z < 0.0, low, high) * z)


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + 0.5 * level)


def _corrected(
    called: Floats, s: Floats, c: Floats, items: float, rng: np.random.Generator, each: float = 1.0
) -> Floats:
    """Return draws of the positives among items of which so many are called positive; ``each`` is what one counts."""
    slope = np.maximum(s + c - 1.0, 1e-3)
    found = np.clip((called - (1.0 - c) * items) / slope, 0.0, items)
    luck = np.sqrt(each * ((items - found) * c * (1.0 - c) + found * s * (1.0 - s))) / slope
    return np.asarray(np.clip((called - (1.0 - c) * items) / slope + luck * rng.standard_normal(DRAWS), 0.0, items))


def errors_of(looks: Sequence[SecondLook], reading: Reading) -> tuple[Floats, Floats] | Refusal:
    """Return draws of sensitivity and specificity."""
    first = np.array([look.first for look in looks])
    second = np.array([look.second for look in looks])
    if reading == "truth":
        true, false = second == 1, second == 0
        if not true.any():
            return Refusal(
                "no second look says positive, so nobody knows how many positives are called so",
                "look at more labels a second time",
            )
        s = _jeffreys(int((first[true] == 1).sum()), int(true.sum()), "sensitivity")
        return s, _jeffreys(int((first[false] == 0).sum()), int(false.sum()), "specificity")
    audit = np.array([look.audit for look in looks])
    cells = [_cells(first[some], second[some]) for some in (audit, ~audit)]
    if min(sum(one) for one in cells) < LEAST_LOOKS // 2:
        return Refusal(
            "agreement alone does not tell errors from rarity: it takes second looks at audits and at other acts",
            "look at more of both, or read second looks as the truth",
        )
    return _hui_walter(cells)


def _cells(first: NDArray[np.int64], second: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return how often both say positive, they differ, and both say negative."""
    both, neither = int((first & second).sum()), int(((1 - first) & (1 - second)).sum())
    return both, len(first) - both - neither, neither


def _hui_walter(cells: list[tuple[int, int, int]]) -> tuple[Floats, Floats]:
    """Return draws of s and c from a grid: two people alike, two populations with shares of positives of their own."""
    s = np.linspace(0.51, 0.9995, GRID)
    wrong = np.geomspace(1e-4, 0.49, GRID)  # 1 - c, finer where it is small
    share = np.geomspace(1e-4, 0.99, 2 * GRID)
    a, b = s[:, None, None], wrong[None, :, None]
    log_density = np.log(np.gradient(wrong))[None, :] + 0.0 * s[:, None]  # flat in 1 - c
    for both, differ, neither in cells:
        pi = share[None, None, :]
        chances = (pi * a**2 + (1 - pi) * b**2, 2 * (pi * a * (1 - a) + (1 - pi) * b * (1 - b)))
        rest = np.maximum(1.0 - chances[0] - chances[1], 1e-300)
        terms = both * np.log(chances[0]) + differ * np.log(chances[1]) + neither * np.log(rest)
        top = terms.max()
        log_density += np.log((np.exp(terms - top) * np.gradient(share)).sum(axis=2) + 1e-300) + top
    weight = np.exp(log_density - log_density.max()).ravel()
    rng = generator("hui walter")
    drawn = rng.choice(len(weight), DRAWS, p=weight / weight.sum())
    rows, columns = np.divmod(drawn, GRID)
    steps = rng.uniform(-0.5, 0.5, (2, DRAWS))
    sensitivity = np.clip(s[rows] + steps[0] * (s[1] - s[0]), 0.0, 1.0)
    return sensitivity, 1.0 - wrong[columns] * np.exp(steps[1] * math.log(wrong[1] / wrong[0]))


def _jeffreys(found: int, of: int, name: str) -> Floats:
    """Return draws of a share of which so many were found."""
    return generator(name).beta(found + 0.5, of - found + 0.5, DRAWS)


def warning(found: Answer, passes: int) -> str:
    """Return what reviewers who err two times in a hundred would do to a number missed; nothing where that is little.

    Examples
    --------
    >>> warning(Estimate(250.0, 190.0, 330.0, 0.9, ""), 10_000)[:72]
    'labels are taken as true: reviewers who call 2 in 100 negatives positive'
    >>> warning(Estimate(900.0, 700.0, 1100.0, 0.9, ""), 10_000)
    ''
    """
    if isinstance(found, Refusal) or not 0.0 < found.value < RARE * passes:
        return ""
    wrong = min(WRONG * passes, found.value)
    return (
        f"labels are taken as true: reviewers who call {100 * WRONG:.0f} in 100 negatives positive would account for "
        f"about {brief(wrong)} of those missed. Second looks tell (docs/how-to/check-the-checkers.md)"
    )
