"""Periods and strata as a table, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from ..pages.table import Table
from .facts import Slice
from .wording import HEADINGS, cell, count


def slice_table(slices: Sequence[Slice], what: str, known: bool) -> Table:
    """Return slices as a table, with the truth where the log knows it."""
    beside = HEADINGS[: 1 + known]
    header = (what, "items", "acted", "audits", "labels", "positive", "precision", "saved", *beside, "recall", *beside)
    rows = []
    for one in slices:
        numbers = (one.decisions, one.acts, one.audits, one.labels, one.positives)
        saved, recall = cell(one.saved, "money", known), cell(one.recall, "percent", known)
        rows.append((one.name, *map(count, numbers), cell(one.precision, "percent")[0], *saved, *recall))
    return Table("", header, rows)


def left_out(slices: Sequence[Slice], whole: Slice, which: str) -> list[str]:
    """Return a sentence on the decisions that are in none of the slices, if there are any."""
    rest = whole.decisions - sum(one.decisions for one in slices)
    return [f"Shown are {which}; {count(rest)} decisions are in others."] if rest else []
