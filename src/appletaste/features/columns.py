"""How one column becomes entries of a vector: a category with a column for each level, or a hashed one.

Every kind of column answers the same way, for one cell and for a whole column: a few *entries*, each a place within
the column's own block of the vector and a value. One cell and a whole column give the same numbers bit for bit.
Numbers are in ``numbers.py``, dates in ``dates.py``.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..tables.values import as_level

if TYPE_CHECKING:
    from ..tables.records import Records
    from .numbers import Number

#: Entries of one cell: places and values.
Entries: TypeAlias = list[tuple[int, float]]
#: Entries of a whole column: for each, the place and the value in every row.
ColumnEntries: TypeAlias = list[tuple[NDArray[np.intp], NDArray[np.float64]]]


class Column(ABC):
    """One column of a table: how it is read, encoded, put into words and saved."""

    kind: ClassVar[str]
    wants: ClassVar[str] = "text or numbers that name a level"  #: what its cells are, for messages
    numeric: ClassVar[bool] = False  #: whether the fields that it is made from are numbers rather than texts
    hashed: ClassVar[bool] = False  #: whether it shares the hashed block instead of having one of its own
    start: int  #: where its block begins in the vector
    name: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The fields of a record that it is made from."""
        return (self.name,)

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """The names of the entries' places."""

    @abstractmethod
    def read(self, value: Any, missing: Collection[str]) -> Any:
        """Return a field as the column takes it, or raise ValueError."""

    def cell(self, record: Mapping[str, Any], missing: Collection[str]) -> Any:
        """Return the cell of a record, or raise ValueError."""
        return self.read(record.get(self.name), missing)

    def cells(self, records: Records) -> NDArray[Any]:
        """Return the cells of a table, one for each row."""
        return records.numbers(self.name) if self.numeric else records.levels(self.name)

    @abstractmethod
    def encode(self, cell: Any, update: bool) -> Entries:
        """Return the entries of a cell, from what was seen before it; then count it, if statistics run on."""

    @abstractmethod
    def encode_column(self, cells: NDArray[Any], update: bool) -> ColumnEntries:
        """Return the entries of a column, each row's as ``encode`` gives them."""

    @abstractmethod
    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return what the column says of an item, from its cell where that is known, else from its block."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""

    def usual(self) -> list[float]:
        """Return what the first places of an average item hold; those behind them hold 0."""
        return []

    def running(self) -> list[Number]:
        """Return the numbers that it consists of, whose statistics are saved as an array."""
        return []

    def mark(self) -> Any:
        """Return how far the column has come, for ``rewind``; None: cells do not change it."""
        numbers = self.running()
        return [number.statistics for number in numbers] if numbers and numbers[0].online else None

    def rewind(self, mark: Any) -> None:
        """Undo what cells have changed since a ``mark``."""
        if mark is not None:
            for number, statistics in zip(self.running(), mark, strict=True):
                number.take(*statistics)

    def naming(self, entry: int) -> Callable[[Any], str]:
        """Return what names an entry of a cell."""
        name = self.names[entry]
        return lambda cell: name


class LevelColumn(Column):
    """A column whose levels are numbered in the order in which they came."""

    #: The number of each level; a level whose name was erased is called by its number, which no cell is.
    numbered: dict[str | int, int]

    def mark(self) -> int:
        """Return how many levels there are."""
        return len(self.numbered)

    def rewind(self, mark: int) -> None:
        """Take the levels away that came since."""
        while len(self.numbered) > mark:
            self.numbered.popitem()

    def forget(self, level: str) -> None:
        """Take the name of a level away; its place stays taken, by a name that no cell has."""
        self.numbered = {place if name == level else name: place for name, place in self.numbered.items()}

    def shown(self) -> list[str]:
        """Return the levels in their order, as people read them; while another thread may add some."""
        return [name if isinstance(name, str) else f"erased {name}" for name in list(self.numbered)]


class Category(LevelColumn):
    """A level in text: a column for each level of the warm-up, for missing if it was seen, and for any other.

    Room that is left after the levels is taken by new ones as they come.
    """

    kind = "category"

    def __init__(self, name: str, levels: Iterable[str], room: int, missing: bool) -> None:
        self.name, self.room, self.missing = name, room, missing
        self.numbered = {level: place for place, level in enumerate(levels)}

    @property
    def names(self) -> list[str]:
        """The names of the entries' places."""
        taken = [f"{self.name}={level}" for level in self.shown()]
        free = [f"{self.name} (free {place + 1})" for place in range(self.room - len(taken))]
        return [*taken, *free, *([f"{self.name} missing"] if self.missing else []), f"{self.name} other"]

    def read(self, value: Any, missing: Collection[str]) -> str | None:
        """Return a cell as a level, None where missing; ValueError where it cannot be one."""
        return value if type(value) is str and value in self.numbered else as_level(value, missing)

    def place(self, level: str | None, update: bool) -> int:
        """Return the place of a level; a new one is another level this time, and may take a free place for the next."""
        if level is None:
            return self.room  # the place for missing or, without one, for any other
        place = self.numbered.get(level)
        if place is not None:
            return place
        if update and len(self.numbered) < self.room:
            self.numbered[level] = len(self.numbered)
        return self.room + self.missing

    def encode(self, level: str | None, update: bool) -> Entries:
        """Return the entry of a cell."""
        return [(self.place(level, update), 1.0)]

    def encode_column(self, levels: NDArray[Any], update: bool) -> ColumnEntries:
        """Return the entry of each row."""
        if update and len(self.numbered) < self.room:
            places = [self.place(level, True) for level in levels]
        else:
            known: dict[Any, int] = {None: self.room, **self.numbered}
            other = self.room + self.missing
            places = [known.get(level, other) for level in levels]
        return [(np.array(places, dtype=np.intp), np.ones(len(levels)))]

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the level, and whether it is known, missing or another one."""
        if known:
            strange = "" if cell in self.numbered else " (not among its known levels)"
            return f"{self.name} is missing" if cell is None else f"{self.name} = {cell}{strange}"
        taken = np.flatnonzero(block)
        if not len(taken):
            return f"{self.name} is not given"
        place = int(taken[0])
        if place < len(self.numbered):
            return self.names[place].replace("=", " = ", 1)
        return f"{self.name} is {'missing' if place == self.room and self.missing else 'another level'}"

    def header(self) -> dict[str, Any]:
        """Return the settings and the levels as JSON, for saving."""
        levels = {"levels": list(self.numbered), "room": self.room, "missing": self.missing}
        return {"kind": self.kind, "name": self.name, **levels}


class Hashed(Column):
    """A level in text, at a place found by hashing its name; all hashed columns share one block of the vector."""

    kind = "hashed"
    hashed = True

    def __init__(self, name: str, hasher: Hasher) -> None:
        self.name, self.hasher = name, hasher

    @property
    def names(self) -> list[str]:
        """None: the column has no place of its own."""
        return []

    def read(self, value: Any, missing: Collection[str]) -> str | None:
        """Return a cell as a level, None where missing; ValueError where it cannot be one."""
        return as_level(value, missing)

    def token(self, level: str | None) -> str:
        """Return what is hashed."""
        return f"{self.name} missing" if level is None else f"{self.name}={level}"

    def encode(self, level: str | None, update: bool) -> Entries:
        """Return the entry of a cell."""
        return [(self.hasher.place(self.token(level)), 1.0)]

    def encode_column(self, levels: NDArray[Any], update: bool) -> ColumnEntries:
        """Return the entry of each row."""
        places = {level: self.hasher.place(self.token(level)) for level in set(levels)}
        return [(np.array([places[level] for level in levels], dtype=np.intp), np.ones(len(levels)))]

    def naming(self, entry: int) -> Callable[[Any], str]:
        """Return what names an entry of a cell: its level."""
        return self.token

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the name: what was hashed is said elsewhere."""
        return self.name

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""
        return {"kind": self.kind, "name": self.name}


class Hasher:
    """Places for names in a block of fixed width: BLAKE2b, the same everywhere and always.

    Examples
    --------
    >>> Hasher(1024).place("job=student")
    381
    """

    LARGEST_MEMORY: ClassVar[int] = 100_000

    def __init__(self, width: int) -> None:
        self.width = width
        self.known: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the place of a name."""
        place = self.known.get(name)
        if place is None:
            if len(self.known) >= self.LARGEST_MEMORY:  # a stream of ever new names must not fill the memory
                self.known.clear()
            digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
            place = self.known[name] = int.from_bytes(digest, "little") % self.width
        return place
