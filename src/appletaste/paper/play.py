"""Play what is missing of the studies, and keep each pairing as soon as it is whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ..engines import Engine
from ..simulate import Replication
from .store import Outcome, Row, Store, as_row
from .studies import Pairing, Study

#: What is kept of one replication, and how long it took.
Played = tuple[Row, float]


def play_task(task: Replication) -> Played:
    """Play one replication; the row depends on nothing but the task."""
    found = task.play()
    return as_row(found), found.seconds


def wanted(studies: Sequence[Study]) -> list[Pairing]:
    """Return every pairing of the studies once."""
    found: dict[str, Pairing] = {}
    for study in studies:
        for pairing in study.pairings:
            found.setdefault(pairing.identity(0), pairing)
    return list(found.values())


def missing(studies: Sequence[Study], store: Store, replications: int) -> list[Replication]:
    """Return the replications that are not in the store yet."""
    return [
        Replication(pairing.problem, pairing.entry, store.seed, r)
        for pairing in wanted(studies)
        for r in range(store.count(pairing), replications)
    ]


def play_missing(
    studies: Sequence[Study],
    store: Store,
    replications: int,
    engine: Engine,
    progress: Callable[[Pairing], Any] | None = None,
    finished: Callable[[str, float], Any] | None = None,
) -> dict[str, float]:
    """Play what is missing and keep each pairing once it is whole; return the seconds of work that each study took.

    A pairing that several studies share is counted for the first. ``progress`` hears of every replication, and
    ``finished`` of every study that had something to play, with its seconds of work.
    """
    owner: dict[str, str] = {}
    for study in studies:
        for pairing in study.pairings:
            owner.setdefault(pairing.identity(store.seed), study.name)
    seconds = dict.fromkeys((study.name for study in studies), 0.0)
    tasks = missing(studies, store, replications)
    pairings = [Pairing(task.problem, task.entry) for task in tasks]
    identities = [pairing.identity(store.seed) for pairing in pairings]
    ahead = Counter(owner[identity] for identity in identities)  # replications to come, by study
    left = Counter(identities)  # and by pairing
    rows: dict[str, list[Row | None]] = {}
    for place, (row, spent) in engine.run(play_task, tasks):
        pairing, identity = pairings[place], identities[place]
        if identity not in rows:
            rows[identity] = [*store.rows(pairing, replications), *[None] * left[identity]]
        study_name = owner[identity]
        seconds[study_name] += spent
        rows[identity][tasks[place].number] = row
        left[identity] -= 1
        if left[identity] == 0:
            store.write(pairing, [r for r in rows.pop(identity) if r is not None])
        if progress is not None:
            progress(pairing)
        ahead[study_name] -= 1
        if finished is not None and ahead[study_name] == 0:
            finished(study_name, seconds[study_name])
    return seconds


def outcomes_of(study: Study, store: Store, replications: int) -> list[Outcome]:
    """Return what the pairings of a study gave."""
    return [store.outcome(pairing, replications) for pairing in study.pairings]
