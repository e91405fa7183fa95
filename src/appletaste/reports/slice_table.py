"""Periods and strata as a table, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from ..evaluate import Estimate
from ..pages.table import Table
from .facts import Slice
from .wording import HEADINGS, Writer, cell, count, percent


def slice_table(slices: Sequence[Slice], what: str, money: Writer, known: bool) -> Table:
    """Return slices as a table, with the truth where the log knows it."""
    beside = HEADINGS[: 1 + known]
    header = (what, "items", "acted", "audits", "labels", "positives", "precision", "saved", *beside, "missed", *beside,
              "recall", *beside)  # fmt: skip
    rows = []
    for one in slices:
        numbers = (one.decisions, one.acts, one.audits, one.labels, one.positives)
        amounts = (*cell(one.saved, money, known), *cell(one.missed, money, known))
        shares = (cell(one.precision, percent)[0], *amounts, *cell(one.recall, percent, known))
        rows.append((one.name, *map(count, numbers), *shares))
    return Table("", header, rows)


def by_loss(slices: Sequence[Slice]) -> list[Slice]:
    """Return slices by what was missed in them, the largest loss first; those that cannot be said come last."""
    return sorted(
        slices, key=lambda one: (0, -one.missed.value) if isinstance(one.missed, Estimate) else (1, -one.decisions)
    )


def left_out(slices: Sequence[Slice], whole: Slice, which: str) -> list[str]:
    """Return a sentence on the decisions that are in none of the slices, if there are any."""
    rest = whole.decisions - sum(one.decisions for one in slices)
    return [f"Shown are {which}; {count(rest)} decisions are in others."] if rest else []
