"""Ours beside theirs, cell by cell, and what the cells of a table say together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._files import for_json
from ..simulate.measures import Summary, summarise
from .published import (
    AT_LENGTH,
    KNOWN_MISMATCHES,
    LONG,
    NEAR,
    PRECISION_RECALL,
    TUNING_REGRET,
    WEIGHTS,
    agreement,
    spread_agreement,
)

#: Replications below which the standard error itself is too rough to judge a cell by.
LEAST_REPLICATIONS = 20
#: What verdicts are in words.
VERDICTS = {
    "ok": "agree",
    "known": f"are known mismatches: beyond 3 at {LONG} replications too",
    "stray": f"are beyond 3 here by chance: at {LONG} replications they agree",
    "few": "have too few replications to judge",
    "NO": "disagree",
}


@dataclass(frozen=True)
class Cell:
    """One published number and ours."""

    study: str
    cell: str
    published: float
    ours: float
    se: float
    sd: float
    replications: int
    z: float
    known_mismatch: str | None
    published_sd: float = math.nan  #: NaN: the paper prints none
    sd_z: float = math.nan  #: how far the standard deviations are apart, in standard errors
    long_mean: float = math.nan  #: our mean over ``LONG`` replications; NaN: not played that long
    long_se: float = math.nan

    @property
    def verdict(self) -> str:
        """``ok``, ``known`` (mismatch, at any length), ``stray`` (by chance), ``few`` (replications) or ``NO``.

        A known mismatch is never ``ok``: at few replications anything is near. A cell strays where this run is beyond
        3 and as near to the long run, which agrees, as chance lets it be.
        """
        if self.known_mismatch:
            return "known"
        if self.replications < LEAST_REPLICATIONS:
            return "few"
        if self.agrees:
            return "ok"
        near = abs(self.ours - self.long_mean) <= NEAR * math.hypot(self.se, self.long_se)
        return "stray" if near else "NO"

    @property
    def agrees(self) -> bool:
        """Whether ours lies within 3 standard errors of theirs, and theirs can be had."""
        return abs(self.z) <= NEAR and not self.known_mismatch

    def as_dict(self) -> dict[str, Any]:
        """Return the cell for JSON; numbers that are not finite are None."""
        found: dict[str, Any] = for_json(vars(self) | {"agrees": self.agrees, "verdict": self.verdict})
        return found


def tally(cells: Sequence[Cell]) -> str:
    """Return how many cells agree, in a sentence; and of the standard deviations that the paper prints.

    Examples
    --------
    >>> tally([Cell("figure-1", "a", 0.9, 0.91, 0.01, 0.07, 50, -0.4, None)])
    'Of 1 published number 1 agrees.'
    """
    counts = {verdict: sum(cell.verdict == verdict for cell in cells) for verdict in VERDICTS}
    said = [f"{n} {_one(VERDICTS[verdict]) if n == 1 else VERDICTS[verdict]}" for verdict, n in counts.items() if n]
    told = f"Of {len(cells)} published number{'s' if len(cells) != 1 else ''} {'; '.join(said)}."
    spreads = [cell for cell in cells if not math.isnan(cell.sd_z) and cell.replications >= LEAST_REPLICATIONS]
    if spreads:
        near = sum(abs(cell.sd_z) <= NEAR for cell in spreads)
        told += f" Of {len(spreads)} published standard deviations {near} agree."
    return told


def _one(words: str) -> str:
    """Return a verdict as it is said of one cell."""
    verb, _, rest = words.partition(" ")
    verb = {"agree": "agrees", "are": "is", "have": "has", "disagree": "disagrees"}[verb]
    rest = rest.replace("known mismatches", "a known mismatch").replace("they agree", "the cell agrees")
    return f"{verb} {rest}".strip()


def common_sign(name: str, cells: Sequence[Cell]) -> str | None:
    """Return a sentence where the cells of a table are off in one direction together, though each may agree.

    Said where a sign test over the cells has p < 0.01 or their pooled z = sum z / sqrt(k) is beyond 3. Both take the
    cells for independent. Cells that share their problem instances, as all of ours do within a table, are worth less:
    at worst as much as a single comparison, whose z is the mean of theirs.

    Examples
    --------
    >>> low = [Cell("t", str(i), 16.3, 13.4, 1.5, 10.5, 50, 1.4, None) for i in range(10)]
    >>> print(common_sign("Table 5", low))  # doctest: +ELLIPSIS
    Table 5: 10 of 10 of our numbers are below the paper's, 13.40 against 16.30 on average. ...
    """
    judged = [cell for cell in cells if cell.verdict in ("ok", "stray", "NO") and math.isfinite(cell.z)]
    gaps = np.array([cell.published - cell.ours for cell in judged])
    apart = int((gaps != 0).sum())
    if not apart:
        return None
    above = int((gaps < 0).sum())
    more = max(above, apart - above)
    chance = min(1.0, 2.0 * sum(math.comb(apart, k) for k in range(more, apart + 1)) / 2.0**apart)
    z = np.array([cell.z for cell in judged])
    pooled = float(z.sum() / math.sqrt(len(z)))
    if chance >= 0.01 and abs(pooled) <= NEAR:
        return None
    ours, theirs = (float(np.mean([getattr(cell, side) for cell in judged])) for side in ("ours", "published"))
    side = "above" if 2 * above > apart else "below"
    return (
        f"{name}: {more} of {apart} of our numbers are {side} the paper's, {ours:.2f} against {theirs:.2f} on average. "
        f"Taken for independent, the cells have a pooled z of {pooled:.1f}, and a sign test has p = {chance:.1g}. The "
        f"cells share their problem instances, so they are worth less: one comparison of z = {float(z.mean()):.1f} if "
        "they share everything. A tick says that a cell agrees by itself; it does not say that the table does."
    )


def make_cell(
    study: str, cell: str, published: float, ours: Summary, replications: int, known: str | None = None
) -> Cell:
    """Return a published number beside ours, with their distance."""
    z = agreement(published, ours)
    return Cell(study, cell, published, ours.mean, ours.se, ours.sd, replications, z, known)


def precision_recall_cells(study: str, problem: str, policy: str, measures: Mapping[str, Any]) -> list[Cell]:
    """Return the two cells of a policy in Tables 1-3; ``measures`` has precision and recall per replication."""
    cells = []
    for measure, published in zip(("precision", "recall"), PRECISION_RECALL[problem][policy], strict=True):
        known = KNOWN_MISMATCHES.get((problem, policy, measure))
        values = measures[measure]
        name = f"({problem}) {policy} {measure}"
        cell = make_cell(study, name, published, summarise(values), len(values), known)
        long = AT_LENGTH[problem, policy, measure]
        cells.append(replace(cell, long_mean=long.mean, long_se=long.se))
    return cells


def tuning_cells(study: str, name: str, regrets: Mapping[float, Any]) -> list[Cell]:
    """Return the cells of one of Tables 4-6; ``regrets`` has the final regrets at each weight."""
    cells = []
    for weight, (mean, sd) in zip(WEIGHTS, TUNING_REGRET[name], strict=True):
        values = regrets[weight]
        cell = make_cell(study, f"{name} lambda={weight:g}", mean, summarise(values), len(values))
        cells.append(replace(cell, published_sd=sd, sd_z=spread_agreement(sd, values)))
    return cells
