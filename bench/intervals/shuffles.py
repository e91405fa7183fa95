"""Standard errors of a replay: whether mean +- t s.e. over ten orders of a file covers the mean over all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import t as student

import appletaste as at

from .checks import LEVEL
from .store import Cell, keep, kept, place

SHUFFLES, ROWS = 10, 300
POLICIES = ("voi", "ts")


def costs_of(policy: str, number: int, seed: int) -> np.ndarray:
    """Return the cost per 1,000 items of ten orders of one small file."""
    table = at.problem("synthetic", features=4, rounds=ROWS, intercept=-1.5).draw(at.Key(seed).at("a file"))
    rows = {f"x{k}": table.items[:, k] for k in range(4)} | {"label": table.labels}
    order = int(at.Key(seed).at("orders", policy, number).word()) % 2**31
    found = at.replay(rows, "label", costs=table.costs, policies=[policy], shuffles=SHUFFLES, seed=order)
    return found[policy].costs_per_1000


def shuffle_cells(folder: Path, count: int, seed: int, parallel: Parallel) -> list[Cell]:
    """Return one cell for each policy; the truth is the mean over all orders that were played."""
    found = []
    reach = float(student.ppf(0.5 + 0.5 * LEVEL, SHUFFLES - 1))
    for policy in POLICIES:
        path = place(folder, f"replay {policy}", f"{SHUFFLES} orders", seed)
        cell = kept(path, policy, "replay", count)
        if cell is None:
            costs = np.array(parallel(delayed(costs_of)(policy, k, seed) for k in range(count)))
            mean, se = costs.mean(axis=1), costs.std(axis=1, ddof=1) / SHUFFLES**0.5
            rows = np.stack([mean, mean - reach * se, mean + reach * se, np.full(count, costs.mean())], axis=1)
            cell = Cell(policy, "replay", ("cost per 1,000",), rows[:, None])
            keep(path, cell)
        found.append(cell)
    return found
