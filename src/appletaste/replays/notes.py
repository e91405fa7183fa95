"""Alarms in a replay that is played in order: labels by policy, columns of the table by tenths (docs/drift.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..drift import Watch
from ..drift.stability import LARGE, SHIFT, Bins, compare
from ..errors import Message, Remedy
from ..features import Encoder
from ..features.defaults import made_of_dates, made_of_score, unreadable_dates
from ..history.labelled import BLOCKS, LabelledTable, Vectors, edges
from ..policies.learner import Change
from ..tables import Records
from ..tables.records import WARM_UP
from ..tables.values import written_otherwise
from .delays import Delay
from .tally import Tally

#: Fewest items in a tenth that are worth comparing, columns that are named, and how often chance alone names one.
LEAST, NAMED, RATE = 100, 5, 0.01
#: Of so many texts at least, this share that no other row has makes a column one of names.
FEWEST, OWN = 50, 0.9
#: A policy that acts on less than this share of what it acted on in the first half has nearly stopped; positives that
#: are half as frequent as then, or more, are no reason to. Fewer acts than so many in the first half say nothing.
STOPPED, STILL, ACTED = 0.2, 0.5, 50
ALARM = "alarm at item"


def label_notes(observed: NDArray[np.bool_], chances: NDArray[np.float64], labels: NDArray[np.int8]) -> tuple[str, ...]:
    """Return a note on labels that were not what the model expected once it had begun to learn; or none."""
    watch = Watch()
    for t in np.flatnonzero(observed & ~np.isnan(chances)).tolist():
        watch.items = t + 1
        watch.residual(int(labels[t]), float(chances[t]))
    alarms = [alarm for alarm in watch.alarms if not alarm.at_start]
    if not alarms:
        return ()
    first, count = alarms[0], len(alarms)
    still = "" if first.until == first.item else f", and until item {first.until}"
    more = "" if count == 1 else f" ({count - 1} more alarm{'s' if count > 2 else ''} after that)"
    return (f"{ALARM} {first.item}: {first.meaning}{still}{more}",)


def stopped_notes(found: Tally, moved: Sequence[str | None]) -> list[str]:
    """Return a note on a policy that has nearly stopped acting while positives still come, with the likely reason.

    The last fifth of the stream is held against its first half. ``moved`` are the columns that left their range.
    """
    acts, positives, half = found.block_acts, found.block_positives, BLOCKS // 2
    if len(acts) < BLOCKS or acts[:half].mean() * found.items / 2 < ACTED:
        return []
    limit = STOPPED * acts[:half].mean()
    if acts[-2:].mean() >= limit or positives[-2:].mean() < STILL * positives[:half].mean():
        return []
    since = max(k for k in range(BLOCKS) if acts[k] >= limit) + 1 if (acts >= limit).any() else 0
    first = int(edges(found.items, BLOCKS)[since]) + 1
    reason = "what it has learnt says that acting does not pay, and where it passes it is not told otherwise"
    if moved:
        reason = f"column {moved[0]!r} has left the range that the policy learnt from"
    elif any(note.startswith(ALARM) for note in found.notes):
        reason = "the stream has changed (see the alarm)"
    return [
        f"this policy has nearly stopped acting: on {100 * acts[:half].mean():.1f} % of items in the first half, on "
        f"{100 * acts[-2:].mean():.1f} % in the last fifth (from item {first} on), although "
        f"{100 * positives[-2:].mean():.1f} % of items there are positive. The likely reason: {reason}. Labels of "
        "items that are passed never arrive, so an audit lane or half_life is needed to find back"
    ]


def change_notes(changes: Sequence[Change]) -> tuple[str, ...]:
    """Return a note on labels that contradicted the model; or none.

    Examples
    --------
    >>> change_notes([Change(4257, 706), Change(4310, 620)])[0]
    'noticed at item 4257 that labels contradict the model, and forgot 706 older ones (1 more time after that)'
    """
    if not changes:
        return ()
    first, more = changes[0], len(changes) - 1
    again = f" ({more} more time{'s' if more > 1 else ''} after that)" if more else ""
    older = f"forgot {first.forgotten} older ones"
    return (f"noticed at item {first.round} that labels contradict the model, and {older}{again}",)


def column_notes(stream: LabelledTable) -> list[str]:
    """Return a note on columns whose later tenths are not distributed as the first, the worst first; or none."""
    starts = edges(len(stream), BLOCKS)
    if len(stream) < LEAST * BLOCKS or not isinstance(stream.records, Records):  # a matrix has no names to tell
        return []
    found: list[tuple[str, int, float]] = []
    for name, column in stream.records.columns.items():
        if name in stream.records.dates:  # dates move, and their cycles do not
            continue
        head = column[: starts[1]]
        bins = Bins.of(head, 10)
        before = bins.count(head)
        rate = RATE / ((BLOCKS - 1) * len(stream.records.columns))
        later = {first: bins.count(column[first:last]) for first, last in pairwise(starts[1:].tolist())}
        indices = {first: compare(bins, before, counts) for first, counts in later.items()}
        shifted = {first: psi.value for first, psi in indices.items() if psi.value > max(SHIFT, psi.critical(rate))}
        if shifted:
            found.append((name, min(shifted) + 1, max(shifted.values())))
    if not found:
        return []
    found.sort(key=lambda column: -column[2])
    worst = ", ".join(f"{name!r} from item {first} ({value:.2f})" for name, first, value in found[:NAMED])
    rest = "" if len(found) <= NAMED else f" and {len(found) - NAMED} more"
    return [
        f"columns whose values have shifted since the first tenth (stability index of the worst tenth, above {SHIFT:g} "
        f"and above chance; above {LARGE:g} is large): {worst}{rest}"
    ]


def delay_notes(stream: LabelledTable, delay: Delay) -> list[Message]:
    """Return a note on a delay in units that nobody has said anything about; or none."""
    if stream.times is None or stream.day is not None or delay.scale == 0.0:
        return []
    told = (
        f"column {stream.clock!r} holds numbers that are no dates, so the delay of {delay.scale:g} is in units of that "
        "column, whatever they are; to have it in units that are known, say what one unit is: "
    )
    return [Message(told, Remedy("time_unit"))]


def feature_notes(encoder: Any, rows: Records | Vectors, time: str | None) -> list[Message]:
    """Return notes on what is made of dates and of a score, and one on dates that cannot be read; or none."""
    if not isinstance(encoder, Encoder) or not isinstance(rows, Records):
        return []
    features = encoder.fit(rows, time=time)
    return [*made_of_dates(features, time), *unreadable_dates(features, rows), *made_of_score(features)]


def unlearnable_notes(stream: LabelledTable) -> list[Message]:
    """Return a note on texts that nearly every row has for itself: names and remarks teach nothing; or none."""
    found: list[tuple[str, str]] = []
    if not isinstance(stream.records, Records):
        return []
    for name, column in stream.records.columns.items():
        if name in stream.records.dates or (column.dtype == object and written_otherwise(column[:WARM_UP])):
            continue  # a finding of its own
        texts = [value for value in column[:WARM_UP] if value is not None] if column.dtype == object else []
        if len(texts) >= FEWEST and len(set(texts)) > OWN * len(texts):
            found.append((name, str(texts[0])))
    return [
        Message(
            f"column {name!r} has a different text in nearly every row, such as {text[:30]!r}: nothing can be learnt "
            "from such a column. Make numbers or a few categories of it, or leave it out: ",
            Remedy("drop", [name]),
        )
        for name, text in found
    ]
