"""An alarm: what was seen, where, since when, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .stability import LARGE, Stability

#: Kinds of alarm: labels are not what the model expected; a feature is not distributed as it was; somebody has set the
#: clock of the machine.
KINDS = LABELS, FEATURES, CLOCK = "labels", "features", "clock"
#: A change in labels that seems to have begun by this item is no change: the model had not learnt yet.
BEGINNING = 20


@dataclass(frozen=True)
class Alarm:
    """One alarm; ``print`` it for a sentence and a remedy."""

    kind: str  #: ``labels``, ``features`` or ``clock``
    feature: str | None  #: its name; None for labels
    statistic: float  #: Page-Hinkley's, the population stability index, or by how many seconds a clock was set
    threshold: float
    item: int  #: items seen when it was raised
    since: int  #: the item at which the change seems to have begun
    until: int  #: the last item at which it was still seen
    time: Any  #: of the item or label that raised it, as it was given
    change: str  #: what is other than before
    measured: str  #: the statistic beside what it was held against
    advice: str

    @property
    def meaning(self) -> str:
        """What changed, since when and by which measure."""
        since = f", since about item {self.since}" if self.kind == LABELS else ""
        return f"{self.change}{since} ({self.measured})"

    @property
    def about(self) -> tuple[str, str]:
        """What alarms of the same thing share: the column, or which way labels are off."""
        return self.kind, self.feature or self.change

    @property
    def more(self) -> bool:
        """Whether an alarm of labels is about more positives than were expected, and not about fewer."""
        return self.change.startswith("more ")

    @property
    def at_start(self) -> bool:
        """Whether the alarm is about the beginning of the stream, when the model knew next to nothing."""
        return self.kind == LABELS and self.since <= BEGINNING

    @property
    def seen(self) -> str:
        """The alarm without what to do about it."""
        when = f"item {self.item}" + ("" if self.time is None else f" ({self.time})")
        still = "" if self.until == self.item else f", and until item {self.until}"
        return f"{when}: {self.meaning}{still}."

    def __str__(self) -> str:
        return f"{self.seen} {self.advice}"


def label_alarm(sign: int, statistic: float, threshold: float, item: int, since: int, time: Any) -> Alarm:
    """Return the alarm of labels that are more or less often positive than the model expected."""
    more, act = (
        ("more", "misses more positives than the model expects") if sign > 0 else ("fewer", "acts on too many items")
    )
    change = f"{more} positives among the acts than the model expected"
    measured = f"Page-Hinkley {statistic:.1f} > {threshold:.1f}"
    advice = (
        f"The policy {act} until it has learnt again. Check how labels are made. If the world has changed, audit a "
        "larger share of passes, which a running stream takes at once, and make the next stream with a half_life, or a "
        "shorter one"
    )
    if since <= BEGINNING:
        advice = "The model had only begun to learn: a beginning, no change. If alarms go on, check how labels are made"
    return Alarm(LABELS, None, statistic, threshold, item, since, item, time, change, measured, advice)


def feature_alarm(name: str, found: Stability, threshold: float, item: int, since: int, time: Any) -> Alarm:
    """Return the alarm of a feature that is not distributed as it was."""
    bin_, before, now = found.largest_change()
    how = "changed" if found.value > LARGE else "shifted"
    change = f"{name!r} has {how}: {bin_} was {100 * before:.1f} % of items and is {100 * now:.1f} %"
    measured = f"stability index {found.value:.2f} > {threshold:.2f}"
    if bin_ == "missing" and now > before:
        advice = "Check where this column comes from: values are lost on the way"
    elif bin_ == "other" and now > before:
        advice = "There are new levels: encode the table again, with hashing or spare columns"
    else:
        advice = (
            "Check where this column comes from. If the traffic has changed, the policy knows less about the new "
            "items: expect more acts, and check how many positives are missed there"
        )
    return Alarm(FEATURES, name, found.value, threshold, item, since, item, time, change, measured, advice)


def clock_alarm(seconds: float, threshold: float, item: int, time: Any) -> Alarm:
    """Return the alarm of a clock that was set by more than a threshold; below zero: back.

    Examples
    --------
    >>> clock_alarm(-864000.0, 3600.0, 7, None).change
    'the clock of the machine was set back by 10 days'
    """
    size = abs(seconds)
    amount = f"{size / 86400:.0f} days" if size >= 172_800 else f"{size / 3600:.1f} hours"
    change = f"the clock of the machine was set {'forward' if seconds > 0 else 'back'} by {amount}"
    measured = f"{size:,.0f} s > {threshold:,.0f} s"
    advice = (
        "Check the clock and who sets it. Decisions that came without a time have that of the clock as it was: look at "
        "the days before and after, whose capacity was booked by it"
    )
    return Alarm(CLOCK, None, seconds, threshold, item, item, item, time, change, measured, advice)
