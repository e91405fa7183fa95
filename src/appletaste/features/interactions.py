"""Products of two columns: every entry of the one times every entry of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .columns import Column, ColumnEntries, Entries, Hashed, Hasher

TIMES = " × "


class Product:
    """All products of the entries of two columns, in a block of their own."""

    start: int  #: where its block begins in the vector

    def __init__(self, one: Column, two: Column) -> None:
        self.one, self.two = one, two
        self.stride = len(two.names)

    @property
    def names(self) -> list[str]:
        """The names of the products."""
        return [f"{a}{TIMES}{b}" for a in self.one.names for b in self.two.names]

    def encode(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> Entries:
        """Return the products of the entries of two cells."""
        return [(a * self.stride + b, u * v) for a, u in one for b, v in two]

    def encode_column(self, cells: tuple[Any, Any], one: ColumnEntries, two: ColumnEntries) -> ColumnEntries:
        """Return the products of the entries of two columns."""
        return [(a * self.stride + b, u * v) for a, u in one for b, v in two]


class HashedProduct:
    """Products with a hashed column, in the block that hashed columns share: the names are joined, then hashed."""

    names: ClassVar[list[str]] = []  # it has no place of its own
    start: int

    def __init__(self, one: Column, two: Column, hasher: Hasher) -> None:
        self.one, self.two, self.hasher = one, two, hasher

    def tokens(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> list[str]:
        """Return the joined names of the entries of two cells."""
        first = [namer(self.one, place)(cells[0]) for place, _ in one]
        second = [namer(self.two, place)(cells[1]) for place, _ in two]
        return [f"{a}{TIMES}{b}" for a in first for b in second]

    def encode(self, cells: tuple[Any, Any], one: Entries, two: Entries) -> Entries:
        """Return the products of the entries of two cells."""
        places = [self.hasher.place(token) for token in self.tokens(cells, one, two)]
        return list(zip(places, (u * v for _, u in one for _, v in two), strict=True))

    def encode_column(self, cells: tuple[Any, Any], one: ColumnEntries, two: ColumnEntries) -> ColumnEntries:
        """Return the products of the entries of two columns."""
        products = []
        for i, (_, u) in enumerate(one):
            first = list(map(namer(self.one, i), cells[0]))
            for k, (_, v) in enumerate(two):
                second = map(namer(self.two, k), cells[1])
                places = [self.hasher.place(f"{a}{TIMES}{b}") for a, b in zip(first, second, strict=True)]
                products.append((np.array(places, dtype=np.intp), u * v))
        return products


def namer(column: Column, entry: int) -> Callable[[Any], str]:
    """Return what names an entry of a cell: by its level where it is hashed, by its place where it is a number."""
    if isinstance(column, Hashed):
        return column.token
    name = column.names[entry]
    return lambda cell: name


def product_of(one: Column, two: Column, hasher: Hasher) -> Product | HashedProduct:
    """Return the interaction of two columns."""
    if isinstance(one, Hashed) or isinstance(two, Hashed):
        return HashedProduct(one, two, hasher)
    return Product(one, two)
