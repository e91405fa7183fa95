"""Periods and strata as a table, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from ..pages.table import Table
from .facts import Slice
from .wording import cell, count


def slice_table(slices: Sequence[Slice], what: str) -> Table:
    """Return slices as a table."""
    header = (what, "items", "acted", "audits", "labels", "positive", "precision", "saved", "interval", "recall",
              "interval")  # fmt: skip
    rows = []
    for one in slices:
        numbers = (one.decisions, one.acts, one.audits, one.labels, one.positives)
        answers = (cell(one.precision, "percent")[0], *cell(one.saved, "money"), *cell(one.recall, "percent"))
        rows.append((one.name, *map(count, numbers), *answers))
    return Table("", header, rows)


def left_out(slices: Sequence[Slice], whole: Slice, which: str) -> list[str]:
    """Return a sentence on the decisions that are in none of the slices, if there are any."""
    rest = whole.decisions - sum(one.decisions for one in slices)
    return [f"Shown are {which}; {count(rest)} decisions are in others."] if rest else []
