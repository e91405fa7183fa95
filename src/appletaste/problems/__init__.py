"""Problems to play: the paper's, and synthetic ones."""

from __future__ import annotations

import dataclasses
from typing import Any

from .._checks import whole
from ..errors import OptionError, near
from .drawn import Problem, Table
from .orders import write_orders
from .published_problems import READINGS, Dimension, ProblemI, ProblemII, ProblemIII, Tuning
from .synthetic import Synthetic

#: Every problem by its name.
PROBLEMS: dict[str, Any] = {kind.name: kind for kind in (ProblemI, ProblemII, ProblemIII, Dimension, Tuning, Synthetic)}


def problem(name: str, **settings: Any) -> Problem:
    """Return a problem by name.

    Examples
    --------
    >>> from appletaste import Key
    >>> problem("i").draw(Key(1)).items.shape
    (500, 5)
    """
    if name not in PROBLEMS:
        raise OptionError(f"there is no problem {name!r}{near(name, PROBLEMS)}. There are {', '.join(PROBLEMS)}")
    known = settings_of(name)
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise OptionError(f"problem {name} has no setting {unknown[0]!r}; its settings: {', '.join(known)}")
    made = PROBLEMS[name](**settings)
    whole("rounds", made.rounds, least=1)
    return made  # type: ignore[no-any-return]


def settings_of(name: str) -> list[str]:
    """Return the names of a problem's settings."""
    return [field.name for field in dataclasses.fields(PROBLEMS[name])]


__all__ = [
    "PROBLEMS",
    "READINGS",
    "Dimension",
    "Problem",
    "ProblemI",
    "ProblemII",
    "ProblemIII",
    "Synthetic",
    "Table",
    "Tuning",
    "problem",
    "settings_of",
    "write_orders",
]
