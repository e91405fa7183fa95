"""What a map makes of dates and of another model's score, in words, and which dates cannot be read."""

from __future__ import annotations

import numpy as np

from ..errors import Message, Remedy
from ..tables import Records
from .dates import Date, Days
from .feature_map import FeatureMap

#: Columns that are named.
NAMED = 5


def made_of_dates(features: FeatureMap, time: str | None) -> list[Message]:
    """Return a note on what a map makes of columns of dates besides the time; or none."""
    dates = [column for column in features.columns if isinstance(column, Date) and column.name != time]
    if not dates:
        return []
    told = ", ".join(f"{date.name!r} ({date.made})" for date in dates)
    days = "".join(f", {one.name!r} (days)" for one in features.columns if isinstance(one, Days))
    few = f". A cycle is a feature once the first {features.encoder.warm_up} rows have been around it"
    short = few if any(not date.numbers for date in dates) else ""
    leave = Remedy("drop", [date.name for date in dates[:NAMED]])
    return [Message(f"features made of dates: {told}{days}{short}. To leave dates out: ", leave)]


def made_of_score(features: FeatureMap) -> list[Message]:
    """Return a note on what a map makes of another model's score; or none."""
    score = features.score
    if score is None:
        return []
    if score.constant:
        first = f"the score {score.name!r} is the same in all of the first {features.encoder.warm_up} rows"
        return [Message(f"{first}, so that nothing is known of its scale: it says above or below, and no more")]
    scale = "by its log-odds, since it lies from 0 to 1" if score.edge is not None else "as it is"
    told = f"the score {score.name!r} is taken {scale}. If the model that made the score was fitted on these very rows"
    return [Message(f"{told}, the score knows their labels, and what is learnt here is too good to be true")]


def unreadable_dates(features: FeatureMap, rows: Records) -> list[Message]:
    """Return a note on each column of dates of which some cannot be read; or none."""
    notes = []
    for date in [column for column in features.columns if isinstance(column, Date)]:
        bad = np.flatnonzero(date.cells(rows)[:, 2])
        if len(bad):
            such = f"{rows.where(int(bad[0]))}, {rows.columns[date.name][bad[0]]!r}"
            told = f"column {date.name!r}: {len(bad)} of {len(rows)} dates cannot be read, and count as missing; first "
            notes.append(Message(f"{told}{such}. A date is written as 2024-05-31 or 2024-05-31T14:05"))
    return notes
