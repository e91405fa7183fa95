"""A finite partial-monitoring game: what each action costs, and what it shows, under each outcome."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Floats = NDArray[np.float64]
Symbol = str | float | bool | None

#: Losses beyond this size would leave the linear programs no digits to compare.
LARGEST_LOSS = 1e12


@dataclass(frozen=True)
class Game:
    """The game G = (L, Phi): rows are actions, columns outcomes; feedback symbols are compared and nothing else.

    Examples
    --------
    >>> game = Game(loss=[[0, 1], [1, 0]], feedback=[["-", "-"], ["good", "bad"]], actions=["pass", "act"])
    >>> game.signals(1)
    array([[1., 0.],
           [0., 1.]])
    """

    loss: Sequence[Sequence[float]]
    feedback: Sequence[Sequence[Symbol]]
    actions: Sequence[str] = ()
    outcomes: Sequence[str] = ()
    name: str = "game"
    #: L as an array.
    losses: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        loss, feedback = _matrix("loss", self.loss), _matrix("feedback", self.feedback)
        shapes = [(len(rows), len(rows[0])) for rows in (loss, feedback)]
        if shapes[0] != shapes[1]:
            raise InputError(
                f"loss is {_size(shapes[0])} and feedback {_size(shapes[1])}: they must have the same size"
            )
        losses = np.array([[_number(value, i, j) for j, value in enumerate(row)] for i, row in enumerate(loss)])
        for i, row in enumerate(feedback):
            for j, symbol in enumerate(row):
                if not (symbol is None or isinstance(symbol, str | int | float)) or symbol != symbol:
                    raise InputError(f"feedback[{i}][{j}] must be a text or a number, got {symbol!r}")
        object.__setattr__(self, "loss", tuple(tuple(row) for row in losses.tolist()))
        object.__setattr__(self, "feedback", tuple(tuple(row) for row in feedback))
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "actions", _names("action", self.actions, shapes[0][0]))
        object.__setattr__(self, "outcomes", _names("outcome", self.outcomes, shapes[0][1]))

    def symbols(self, action: int) -> list[Symbol]:
        """Return the different symbols an action can show, in the order of the outcomes."""
        return list(dict.fromkeys(self.feedback[action]))

    def signals(self, action: int) -> Floats:
        """Return the signal matrix S_a: one row per symbol, 1 where the outcome shows it."""
        row = self.feedback[action]
        return np.array([[float(symbol == shown) for shown in row] for symbol in self.symbols(action)])


def read_game(path: str | PathLike[str]) -> Game:
    """Return the game of a JSON file with ``loss`` and ``feedback`` (and ``actions``, ``outcomes``, ``name``)."""
    file = Path(path)
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the game {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{file} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{file} must hold an object with loss and feedback, got {type(content).__name__}")
    for key in ("loss", "feedback"):
        if key not in content:
            raise InputError(f"{file} has no {key!r}: a game is {{'loss': [[...]], 'feedback': [[...]]}}")
    unknown = sorted(set(content) - {"loss", "feedback", "actions", "outcomes", "name"})
    if unknown:
        raise InputError(f"{file} has {unknown[0]!r}; a game has loss, feedback, actions, outcomes and name")
    if not isinstance(content.get("name", ""), str):
        raise InputError(f"{file}: name must be a text, got {content['name']!r}")
    fields: dict[str, Any] = {"name": file.stem} | content
    return Game(**fields)


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]} x {shape[1]}"


def _matrix(name: str, rows: Any) -> list[list[Any]]:
    """Return nested lists of one width, or say what is wrong."""
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise InputError(f"{name} must be a list of rows, one for each action, got {rows!r}")
    if not rows or not rows[0]:
        raise InputError(f"{name} is empty: a game needs at least one action and one outcome")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise InputError(f"the rows of {name} have different lengths, {sorted(widths)}: one entry for each outcome")
    return [list(row) for row in rows]


def _number(value: Any, i: int, j: int) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"loss[{i}][{j}] must be a number, got {value!r}")
    if not abs(value) <= LARGEST_LOSS:
        raise InputError(f"loss[{i}][{j}] must be finite and within 1e12, got {value!r}")
    return float(value)


def _names(kind: str, given: Any, count: int) -> tuple[str, ...]:
    """Return one name for each action or outcome: those given, or their numbers from 0."""
    if isinstance(given, str) or not isinstance(given, list | tuple):
        raise InputError(f"{kind}s must be a list of names, got {given!r}")
    if not given:
        return tuple(str(i) for i in range(count))
    names = tuple(str(name) for name in given)
    if len(names) != count or len(set(names)) != count:
        raise InputError(f"there are {count} {kind}s, which need {count} different names, got {list(names)}")
    return names
