"""How a table is encoded when nobody says, and what somebody may say instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Message, OptionError, Remedy
from ..tables import Records
from .encoder import Encoder

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
