"""Where a desk is kept: one file, for one process at a time, written whole or not at all.

The verbs know a desk as a ``Ledger`` with its map, and as nothing else; another place to keep a ledger is another
``open_desk``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

from .._files import lock_beside
from ..errors import InputError, SaveFileError
from ..features import FeatureMap
from .ledger import Ledger
from .loading import load


def read_desk(path: str | PathLike[str]) -> Ledger:
    """Return the ledger of a desk's file, for looking: nothing that happens to it is kept."""
    found = load(path)
    if not isinstance(found, Ledger):
        held = "a feature map" if isinstance(found, FeatureMap) else "a policy or a desk without a record"
        raise InputError(
            f"{path} holds {held}. A desk has a record of decisions too: make one with 'appletaste desk create', or "
            "from Python with ledger.save(path, features)"
        )
    if found.features is None:
        raise InputError(
            f"{path} has no map from columns to features, so that no table can be decided. Save the ledger with its "
            "map: ledger.save(path, features)"
        )
    return found


@contextmanager
def open_desk(path: str | PathLike[str]) -> Iterator[Ledger]:
    """Give the ledger of a desk's file, locked; what happens in the block is saved after it, or not at all.

    Examples
    --------
    >>> import tempfile, appletaste as at
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     at.Ledger(policy).save(f"{folder}/people.at", features)
    ...     with open_desk(f"{folder}/people.at") as ledger:
    ...         _ = ledger.decide(ledger.features.transform({"age": 40}), id="a")
    ...     len(read_desk(f"{folder}/people.at"))
    1
    """
    with _locked(Path(path)):
        ledger = read_desk(path)
        before = len(ledger.record)
        yield ledger
        if len(ledger.record) > before:
            ledger.save(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which each save replaces; the machine lets go of it when this process ends."""
    if not path.exists():
        raise FileNotFoundError(f"there is no desk {path}: 'appletaste desk create' makes one")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name the file of the desk")
    lock = lock_beside(path)
    if lock is None:
        raise SaveFileError(
            f"{path} is in use: another process decides or learns with this desk. Wait until that process is done, "
            "and run the command again; nothing has been changed"
        )
    try:
        yield
    finally:
        os.close(lock)
