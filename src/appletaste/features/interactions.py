"""Products of two columns: every entry of the one times every entry of the other."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .columns import Column, ColumnEntries, Entries, Hasher

TIMES = " × "


class Product:
    """All products of the entries of two columns, in a block of their own."""

    hashed: ClassVar[bool] = False
    start: int  #: where its block begins in the vector

    def __init__(self, one: Column, two: Column) -> None:
        self.one, self.two = one, two
        self.stride = len(two.names)

    @property
    def names(self) -> list[str]:
        """The names of the products."""
        return [f"{a}{TIMES}{b}" for a in self.one.names for b in self.two.names]

    def tokens(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> list[str]:
        """Return the joined names of the entries of two cells."""
        names = self.names
        return [names[place] for place, _ in self.encode(cells, one, two)]

    def encode(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> Entries:
        """Return the products of the entries of two cells."""
        return [(a * self.stride + b, u * v) for a, u in one for b, v in two]

    def encode_column(self, cells: tuple[Any, Any], one: ColumnEntries, two: ColumnEntries) -> ColumnEntries:
        """Return the products of the entries of two columns."""
        return [(a * self.stride + b, u * v) for a, u in one for b, v in two]


class HashedProduct:
    """Products with a hashed column, in the block that hashed columns share: the names are joined, then hashed."""

    hashed: ClassVar[bool] = True
    names: ClassVar[list[str]] = []  # it has no place of its own
    start: int

    def __init__(self, one: Column, two: Column, hasher: Hasher) -> None:
        self.one, self.two, self.hasher = one, two, hasher

    def tokens(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> list[str]:
        """Return the joined names of the entries of two cells."""
        first = [self.one.naming(place)(cells[0]) for place, _ in one]
        second = [self.two.naming(place)(cells[1]) for place, _ in two]
        return [f"{a}{TIMES}{b}" for a in first for b in second]

    def encode(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> Entries:
        """Return the products of the entries of two cells."""
        places = [self.hasher.place(token) for token in self.tokens(cells, one, two)]
        return list(zip(places, (u * v for _, u in one for _, v in two), strict=True))

    def encode_column(self, cells: tuple[Any, Any], one: ColumnEntries, two: ColumnEntries) -> ColumnEntries:
        """Return the products of the entries of two columns."""
        products = []
        for i, (_, u) in enumerate(one):
            first = list(map(self.one.naming(i), cells[0]))
            for k, (_, v) in enumerate(two):
                second = map(self.two.naming(k), cells[1])
                places = [self.hasher.place(f"{a}{TIMES}{b}") for a, b in zip(first, second, strict=True)]
                products.append((np.array(places, dtype=np.intp), u * v))
        return products


def product_of(one: Column, two: Column, hasher: Hasher) -> Product | HashedProduct:
    """Return the interaction of two columns."""
    if one.hashed or two.hashed:
        return HashedProduct(one, two, hasher)
    return Product(one, two)
