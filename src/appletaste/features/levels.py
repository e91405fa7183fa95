"""A column with many levels: one place of the vector, which holds the number of the level's slot.

Slot k is written as 2^40 + k. No number that people decide by looks like that, so whoever meets such a vector without
its map, in a decision log for example, can tell that it names a level and is no quantity.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..tables.values import as_level
from .columns import ColumnEntries, Entries, LevelColumn

#: The group of a place that holds slots (``FeatureMap.groups``): no number of a curve is as large.
SLOTS = 1_000_000
#: Slot 0 is for a missing value; so many are shared by all levels without one of their own; the others come behind.
SHARED, OWN = 64, 10_000
#: What the vector holds for slot 0, and for the last one.
FIRST = float(2**40)
LAST = FIRST + SHARED + OWN
#: A column stays open if the warm-up has so many levels of it, and so large a share of its rows has a level seen once.
LEAST_LEVELS, LEAST_SINGLE = 20, 0.05


def has_many(counts: Counter[str], levels: int) -> bool:
    """Return whether a warm-up speaks of a column with many levels: it cannot have met those that matter.

    Either there are more than an encoder gives places to, or levels that came once make up 5 % of the rows: by Good
    (1953) that is the chance of a new level in the next row.

    Examples
    --------
    >>> has_many(Counter({"card": 300, "cash": 200}), levels=50), has_many(Counter(map(str, range(60))), levels=50)
    (False, True)
    """
    single = sum(count == 1 for count in counts.values())
    return len(counts) > levels or (len(counts) >= LEAST_LEVELS and single >= LEAST_SINGLE * counts.total())


def hold_slots(values: NDArray[np.float64]) -> bool:
    """Return whether numbers of one place of many vectors are slots.

    Examples
    --------
    >>> hold_slots(FIRST + np.array([0.0, 65.0])), hold_slots(np.array([0.0, 65.0]))
    (True, False)
    """
    return len(values) > 0 and bool(((values >= FIRST) & (values <= LAST)).all())


class Open(LevelColumn):
    """A level in text that takes the next slot when it first comes; beyond ``OWN`` levels the rest share some slots.

    A slot is a name and no quantity: its place belongs to the group ``SLOTS``, and the policy keeps an effect for each
    slot. Which of the shared slots a level without its own has is found by hashing its name.

    Examples
    --------
    >>> column = Open("shop", ["Anna's"])
    >>> column.encode("Anna's", update=True), column.encode("Ben's", update=True), column.encode(None, update=True)
    ([(0, 1099511627841.0)], [(0, 1099511627842.0)], [(0, 1099511627776.0)])
    """

    kind = "open"

    def __init__(self, name: str, levels: Iterable[str]) -> None:
        self.name = name
        self.numbered = {level: SHARED + 1 + number for number, level in enumerate(levels)}

    @property
    def names(self) -> list[str]:
        """The name of its place."""
        return [f"{self.name} (level)"]

    def read(self, value: Any, missing: Collection[str]) -> str | None:
        """Return a cell as a level, None where missing; ValueError where it cannot be one."""
        return value if type(value) is str and value in self.numbered else as_level(value, missing)

    def slot(self, level: str | None, update: bool) -> int:
        """Return the slot of a level; a new one takes the next that is free, or else one that it shares."""
        if level is None:
            return 0
        slot = self.numbered.get(level)
        if slot is not None:
            return slot
        if update and len(self.numbered) < OWN:
            slot = self.numbered[level] = SHARED + 1 + len(self.numbered)
            return slot
        digest = hashlib.blake2b(level.encode(errors="surrogatepass"), digest_size=8).digest()
        return 1 + int.from_bytes(digest, "little") % SHARED

    def encode(self, level: str | None, update: bool) -> Entries:
        """Return the entry of a cell."""
        return [(0, FIRST + self.slot(level, update))]

    def encode_column(self, levels: NDArray[Any], update: bool) -> ColumnEntries:
        """Return the entry of each row."""
        slots = np.array([self.slot(level, update) for level in levels.tolist()], dtype=np.float64)
        return [(np.zeros(len(levels), dtype=np.intp), FIRST + slots)]

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the level, from its cell or from its slot."""
        if known:
            strange = "" if cell in self.numbered else " (not among its known levels)"
            return f"{self.name} is missing" if cell is None else f"{self.name} = {cell}{strange}"
        return self.named(int(block[0] - FIRST))

    def named(self, slot: int) -> str:
        """Return what a slot stands for, in words."""
        if slot == 0:
            return f"{self.name} is missing"
        if slot <= SHARED:
            return f"{self.name} is another level"
        return f"{self.name} = {self.shown()[slot - SHARED - 1]}" if slot <= SHARED + len(self.numbered) else self.name

    def header(self) -> dict[str, Any]:
        """Return the levels in the order of their slots as JSON, for saving."""
        return {"kind": self.kind, "name": self.name, "levels": list(self.numbered)}
