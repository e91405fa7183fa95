"""The clock of a table: its times as numbers, when labels arrive on it, and the dates that others are counted from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Message, OptionError, Remedy
from ..tables import Records
from ..tables.records import check_column
from ..times import DAY, dates_in, instants, mixed_in_zone

#: What one unit of a column of plain numbers can be, in seconds.
UNITS = {"day": DAY, "hour": 3600.0, "minute": 60.0, "s": 1.0, "ms": 1e-3}


def clock_of(name: str, records: Records, unit: str | None = None) -> tuple[NDArray[np.float64], bool, tuple[str, ...]]:
    """Return a column as times, whether they are dates, and what to tell about that."""
    column = records.columns[name]
    if column.dtype == np.float64:
        bad = np.flatnonzero(np.isnan(column))
        if len(bad):
            raise _no_time(name, records, bad)
        return _numbers(name, column, records, unit)
    if unit is not None:
        told = f"column {name!r} is to be the time and holds texts: leave out "
        raise OptionError(Message(told, Remedy("time_unit"), ", which is for numbers"))
    seconds = instants(column)
    bad = np.flatnonzero(np.isnan(seconds))
    if len(bad):
        if column[bad[0]] is None:
            raise _no_time(name, records, bad)
        raise DataError(
            f"{records.where(int(bad[0]))}: column {name!r} is to hold times, got {column[bad[0]]!r}; a time is a "
            "number or in ISO 8601, such as 2024-05-31 or 2024-05-31T14:05"
        )
    return seconds, True, mixed_zones(name, column)


def mixed_zones(name: str, column: NDArray[Any]) -> tuple[str, ...]:
    """Return what to tell of a column of dates of which some have a zone and others do not; or nothing."""
    both = mixed_in_zone(column)
    if both is None:
        return ()
    zoned, plain = both
    told = (
        f"column {name!r} has {len(zoned)} times with a zone, such as {zoned[0]!r}, and {len(plain)} without one, such "
    )
    return (f"{told}as {plain[0]!r}, which are taken as UTC. Write all of them with a zone",)


def _no_time(name: str, records: Records, rows: NDArray[np.intp]) -> DataError:
    return DataError(f"{records.where(int(rows[0]))}: no time in column {name!r}; give it, or leave out the row")


def _numbers(
    name: str, column: NDArray[np.float64], records: Records, unit: str | None
) -> tuple[NDArray[np.float64], bool, tuple[str, ...]]:
    """Return a column of numbers as times: dates by their range, in the unit that was said, or as they are."""
    found = dates_in(column)
    if found is None or (unit is not None and found.ticks != 1.0 / UNITS[unit]):
        return (column, False, ()) if unit is None else (column * UNITS[unit], False, ())
    bad = np.flatnonzero(np.isnan(found.seconds))
    if len(bad):
        raise DataError(
            f"{records.where(int(bad[0]))}: column {name!r} holds {found.kind}, and {column[bad[0]]:.0f} is none: "
            "correct it, or leave out the row"
        )
    first, last = (
        np.datetime64(int(end), "s").astype("datetime64[D]") for end in (found.seconds.min(), found.seconds.max())
    )
    told = (
        f"column {name!r} was read as {found.kind}: {first} to {last}. If it is something else, say what one unit is: "
    )
    return found.seconds, True, (Message(told, Remedy("time_unit")),)


def arrivals_of(
    name: str, records: Records, clock: NDArray[np.float64], time: str, dated: bool, unit: str | None
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return when labels arrive, on the clock of the items, and what to tell about that; one without a time never does.

    A day without a time of day is taken as its end: a label of the 3rd of May is known when that day is over.
    """
    check_column(name, records.columns, records.source)
    if name == time:
        raise OptionError(f"{name!r} cannot be both the time of the items and that of their labels")
    column = records.columns[name]
    empty = np.array([value is None or value != value for value in column.tolist()], dtype=bool)
    if empty.all():
        raise DataError(f"column {name!r} of {records.source} is empty: no label would ever arrive")
    there = np.flatnonzero(~empty)
    found, dates, _ = clock_of(name, records[there], unit)
    if dates != dated:
        kinds = ("dates", "numbers") if dates else ("numbers", "dates")
        raise DataError(f"column {name!r} holds {kinds[0]} and {time!r} holds {kinds[1]}: they need one clock")
    notes = mixed_zones(name, column[there]) if dated and column.dtype == object else ()
    if dated and not (found % DAY).any() and (clock % DAY).any():
        found = found + DAY
        notes += (f"column {name!r} holds days: a label is taken to arrive when its day is over",)
    early = np.flatnonzero(found < clock[there])
    if len(early):
        row = int(there[early[0]])
        raise DataError(
            f"{records.where(row)}: the label is from {column[row]} ({name!r}), before its item "
            f"({records.columns[time][row]}, {time!r}), as in {len(early)} of {len(records)} rows. Correct the times"
        )
    arrivals = np.full(len(records), np.inf)
    arrivals[there] = found
    if empty.any():
        notes += (f"{int(empty.sum())} of {len(records)} rows have no {name!r}: their labels never arrive",)
    return arrivals, notes


def moments_of(column: NDArray[Any], seconds: NDArray[np.float64]) -> NDArray[Any]:
    """Return a column of dates as texts: as they are written, or for numbers in ISO 8601."""
    if column.dtype == object:
        return column
    return np.array(np.floor(seconds).astype("datetime64[s]").astype(np.str_).tolist(), dtype=object)


def in_front(clock: str, moments: NDArray[Any], records: Records) -> Records:
    """Return records with the dates of the clock as their first column, which other dates are counted from."""
    return replace(records, columns={clock: moments, **records.columns}, dates=(clock, *records.dates))
