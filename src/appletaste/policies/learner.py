"""What a policy is made of: a way to decide, configured, and a learner, carried (docs/decisions/0003-seams.md).

Settings become JSON and come back: what a saved policy says of how it decides (docs/save-format.md).
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError, SaveFileError
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Arrays, Belief, Certificate, Vector
from ..rules import Verdict
from .forest import Forest

__all__ = ["Arrays", "Change", "Learner", "Method", "Vector", "Verdict"]


class Change(NamedTuple):
    """When labels contradicted the model, and how many were forgotten."""

    round: int
    forgotten: int


class Learner(ABC):
    """What one policy carries from item to item; a new one needs the five abstract methods.

    The other methods have honest answers: a learner without a posterior, that keeps no labels, forgets nothing and
    judges item by item. One that can do more says so by overriding them.
    """

    #: Whether labels are kept, so that they can be corrected.
    keeps_labels = False
    #: Whether it forgets by the time, which it must be told.
    timed = False
    #: The places of an item that hold slots of levels.
    slots: tuple[int, ...] = ()
    #: Whether labels are watched, so that those that contradict the model are noticed.
    watches = False
    #: Whether late labels are watched one by one where they come in the order of decisions.
    in_order = False
    #: Trees whose score of an item is added to its features; None: there are none.
    forest: Forest | None = None
    #: The posterior; None: there is none to look at.
    belief: Belief | None = None

    @property
    def due(self) -> bool:
        """Whether trees are to be fitted to the labels now."""
        return False

    @property
    def changes(self) -> Sequence[Change]:
        """When labels contradicted the model, and how many were forgotten; empty: never, or nobody looks."""
        return ()

    @abstractmethod
    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x in a round, and why; asking changes nothing that is carried."""

    @abstractmethod
    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on to the next round, after the item of a verdict and what was done with it."""

    @abstractmethod
    def learn(self, observation: Observation) -> None:
        """Learn one label."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""

    def learn_prompt(self, observation: Observation) -> None:
        """Learn one label that has come promptly, as those of its time do: evidence for or against the model."""
        self.learn(observation)

    def learn_in_order(self, observation: Observation, round_: int) -> None:
        """Learn one label that has come late, by a round, and in the order of decisions as those before."""
        self.learn(observation)

    def weigh_late(self, places: Sequence[int], missing: int, round_: int) -> None:  # noqa: B027 (nobody watches)
        """Hold late labels, learnt at these places, against the model: of their block so many are missing."""

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on; None: judge one by one."""
        return None

    def play_many(self, items: Sequence[Vector], costs: Costs, first_round: int, key: Word) -> list[Verdict] | None:
        """Judge items in turn and carry on, each action as ``drawn(key, round, probability)`` has it.

        To the bit as one by one, and with all that ``judge`` tells but for the memo. None: judge one by one; nothing
        was carried on.
        """
        return None

    def widened(self, items: Vector) -> Vector:
        """Return items, one row each, as the posterior takes them: some learners add features to them."""
        return items

    def widened_one(self, x: Vector) -> Vector:
        """Return one item as the posterior takes it."""
        return x

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item; NaN: there is no model."""
        return math.nan

    def certificate(self) -> Certificate | None:
        """Return how far an approximate posterior is from the exact one; None: nothing to certify."""
        return None

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning; None: not kept."""
        return None

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Carry what the labels give with those at some places changed; None: removed."""
        raise OptionError(f"{type(self).__name__} keeps no labels, so a label it has learnt cannot be changed")

    def advance(self, now: float) -> None:  # noqa: B027 (nothing is forgotten)
        """Forget up to a time."""

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        yield


class Method(Protocol):
    """A way to decide and its settings: a frozen dataclass."""

    def start(self, n_features: int, key: Key) -> Learner:
        """Return the learner before the first item."""


#: Kinds of settings that earlier versions had.
GONE = ("Widened", "Pairs", "StackedScore")
#: The metadata of a setting that came later: at its default it is left out, and a record of old stays as it was.
LATER = {"later": True}


def encode(value: Any) -> Any:
    """Return settings as JSON: a dataclass becomes an object with its kind and its fields."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = type(value)
        if not kind.__module__.startswith("appletaste."):
            raise SaveFileError(f"cannot save {kind.__name__}: only the settings of this package have a saved form")
        fields = [f for f in dataclasses.fields(value) if not f.metadata or getattr(value, f.name) != f.default]
        return {"kind": kind.__name__, **{f.name: encode(getattr(value, f.name)) for f in fields}}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [encode(part) for part in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise SaveFileError(f"cannot save {type(value).__name__}: only the settings of this package have a saved form")


def decode(value: Any, kinds: dict[str, Any]) -> Any:
    """Return the settings that ``encode`` was given; ``kinds`` are those that a file may name."""
    if isinstance(value, dict):
        fields = {name: decode(part, kinds) for name, part in value.items() if name != "kind"}
        if value["kind"] in GONE:
            raise SaveFileError(
                "an earlier version wrote the file for a policy with pairs or a stacked score, which are gone: make "
                "the policy again from its history, and trees find what pairs found (docs/trees.md)"
            )
        if value["kind"] not in kinds:
            raise SaveFileError(
                f"the file has settings of the kind {value['kind']!r}, which are not known: a later version wrote the "
                "file, or an adapter that is to be imported first, such as appletaste.adapters.sklearn"
            )
        return kinds[value["kind"]](**fields)
    if isinstance(value, list):
        return [decode(part, kinds) for part in value]
    return value
