"""How many audits it takes, and where, to know recall (docs/streams.md has the derivation)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import number, whole
from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..streams.audit import AUTO, Audit
from ..streams.budget import Budget
from ..streams.staffing import Share
from .answers import Estimate
from .arrival import labelled_shares
from .by_design import by_design
from .by_model import cold, surprise
from .outlook import LEAST_FOUND, Outlook, outlook_of
from .support import FLOOR, check_question, settled, support_of

#: Standard errors up to which labels seen do not contradict the model's chances.
TRUSTED = 3.0


@dataclass(frozen=True)
class AuditPlan:
    """Floors for strata of the model's P(positive), and what they are expected to give."""

    edges: tuple[float, ...]  #: upper ends of all strata but the last
    floors: tuple[float, ...]  #: the probability of auditing a passed item, by stratum
    items: tuple[float, ...]  #: passed items expected in each
    missed: tuple[float, ...]  #: positives expected among them
    recall: float  #: expected: that of the log by design, where the log can say; else by the model's chances
    margin: float  #: half the width of the interval for recall that this gives
    level: float
    uniform: float  #: how many audits the same margin would take with one floor for all
    left_out: int = 0  #: recent decisions of a log that the plan does not rest on: most labels have not arrived yet
    left_out_early: int = 0  #: and early ones: no label had arrived, so the model knew nothing of them
    recall_interval: tuple[float, float] | None = None  #: of recall by design; None: recall is by the model's chances
    true_missed: tuple[float, ...] | None = None  #: what ``missed`` really is, where the log knows (``truths``)
    true_recall: float | None = None  #: and ``recall``
    outlook: Outlook | None = field(default=None, compare=False)  #: what audits at a rate show by and by; of a log

    @property
    def audits(self) -> float:
        """How many audits to expect."""
        return float(np.dot(self.items, self.floors))

    def as_dict(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        if self.true_recall is None:
            del plain["true_missed"], plain["true_recall"]
        if self.outlook is not None:
            plain["outlook"] = {"rate": self.outlook.rate, "ahead": [one._asdict() for one in self.outlook.ahead]}
        return plain | {"audits": self.audits}

    def lane(self, budget: Budget | None = None) -> Audit:
        """Return the audit lane that carries the plan out."""
        return Audit(edges=self.edges, floors=self.floors, budget=budget)


def plan_audit(
    source: DecisionLog | ArrayLike,
    found: float | None = None,
    *,
    items: float | None = None,
    margin: float = 0.05,
    level: float = 0.9,
    strata: int = 8,
    doubt: float = 0.1,
    audit: Share = AUTO,
) -> AuditPlan:
    """Return the fewest audits, and their places, after which recall is known to +- ``margin`` at a confidence level.

    With F positives found and M missed, recall is F / (F + M), and R (1 - R) sd(M^) / M is its standard error to first
    order. If an item of stratum h is audited with probability f_h, the Horvitz-Thompson estimate of M has the variance
    sum of M_h (1 / f_h - 1). Least sum of N_h f_h for a given variance: f_h proportional to sqrt(M_h / N_h), cut at 1
    (Neyman 1934). At least ten positives are to be found by audits.

    The chances say where positives are likelier, and how many are missed only if nothing better is known: of a log
    recall is what ``missed`` says of it by design, and the chances of each stratum are scaled by what was seen there.
    Where the log cannot say, the chances count as they are, unless labels seen contradict them; then there is no plan.

    Parameters
    ----------
    source
        A decision log: that of a month, say. Rounds of which most labels have not arrived are left out, and so are
        those before the first label, when the model knew nothing. Or the model's P(positive) of items that were
        passed, one number each.
    found
        Beside such numbers: how many positives acting finds in the same time. A log says so itself.
    items
        How many items will be passed in the time that is planned for; none: as many as in the source.
    margin, level
        Recall is to be within +- margin with this confidence.
    strata
        How many strata by chance, each with the same sum of sqrt(chance).
    doubt
        The plan adds this share of the mean chance to every chance, so that items that the model calls hopeless are
        audited too.
    audit
        Beside the plan ``outlook`` says what this rate of audits, ``auto`` or ``2%``, will show after a week, a month
        and a year of a stream like that of the log.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> plan = plan_audit(rng.beta(0.3, 20, size=20_000), found=900)
    >>> round(plan.recall, 2), plan.audits < 0.8 * plan.uniform
    (0.76, True)
    """
    if isinstance(source, DecisionLog):
        if found is not None:
            raise InputError("a decision log says how many positives acting found: leave out found")
        check_question(source, "plan_audit", level, floor=0.0)
        log = settled(source)
        left_out, unlearnt = len(source) - len(log), cold(log)
        if not unlearnt.all():  # the chance 1/2 of the first items would take audits from those that will come
            log = log.where(~unlearnt)
        left_out_early = len(source) - left_out - len(log)
        values, found = as_chances(passed_chances(log)), positives_found(log)
        now = recall_by_design(log, level)
    elif found is None:
        raise InputError("plan_audit takes a DecisionLog, or chances and found: how many positives acting finds")
    else:
        left_out, left_out_early, values, now = 0, 0, as_chances(source), None
    number("found", found, above=0.0)
    number("margin", margin, above=0.0, most=0.5)
    number("level", level, above=0.0, most=1.0 - 1e-9)
    whole("strata", strata, least=1)
    number("doubt", doubt, least=0.0)
    scale = 1.0 if items is None else number("items", items, above=0.0) / len(values)
    scale_found = float(found) * scale
    edges = stratum_edges(values, strata)
    places = np.searchsorted(edges, values)
    sizes = np.asarray(np.bincount(places, minlength=len(edges) + 1) * scale, dtype=np.float64)
    sums = np.asarray(np.bincount(places, weights=values, minlength=len(edges) + 1) * scale, dtype=np.float64)
    rates = (sums / sizes + doubt * sums.sum() / sizes.sum()) / (1.0 + doubt)
    missed = sizes * rates
    recall = scale_found / (scale_found + float(missed.sum()))
    if now is not None:
        # where no audit has found a positive the chances say how many there may be, within the interval
        recall = now.value if now.value < 1.0 else min(max(recall, now.low), now.high)
        sum_missed = scale_found * (1.0 / recall - 1.0)
        missed = summing_to(sum_missed, missed, sizes)
        missed = summing_to(sum_missed, missed * seen_to_expected(log, edges, missed / sizes), sizes)
    total = float(missed.sum())
    quantile = NormalDist().inv_cdf(0.5 + 0.5 * level)
    allowed = (margin / (quantile * recall * (1.0 - recall)) * total) ** 2 if total > 0.0 else math.inf
    floors = fewest(sizes, missed, allowed)
    even = fewest(sizes, np.full(len(sizes), total) * sizes / sizes.sum(), allowed)
    variance = float((missed * (1.0 / floors - 1.0)).sum()) if total > 0.0 else 0.0
    reached = quantile * recall * (1.0 - recall) * math.sqrt(variance) / total if total > 0.0 else 0.0
    truths = recalled = outlook = None
    if isinstance(source, DecisionLog):
        outlook = outlook_of(log, audit, recall, level, missed / scale, places)
    if isinstance(source, DecisionLog) and log.truth is not None:  # as that of a replay; nothing above looks at it
        passed, caught = log.truth[~log.act] == 1, float((log.truth[log.act] == 1).sum())
        truths = tuple((np.bincount(places[passed], minlength=len(sizes)) * scale).tolist())
        recalled = caught / max(caught + float(passed.sum()), 1.0)
    return AuditPlan(
        edges=tuple(edges.tolist()),
        floors=tuple(floors.tolist()),
        items=tuple(sizes.tolist()),
        missed=tuple(missed.tolist()),
        recall=recall,
        margin=reached,
        level=level,
        uniform=float((sizes * even).sum()),
        left_out=left_out,
        left_out_early=left_out_early,
        recall_interval=None if now is None else (now.low, now.high),
        true_missed=truths,
        true_recall=recalled,
        outlook=outlook,
    )


def recall_by_design(log: DecisionLog, level: float) -> Estimate | None:
    """Return recall by design; None: the log cannot say, and the labels seen do not contradict the model's chances."""
    answer = by_design(log, support_of(log, FLOOR), level, FLOOR).recall
    if isinstance(answer, Estimate):
        return answer
    off = surprise(log)
    if abs(off) <= TRUSTED:
        return None
    which = "more" if off > 0 else "fewer"
    seen = f"acting found {which} positives than the model's chances said, by {abs(off):.1f} standard errors"
    checked = "no label of an item with a chance has arrived" if math.isnan(off) else seen
    raise InputError(
        f"nothing says how many positives were missed, so audits cannot be planned. The model is not to be trusted: "
        f"{checked}. By design: {answer}"
    )


def seen_to_expected(log: DecisionLog, edges: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positives seen to positives expected in each stratum, among items that might have been passed.

    Each item counts for the (1 - p) / p passed ones that it stands for, and one more is both seen and expected.
    """
    p, chance = log.probability, np.full(len(log), np.nan) if log.chance is None else log.chance
    rows = np.flatnonzero(log.labelled & (p >= FLOOR) & (p < 1.0) & ~np.isnan(chance))
    if not rows.size:
        return np.ones(len(rates))
    weights, places = 1.0 / p[rows] - 1.0, np.searchsorted(edges, chance[rows])
    one = float((weights**2).sum() / weights.sum())
    counted = (weights * (log.label[rows] == 1), weights * rates[places])
    seen, expected = (np.bincount(places, weights=each, minlength=len(rates)) for each in counted)
    return np.asarray((one + seen) / (one + expected))


def summing_to(total: float, missed: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return expected positives of strata scaled to a total, in no stratum more than its items.

    Examples
    --------
    >>> summing_to(50.0, np.array([1.0, 4.0]), np.array([100.0, 20.0]))
    array([30., 20.])
    """
    if total * (missed / sizes).max() <= missed.sum():
        return np.asarray(missed * (total / missed.sum()))
    some = missed > 0.0
    low, high = 0.0, float((sizes[some] / missed[some]).max())
    for _ in range(100):
        c = 0.5 * (low + high)
        low, high = (low, c) if np.minimum(sizes, c * missed).sum() >= total else (c, high)
    return np.asarray(np.minimum(sizes, high * missed))


def passed_chances(log: DecisionLog) -> NDArray[np.float64]:
    """Return the model's chance of each passed item of a log, or say that the log does not have it."""
    passed = ~log.act
    if not passed.any():
        raise InputError("the log has no passed item: nothing is missed, so there is nothing to audit")
    if log.chance is None or np.isnan(log.chance[passed]).any():
        raise InputError(
            "the log does not record the model's chance of every passed item, by which audits are placed: log chance"
        )
    return log.chance[passed]


def positives_found(log: DecisionLog) -> float:
    """Return how many positives acting found, counting the share of those whose label has not arrived."""
    found = float((1.0 / labelled_shares(log)[log.label == 1]).sum())
    if not found:
        raise InputError("no positive has been seen in the log yet, so there is no recall to plan for: wait for labels")
    return found


def as_chances(chances: ArrayLike) -> NDArray[np.float64]:
    """Return chances as a vector, or say what is wrong with them."""
    try:
        values = np.asarray(chances, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("chances must be numbers from 0 to 1, one for each passed item") from None
    if values.ndim != 1 or not len(values):
        raise InputError(f"chances must be a list of one number for each passed item, got shape {values.shape}")
    if not ((values >= 0.0) & (values <= 1.0)).all():
        raise InputError(f"chances must be from 0 to 1, got {values[~((values >= 0.0) & (values <= 1.0))][0]}")
    if not values.any():
        raise InputError("all chances are 0: by this model nothing is missed, so the model cannot say where to audit")
    return values


def stratum_edges(chances: NDArray[np.float64], strata: int) -> NDArray[np.float64]:
    """Return where strata end that share the sum of sqrt(chance) evenly (after Dalenius & Hodges 1959)."""
    ordered = np.sort(chances)
    sums = np.cumsum(np.sqrt(ordered))
    cuts = np.searchsorted(sums, sums[-1] * np.arange(1, strata) / strata)
    edges = np.unique(ordered[cuts])
    return np.asarray(edges[edges < ordered[-1]])


def fewest(sizes: NDArray[np.float64], missed: NDArray[np.float64], allowed: float) -> NDArray[np.float64]:
    """Return the floors f = min(1, c sqrt(missed / sizes)) of the least c that keeps the variance and finds ten."""
    roots = np.sqrt(missed / sizes)

    def good(c: float) -> bool:
        floors = np.minimum(1.0, c * roots)
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = np.where(missed > 0.0, missed * (1.0 / floors - 1.0), 0.0).sum()
        return bool(variance <= allowed and (missed * floors).sum() >= min(LEAST_FOUND, missed.sum()) * (1.0 - 1e-12))

    low, high = 0.0, float(1.0 / roots[roots > 0.0].min())
    for _ in range(100):
        c = 0.5 * (low + high)
        low, high = (low, c) if good(c) else (c, high)
    return np.asarray(np.minimum(1.0, high * roots))
