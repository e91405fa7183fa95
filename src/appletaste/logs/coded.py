"""Few texts in many rows: a small number for each row, and what the numbers stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MANY = 64  # levels beyond which sorting the texts is quicker than looking for one after the other


@dataclass(frozen=True, eq=False)
class Coded:
    """A column of texts that behaves like an array of them, at one to four bytes a row.

    Examples
    --------
    >>> column = Coded.of(np.array(["card", "cash", "card"]))
    >>> column.tolist(), (column == "card").tolist(), column.counts()
    (['card', 'cash', 'card'], [True, False, True], {'card': 2, 'cash': 1})
    """

    codes: NDArray[Any]
    levels: NDArray[np.str_]  #: sorted

    @classmethod
    def of(cls, texts: NDArray[np.str_]) -> Coded:
        """Return texts as codes."""
        codes = np.full(len(texts), -1, dtype=np.int32)
        found: list[str] = []
        while len(found) < _MANY and (left := int(np.argmin(codes))) < len(codes) and codes[left] < 0:
            codes[texts == texts[left]] = len(found)
            found.append(str(texts[left]))
        if len(codes) and codes.min() < 0:
            levels, places = np.unique(texts, return_inverse=True)
            return cls(_small(places, len(levels)), levels)
        levels, order = np.unique(np.array(found, dtype=np.str_), return_inverse=True)
        return cls(_small(order.astype(np.int32)[codes] if found else codes, len(levels)), levels)

    @classmethod
    def joined(cls, columns: list[Coded]) -> Coded:
        """Return one column after the other."""
        levels = np.unique(np.concatenate([column.levels for column in columns]))
        codes = [_small(np.searchsorted(levels, one.levels), len(levels))[one.codes] for one in columns]
        return cls(np.concatenate(codes), levels)

    @property
    def dtype(self) -> np.dtype[np.str_]:
        """That of the texts."""
        return self.levels.dtype

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, key: Any) -> Any:
        chosen = self.codes[key]
        return Coded(chosen, self.levels) if isinstance(chosen, np.ndarray) else self.levels[chosen]

    def __eq__(self, text: object) -> NDArray[np.bool_]:  # type: ignore[override]
        return np.asarray((self.levels == text)[self.codes] if len(self.levels) else np.zeros(0, dtype=bool))

    def __ne__(self, text: object) -> NDArray[np.bool_]:  # type: ignore[override]
        return ~(self == text)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.str_]:
        return np.asarray(self.levels[self.codes])

    def tolist(self) -> list[str]:
        """Return the texts."""
        found: list[str] = self.levels[self.codes].tolist()
        return found

    def counts(self) -> dict[str, int]:
        """Return how many rows each text is in, by text, in the order of texts."""
        found = np.bincount(self.codes, minlength=len(self.levels))
        return {str(level): int(count) for level, count in zip(self.levels, found, strict=True) if count}


def counts_of(column: Coded | NDArray[np.str_]) -> dict[str, int]:
    """Return how many rows each text of a column is in, in the order of texts."""
    return (column if isinstance(column, Coded) else Coded.of(column)).counts()


def _small(codes: NDArray[Any], levels: int) -> NDArray[Any]:
    """Return codes in as few bytes as there are levels for."""
    return codes.astype(np.int8 if levels < 2**7 else np.int16 if levels < 2**15 else np.int32)
