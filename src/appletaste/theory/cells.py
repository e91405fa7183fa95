"""The cells of a game: where in the simplex of outcome distributions each action is optimal.

The cell of action a is C_a = {u in the simplex : l_a'u <= l_b'u for all b} (Bartok, Pal & Szepesvari 2011).
Whether it has an inside, and whether two cells share a facet, are linear programs: the largest slack with which all
inequalities that are not identities can hold at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import AppleTasteError, MissingExtraError
from .game import Floats, Game

#: A slack (rows and columns scaled to about 1) that the solver's own tolerance of 1e-7 cannot produce.
SLACK = 1e-6
#: Loss vectors closer than this, in units of each outcome's spread, are equal.
EQUAL = 1e-9

PARETO, DEGENERATE, DOMINATED = "pareto-optimal", "degenerate", "dominated"


@dataclass(frozen=True)
class Cells:
    """What every action is good for, and which Pareto-optimal actions share a facet."""

    kinds: tuple[str, ...]  #: pareto-optimal (a cell with an inside), degenerate (a cell without), dominated (none)
    copies: tuple[tuple[int, ...], ...]  #: other actions with the very same losses, for each action
    witnesses: tuple[Floats | None, ...]  #: a distribution of outcomes deep in the cell of each action
    neighbours: tuple[tuple[int, int], ...]  #: pairs whose cells share a facet, one per pair of loss vectors
    neighbourhoods: tuple[tuple[int, ...], ...]  #: for each pair, every action optimal on the whole facet


def require_linprog() -> Callable[..., Any]:
    """Return SciPy's linear-programming solver, or say how to get it."""
    try:
        from scipy.optimize import linprog
    except ImportError:
        raise MissingExtraError("analysing games", "theory") from None
    return linprog  # type: ignore[no-any-return]


def decompose(game: Game) -> Cells:
    """Return the cell decomposition of a game.

    Examples
    --------
    >>> spam = Game([[0, 1], [1, 0], [0.5, 0.5]], [["-", "-"], ["-", "-"], ["ham", "spam"]])
    >>> cells = decompose(spam)
    >>> cells.kinds
    ('pareto-optimal', 'pareto-optimal', 'degenerate')
    >>> cells.neighbours, cells.neighbourhoods
    (((0, 1),), ((0, 1, 2),))
    """
    solve = require_linprog()
    losses, units = level(game.losses)
    count = len(losses)
    copies = tuple(
        tuple(b for b in range(count) if b != a and np.abs(losses[a] - losses[b]).max() <= EQUAL) for a in range(count)
    )
    kinds, witnesses = [], []
    for a in range(count):
        others = [b for b in range(count) if b != a and b not in copies[a]]
        slack, point = widest(solve, losses[others] - losses[a])
        inside = slack > SLACK
        # the best slack is below zero for an empty cell; within the tolerance of zero the cell is a face
        kinds.append(PARETO if inside else DEGENERATE if touches(solve, losses[others] - losses[a]) else DOMINATED)
        witnesses.append(None if point is None or not inside else (point / units) / (point / units).sum())
    first = [a for a in range(count) if kinds[a] == PARETO and not any(b < a for b in copies[a])]
    pairs, neighbourhoods = [], []
    for i, a in enumerate(first):
        for b in first[i + 1 :]:
            between = [c for c in range(count) if is_between(losses[c], losses[a], losses[b])]
            outside = [c for c in range(count) if c not in between]
            slack, _ = widest(solve, losses[outside] - losses[a], on=losses[a] - losses[b])
            if slack > SLACK:
                pairs.append((a, b))
                neighbourhoods.append(tuple(between))
    return Cells(tuple(kinds), copies, tuple(witnesses), tuple(pairs), tuple(neighbourhoods))


def level(losses: Floats) -> tuple[Floats, Floats]:
    """Return the losses in units of each outcome's spread, and the units.

    Cells are cones cut by the simplex, and stretching an outcome's axis changes none of their dimensions. So a cell
    that is thin because one outcome matters a million times more than another is as easy to see as any.
    """
    centred = losses - losses.min(axis=0)
    spread = centred.max(axis=0)
    centred[:, spread <= 1e-12 * np.abs(losses).max(axis=0)] = 0.0  # equal but for the last digits
    units = np.where(centred.max(axis=0) > 0, spread, 1.0)
    return centred / units, units


def widest(solve: Callable[..., Any], rows: Floats, on: Floats | None = None) -> tuple[float, Floats | None]:
    """Return the largest s with rows u >= s and u >= s on the simplex (and on'u = 0), and that u.

    If no u of the simplex solves on'u = 0 the slack is minus infinity.
    """
    outcomes = rows.shape[1]
    rows = even(rows)
    upper = np.column_stack([-np.vstack([rows, np.eye(outcomes)]), np.ones(len(rows) + outcomes)])
    equal = np.zeros((1 if on is None else 2, outcomes + 1))
    equal[0, :outcomes] = 1.0
    if on is not None:
        equal[1, :outcomes] = on
    found = solve(
        np.append(np.zeros(outcomes), -1.0),
        A_ub=upper,
        b_ub=np.zeros(len(upper)),
        A_eq=equal,
        b_eq=np.eye(len(equal))[0],
        bounds=[(0, 1)] * outcomes + [(None, 1)],
    )
    if found.status == 2:
        return -np.inf, None
    if found.status != 0:
        raise AppleTasteError(f"the linear program of a cell was not solved: {found.message}")
    return float(found.x[-1]), np.asarray(found.x[:-1])


def even(rows: Floats) -> Floats:
    """Return the rows divided by their largest entries, so that one tolerance serves them all."""
    return np.asarray(rows / np.abs(rows).max(axis=1, keepdims=True)) if len(rows) else rows


def touches(solve: Callable[..., Any], rows: Floats) -> bool:
    """Return whether some u of the simplex has rows u >= 0, within the solver's tolerance."""
    if not len(rows):
        return True
    outcomes = rows.shape[1]
    found = solve(
        np.append(np.zeros(outcomes), -1.0),
        A_ub=np.column_stack([-even(rows), np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        A_eq=np.append(np.ones(outcomes), 0.0)[None],
        b_eq=np.ones(1),
        bounds=[(0, 1)] * outcomes + [(None, 1)],
    )
    if found.status != 0:
        raise AppleTasteError(f"the linear program of a cell was not solved: {found.message}")
    return bool(found.x[-1] > -SLACK)


def is_between(c: Floats, a: Floats, b: Floats) -> bool:
    """Return whether l_c lies on the segment from l_a to l_b.

    These are exactly the actions optimal on the whole facet of two neighbours: a function linear in u that vanishes
    on the facet is a multiple of l_a - l_b (Lattimore & Szepesvari 2019, on neighbourhoods).
    """
    step = b - a
    share = float((c - a) @ step) / float(step @ step)
    return -EQUAL <= share <= 1 + EQUAL and bool(np.abs(a + share * step - c).max() <= EQUAL)
