"""What can be taken home: the report of a month as one page, and the decision log as a table for spreadsheets."""

from __future__ import annotations

import asyncio
import csv
import io
import re
import tempfile
import threading
from calendar import monthrange
from collections.abc import AsyncGenerator, Iterator
from dataclasses import astuple
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from ...errors import InputError, MissingExtraError
from ...logs import DecisionLog
from ...logs.decision_log import table_of
from ...records.codec import unpack_event
from ...records.durable import DurableRecord
from ...records.events import STATES, Decided, Event
from ...records.states import Entries
from ...records.stores.store import PART
from ...reports import write_report
from ...words import Words
from ..operations import CSV, HTML, STREAM, Call, Query, Reply, operation
from ..problems import FieldError, Problem
from ..side_process import Reading
from .read_model import ReadModel, day_name, day_number, day_of

Month = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$", max_length=7)]
#: A page of ours that needs nothing from anywhere, and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
#: The columns of the table.
HEADER = ("id", "time", "stratum", "act", "probability", "chance", "audit", "state", "label", "label_time",
          "report", "report_time", "miss", "false_alarm", "hit", "correct_pass", "worth", "price", "round", "policy",
          "decided", "outcome")  # fmt: skip
#: Days before a month whose audits and reports say which share of the missed is reported.
PAST = 366
#: What a formula of a spreadsheet begins with.
COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n")
_drawing = threading.Lock()  # pictures are drawn by one thread at a time


def days_of_month(month: str) -> tuple[date, date]:
    """Return the first and the last day of a month.

    Examples
    --------
    >>> days_of_month("2024-02")[1].isoformat()
    '2024-02-29'
    """
    year, number = int(month[:4]), int(month[5:])
    return date(year, number, 1), date(year, number, monthrange(year, number)[1])


def table_from(reading: Reading, first: date, last: date) -> DecisionLog:
    """Return the decision log of some days with their features; no other decision is held in memory."""
    low, high = (day_number(day.isoformat()) for day in (first, last))
    wanted: set[str] = set()

    def events() -> Iterator[Event]:
        for seq, event in DurableRecord(reading.place).read():
            if seq > reading.seq:
                return
            if isinstance(event, Decided) and low <= day_of(str(event.time)) <= high:
                wanted.add(event.id)
            if event.id in wanted:
                yield event

    entries = Entries(events())
    whole = all(len(event.decision.x) for event in entries.decided.values())
    return table_of(entries, reading.policy, whole)


def month_of(read_model: ReadModel, month: str | None) -> str:
    """Return the month of a report, that of the latest decision where none is asked for, or why there is no report."""
    with read_model.catch_up().lock:
        columns, there = read_model.columns, read_model.columns.touched
        if not there:
            raise Problem("no-answer", detail="the stream has no decisions yet")
        if not columns.dated:
            raise Problem("no-answer", detail="the times of this stream are numbers, so there are no months")
        month = month or day_name(max(there))[:7]
        first, last = days_of_month(month)
        if not len(columns.of_days(*(day_number(day.isoformat()) for day in (first, last)))):
            told = f"{day_name(min(there))} to {day_name(max(there))}"
            raise Problem("no-answer", detail=f"no decision was made in {month}; give a month of {told}")
        return month


def page_of(reading: Reading, month: str, title: str, *words: str) -> bytes:
    """Return the page of a month, compared with the month before."""
    first, last = days_of_month(month)
    log = table_from(reading, (first - timedelta(days=1)).replace(day=1), last)
    if log.report is not None:  # which share is reported is known from a long past
        log = table_from(reading, first - timedelta(days=PAST), last)
    try:
        with tempfile.TemporaryDirectory() as folder, _drawing:
            write_report(
                log,
                folder,
                names=reading.names,
                title=f"{title}, {month}",
                source=f"the record of {title}",
                first_day=first,
                last_day=last,
                words=Words(*words),
            )
            return Path(folder, "index.html").read_bytes()
    except (InputError, MissingExtraError) as error:
        raise Problem("no-answer", detail=str(error)) from None


def file_name(stream: str, rest: str) -> dict[str, str]:
    """Return the header that names what is downloaded.

    Examples
    --------
    >>> file_name("orders 'new'", "2024-06.html")["Content-Disposition"]
    'attachment; filename="orders__new_-2024-06.html"'
    """
    return {"Content-Disposition": f'attachment; filename="{re.sub("[^A-Za-z0-9.-]", "_", stream)}-{rest}"'}


@operation(
    "GET",
    STREAM + "/report.html",
    scope="read",
    query={"month": Query(Month | None, None, "Such as 2024-06; left out: the month of the latest decision.")},
    media=HTML,
    problems=("no-answer",),
)
async def report(call: Call[None]) -> Reply[str]:
    """Return the report of a month as one page that opens anywhere."""
    read_model, month = call.host.read_model(call.stream), call.query["month"]
    if month is not None and not 1 < int(month[:4]) < 9999:  # the month before is looked at, too
        raise Problem("validation", FieldError("out-of-range", parameter="month", expected="a month such as 2024-06"))
    words = await call.writer.do(lambda stream: stream.words)
    month = await call.host.aside(month_of, read_model, month)
    page = await call.host.beside.ask(call.writer, page_of, month, call.stream, *astuple(words))
    headers = file_name(call.stream, f"{month}.html")
    headers["Content-Security-Policy"] = POLICY
    return Reply(200, page, f"{HTML}; charset=utf-8", headers)


class Rows:
    """The decisions of a stream as lines of a table, some thousands at a time, as they stood when it was asked for."""

    def __init__(self, read_model: ReadModel, words: Words) -> None:
        self._words = words
        with read_model.catch_up().lock:
            columns = read_model.columns
            self._writer, self._last = read_model.writer, read_model.seq
            self._flags = {name: np.array(columns.flag(name)) for name in ("act", "audit", "label", "state")}
            self._probability = np.array(columns.amount("probability"))
            self._label_times, self._reports = dict(columns.label_times), dict(columns.reports)
        self._done, self._row, self._sheets = 0, 0, dict[tuple[float, ...], Any]()

    def next(self) -> bytes:
        """Return the next lines; none: that was all."""
        while self._done < self._last:
            text = io.StringIO(newline="")
            table, lines = csv.writer(text), 0
            for row in self._writer.place.read(self._done):
                if row.seq > self._last or lines == PART:
                    break
                self._done = row.seq
                if row.kind == "decided":
                    event = unpack_event(row.kind, row.body, None, self._sheets)
                    assert isinstance(event, Decided)
                    table.writerow(self._line(event))
                    lines += 1
            if lines:
                return text.getvalue().encode()
        return b""

    def _line(self, event: Decided) -> list[Any]:
        row, decision, costs = self._row, event.decision, event.decision.costs
        self._row += 1
        act, audit, label, state = (self._flags[name][row].item() for name in ("act", "audit", "label", "state"))
        known = [event.id, event.time, event.stratum, bool(act), self._probability[row].item(), decision.chance]
        known += [bool(audit), STATES[state], label if label >= 0 else None, self._label_times.get(row)]
        known += self._reports.get(row, (None, None))
        known += [costs.miss, costs.false_alarm, costs.hit, costs.correct_pass, decision.worth, decision.price]
        words, outcome = self._words, None
        if label >= 0:
            outcome = words.positive if label else words.negative
        known += [decision.round, self._writer.policy, words.acted if act else words.passed, outcome]
        return [_cell(value) for value in known]


def _cell(value: Any) -> Any:
    """Return what a table holds of a value: nothing where it is not known.

    A text that a spreadsheet would take for a formula has an apostrophe before it.
    """
    if value is None or value != value:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(COMPUTED) else value
    return int(value) if isinstance(value, bool) else value


@operation("GET", STREAM + "/log.csv", scope="read", media=CSV)
async def log_csv(call: Call[None]) -> Reply[str]:
    """Return the decision log as CSV, one line a decision, without features, at its end in the team's words."""
    words = await call.writer.do(lambda stream: stream.words)
    rows = await call.host.aside(Rows, call.host.read_model(call.stream), words)

    async def parts() -> AsyncGenerator[bytes]:
        yield (",".join(HEADER) + "\r\n").encode()
        while some := await asyncio.to_thread(rows.next):
            yield some

    return Reply(200, media=f"{CSV}; charset=utf-8", parts=parts(), headers=file_name(call.stream, "log.csv"))
