"""Finished pairings on disk, one Parquet file each, so that nothing is ever computed twice.

A file holds one row per replication and depends on nothing but the settings, the seed and the code: an interrupted
run leaves whole files or none, and what it resumes to is bit for bit what it would have been.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._files import write_json, written_aside
from ..errors import InputError
from ..simulate import Played
from ..simulate.runs import require_pyarrow
from .fingerprint import fingerprint
from .studies import Pairing

#: Regret is stored at this many rounds: enough for a curve, little enough for thousands of them.
CHECKPOINTS = 101
#: What plays: the code that these import decides the numbers.
DECISIVE = ("simulate.replications", "paper.studies")


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
