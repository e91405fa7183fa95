"""Play policies on problems, once or many times over, on all cores, with the same numbers however many there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import engines
from ..costs import Costs
from ..errors import OptionError
from ..keys import Key
from ..policies import Policy, find, policy
from ..problems import Problem, Table
from .metrics import precision, recall


@dataclass(frozen=True)
class Trace:
    """What a policy did on a table: its actions, the probability of each, and the regret of each."""

    acts: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    regret: NDArray[np.float64]

    @property
    def cumulative_regret(self) -> NDArray[np.float64]:
        """Regret up to and including each round."""
        return np.cumsum(self.regret)


def play(policy: Policy, table: Table) -> Trace:
    """Let a policy meet every item of a table in turn; it is told a label only where it acts.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("i").draw(at.Key(1))
    >>> trace = play(at.policy("always", n_features=5, costs=table.costs), table)
    >>> bool(trace.acts.all())
    True
    """
    acts = np.empty(table.rounds, dtype=bool)
    probabilities = np.empty(table.rounds)
    for t in range(table.rounds):
        decision = policy.decide(table.items[t], table.costs)
        acts[t], probabilities[t] = decision.act, decision.probability
        if decision.act:
            policy.learn(decision, int(table.labels[t]))
    return Trace(acts, probabilities, table.regret_of(acts))


@dataclass(frozen=True)
class Entry:
    """A policy in a comparison: its registry name and the options that differ from the defaults."""

    name: str
    options: Mapping[str, Any]

    @property
    def label(self) -> str:
        """A name that tells entries apart."""
        settings = ",".join(f"{option}={value}" for option, value in self.options.items())
        return f"{self.name}[{settings}]" if settings else self.name

    def make(self, table: Table, key: Key) -> Policy:
        """Return the policy for one table; what only a simulation knows (horizon, theta*) is filled in."""
        options = dict(self.options)
        known = find(self.name).options
        if known.get("horizon") is not None:  # suplogistic cannot do without; others may be told by an option
            options.setdefault("horizon", max(2, table.rounds))
        if self.name == "oracle":
            options.setdefault("theta", table.theta)
        seed = int(key.at("policy").word())
        return policy(self.name, n_features=table.n_features, costs=table.costs, seed=seed, **options)


@dataclass(frozen=True)
class Result:
    """One policy on one problem over all replications; arrays have one row per replication."""

    entry: Entry
    acts: NDArray[np.int64]  #: how many items were acted on
    rounds: int
    curves: NDArray[np.float64]  #: cumulative regret at each round
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    seconds: float  #: work time, summed over replications

    @property
    def final_regret(self) -> NDArray[np.float64]:
        """Regret after the last round, one number per replication."""
        return np.asarray(self.curves[:, -1])


@dataclass(frozen=True)
class Replication:
    """One policy on one replication of a problem: the task that engines run."""

    problem: Problem
    entry: Entry
    seed: int
    number: int
    costs: Costs | None = None  #: instead of the problem's

    def play(self) -> tuple[Trace, float, float, float]:
        """Return the trace, precision, recall and seconds; all but the last depend on nothing but these settings."""
        key = Key(self.seed).at("replication", self.number)
        table = self.problem.draw(key.at("problem"))
        if self.costs is not None:
            table = replace(table, costs=self.costs)
        player = self.entry.make(table, key)
        player.probability(table.items[0])  # loads the kernels, and leaves no trace, before the clock starts
        started = time.perf_counter()
        trace = play(player, table)
        seconds = time.perf_counter() - started
        best = table.best_actions
        return trace, precision(trace.acts, best), recall(trace.acts, best), seconds


def replicate(
    problem: Problem,
    entries: Sequence[Entry],
    replications: int,
    *,
    seed: int = 0,
    jobs: int = 1,
    engine: engines.Engine | None = None,
    costs: Costs | None = None,
    progress: Callable[[Entry], None] | None = None,
) -> list[Result]:
    """Play every policy on the same replications of a problem; ``progress`` hears of each replication played.

    Replication r draws its table from ``Key(seed).at("replication", r, "problem")`` whoever plays it, so policies
    meet the same items and labels, and adding one changes nothing for the others. The work is done by ``engine``, an
    open one, or by ``jobs`` processes on this machine; who does it, and in which order, changes no number.

    Examples
    --------
    >>> from appletaste import problem
    >>> results = replicate(problem("iii"), [Entry("always", {}), Entry("never", {})], replications=3)
    >>> [bool(result.final_regret.mean() > 5) for result in results]
    [True, False]
    """
    if replications < 1:
        raise OptionError(f"replications must be at least 1, got {replications}")
    labels = [entry.label for entry in entries]
    if len(set(labels)) < len(labels):
        raise OptionError(f"{next(label for label in labels if labels.count(label) > 1)} is entered twice")
    first = Key(seed)
    for entry in entries:  # a wrong setting is found here, not in a worker
        entry.make(problem.draw(first), first)
    tasks = [Replication(problem, entry, seed, r, costs) for entry in entries for r in range(replications)]
    played: list[Any] = [None] * len(tasks)
    with engines.engine("local", jobs=jobs) if engine is None else nullcontext(engine) as workers:
        for index, outcome in workers.run(Replication.play, tasks):
            played[index] = outcome
            if progress is not None:
                progress(tasks[index].entry)
    results = []
    for i, entry in enumerate(entries):
        traces, precisions, recalls, seconds = zip(*played[i * replications : (i + 1) * replications], strict=True)
        results.append(
            Result(
                entry,
                np.array([trace.acts.sum() for trace in traces]),
                len(traces[0].acts),
                np.stack([trace.cumulative_regret for trace in traces]),
                np.array(precisions),
                np.array(recalls),
                float(sum(seconds)),
            )
        )
    return results
