"""Cells of the bench on disk, one file each, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Cell:
    """All answers of one policy in one setting: [stream, name, (value, low, high, truth)]."""

    policy: str
    setting: str
    names: tuple[str, ...]
    rows: np.ndarray
    seconds: float = 0.0

    def of(self, name: str) -> np.ndarray:
        """Return the answered rows of one interval."""
        if name not in self.names:
            return np.empty((0, 4))
        rows = self.rows[:, self.names.index(name)]
        return rows[~np.isnan(rows[:, 1])]

    def covered(self, name: str) -> np.ndarray:
        """Return for each answer whether the truth is in the interval."""
        _, low, high, truth = self.of(name).T
        slack = 1e-9 * (1.0 + np.abs(truth))  # an interval of a known cost is a point: not to be missed by rounding
        return (low - slack <= truth) & (truth <= high + slack)

    def mean(self, name: str) -> float:
        """Return the mean value of something, over the streams that have it."""
        column = self.rows[:, self.names.index(name), 0]
        return float(np.nanmean(column)) if (~np.isnan(column)).any() else np.nan


def place(folder: Path, policy: str, setting: str, seed: int) -> Path:
    """Return where a cell is kept."""
    return folder / str(seed) / (re.sub(r"[^a-z0-9]+", "-", f"{policy} {setting}".lower()).strip("-") + ".npz")


def keep(path: Path, cell: Cell) -> None:
    """Write a cell, aside and renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.stem}.part.npz")
    np.savez_compressed(aside, names=np.array(cell.names), rows=cell.rows, seconds=cell.seconds)
    aside.replace(path)


def kept(path: Path, policy: str, setting: str, streams: int) -> Cell | None:
    """Return a cell of an earlier run with as many streams or more; None if there is none that can be read."""
    try:
        with path.open("rb") as raw, np.load(raw) as file:
            names, rows, seconds = tuple(file["names"].tolist()), file["rows"], float(file["seconds"])
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
        return None
    return Cell(policy, setting, names, rows[:streams], seconds) if len(rows) >= streams else None
