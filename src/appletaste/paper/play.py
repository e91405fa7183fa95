"""Play what is missing of the studies, and keep each pairing as soon as it is whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from ..simulate import play_replication
from .store import Outcome, Row, Store, as_row
from .studies import Pairing, Study

#: A pairing, a seed and which replication; what playing it gives, and how long that took.
Task = tuple[Pairing, int, int]
Played = tuple[Row, float]


class Runner(Protocol):
    """Anything that runs one function over many tasks and yields (index, result) as each is done."""

    def run(self, function: Callable[[Task], Played], tasks: Sequence[Task]) -> Iterator[tuple[int, Played]]:
        """Yield each task's index and result, in any order, each once."""


def play_task(task: Task) -> Played:
    """Play one replication of a pairing; the row depends on nothing but the task."""
    pairing, seed, replication = task
    trace, precision, recall, seconds = play_replication(pairing.problem, pairing.entry, seed, replication)
    return as_row(trace, precision, recall), seconds


def wanted(studies: Sequence[Study]) -> list[Pairing]:
    """Return every pairing of the studies once."""
    found: dict[str, Pairing] = {}
    for study in studies:
        for pairing in study.pairings:
            found.setdefault(pairing.identity(0), pairing)
    return list(found.values())


def missing(studies: Sequence[Study], store: Store, replications: int) -> list[Task]:
    """Return the replications that are not in the store yet."""
    return [(pairing, store.seed, r) for pairing in wanted(studies) for r in range(store.count(pairing), replications)]


def play_missing(
    studies: Sequence[Study],
    store: Store,
    replications: int,
    engine: Runner,
    progress: Callable[[Pairing], Any] | None = None,
) -> dict[str, float]:
    """Play what is missing and keep each pairing once it is whole; return the seconds of work that each study took.

    A pairing that several studies share is counted for the first.
    """
    owner: dict[str, str] = {}
    for study in studies:
        for pairing in study.pairings:
            owner.setdefault(pairing.identity(store.seed), study.name)
    seconds = dict.fromkeys((study.name for study in studies), 0.0)
    tasks = missing(studies, store, replications)
    rows: dict[str, list[Row | None]] = {}
    left: dict[str, int] = {}
    for pairing, seed, _ in tasks:
        identity = pairing.identity(seed)
        if identity not in rows:
            done = store.rows(pairing, replications)
            rows[identity] = [*done, *[None] * (replications - len(done))]
            left[identity] = replications - len(done)
    for place, (row, spent) in engine.run(play_task, tasks):
        pairing, seed, replication = tasks[place]
        identity = pairing.identity(seed)
        seconds[owner[identity]] += spent
        rows[identity][replication] = row
        left[identity] -= 1
        if left[identity] == 0:
            store.write(pairing, [r for r in rows.pop(identity) if r is not None])
        if progress is not None:
            progress(pairing)
    return seconds


def outcomes_of(study: Study, store: Store, replications: int) -> list[Outcome]:
    """Return what the pairings of a study gave."""
    return [store.outcome(pairing, replications) for pairing in study.pairings]
