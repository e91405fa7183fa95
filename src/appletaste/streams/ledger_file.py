"""The file that a ledger was read from or saved as: what must not be lost in it, and what must not go into it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from .._files import fingerprint, open_archive
from ..errors import InputError, SaveFileError
from ..policies.player import part_of
from ..records.event_arrays import pack_events, unpack_events
from ..records.events import Event
from ..records.record import Record

if TYPE_CHECKING:
    from ..costs import Costs
    from ..features import FeatureMap


class LedgerFile:
    """What a ledger remembers of its file.

    Examples
    --------
    >>> file = LedgerFile()
    >>> file.kept_as(None, decided=2, features=None)
    >>> file.check_map(None, decided=3)
    """

    __slots__ = ("_decided", "_made", "_mark", "features")

    def __init__(self) -> None:
        #: The map that makes the vectors, if one was saved with the ledger.
        self.features: FeatureMap | None = None
        self._mark: str | None = None  # the fingerprint of the file
        self._decided, self._made = 0, 0  # how many decisions and vectors there were then

    def kept_as(self, mark: str | None, decided: int, features: FeatureMap | None) -> None:
        """Take note of the file that holds a ledger of so many decisions as it is now, with this map."""
        self.features, self._mark = features, mark
        self._decided, self._made = decided, 0 if features is None else features.made

    def check_place(self, path: str | PathLike[str], record: Record, costs: Costs) -> None:
        """Refuse to write over a file whose events are not all among those of this ledger."""
        found = fingerprint(path)
        if found is None or found == self._mark:
            return
        try:
            with open_archive(path, "ledger") as (header, state):
                if header.get("kind") != "ledger":
                    return
                there = unpack_events(part_of(state, "events"), costs)
        except SaveFileError:  # damaged, or of another version: nothing that could be continued is lost
            return
        if not _begins_with(record, there):
            raise SaveFileError(
                f"{path} holds {len(there)} events, and not all of them are in this ledger of {len(record)}: "
                "another ledger, maybe in another process, has written the file since this one was loaded or saved. "
                "One stream is kept by one ledger in one process. Load the file and go on from there, save under "
                "another name, or lose what is in the file with save(path, overwrite=True)"
            )

    def check_map(self, given: FeatureMap | None, decided: int) -> None:
        """Refuse to save a map that can be seen not to have made the vectors of the decisions."""
        features = self.features
        if features is None:
            return
        if given is not None and given is not features and not given.continues(features):
            raise InputError(
                "this map is not the one that was saved with the ledger, nor a continuation of it: its columns or "
                "their levels differ, so coefficients would belong to other features. Give the map that made the "
                "vectors, ledger.features"
            )
        if given is None and features.changes and features.made == self._made and decided > self._decided:
            raise InputError(
                f"{decided - self._decided} items were decided since the ledger was loaded or saved, and "
                "ledger.features has made no vector: another map made them, and may know other levels by now. Make "
                "vectors with ledger.features, or give the map that made them: save(path, features=...)"
            )


def _begins_with(record: Record, there: list[Event]) -> bool:
    """Return whether the first events of a record are these."""
    ours = [event for _, (_, event) in zip(there, record.read(), strict=False)]
    one, other = pack_events(there), pack_events(ours)
    return len(ours) == len(there) and all(
        np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one
    )
