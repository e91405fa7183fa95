"""What to change: at most three things, the one with the most money in it first.

Each candidate is a function that looks at the facts and answers with an ``Advice``, or with None where there is nothing
to say. Money is a gain where the log can give one, and else what is at stake; advice without money comes last.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..drift.alarms import FEATURES
from ..errors import AppleTasteError
from ..evaluate import Estimate, Refusal, WhatIf, plan_audit
from ..evaluate.constants import scarce
from ..evaluate.support import contradiction
from .estimates import overdue_labels, value_of_a_review
from .facts import Facts
from .phrases import Writer, count, ends

#: Things to change that are told.
MOST = 3
#: What is missed is known well enough up to a half-width of this share, and too well below the other.
WIDE, NARROW = 0.25, 0.1
#: Columns that one piece of advice names.
NAMED = 3
NO_MONEY = "no money can be put on that"


@dataclass(frozen=True)
class Advice:
    """One thing to change."""

    kind: str  #: reviews, threshold, audits, labels or columns
    do: str  #: what to do, as the beginning of a sentence
    worth: str  #: what that is worth, or what is at stake, in words
    sure: str  #: how sure that is, in words
    money: float | None = None  #: what it would gain, or what is at stake, in the days of the report; None: not known

    def __str__(self) -> str:
        return f"{self.do}: {self.worth}; {self.sure}."

    def as_dict(self) -> dict[str, Any]:
        """Return the advice for JSON."""
        return {**vars(self), "sentence": str(self)}


def advise(facts: Facts, money: Writer) -> tuple[Advice, ...]:
    """Return at most three things to change, the most money first; none where nothing is worth changing."""
    found = [advice for look in CANDIDATES if (advice := look(facts, money)) is not None]
    found = [advice for advice in found if advice.money is None or advice.money > 0.0]
    return tuple(
        sorted(found, key=lambda advice: -math.inf if advice.money is None else advice.money, reverse=True)[:MOST]
    )


def more_reviews(facts: Facts, money: Writer) -> Advice | None:
    """Say what one more review a day is worth, by the price that reviews had."""
    found = value_of_a_review(facts.log, facts.level)
    if found is None:
        return None
    each = f"{money(found.value / found.reviews)} each"
    often = f"one more review a day, {count(found.reviews)} in all," if found.daily else "one more review per 100 items"
    value, sure = found.value, "by the model's chances, which too few labels on such items can check"
    if isinstance(found.seen, Estimate):
        seen = found.seen
        told = f"{count(found.labels)} labels on such items say {money(seen.value)} ({ends(seen, money)})"
        sure = f"by the model's chances, and {told}"
        if not seen.covers(value):
            value, sure = (
                seen.value,
                f"by {count(found.labels)} labels on such items ({ends(seen, money)}), not by "
                f"the model, whose chances say {money(found.value)}",
            )
            each = f"{money(seen.value / found.reviews)} each"
    return Advice("reviews", "Review more items", f"{often} would have saved about {money(value)}, {each}", sure, value)


def other_threshold(facts: Facts, money: Writer) -> Advice | None:
    """Say which threshold would have saved more, if one surely would and the reviews are there for it."""
    sure = [(t, found, saving) for t, found, saving in held_together(facts) if saving.low > 0.0]
    if scarce(facts.log):
        sure = [(t, found, saving) for t, found, saving in sure if found.acts <= found.logged_acts]
    if not sure:
        return None
    t, found, saving = max(sure, key=lambda one: one[2].value)
    where = f"from {t:.3g} times each item's own threshold on" if facts.by_item else f"from a chance of {t:.3g} on"
    if t == 0.0:
        where = "on every item" + ("" if found.acts == found.decisions else " on which acting can pay")
    interval = f"{100 * facts.level:.0f} % interval {ends(saving, money)}"
    exact = math.isclose(saving.low, saving.high)  # fewer acts than were made: every label that counts has been seen
    return Advice(
        "threshold",
        f"Act {where}",
        f"that would have saved {money(saving.value)}, with {count(found.acts)} items acted on instead of "
        f"{count(found.logged_acts)}",
        "known exactly" if exact else f"{interval}, so wide that all thresholds asked about hold at once",
        saving.value,
    )


def held_together(facts: Facts) -> list[tuple[float, WhatIf, Estimate]]:
    """Return what thresholds save, with intervals so wide that all of them hold at once.

    The best of many estimates is looked at, so an interval of one alone would be too good to be true.
    """
    told = [(t, found, facts.together.widened(found.saving)) for t, found in facts.thresholds]
    return [(t, found, saving) for t, found, saving in told if isinstance(saving, Estimate)]


def other_audits(facts: Facts, money: Writer) -> Advice | None:
    """Say whether audits are too few to know what is missed, or more than that takes."""
    log, missed, audits = facts.log, facts.whole.missed, facts.whole.audits
    if not facts.missed.passes or not facts.whole.labels:
        return None
    if (wrong := contradiction(log)) is not None:
        return Advice("audits", "Log the probability with which each action was drawn", wrong.reason, "certain")
    if isinstance(missed, Refusal):
        do, sure = _for_an_answer(facts)
        return Advice("audits", do, f"what is missed cannot be said yet ({missed.reason}), so {NO_MONEY}", sure)
    if missed.value <= 0.0 or not audits:
        return None
    known = log.labelled & log.audit
    spent = float(log.relative_cost[known].sum()) / max(1, int(known.sum())) * audits
    bought = f"{count(audits)} audits {'cost' if spent >= 0 else 'earned'} {money(abs(spent))}"
    half = 0.5 * (missed.high - missed.low) / missed.value
    if half > WIDE:
        needed, reckoned = _audits_for(facts, audits)
        return Advice(
            "audits",
            f"Audit more, about {count(needed)} items instead of {count(audits)} in the same time",
            f"that would halve the width of what is missed, {ends(missed, money)} by now; {bought}, and {NO_MONEY}",
            reckoned,
        )
    if half < NARROW and spent > 0.0:
        return Advice(
            "audits",
            f"Audit half as many items, {count(audits / 2)} instead of {count(audits)}",
            f"that saves about {money(spent / 2)}, and what is missed would still be known to +- {140 * half:.0f} %",
            f"counted: {bought}",
            spent / 2,
        )
    return None


def _for_an_answer(facts: Facts) -> tuple[str, str]:
    """Return what to do so that the log can say what is missed, and what is there by now: audits, and their labels."""
    log, audits = facts.log, facts.whole.audits
    if not audits:
        return "Audit a share of the items that are passed, 2 % say", "certain"
    labels = int((log.audit & log.labelled).sum())
    here = f"counted: {count(labels)} of {count(audits)} audits have a label"
    if labels < audits:
        others = "1 audit that has" if audits - labels == 1 else f"{count(audits - labels)} audits that have"
        return f"Get the labels of {others} none yet", here
    few = "1 audit is" if audits == 1 else f"{count(audits)} audits are"
    return f"Go on auditing, for longer or a larger share: {few} too few", here


def _audits_for(facts: Facts, audits: int) -> tuple[float, str]:
    """Return how many audits halve the interval: well placed where chances are logged, else four times as many.

    A plan that takes no more audits than there were trusts chances that the audits have contradicted: four times, too.
    """
    recall = facts.whole.recall
    if isinstance(recall, Estimate) and recall.high > recall.low:
        try:
            margin = min(0.5, 0.25 * (recall.high - recall.low))
            planned = plan_audit(facts.log, margin=margin, level=facts.level).audits
            if planned > audits:
                return planned, "the number is a plan from what is missed by now (appletaste plan-audit)"
        except AppleTasteError:
            pass  # no chances are logged, or no positive was seen
    return 4.0 * audits, "half the width takes four times as many"


def late_labels(facts: Facts, money: Writer) -> Advice | None:
    """Say which labels are overdue."""
    found = overdue_labels(facts.log)
    if found is None:
        return None
    many = f"{count(found.labels)} label{'' if found.labels == 1 else 's'}"
    others = f"{count(found.other_clock)} label{'' if found.other_clock == 1 else 's'}"
    clock = (
        f", not counting {others} with times long after all decisions, as of another clock" if found.other_clock else ""
    )
    hang = NO_MONEY if found.money is None else f"{money(found.money)} of savings hang on them, by the model's chances"
    return Advice(
        "labels",
        f"Chase {many} that {'is' if found.labels == 1 else 'are'} overdue, the oldest of {found.since}",
        hang,
        f"counted: 95 % of labels arrive within {found.usual}{clock}",
        found.money,
    )


def changed_columns(facts: Facts, money: Writer) -> Advice | None:
    """Say which columns changed, those that still are first; or that labels are not what the model expects."""
    alarms = [alarm for alarm in facts.drift if not alarm.at_start]
    columns = sorted((a for a in alarms if a.kind == FEATURES), key=lambda a: (-a.until, -a.statistic))
    if columns:
        names = list(dict.fromkeys(f"'{alarm.feature}'" for alarm in columns))
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        nameless = all(_NAMELESS.fullmatch(str(alarm.feature)) for alarm in columns)
        check = f"Check the column{'s' if len(names) > 1 else ''} {', '.join(names[:NAMED])}{more}"
        return Advice(
            "columns",
            "Check the columns (to see their names, give the report the map of the features)" if nameless else check,
            f"{columns[0].change}, since about {facts.when(columns[0].since)}, and {NO_MONEY}",
            "an alarm that chance alone raises once in 100,000 items",
        )
    if alarms:
        return Advice(
            "columns",
            "Find out what changed",
            f"{alarms[-1].change}, since about {facts.when(alarms[-1].since)}, and {NO_MONEY}",
            "an alarm that chance alone raises once in 20,000 labels",
        )
    return None


#: A feature whose name nobody has said.
_NAMELESS = re.compile(r"feature \d+")
#: Where advice comes from.
CANDIDATES: tuple[Callable[[Facts, Writer], Advice | None], ...] = (
    more_reviews,
    other_threshold,
    other_audits,
    late_labels,
    changed_columns,
)
