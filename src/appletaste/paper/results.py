"""Finished pairings on disk, one Parquet file each: what is missing is played, and nothing is ever computed twice.

A file holds one row per replication and depends on nothing but the settings, the seed and the code: an interrupted
run leaves whole files or none, and what it resumes to is bit for bit what it would have been. The code has a name, its
fingerprint, so that results of other code are never taken for its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import write_json, written_aside
from ..engines import Engine
from ..errors import InputError
from ..simulate import Played, Replication
from ..simulate.runs import require_pyarrow
from .sources import fingerprint
from .studies import Pairing, Study

#: Regret is stored at this many rounds: enough for a curve, little enough for thousands of them.
CHECKPOINTS = 101
#: What plays: the code that these import decides the numbers.
DECISIVE = ("appletaste.simulate.replications", "appletaste.paper.studies")


def checkpoints(rounds: int) -> NDArray[np.int64]:
    """Return the rounds (from 1) at which regret is stored; the last is always among them."""
    return np.unique(np.linspace(1, rounds, min(rounds, CHECKPOINTS)).round().astype(np.int64))


@dataclass(frozen=True)
class Outcome:
    """What one pairing gave: one row per replication."""

    pairing: Pairing
    rounds: NDArray[np.int64]  #: where the curves are sampled
    curves: NDArray[np.float64]  #: cumulative regret there
    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    act_rate: NDArray[np.float64]

    @property
    def regret(self) -> NDArray[np.float64]:
        """The final regret of each replication."""
        return np.asarray(self.curves[:, -1])


#: One replication as it is stored: curve at the checkpoints, precision, recall, share of items acted on.
Row = tuple[NDArray[np.float64], float, float, float]


class Store:
    """A folder of finished pairings, made with one seed by one version of the code."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.code = fingerprint(*DECISIVE)
        folder.mkdir(parents=True, exist_ok=True)
        stamp = folder / "code.json"
        mine = {"code": self.code, "appletaste": version("appletaste")}
        if stamp.exists():
            theirs = json.loads(stamp.read_text())
            if theirs["code"] != self.code:
                raise InputError(
                    f"{folder} holds results of another version (appletaste {theirs['appletaste']}, code "
                    f"{theirs['code']}; this is {version('appletaste')}, code {self.code}): give --out a new folder"
                )
        else:
            write_json(stamp, mine, indent=None)

    def path(self, pairing: Pairing) -> Path:
        """Return where a pairing is kept."""
        return self.folder / f"{pairing.identity(self.seed)}.parquet"

    def count(self, pairing: Pairing) -> int:
        """Return how many replications of a pairing are finished."""
        path = self.path(pairing)
        return require_pyarrow().parquet.read_metadata(path).num_rows if path.exists() else 0

    def rows(self, pairing: Pairing, replications: int) -> list[Row]:
        """Return the first replications of a pairing."""
        path = self.path(pairing)
        if not path.exists():
            return []
        table = require_pyarrow().parquet.read_table(path).slice(0, replications).to_pydict()
        columns = (table["curve"], table["precision"], table["recall"], table["act_rate"])
        return [(np.array(curve), p, r, a) for curve, p, r, a in zip(*columns, strict=True)]

    def write(self, pairing: Pairing, rows: list[Row]) -> None:
        """Keep all replications of a pairing, written aside and renamed."""
        arrow = require_pyarrow()
        table = arrow.table(
            {
                "replication": np.arange(len(rows)),
                "curve": [row[0].tolist() for row in rows],
                "precision": [row[1] for row in rows],
                "recall": [row[2] for row in rows],
                "act_rate": [row[3] for row in rows],
            }
        )
        with written_aside(self.path(pairing)) as aside:
            arrow.parquet.write_table(table, aside)

    def outcome(self, pairing: Pairing, replications: int) -> Outcome:
        """Return what a finished pairing gave."""
        curves, precision, recall, act_rate = zip(*self.rows(pairing, replications), strict=True)
        return Outcome(
            pairing,
            checkpoints(pairing.problem.rounds),
            np.stack(curves),
            np.array(precision),
            np.array(recall),
            np.array(act_rate),
        )


def as_row(played: Played) -> Row:
    """Return what is kept of one played replication."""
    curve = played.curve[checkpoints(len(played.acts)) - 1]
    return curve, played.precision, played.recall, float(played.acts.mean())


#: What is kept of one replication, and how long it took.
TimedRow = tuple[Row, float]


def play_task(task: Replication) -> TimedRow:
    """Play one replication; the row depends on nothing but the task."""
    played = task.play()
    return as_row(played), played.seconds


def wanted(studies: Sequence[Study]) -> list[Pairing]:
    """Return every pairing of the studies once."""
    pairings: dict[str, Pairing] = {}
    for study in studies:
        for pairing in study.pairings:
            pairings.setdefault(pairing.identity(0), pairing)
    return list(pairings.values())


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
