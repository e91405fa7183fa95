"""What is asked of a log that knows the truth: a hard stream, or a public file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import appletaste as at
from appletaste.evaluate.together import together
from appletaste.evaluate.what_if import ground_of

from .checks import LEVEL, NOTHING, Row
from .hard import HARD, hard_log
from .late import LATE, late_log
from .public import LANES, public_log, public_names
from .store import Cell, keep, kept, place

#: Seeds 31, 32 and 41 were looked at while intervals were repaired; this one was fixed before it was played.
SEED = 2028
MISSED = ("missed, HT", "missed, Hájek", "recall, HT", "missed, model")
WHAT_IF = ("threshold, IPS", "threshold, DR", "threshold, saving", "what was done")
FAMILY = ("each alone", "all at once")
NAMES = (*MISSED, *WHAT_IF, *FAMILY, "stretched by")
#: Thresholds that are asked about, as multiples of the one that the costs imply; the first is the one in ``WHAT_IF``.
MULTIPLES = (0.5, 1.0, 2.0)


def row(answer: object) -> Row:
    """Return an answer beside its truth; NaN where there is none."""
    if isinstance(answer, at.evaluate.Estimate) and answer.truth is not None:
        return answer.value, answer.low, answer.high, answer.truth
    return NOTHING


def holds(answers: list[at.evaluate.Estimate]) -> Row:
    """Return whether all answers cover, in the form of an interval from 0 to 1: the truth is 0 if so, 2 if not."""
    slack = [1e-9 * (1.0 + abs(one.truth or 0.0)) for one in answers]
    good = all(one.low - s <= one.truth <= one.high + s for one, s in zip(answers, slack, strict=True))
    return 0.5, 0.0, 1.0, 0.0 if good else 2.0


def asked(log: at.DecisionLog) -> list[Row]:
    """Return every interval beside the truth."""
    found = at.missed(log, LEVEL)
    design = found.design
    middle = float(np.median(log.alarm_price / (log.alarm_price + log.catch_gain)))
    thresholds = [m * middle for m in MULTIPLES if m * middle < 1.0]
    answers = [at.what_if(log, t, level=LEVEL) for t in thresholds]
    told = [(t, one.saving) for t, one in zip(thresholds, answers, strict=True) if one.saving]
    rows = [row(one) for one in (design.missed, design.missed_hajek, design.recall, found.model)]
    rows += [row(one) for one in (answers[0].ips, answers[0].dr, answers[0].saving, answers[0].logged)]
    if len(told) < 2:
        return [*rows, NOTHING, NOTHING, NOTHING]
    wider = together(ground_of(log, level=LEVEL), [t for t, _ in told])
    alone = [saving for _, saving in told]
    return [*rows, holds(alone), holds([wider.widened(one) for one in alone]), (wider.factor, *NOTHING[1:])]


def _cell(group: str, name: str, count: int, seed: int, folder: Path, make: Callable[[int], at.DecisionLog]) -> Cell:
    path = place(folder, group, name, seed)
    cell = kept(path, group, name, count)
    if cell is None:
        began = time.process_time()
        rows = np.array([asked(make(number)) for number in range(count)])
        cell = Cell(group, name, NAMES, rows, time.process_time() - began)
        keep(path, cell)
        print(f"{group}, {name}: {cell.seconds:.0f} s", flush=True)
    return cell


def hard_cells(folder: Path, count: int, seed: int = SEED) -> list[Cell]:
    """Return one cell for each kind of hard stream."""
    return [_cell("hard", name, count, seed, folder, lambda k, n=name: hard_log(n, k, seed)) for name in HARD]


def late_cells(folder: Path, count: int, seed: int = SEED) -> list[Cell]:
    """Return one cell for each way in which labels are late or lost."""
    return [_cell("late", name, count, seed, folder, lambda k, n=name: late_log(n, k, seed)) for name in LATE]


def public_cells(folder: Path, count: int, seed: int = SEED) -> list[Cell]:
    """Return one cell for each public file and lane; none, and a word, where the files are not there."""
    names = public_names()
    if not names:
        print("the public files are left out: set APPLETASTE_DATA to the folder that holds them", flush=True)
    return [
        _cell(
            "files",
            f"{name}, audit {100 * floor:g} %",
            count,
            seed,
            folder,
            lambda k, n=name, f=floor: public_log(n, f, k, seed),
        )
        for name in names
        for floor in LANES
    ]
