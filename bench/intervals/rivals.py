"""The same logs for Open Bandit Pipeline and Vowpal Wabbit: whether values agree and intervals cover."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import appletaste as at

from .checks import LEVEL, NOTHING, rule
from .store import Cell, keep, kept, place
from .streams import stream

#: Logs with no label out and every item audited, so that all estimators are asked the same.
POLICIES, SETTING = ("ts", "voi"), "audit 5 %"
CHANGES = {"threshold": 0.15, "rule": rule}
OURS = {"appletaste IPS": "ips", "appletaste SNIPS": "snips", "appletaste DR": "dr"}
#: Rivals' definitions that are ours, to the last digit.
SAME = {
    "OBP IPW, bootstrap": "appletaste IPS",
    "OBP SNIPW, bootstrap": "appletaste SNIPS",
    "OBP DR, bootstrap": "appletaste DR",
    "VW IPS, Gaussian": "appletaste IPS",
    "VW IPS, Clopper-Pearson": "appletaste IPS",
    "VW SNIPS": "appletaste SNIPS",
}


def exported(log: at.DecisionLog, acting: np.ndarray) -> dict[str, np.ndarray]:
    """Return a log in their words, with what the alternative does and the model's guess of the reward of acting."""
    feedback = log.to_obp()
    guess = log.catch_gain * log.chance - log.alarm_price * (1 - log.chance)
    return {name: feedback[name] for name in ("action", "reward", "pscore")} | {"acting": acting, "guess": guess}


def one(policy: str, number: int, change: str, seed: int) -> tuple[dict[str, np.ndarray], list[tuple[float, ...]]]:
    """Return a log as they take it, and our answers beside the truth, as means per round like theirs."""
    played = stream(policy, SETTING, number, seed)
    log, n = played.log, len(played.log)
    acting = (log.chance >= 0.15).astype(float) if change == "threshold" else np.array([rule(x) for x in log.x])
    truth = -float((acting * played.gains).sum()) / n
    answer = at.what_if(log, CHANGES[change], level=LEVEL)
    rows = []
    for kind in OURS.values():
        found = getattr(answer, kind)
        rows.append((-found.value / n, -found.high / n, -found.low / n, truth) if found else NOTHING)
    return exported(log, acting), [*rows, (answer.unsupported_share, np.nan, np.nan, truth)]


def python() -> Path:
    """Return the interpreter that has the rivals: that of .venv-ope, or this one."""
    apart = Path(os.environ.get("RIVALS_PYTHON", ".venv-ope/bin/python"))
    return apart if apart.exists() else Path(sys.executable)


def rival_cells(folder: Path, count: int, seed: int, parallel: Parallel) -> list[Cell]:
    """Return one cell for each logging policy and alternative, with our answers and theirs."""
    found = []
    for policy in POLICIES:
        for change in CHANGES:
            path = place(folder, f"rivals {policy}", change, seed)
            cell = kept(path, policy, change, count)
            if cell is None:
                cell = _measure(policy, change, count, seed, path, parallel)
                keep(path, cell)
            found.append(cell)
    return found


def _measure(policy: str, change: str, count: int, seed: int, path: Path, parallel: Parallel) -> Cell:
    logs, rows = zip(*parallel(delayed(one)(policy, k, change, seed) for k in range(count)), strict=True)
    ours = np.array(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    asked, answered = path.with_suffix(".asked.npz"), path.with_suffix(".answered.npz")
    np.savez(asked, level=LEVEL, **{name: np.stack([log[name] for log in logs]) for name in logs[0]})
    script = Path(__file__).with_name("rival_estimators.py")
    subprocess.run([python(), script, asked, answered], check=True)
    with np.load(answered) as file:
        names, theirs = file["names"].tolist(), file["rows"]
    truth = np.broadcast_to(ours[:, -1:, 3:], (*theirs.shape[:2], 1))
    asked.unlink()
    answered.unlink()
    return Cell(
        policy,
        change,
        (*OURS, "unsupported", *names),
        np.concatenate([ours, np.concatenate([theirs, truth], axis=2)], axis=1),
    )
