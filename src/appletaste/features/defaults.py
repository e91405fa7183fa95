"""How a table is encoded when nobody says, what somebody may say instead, and what comes of it, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Message, OptionError, Remedy
from ..tables import Records
from .dates import Date, Days
from .encoder import Encoder
from .feature_map import FeatureMap

#: Columns of room for new levels in the whole table, and the most for one category, where the order is that of time.
ROOM, MOST_ROOM = 64, 8
OF_A_MATRIX = "a matrix holds vectors already: leave out encoder=, or give a table instead"


def default_encoder(records: Any, shuffled: bool, curves: bool = False) -> Encoder | None:
    """Return how a table is encoded when nobody says; vectors need no encoder.

    A shuffled table is alike all along, so its warm-up has met the levels that matter. In a table in the order of time
    it has not: the first 500 of a bank's 41188 calls are all of one month. There each category gets room for levels
    that come later, about 64 columns over the whole table and from 1 to 8 each; docs/replay.md says what that is worth.
    Curves, and columns that stay open for many levels, are for whoever gives the groups of the map to the policy
    (docs/curves.md).
    """
    if not isinstance(records, Records):
        return None
    categories = sum(
        column.dtype != np.float64 and name not in records.dates for name, column in records.columns.items()
    )
    if shuffled or not categories:
        return Encoder(curves=curves, many=curves)
    return Encoder(spare=min(MOST_ROOM, max(1, math.ceil(ROOM / categories))), curves=curves, many=curves)


def chosen_encoder(given: Any, default: Encoder | None) -> Any:
    """Return the encoder that was given, or the default one; a mapping says which settings of the default change.

    Examples
    --------
    >>> chosen_encoder({"online": True}, Encoder(curves=True)) == Encoder(curves=True, online=True)
    True
    """
    if given is None:
        return default
    if not isinstance(given, Mapping):
        return given
    if default is None:
        raise OptionError(OF_A_MATRIX)
    known = Encoder.__dataclass_fields__
    for name in given:
        if name not in known:
            raise OptionError(Message(Remedy("encoder"), f" has no setting {name!r}; there are {', '.join(known)}"))
    room = {"spare": 0} if given.get("hashing") else {}  # hashing has room for all levels
    return replace(default, **{**room, **given})


def with_dates(encoder: Any, dates: Mapping[str, tuple[str, str]] | None) -> Any:
    """Return the encoder with the days between dates that were asked for."""
    if dates is None:
        return encoder
    if not isinstance(encoder, Encoder):
        raise OptionError(Message(Remedy("dates"), " is for a table and an Encoder, which makes features of its dates"))
    return replace(encoder, dates=dates)


def with_score(encoder: Any, score: str | None) -> Any:
    """Return the encoder with the column that holds another model's score."""
    if score is None:
        return encoder
    if not isinstance(encoder, Encoder):
        raise OptionError(Message(Remedy("score"), " names a column of a table, of which an Encoder makes features"))
    return replace(encoder, score=score)


#: Columns that are named.
NAMED = 5


def made_of_dates(features: FeatureMap, time: str | None) -> list[Message]:
    """Return a note on what a map makes of columns of dates besides the time; or none."""
    dates = [column for column in features.columns if isinstance(column, Date) and column.name != time]
    if not dates:
        return []
    named = ", ".join(f"{date.name!r} ({date.made})" for date in dates)
    days = "".join(f", {column.name!r} (days)" for column in features.columns if isinstance(column, Days))
    few = f". A cycle is a feature once the first {features.encoder.warm_up} rows have been around it"
    short = few if any(not date.numbers for date in dates) else ""
    leave = Remedy("drop", [date.name for date in dates[:NAMED]])
    return [Message(f"features made of dates: {named}{days}{short}. To leave dates out: ", leave)]


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
