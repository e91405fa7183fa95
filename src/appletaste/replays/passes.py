"""One policy on one order of the stream: the task that engines run, played through a ledger as a live stream is."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostColumns
from ..decision import UNKNOWN
from ..errors import PoorFitWarning
from ..features import Encoder
from ..features.levels import SLOTS
from ..features.numbers import OPEN
from ..history.labelled import Groups, LabelledTable, Matrix, Vectors, encode
from ..keys import Key
from ..logs import DecisionLog
from ..policies import Policy, PolicySpec, boosting
from ..records.events import OBSERVED
from ..streams import Budget, Ledger
from ..streams.from_history import policy_seed
from ..streams.loop import play_through, rehearse
from ..streams.staffing import Setting, Staffing, Wrapper
from ..tables import Records
from . import booster
from .booster import CANNOT, boosted_chances, known_at
from .comparators import BOOSTER, FULL_INFORMATION, known_acts, make, within
from .delays import Delay
from .history import History, encode_after
from .notes import change_notes, label_notes
from .tally import Tally, tally

#: The last encoded order in this process, with and without many levels: policies of one order meet the same vectors.
_ENCODED: dict[tuple[str, int, bool], Encoded] = {}


class Encoded(NamedTuple):
    """The vectors that a pass meets."""

    items: Matrix
    past: NDArray[np.float64] | None  #: of the labelled rows of the history
    groups: Groups  #: what is known of their places
    names: tuple[str, ...] | None  #: what these places are called
    seconds: float  #: what making them took

    def lines(self) -> Encoded:
        """Return the vectors without the ramps of curves, for whoever does not take groups."""
        groups = np.array(self.groups)
        straight = np.flatnonzero(groups == OPEN)[:1]  # the line of a score is the first place of its group
        kept = np.sort(np.concatenate([np.flatnonzero(groups == 0), straight]))
        past = None if self.past is None else np.ascontiguousarray(self.past[:, kept])
        items = self.items[:, kept]
        return Encoded(
            np.ascontiguousarray(items) if isinstance(items, np.ndarray) else items,
            past,
            None,
            None if self.names is None else tuple(np.array(self.names)[kept].tolist()),
            self.seconds,
        )


@dataclass(frozen=True)
class Plan:
    """Everything about a replay but the policy and the order."""

    stream: LabelledTable
    costs: Costs  #: of every item; where each has its own (``stream.costs``), their average, which decides nothing
    encoder: Any
    delay: Delay
    seed: int
    shuffled: bool
    wrap: Wrapper
    name: str  #: tells plans apart within a process
    logged: str | None = None  #: the label of the policy whose first pass is kept as a decision log
    strata: NDArray[Any] | None = None  #: of the rows, for the log and for audit floors
    history: History | None = None  #: what every policy starts from
    time_features: bool = False  #: whether the hour, weekday and month of the clock are features

    @property
    def timed(self) -> bool:
        """Whether there is a column of times."""
        return self.stream.times is not None

    @property
    def budget(self) -> Budget | None:
        """The caps of the desk that all sit at, if there is one."""
        return self.wrap.budget_of(self.stream.day) if isinstance(self.wrap, Staffing) else None

    def order(self, number: int) -> NDArray[np.intp]:
        """Return the order of a pass, the same for every policy."""
        if not self.shuffled:
            return np.arange(len(self.stream))
        return Key(self.seed).at("replay", number, "order").generator().permutation(len(self.stream))

    @property
    def time(self) -> str | None:
        """The column of the clock, where other dates are counted from it and it is no feature itself."""
        return None if self.stream.moments is None or self.time_features else self.stream.clock

    def table(self, number: int) -> Records | Vectors:
        """Return the rows of a pass in its order, as the encoder takes them."""
        if self.shuffled:
            return self.stream.records[self.order(number)]
        return self.stream.table if isinstance(self.encoder, Encoder) else self.stream.records

    def encoded(self, number: int, many: bool = True) -> Encoded:
        """Return the vectors of a pass in its order, those of the history, and how long encoding took.

        Without ``many``, columns with many levels are closed after the warm-up.
        """
        key, encoder = (self.name, number, many), self.encoder if many else replace(self.encoder, many=False)
        if key not in _ENCODED:
            started = time.perf_counter()
            records, past = self.table(number), None
            if self.history is None:
                X, groups, names = encode(encoder, records, self.time)
            else:
                X, past, groups, names = encode_after(encoder, self.history, records, self.time)
            for other in [other for other in _ENCODED if other[:2] != key[:2]]:
                del _ENCODED[other]
            _ENCODED[key] = Encoded(X, past, groups, names, time.perf_counter() - started)
        return _ENCODED[key]

    def met_by(self, entry: PolicySpec, number: int) -> Encoded:
        """Return the vectors of a pass as a policy meets them: without levels and curves that it cannot learn."""
        encoded = self.encoded(number)
        groups, takes_all = encoded.groups, entry.name in (FULL_INFORMATION, BOOSTER)
        if groups is not None and SLOTS in groups and not (takes_all or entry.takes_levels):
            encoded = self.encoded(number, many=False)
        takes_all = takes_all or encoded.groups is None or entry.takes_groups
        return encoded if takes_all else encoded.lines()

    def clock(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return when the items of a pass arrive, and when their labels do (None: at once).

        Counted in items, a delay of k lets k further items be decided before the label arrives.
        """
        n = len(self.stream)
        times = self.stream.times if self.stream.times is not None else np.arange(n, dtype=np.float64)
        if self.stream.told is not None:
            return times, self.stream.told
        if self.delay.scale == 0.0:
            return times, None
        late = self.delay.draw(n, Key(self.seed).at("replay", number, "delay"))
        return times, times + self.stream.step * late + (0.0 if self.timed else 1.0)

    def costs_of(self, number: int) -> Costs | CostColumns:
        """Return what the items of a pass cost: the same for all, or of each in its order."""
        each = self.stream.costs
        return self.costs if each is None else each[self.order(number)]

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
    entry: PolicySpec
    number: int

    @property
    def logged(self) -> bool:
        """Whether its decisions are kept."""
        return self.number == 0 and self.entry.label == self.plan.logged

    def play(self) -> tuple[Tally, DecisionLog | None]:
        """Return what it came to, and its record if that is kept; all but the seconds depend on the settings alone."""
        if booster.is_there():
            boosting.library()  # in the first pass of a worker, after which joblib calls what is loaded a leak
        plan, name = self.plan, self.entry.name
        labels = plan.stream.labels[plan.order(self.number)]
        times, due = plan.clock(self.number)
        arrived = np.ones(len(labels), dtype=bool) if due is None else due <= times[-1]
        started = time.perf_counter()
        costs = plan.costs_of(self.number)
        today = None if plan.stream.today is None else plan.stream.today[plan.order(self.number)]
        acts = known_acts(name, labels, costs, times=times, budget=plan.budget, today=today)
        if acts is not None:
            seconds = time.perf_counter() - started
            return tally(acts, labels, costs, seconds, int(acts.sum()), int((acts & arrived).sum())), None
        if name == BOOSTER:
            acts, seconds = self.boost(labels, times, due)
            said = () if boosting.library() is not None else (CANNOT,)
            return tally(acts, labels, costs, seconds, len(labels), int(arrived.sum()), said), None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PoorFitWarning)
            ledger, acts, seconds = (self.watch if name == FULL_INFORMATION else self.walk)(labels, times, due)
        notes: tuple[str, ...] = tuple(str(warning.message) for warning in caught)
        if ledger is None:
            return tally(acts, labels, costs, seconds, len(labels), int(arrived.sum()), notes), None
        rows = [entry for _, entry in ledger.entries.items()]
        observed = np.array([entry.state == OBSERVED for entry in rows], dtype=bool)
        if not plan.shuffled:
            notes += label_notes(observed, np.array([entry.decision.chance for entry in rows]), labels)
        notes += change_notes(ledger.player.policy.learner.changes)
        found = tally(acts, labels, costs, seconds, int(acts.sum()), int(observed.sum()), notes)
        if not self.logged:
            return found, None
        log = ledger.log().named(plan.met_by(self.entry, self.number).names)
        truth = labels.astype(np.int8)  # so that estimates can be held against it
        return found, log.unchecked(truth=truth, **self._reports(acts, truth, times))

    def _reports(
        self, acts: NDArray[np.bool_], truth: NDArray[np.int8], times: NDArray[np.float64]
    ) -> dict[str, NDArray[Any]]:
        """Return the columns of what is reported of passed items by the end, if the table says so."""
        stream = self.plan.stream
        if stream.heard is None:
            return {}
        there = ~acts & (stream.heard <= times[-1])
        told = stream.written(np.where(there, stream.heard, 0.0))
        when = np.where(there, told, "") if stream.dated else np.where(there, told, np.nan)
        return {"report": np.where(there, truth, UNKNOWN).astype(np.int8), "report_time": when}

    def _policy(self) -> tuple[Policy, Matrix, float]:
        """Return the policy before its first item, the vectors that it will meet, and how long encoding them took."""
        X, past, groups, _, encoding = self.plan.met_by(self.entry, self.number)
        seed = policy_seed(self.plan.seed, self.number)
        policy = make(self.entry, X.shape[1], len(X), self.plan.costs, seed, groups)
        if past is not None and self.plan.history is not None:
            known, times = self.plan.history.known, self.plan.history.times
            labels = self.plan.history.labels[known].tolist()
            policy.learn_history(past, labels, None if times is None else times[known].tolist())
        policy.probability(X[0])  # loads the kernels, and leaves no trace, before the clock starts
        return policy, X, encoding

    def _sheets(self) -> list[Costs] | None:
        """Return the costs of each item in turn, where they differ."""
        costs = self.plan.costs_of(self.number)
        return None if isinstance(costs, Costs) else costs.each()

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
            told = None if due is None or not plan.timed else stream.written(np.where(np.isfinite(due), due, 0.0))
        sheets = self._sheets()
        started = time.perf_counter()
        play_through(
            ledger,
            X,
            labels.tolist(),
            costs=sheets,
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

    def boost(
        self, labels: NDArray[np.int8], times: NDArray[np.float64], due: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.bool_], float]:
        """Return on which items a booster acts that is told every label; at a desk, first come first served."""
        plan, started = self.plan, time.perf_counter()
        X, past, groups, _, encoding = plan.met_by(self.entry, self.number)
        history = None if past is None or plan.history is None else (past, plan.history.labels[plan.history.known])
        chances = boosted_chances(X, labels, known_at(times, due), groups, history)
        costs = plan.costs_of(self.number)
        wanted = np.flatnonzero(costs.catch_gain * chances > costs.alarm_price * (1.0 - chances))
        acts = within(plan.budget, wanted, len(labels), times)
        return acts, encoding + time.perf_counter() - started

    def watch(
        self, labels: NDArray[np.int8], times: NDArray[np.float64], due: NDArray[np.float64] | None
    ) -> tuple[Ledger | None, NDArray[np.bool_], float]:
        """Let a yardstick that is told every label decide item by item, at the desk of the others if they have one."""
        plan = self.plan
        policy, X, encoding = self._policy()
        acts, truth, sheets = np.zeros(len(labels), dtype=bool), labels.tolist(), self._sheets()
        setting = Setting(len(X), plan.costs, False, plan.timed, plan.stream.day, policy.seed)
        player = plan.wrap(policy, setting) if isinstance(plan.wrap, Staffing) else policy
        clock = times.tolist() if plan.timed else None
        strata = None if plan.strata is None else plan.strata[plan.order(self.number)].tolist()

        def decide(t: int, x: Any) -> bool:
            now, stratum = None if clock is None else clock[t], None if strata is None else strata[t]
            acts[t] = act = player.decide(x, costs=None if sheets is None else sheets[t], time=now, stratum=stratum).act
            return act

        started = time.perf_counter()
        arrivals = None if due is None else due.tolist()
        rehearse(X, decide, lambda k: policy.teach(X[k], truth[k]), times.tolist(), arrivals, sees_all=True)
        return None, acts, encoding + time.perf_counter() - started
