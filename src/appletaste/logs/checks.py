"""What a decision log must satisfy: checked once, when it is made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..costs import LARGEST, OUTCOMES
from ..errors import DataError, FeedbackError
from ..records.events import CORRECTED, NEVER_DUE, OBSERVED, STATES, UNKNOWN
from ..times import DAY, instants, is_day

if TYPE_CHECKING:
    from .decision_log import DecisionLog

_ODD = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio
_BLOCK = 4096  # ids hashed at once, so that their codes stay in the cache


def check_log(log: DecisionLog, source: str = "", first: int = 0) -> None:
    """Refuse columns that no honest stream of decisions could have, with the first row that shows it.

    ``source`` is a file that is read in batches, ``first`` how many of its rows come before these; whether ids differ
    is then for the reader to see, who has all of them.
    """
    try:
        _check(log, first, bool(source))
    except (DataError, FeedbackError) as error:
        if not source:
            raise
        raise type(error)(f"{source}, {error}") from None


def _check(log: DecisionLog, first: int, in_batches: bool) -> None:
    n = len(log.id)

    def wrong_where(wrong: NDArray[Any], message: str, kind: type[DataError | FeedbackError] = DataError) -> None:
        if wrong.any():
            _refuse(int(np.argmax(wrong)), first, log, message, kind)

    for name, column in log.columns().items():
        if len(column) != n:
            raise DataError(
                f"column {name} has {len(column)} rows and column id has {n}; every column has one row per decision"
            )
    check_ids(log.id, first, differ=not in_batches)
    wrong_where(~((log.probability >= 0) & (log.probability <= 1)), "probability must be in [0, 1], got {probability}")
    wrong_where(
        log.act & (log.probability == 0),
        "an act with probability 0 is impossible: was P(positive) logged instead of P(act)?",
    )
    wrong_where(
        ~log.act & (log.probability == 1),
        "a pass with probability 1 of acting is impossible: did somebody override the decision?",
    )
    if log.chance is not None:
        wrong = ~np.isnan(log.chance) & ~((log.chance >= 0) & (log.chance <= 1))
        wrong_where(wrong, "chance must be in [0, 1] or absent, got {chance}")
    for name, amounts in (("worth", log.worth), ("price", log.price)):
        if amounts is not None:
            wrong_where(np.isinf(amounts), f"{name} must be finite or absent, got {{{name}}}")
    for name in OUTCOMES:
        wrong_where(
            ~(np.abs(getattr(log, name)) < LARGEST),
            f"{name} must be finite and below {LARGEST:g} in size, got {{{name}}}",
        )
    wrong_where(
        (log.alarm_price < 0) & (log.catch_gain < 0),
        "acting pays only on negatives, because a hit costs more than a miss and a false alarm less than a correct "
        "pass; are the labels swapped?",
    )
    wrong_where(~np.isin(log.label, (0, 1, UNKNOWN)), "a label is 0, 1 or -1 (not known), got {label}")
    known = log.label != UNKNOWN
    told = "a pass has no label: nobody sees the label of a passed item. One that came all the same is its report"
    wrong_where(~log.act & known, told, FeedbackError)
    wrong_where(~np.isin(log.state, STATES), f"state is one of {', '.join(STATES)}; got {{state}}")
    wrong_where(
        ~log.act & (log.state != NEVER_DUE), "no label is due for a pass, so its state is never_due; got {state}"
    )
    wrong_where(log.act & (log.state == NEVER_DUE), "an act is due a label, but its state is never_due")
    settled = np.isin(log.state, (OBSERVED, CORRECTED))
    wrong_where(log.act & (known != settled), "state {state} does not go with label {label} (-1: not known)")
    wrong_where(log.audit & ~log.act, "audit is true, which says that the item was acted on, but the item was passed")
    for name, times in (("time", log.time), ("label_time", log.label_time), ("report_time", log.report_time)):
        if times is not None and times.dtype.kind != "U":
            if times.dtype.kind not in "iuf":
                raise DataError(f"{name} must be an array of numbers or of texts, got {times.dtype}")
            wrong_where(np.isinf(times), f"{name} must be finite, got {{{name}}}")
    if log.time is not None:
        wrong_where(~_present(log.time), "time is missing; a log has the time of every decision or of none")
    if log.label_time is not None:
        wrong_where(_present(log.label_time) & ~known, "label_time is {label_time}, but the row has no label")
        wrong_where(
            _too_early(log.time, log.label_time),
            "a label cannot arrive before its decision: time is {time} and label_time {label_time}. Is it the time of "
            "another item, or of another clock? Leave label_time empty where nobody knows it",
        )
    _check_reports(log, wrong_where)
    if log.truth is not None:
        wrong_where(
            ~np.isin(log.truth, (0, 1)),
            "truth is missing; a log has the truth of every item, as a replay does, or of none",
        )
        wrong_where(known & (log.label != log.truth), "the label is {label} and the truth {truth}")
    if log.x is not None:
        if log.x.ndim != 2:
            raise DataError(f"x must be a matrix, one row per decision; got the shape {log.x.shape}")
        if not (finite := np.isfinite(log.x)).all():
            wrong_where(np.asarray(~finite.all(axis=1)), "x must be finite numbers, got {x}")


def _check_reports(log: DecisionLog, wrong_where: Callable[..., None]) -> None:
    """Refuse reports of acts, and times of reports that are not there or that came before their decision."""
    if log.report is None:
        if log.report_time is not None:
            wrong_where(_present(log.report_time), "report_time is {report_time}, but the row has no report")
        return
    wrong_where(~np.isin(log.report, (0, 1, UNKNOWN)), "a report is 0, 1 or -1 (none), got {report}")
    there = log.report != UNKNOWN
    told = "a report is the label of a passed item, and this one was acted on: what came of it is its label"
    wrong_where(there & log.act, told, FeedbackError)
    if log.truth is not None:
        wrong_where(there & (log.report != log.truth), "the report is {report} and the truth {truth}")
    if log.report_time is not None:
        wrong_where(_present(log.report_time) & ~there, "report_time is {report_time}, but the row has no report")
        wrong_where(
            _too_early(log.time, log.report_time),
            "a report cannot arrive before its decision: time is {time} and report_time {report_time}. Leave "
            "report_time empty where nobody knows it",
        )


def _present(times: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(times != "") if times.dtype.kind == "U" else ~np.isnan(times)


def _too_early(made: NDArray[Any] | None, arrived: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which labels have certainly arrived before their decision: both times are known, and of one kind."""
    wrong = np.zeros(len(arrived), dtype=bool)
    if made is None or (made.dtype.kind == "U") != (arrived.dtype.kind == "U"):
        return wrong
    there = np.flatnonzero(_present(arrived))
    if made.dtype.kind != "U":
        wrong[there] = arrived[there] < made[there]
        return wrong
    seconds = instants(made[there]) - instants(arrived[there])  # NaN: one of them is no date
    for k in np.flatnonzero(seconds > 0).tolist():
        row = there[k]
        wrong[row] = seconds[k] >= _most_doubt(str(made[row]), str(arrived[row]))
    return wrong


def _most_doubt(made: str, arrived: str) -> float:
    """Return from how many seconds on one date is certainly after another.

    A label with a day alone may have arrived at the end of that day, and of two dates of which one has no zone that one
    may be of any zone.
    """
    aware = [datetime.fromisoformat(text).tzinfo is not None for text in (made, arrived)]
    return DAY * (is_day(arrived) + (aware[0] != aware[1]))


def check_ids(ids: NDArray[np.str_], before: int = 0, differ: bool = True) -> None:
    """Refuse ids that are missing or, unless somebody else looks whether they ``differ``, in two rows."""
    if (ids == "").any():
        raise DataError(f"row {before + int(np.argmax(ids == '')) + 1}: id is missing; every decision has one")
    if differ and not _distinct(ids):
        first: dict[str, int] = {}
        for place, one in enumerate(ids.tolist(), before + 1):
            if first.setdefault(one, place) != place:
                raise DataError(f"id {one!r} is in rows {first[one]} and {place}: one row per decision")


def _distinct(ids: NDArray[np.str_]) -> bool:
    """Say whether all ids differ, by a hash of each; False may be chance, so that somebody has to look.

    500,000 ids of 36 characters take 0.06 s; a set of them takes 0.20 s and np.unique 0.14 s.
    """
    if ids.dtype.kind != "U" or not len(ids):
        return False
    found = hashes(ids)
    found.sort()
    return bool((found[1:] != found[:-1]).all())


def hashes(ids: NDArray[np.str_]) -> NDArray[np.uint64]:
    """Return a number for each id, a polynomial in 2^64: the same for the same id, whatever the others are.

    Examples
    --------
    >>> bool(hashes(np.array(["b"]))[0] == hashes(np.array(["a longer id", "b"]))[1])
    True
    """
    if not len(ids) or not ids.dtype.itemsize:
        return np.zeros(len(ids), dtype=np.uint64)
    codes = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), -1)
    weights = np.cumprod(np.full(codes.shape[1], _ODD, dtype=np.uint64))
    return np.concatenate([codes[k : k + _BLOCK].astype(np.uint64) @ weights for k in range(0, len(ids), _BLOCK)])


def _refuse(k: int, first: int, log: DecisionLog, message: str, kind: type[DataError | FeedbackError]) -> None:
    seen = {name: column[k] for name, column in log.columns().items()}
    raise kind(f"row {first + k + 1} (id {str(log.id[k])!r}): {message.format(**seen)}")
