"""Numbers of a stream: what each day came to, what was saved and what is being missed."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ...streams import Desk, Stream
from ..operations import STREAM, Call, Query, Reply, operation
from ..problems import FieldError, Problem
from .days import MOST, days_of, range_of
from .numbers import DaysRead
from .read_model import day_number

Day = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", max_length=10)]


def day_of(call: Call[Any], name: str) -> int | None:
    """Return a day of the query by its number; None: none was given."""
    text = call.query[name]
    if text is None:
        return None
    try:
        return day_number(text)
    except ValueError:
        wrong = FieldError("wrong-value", parameter=name, expected="a day such as 2024-05-31")
        raise Problem("validation", wrong) from None


def _price(stream: Stream) -> float | None:
    """Return what one more act would save, where acts are limited."""
    player = stream.player
    return player.shadow_price if isinstance(player, Desk) and player.budget is not None else None


@operation(
    "GET",
    STREAM + "/days",
    scope="read",
    query={
        "from": Query(Day | None, None, "The first day; left out: two months before the last."),
        "to": Query(Day | None, None, "The last day; left out: that of the latest decision."),
    },
)
async def days(call: Call[None]) -> Reply[DaysRead]:
    """Return what each day came to, with intervals, and all of them together."""
    first, last = day_of(call, "from"), day_of(call, "to")
    following = call.host.read_model(call.stream)
    price = await call.writer.do(_price)

    def work() -> DaysRead:
        with following.catch_up().lock:
            begin, end = range_of(following, first, last)
            if begin > end or end - begin >= MOST:
                wanted = f"a day that is not before 'from', and at most {MOST} days"
                raise Problem("validation", FieldError("out-of-range", parameter="to", expected=wanted))
            return days_of(following, first, last, price)

    return Reply.of(await call.host.aside(work))
