"""A made-up month of decisions as a folder of daily Parquet files: what a review desk with an audit lane would log."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import appletaste as at

FEATURES = 10
#: The share of passed items that is audited, the chance from which the desk acts, and how late labels are, in days.
AUDIT, THRESHOLD, LATE = 0.02, 0.2, 4.0
START = datetime(2024, 5, 1)
STRATA = np.array(["card", "invoice", "transfer", "wallet"])


def write_folder(folder: Path, decisions: int, days: int = 30, step: Callable[[str], None] = lambda text: None) -> None:
    """Write ``decisions`` decisions of so many days into a folder, a file for each day."""
    folder.mkdir(parents=True, exist_ok=True)
    edges = [decisions * day // days for day in range(days + 1)]
    for day in range(days):
        when = START + timedelta(days=day)
        day_log(day, edges[day], edges[day + 1] - edges[day], days).write(folder / f"{when:%Y-%m-%d}.parquet")
        step(f"writing {when:%Y-%m-%d}")


def day_log(day: int, before: int, items: int, days: int) -> at.DecisionLog:
    """Return the decisions of one day; labels are lognormally late, and those still to come are pending."""
    rng = at.Key(11).at("bench logs", day).generator()
    x = rng.standard_normal((items, FEATURES))
    x[:, 0] = 1.0
    theta = np.array([-4.5, *np.linspace(0.9, -0.5, FEATURES - 1)])
    chance = 1.0 / (1.0 + np.exp(-x @ theta))
    chosen = chance >= THRESHOLD
    probability = np.where(chosen, 1.0, AUDIT)
    act = rng.random(items) < probability
    moment = day + np.sort(rng.random(items))
    late = rng.lognormal(np.log(LATE), 0.6, items)
    arrived = act & (moment + late < days)
    label = np.where(arrived, rng.random(items) < chance, -1).astype(np.int8)
    seconds = np.datetime64(START) + (86_400 * moment).astype("timedelta64[s]")
    words = rng.integers(0, 2**63, (items, 2)).view(np.uint8).reshape(items, 16)
    hexes = np.array([f"{k:02x}" for k in range(256)])
    ids = hexes[words].view("U32").ravel()
    return at.DecisionLog(
        id=ids,
        round=np.arange(before + 1, before + items + 1),
        act=act,
        probability=probability,
        miss=np.full(items, 60.0),
        false_alarm=np.full(items, 6.0),
        hit=np.full(items, 4.0),
        correct_pass=np.zeros(items),
        label=label,
        state=np.where(act, np.where(arrived, "observed", "pending"), "never_due"),
        policy=np.full(items, "voi"),
        audit=act & ~chosen,
        chance=np.clip(chance * np.exp(0.1 * rng.standard_normal(items)), 0.0, 1.0),
        time=np.datetime_as_string(seconds),
        label_time=np.where(arrived, np.datetime_as_string(seconds + (86_400 * late).astype("timedelta64[s]")), ""),
        stratum=STRATA[rng.integers(0, len(STRATA), items)],
        x=x,
    )
