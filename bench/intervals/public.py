"""Public files played as streams with an audit lane: truths that nobody made up."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

import appletaste as at
from appletaste.streams.loop import play_through

from ..files.streams import STREAMS, table_of

#: Floors of the audit lane.
LANES = (0.005, 0.02, 0.10)
#: Rows of a long file that are played: the first of a random order, or one in so many where the order is that of time.
MOST = 8000


def folder() -> Path:
    """Return where the files are looked for, as the tests do."""
    return Path(os.environ.get("APPLETASTE_DATA", "../shared/data"))


def public_names() -> list[str]:
    """Return the files that are there."""
    return [name for name, one in STREAMS.items() if (folder() / one.file).exists()]


def public_log(name: str, floor: float, number: int, seed: int) -> at.DecisionLog:
    """Play one order of a file with ``voi`` and an audit lane; the log has the truth of every item."""
    chosen = STREAMS[name]
    table = table_of(name, 1000 + number if chosen.shuffled else 0, folder())
    items, labels = table.items, table.labels.astype(np.int8)
    if len(labels) > MOST:
        rows = np.arange(MOST) if chosen.shuffled else np.arange(0, len(labels), -(-len(labels) // MOST))
        items, labels = items[rows], labels[rows]
    word = int(at.Key(seed).at("public", name, str(floor), number).word())
    policy = at.policy("voi", n_features=items.shape[1], costs=chosen.costs, seed=word)
    ledger = at.streams.Ledger(at.Desk(policy, audit=at.Audit(floor=floor)))
    play_through(ledger, items, labels.tolist())
    return replace(ledger.log(), truth=labels)
