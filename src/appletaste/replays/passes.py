"""One policy on one order of the stream: the task that engines run."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import PoorFitWarning
from ..keys import Key
from ..simulate import Entry
from .comparators import FULL_INFORMATION, known_acts, make
from .delays import Delay
from .loop import Path, play_late
from .notes import label_notes
from .players import Setting, Wrapper, bare
from .table import Stream, encode
from .tally import Tally, tally
from .vectors import Matrix

#: The last encoded order in this process: policies of one order meet the same vectors.
_ENCODED: dict[tuple[str, int], tuple[Matrix, float]] = {}


@dataclass(frozen=True)
class Plan:
    """Everything about a replay but the policy and the order."""

    stream: Stream
    costs: Costs
    encoder: Any
    delay: Delay
    seed: int
    shuffled: bool
    wrap: Wrapper
    name: str  #: tells plans apart within a process

    @property
    def timed(self) -> bool:
        """Whether there is a column of times."""
        return self.stream.times is not None

    def order(self, number: int) -> NDArray[np.intp]:
        """Return the order of a pass, the same for every policy."""
        if not self.shuffled:
            return np.arange(len(self.stream))
        return Key(self.seed).at("replay", number, "order").generator().permutation(len(self.stream))

    def encoded(self, number: int) -> tuple[Matrix, float]:
        """Return the vectors of a pass in its order, and how long encoding took."""
        key = (self.name, number)
        if key not in _ENCODED:
            started = time.perf_counter()
            X = encode(self.encoder, self.stream.records[self.order(number)] if self.shuffled else self.stream.records)
            _ENCODED.clear()
            _ENCODED[key] = X, time.perf_counter() - started
        return _ENCODED[key]

    def clock(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return when the items of a pass arrive, and when their labels do (None: at once).

        Counted in items, a delay of k lets k further items be decided before the label comes.
        """
        n = len(self.stream)
        times = self.stream.times if self.stream.times is not None else np.arange(n, dtype=np.float64)
        if self.delay.scale == 0.0:
            return times, None
        late = self.delay.draw(n, Key(self.seed).at("replay", number, "delay"))
        return times, times + late + (0.0 if self.timed else 1.0)


def forget() -> None:
    """Let go of what was encoded last."""
    _ENCODED.clear()


@dataclass(frozen=True)
class Pass:
    """One policy on one order."""

    plan: Plan
    entry: Entry
    number: int

    def play(self) -> Tally:
        """Return what it came to; all but the seconds depend on nothing but the settings."""
        plan, name = self.plan, self.entry.name
        labels = plan.stream.labels[plan.order(self.number)]
        started = time.perf_counter()
        acts = known_acts(name, labels, plan.costs)
        if acts is not None:
            times, due = plan.clock(self.number)
            came = acts if due is None else acts & (due <= times[-1])
            return tally(acts, labels, plan.costs, time.perf_counter() - started, int(acts.sum()), int(came.sum()))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PoorFitWarning)
            path, seconds = self.walk()
        notes = tuple(str(warning.message) for warning in caught)
        if not plan.shuffled and name != FULL_INFORMATION:
            notes += label_notes(path, labels)
        bought = len(labels) if name == FULL_INFORMATION else int(path.acts.sum())
        return tally(path.acts, labels, plan.costs, seconds, bought, int(path.observed.sum()), notes)

    def walk(self) -> tuple[Path, float]:
        """Play it item by item; the seconds are those of encoding, deciding and learning."""
        plan = self.plan
        X, encoding = plan.encoded(self.number)
        labels = plan.stream.labels[plan.order(self.number)]
        times, due = plan.clock(self.number)
        seed = int(Key(plan.seed).at("replay", self.number, "policy").word())
        policy = make(self.entry, X.shape[1], len(X), plan.costs, seed, plan.stream.dated)
        policy.probability(X[0])  # loads the kernels, and leaves no trace, before the clock starts
        everything = self.entry.name == FULL_INFORMATION  # a yardstick: nothing holds it back
        setting = Setting(len(X), plan.costs, due is not None, plan.timed, seed)
        player = (bare if everything else plan.wrap)(policy, setting)
        started = time.perf_counter()
        path = play_late(player, X, labels, times, due, sees_all=everything)
        return path, encoding + time.perf_counter() - started
