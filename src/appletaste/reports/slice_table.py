"""Periods and strata as a table, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluate import Estimate
from ..pages.table import Table
from .facts import Slice
from .wording import HEADINGS, Writer, cell, count, percent, short


def slice_table(slices: Sequence[Slice], what: str, money: Writer, known: bool) -> Table:
    """Return slices as a table, with the truth where the log knows it, and how many items count where not all do."""
    some = any(one.settled != one.decisions for one in slices)
    truth = HEADINGS[1:] * known
    numbers = ("items", *["counted"] * some, "acted", "audits", "labels", "positives", "precision")
    rows = []
    for one in slices:
        counts = (one.decisions, *[one.settled] * some, one.acts, one.audits, one.labels, one.positives)
        answers = ((one.saved, money), (one.missed, money), (one.recall, percent))
        told = [part for answer, write in answers for part in (short(answer, write), *cell(answer, write, known)[2:])]
        rows.append((one.name, *map(count, counts), cell(one.precision, percent)[0], *told))
    return Table("", (what, *numbers, "saved", *truth, "missed", *truth, "recall", *truth), rows)


def by_loss(slices: Sequence[Slice]) -> list[Slice]:
    """Return slices by what was missed in them, the largest loss first; those that cannot be said come last."""
    return sorted(
        slices, key=lambda one: (0, -one.missed.value) if isinstance(one.missed, Estimate) else (1, -one.decisions)
    )


def left_out(slices: Sequence[Slice], whole: Slice, which: str) -> list[str]:
    """Return a sentence on the decisions that are in none of the slices, if there are any."""
    rest = whole.decisions - sum(one.decisions for one in slices)
    return [f"Shown are {which}; {count(rest)} decisions are in others."] if rest else []
