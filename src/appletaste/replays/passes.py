"""One policy on one order of the stream: the task that engines run, played through a ledger as a live stream is."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import PoorFitWarning
from ..features import Records
from ..keys import Key
from ..logs import DecisionLog
from ..logs.states import OBSERVED
from ..policies import Policy
from ..simulate import Entry
from ..streams import Ledger
from ..streams.loop import play_through, rehearse
from .comparators import FULL_INFORMATION, known_acts, make
from .delays import Delay
from .notes import label_notes
from .players import Setting, Wrapper
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
    logged: str | None = None  #: the label of the policy whose first pass is kept as a decision log
    strata: NDArray[Any] | None = None  #: of the rows, for the log and for audit floors

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

        Counted in items, a delay of k lets k further items be decided before the label arrives.
        """
        n = len(self.stream)
        times = self.stream.times if self.stream.times is not None else np.arange(n, dtype=np.float64)
        if self.delay.scale == 0.0:
            return times, None
        late = self.delay.draw(n, Key(self.seed).at("replay", number, "delay"))
        return times, times + self.stream.step * late + (0.0 if self.timed else 1.0)

    def ids(self, label: str, number: int) -> list[str]:
        """Return the ids of the items of a pass in its order: lines of a file, or the rows of a table."""
        order, records = self.order(number), self.stream.records
        if isinstance(records, Records) and records.lines is not None and records.unit == "line":
            return [f"line {line}" for line in records.lines[order].tolist()]
        return [f"{label}-{number}-{row}" for row in order.tolist()]


def forget() -> None:
    """Let go of what was encoded last."""
    _ENCODED.clear()


@dataclass(frozen=True)
class Pass:
    """One policy on one order."""

    plan: Plan
    entry: Entry
    number: int

    @property
    def logged(self) -> bool:
        """Whether its decisions are kept."""
        return self.number == 0 and self.entry.label == self.plan.logged

    def play(self) -> tuple[Tally, DecisionLog | None]:
        """Return what it came to, and its record if that is kept; all but the seconds depend on the settings alone."""
        plan, name = self.plan, self.entry.name
        labels = plan.stream.labels[plan.order(self.number)]
        times, due = plan.clock(self.number)
        arrived = np.ones(len(labels), dtype=bool) if due is None else due <= times[-1]
        started = time.perf_counter()
        acts = known_acts(name, labels, plan.costs)
        if acts is not None:
            seconds = time.perf_counter() - started
            return tally(acts, labels, plan.costs, seconds, int(acts.sum()), int((acts & arrived).sum())), None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PoorFitWarning)
            ledger, acts, seconds = (self.watch if name == FULL_INFORMATION else self.walk)(labels, times, due)
        notes: tuple[str, ...] = tuple(str(warning.message) for warning in caught)
        if ledger is None:
            return tally(acts, labels, plan.costs, seconds, len(labels), int(arrived.sum()), notes), None
        rows = [entry for _, entry in ledger.entries.items()]
        observed = np.array([entry.state == OBSERVED for entry in rows], dtype=bool)
        if not plan.shuffled:
            notes += label_notes(observed, np.array([entry.decision.chance for entry in rows]), labels)
        found = tally(acts, labels, plan.costs, seconds, int(acts.sum()), int(observed.sum()), notes)
        if not self.logged:
            return found, None
        return found, ledger.log().unchecked(truth=labels.astype(np.int8))  # so that estimates can be held against it

    def _policy(self) -> tuple[Policy, Matrix, float]:
        """Return the policy before its first item, the vectors that it will meet, and how long encoding them took."""
        X, encoding = self.plan.encoded(self.number)
        seed = int(Key(self.plan.seed).at("replay", self.number, "policy").word())
        policy = make(self.entry, X.shape[1], len(X), self.plan.costs, seed)
        policy.probability(X[0])  # loads the kernels, and leaves no trace, before the clock starts
        return policy, X, encoding

    def walk(
        self, labels: NDArray[np.int8], times: NDArray[np.float64], due: NDArray[np.float64] | None
    ) -> tuple[Ledger | None, NDArray[np.bool_], float]:
        """Play it item by item; the seconds are those of encoding, deciding and learning."""
        plan, stream = self.plan, self.plan.stream
        policy, X, encoding = self._policy()
        setting = Setting(len(X), plan.costs, due is not None, plan.timed, stream.day, policy.seed)
        ledger = Ledger(plan.wrap(policy, setting))
        order = plan.order(self.number)
        ids, told, written = None, None, times.tolist() if plan.timed else None
        if self.logged:
            ids = plan.ids(self.entry.label, self.number)
            written = stream.written(times) if plan.timed else None
            told = None if due is None or not plan.timed else stream.written(due)
        started = time.perf_counter()
        play_through(
            ledger,
            X,
            labels.tolist(),
            ids=ids,
            times=written,
            strata=None if plan.strata is None else plan.strata[order].tolist(),
            clock=times.tolist(),
            arrivals=None if due is None else due.tolist(),
            label_times=told,
        )
        seconds = encoding + time.perf_counter() - started
        acts = np.array([entry.decision.act for _, entry in ledger.entries.items()], dtype=bool)
        return ledger, acts, seconds

    def watch(
        self, labels: NDArray[np.int8], times: NDArray[np.float64], due: NDArray[np.float64] | None
    ) -> tuple[Ledger | None, NDArray[np.bool_], float]:
        """Let a yardstick that is told every label decide item by item: nothing holds it back, and nobody keeps it."""
        policy, X, encoding = self._policy()
        acts, truth = np.zeros(len(labels), dtype=bool), labels.tolist()

        def decide(t: int, x: Any) -> bool:
            acts[t] = act = policy.decide(x).act
            return act

        started = time.perf_counter()
        arrivals = None if due is None else due.tolist()
        rehearse(X, decide, lambda k: policy.teach(X[k], truth[k]), times.tolist(), arrivals, sees_all=True)
        return None, acts, encoding + time.perf_counter() - started
