"""Play policies on problems, once or many times over, on all cores, with the same numbers however many there are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import engines
from .._files import for_json
from ..costs import Costs
from ..errors import OptionError
from ..keys import Key
from ..logs import DecisionLog
from ..policies import Policy, PolicySpec, find, policy
from ..problems import Problem, Table
from ..streams import Ledger
from ..streams.loop import play_through
from .measures import precision, recall, summarise


def play(policy: Policy, table: Table) -> DecisionLog:
    """Let a policy meet every item of a table in turn, as a live stream would; it is told a label only where it acts.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("i").draw(at.Key(1))
    >>> log = play(at.policy("always", n_features=5, costs=table.costs), table)
    >>> bool(log.act.all()), bool((log.label == table.labels).all())
    (True, True)
    >>> regret = table.regret_of(log.act).cumsum()
    """
    ledger = Ledger(policy)
    play_through(ledger, table.items, table.labels.tolist(), costs=table.costs)
    return ledger.log()


def made_for(spec: PolicySpec, table: Table, key: Key) -> Policy:
    """Return the policy for one table; what only a simulation knows (horizon, theta*) is filled in."""
    options = dict(spec.options)
    known = find(spec.name).options
    if known.get("horizon") is not None:  # suplogistic cannot do without; others may be told by an option
        options.setdefault("horizon", max(2, table.rounds))
    if spec.name == "oracle":
        options.setdefault("theta", table.theta)
    seed = int(key.at("policy").word())
    return policy(spec.name, n_features=table.n_features, costs=table.costs, seed=seed, **options)


@dataclass(frozen=True)
class Result:
    """One policy on one problem over all replications; arrays have one row per replication."""

    entry: PolicySpec
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

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON; those that do not exist are None."""
        of_acts = {name: summarise(values) for name, values in (("precision", self.precision), ("recall", self.recall))}
        found: dict[str, Any] = {
            "policy": self.entry.name,
            "options": self.entry.options,
            "replications": len(self.acts),
            "rounds": self.rounds,
            "regret": summarise(self.final_regret),
            **{name: {"mean": one.mean, "se": one.se} for name, one in of_acts.items()},
            "act_rate": self.acts.mean() / self.rounds,
            "seconds": self.seconds,
        }
        return {name: for_json(part) for name, part in found.items()}


class Played(NamedTuple):
    """What a policy did on one replication."""

    acts: NDArray[np.bool_]
    curve: NDArray[np.float64]  #: cumulative regret, up to and including each round
    precision: float
    recall: float
    seconds: float


@dataclass(frozen=True)
class Replication:
    """One policy on one replication of a problem: the task that engines run."""

    problem: Problem
    entry: PolicySpec
    seed: int
    number: int
    costs: Costs | None = None  #: instead of the problem's

    def play(self) -> Played:
        """Return what the policy did; all but the seconds depends on nothing but these settings."""
        key = Key(self.seed).at("replication", self.number)
        table = self.problem.draw(key.at("problem"))
        if self.costs is not None:
            table = replace(table, costs=self.costs)
        player = made_for(self.entry, table, key)
        player.probability(table.items[0])  # loads the kernels, and leaves no trace, before the clock starts
        started = time.perf_counter()
        acts = play(player, table).act
        seconds = time.perf_counter() - started
        best = table.best_actions
        return Played(acts, table.regret_of(acts).cumsum(), precision(acts, best), recall(acts, best), seconds)


def replicate(
    problem: Problem,
    entries: Sequence[PolicySpec],
    replications: int,
    *,
    seed: int = 0,
    jobs: int = 1,
    engine: engines.Engine | None = None,
    costs: Costs | None = None,
    progress: Callable[[PolicySpec], None] | None = None,
) -> list[Result]:
    """Play every policy on the same replications of a problem; ``progress`` hears of each replication played.

    Replication r draws its table from ``Key(seed).at("replication", r, "problem")`` whoever plays it, so policies
    meet the same items and labels, and adding one changes nothing for the others. The work is done by ``engine``, an
    open one, or by ``jobs`` processes on this machine; who does it, and in which order, changes no number.

    Examples
    --------
    >>> from appletaste import problem
    >>> results = replicate(problem("iii"), [PolicySpec("always", {}), PolicySpec("never", {})], replications=3)
    >>> [bool(result.final_regret.mean() > 5) for result in results]
    [True, False]
    """
    if replications < 1:
        raise OptionError(f"replications must be at least 1, got {replications}")
    labels = [entry.label for entry in entries]
    if len(set(labels)) < len(labels):
        raise OptionError(f"{next(label for label in labels if labels.count(label) > 1)} is listed twice")
    first = Key(seed)
    for entry in entries:  # a wrong setting is found here, not in a worker
        made_for(entry, problem.draw(first), first)
    tasks = [Replication(problem, entry, seed, r, costs) for entry in entries for r in range(replications)]
    played: list[Any] = [None] * len(tasks)
    with engines.engine("local", jobs=jobs) if engine is None else nullcontext(engine) as workers:
        for index, outcome in workers.run(Replication.play, tasks):
            played[index] = outcome
            if progress is not None:
                progress(tasks[index].entry)
    results = []
    for i, entry in enumerate(entries):
        mine: list[Played] = played[i * replications : (i + 1) * replications]
        results.append(
            Result(
                entry,
                np.array([one.acts.sum() for one in mine]),
                len(mine[0].acts),
                np.stack([one.curve for one in mine]),
                np.array([one.precision for one in mine]),
                np.array([one.recall for one in mine]),
                float(sum(one.seconds for one in mine)),
            )
        )
    return results
