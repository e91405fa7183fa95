"""Streams of which passed items are reported, and the interval of audits and reports for what a month missed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import appletaste as at
from appletaste.streams.loop import play_through

from ..figures.parts import Part, table
from .checks import LEVEL, NOTHING, Row
from .store import Cell, keep, kept, place

MONTHS, MONTH, FEATURES = 12, 1500, 4
ROUNDS, SINCE = MONTHS * MONTH, (MONTHS - 1) * MONTH
COSTS = at.Costs(miss=10.0, false_alarm=1.0, hit=0.0)
SEED = 2029
NAMES = ("missed, audits", "missed", "recall", "money", "reports alone", "carried by reports")


@dataclass(frozen=True)
class Reported:
    """Who plays what, and how passed items are reported; delays are in rounds, of which a month has 1,500."""

    policy: str = "voi"
    truth: str = "logistic"
    audit: at.Audit = at.Audit(floor=0.05)  # noqa: RUF009
    rate: float = 0.6
    late: float = 480.0  #: with this delay 70 % of the last month's reports have come
    denied: float = 0.0  #: of passed negatives, those that are reported as such
    delays: tuple[float, float] = (0.0, 0.0)  #: of labels of negatives and of positives
    audits_lost: float = 0.0
    amounts: bool = False
    by_amount: bool = False  #: large amounts are reported more often
    by_feature: bool = False  #: of half of the items, twice as often as of the others
    wrong: float = 0.0  #: of negatives, those that reviewers call positive
    recent_rate: float | None = None  #: in the month that is asked about


USUAL: dict[str, Reported] = {
    "usual: 60 % reported, `voi`, audits of 5 %": Reported(),
    "20 % reported": Reported(rate=0.2),
    "95 % reported": Reported(rate=0.95),
    "reported at once": Reported(late=0.0),
    "half of the last month's reports have come": Reported(late=900.0),
    "1 % of negatives reported, too": Reported(denied=0.01),
    "`ts`": Reported("ts"),
    "nonlinear truth": Reported(truth="nonlinear"),
    "slopes change their sign halfway": Reported(truth="drifting"),
    "half of the audits' labels lost (o7)": Reported(audits_lost=0.5),
    "positives' labels 600 late, negatives' 50 (n8)": Reported(delays=(50.0, 600.0)),
    "lognormal amounts": Reported(amounts=True),
    "large amounts reported more often": Reported(amounts=True, by_amount=True),
    "half of the items reported twice as often": Reported(by_feature=True),
}
CONTROLS: dict[str, Reported] = {
    "control: reviewers call 2 negatives in 100 positive": Reported(wrong=0.02),
    "control: 60 % reported, 30 % in the last month": Reported(recent_rate=0.3),
}


def reported_log(name: str, number: int, seed: int = SEED) -> at.DecisionLog:
    """Play one stream in time; its log has the truth of every item."""
    how, key = (USUAL | CONTROLS)[name], at.Key(seed).at("reports", name, number)
    rng = key.at("stream").generator()
    x = rng.normal(size=(ROUNDS, FEATURES))
    slopes = 0.8 * rng.normal(size=FEATURES)
    score = -3.6 + x @ slopes
    if how.truth == "nonlinear":
        score = -4.0 + 1.2 * x[:, 0] * x[:, 1] + 1.2 * np.abs(x[:, 2])
    elif how.truth == "drifting":
        score = -3.6 + np.where(np.arange(ROUNDS) < ROUNDS // 2, 1.0, -1.0) * (x @ slopes)
    truth = (rng.random(ROUNDS) < 1.0 / (1.0 + np.exp(-score))).astype(np.int8)
    said = np.where((truth == 0) & (rng.random(ROUNDS) < how.wrong), 1, truth).astype(np.int8)
    rounds = np.arange(ROUNDS)
    due = rounds + np.where(truth == 1, how.delays[1], how.delays[0]) * rng.exponential(size=ROUNDS)
    miss = 10.0 * np.exp(rng.normal(-0.5, 1.0, ROUNDS)) if how.amounts else np.full(ROUNDS, 10.0)
    costs = [replace(COSTS, miss=value) for value in miss.tolist()] if how.amounts else None
    policy = at.policy(how.policy, n_features=FEATURES + 1, costs=COSTS, seed=int(key.at("policy").word()))
    ledger = at.streams.Ledger(at.Desk(policy, audit=how.audit))
    clock = rounds.astype(float).tolist()
    items = np.column_stack([np.ones(ROUNDS), x])
    play_through(
        ledger, items, said.tolist(), costs=costs, clock=clock, times=clock, arrivals=due.tolist(),
        label_times=due.tolist(),
    )  # fmt: skip
    log = ledger.log()
    rate = np.full(ROUNDS, how.rate)
    if how.by_amount:
        rate = np.where(miss > np.median(miss), 0.8, 0.4)
    if how.by_feature:
        rate = np.where(x[:, 0] > 0.0, 0.8, 0.4)
    if how.recent_rate is not None:
        rate[SINCE:] = how.recent_rate
    told = rounds + how.late * rng.exponential(size=ROUNDS)
    comes = rng.random(ROUNDS) < np.where(truth == 1, rate, how.denied)
    there = ~log.act & comes & (told < ROUNDS)
    lost = log.act & log.audit & (rng.random(ROUNDS) < how.audits_lost)
    return log.unchecked(
        label=np.where(lost, -1, log.label).astype(np.int8), state=np.where(lost, "expired", log.state),
        label_time=np.where(lost, np.nan, log.label_time), truth=truth,
        report=np.where(there, truth, -1).astype(np.int8), report_time=np.where(there, told, np.nan),
    )  # fmt: skip


def asked(name: str, number: int, seed: int = SEED) -> list[Row]:
    """Return every answer about the last month beside its truth."""
    found = at.missed(reported_log(name, number, seed), LEVEL, since=float(SINCE))
    told = found.with_reports
    rows: list[Row] = [_row(found.design.missed)]
    if told is None:
        return [*rows, *[NOTHING] * 5]
    rows += [_row(one) for one in (told.missed, told.recall, told.money, told.alone)]
    return [*rows, NOTHING if told.share is None else (told.share, *NOTHING[1:])]


def _row(answer: object) -> Row:
    if isinstance(answer, at.evaluate.Estimate) and answer.truth is not None:
        return answer.value, answer.low, answer.high, answer.truth
    return NOTHING


def reported_cells(folder: Path, count: int, parallel: Parallel, seed: int = SEED) -> list[Cell]:
    """Return one cell for each way in which items are reported."""
    found = []
    for name in USUAL | CONTROLS:
        path = place(folder, "reports", name, seed)
        cell = kept(path, "reports", name, count)
        if cell is None:
            began = time.perf_counter()
            rows = np.array(parallel(delayed(asked)(name, number, seed) for number in range(count)))
            cell = Cell("reports", name, NAMES, rows, time.perf_counter() - began)
            keep(path, cell)
            print(f"{name}: {cell.seconds:.0f} s", flush=True)
        found.append(cell)
    return found


def _ends(cell: Cell, name: str) -> str:
    """Return how often an interval covers, and in brackets how often the truth is below it and above it."""
    rows = cell.of(name)
    if not len(rows):
        return "withheld"
    _, low, high, truth = rows.T
    below, above = 100 * (truth < low).mean(), 100 * (truth > high).mean()
    some = f" of {len(rows)}" if len(rows) < len(cell.rows) else ""
    return f"{100 - below - above:.0f} ({below:.0f}, {above:.0f}){some}"


def reported_part(cells: list[Cell]) -> list[Part]:
    """Return what is said of the last month of each kind of stream, and of all that are no controls together."""
    usual = [cell for cell in cells if cell.setting in USUAL]
    everything = Cell("reports", "**all of these**", NAMES, np.concatenate([cell.rows for cell in usual]))
    rows = [_line(cell) for cell in (*usual, everything, *(cell for cell in cells if cell not in usual))]
    counts = sorted({len(cell.rows) for cell in cells})
    count, streams = counts[0], " to ".join(dict.fromkeys(map(str, (counts[0], counts[-1]))))
    heads = ("missed, audits alone", "missed", "recall", "money", "width by that of audits", "carried by reports")
    return [
        f"{streams} streams a row of {ROUNDS:,} decisions, the last {MONTH:,} of which are asked about; one standard "
        f"error of a row is {100 * (LEVEL * (1 - LEVEL) / count) ** 0.5:.1f} points.",
        table(("covers, % (truth below, above)", *heads), rows),
    ]


def _line(cell: Cell) -> tuple[str, ...]:
    """Return coverage of every interval, its width by that of the audits alone, and how much reports carry."""
    both = ~np.isnan(cell.rows[:, :2, 1]).any(axis=1)
    audits, told = (cell.rows[both, :2, 2] - cell.rows[both, :2, 1]).mean(axis=0) if both.any() else (np.nan, np.nan)
    carried = 100 * cell.mean("carried by reports")
    return (cell.setting, *(_ends(cell, name) for name in NAMES[:4]), f"{told / audits:.2f}", f"{carried:.0f} %")
