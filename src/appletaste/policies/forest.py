"""A fitted forest as data: what it says of items, in bytes and back, with nothing in it that could be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SaveFileError
from ..kernels import forests as kernels
from ..kernels._jit import Indices
from ..kernels.forests import DEPTH, LEAVES, SPLITS, UNIT
from ..posteriors import Vector
from ..records.codec import pack, unpack

#: The layout of the bytes.
FORMAT = 1
#: The arrays of a forest: how they are kept, and how many axes they have.
KEPT = {
    "starts": ("<i4", 1),
    "features": ("<i4", 2),
    "thresholds": ("<f8", 2),
    "leaves": ("<f8", 2),
    "covers": ("<f8", 2),
    "places": ("<i4", 1),
    "levels": ("<f8", 3),
    "losses": ("<f8", 1),
}


class Explained(NamedTuple):
    """The score of an item taken apart: what all items have in common, and what each place of the item adds."""

    base: float
    parts: Vector


@dataclass(frozen=True, eq=False)
class Forest:
    """A forest for each fold of the labels, fitted without them; a new item gets the mean of all (``kernels.forests``).

    The score is the log-odds, at most 5 in size, divided by 2.5. ``losses`` are the mean log losses on held-out labels:
    of the forests, and of the share of positives that the other folds had.
    """

    width: int  #: how long the items are
    labels: int  #: how many labels it was fitted on
    starts: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: Vector
    leaves: Vector
    covers: Vector
    places: NDArray[np.int64]
    levels: Vector
    losses: Vector

    @cached_property
    def _seen(self) -> Vector:
        return np.zeros(self.width + len(self.places))

    @property
    def _trees(self) -> tuple[Indices, Vector, Indices, Indices, Vector, Vector]:
        return self.places, self.levels, self.starts, self.features, self.thresholds, self.leaves

    def longer(self, x: Vector) -> Vector:
        """Return an item with its score behind."""
        found = np.empty(self.width + 1)
        kernels.lengthen(x, -1, *self._trees, self._seen, found)
        return found

    def longer_many(self, items: Vector, labels: int = 0) -> Vector:
        """Return items with their scores behind; the first of them are the items of labels that it was fitted on."""
        found = np.empty((len(items), self.width + 1))
        items = np.ascontiguousarray(items, dtype=np.float64)
        # a table of its own: another thread may be asking for one item
        room = np.zeros(self.width + len(self.places))
        kernels.lengthen_labelled(items, labels, *self._trees, room, found)
        return found

    def explain(self, x: Vector) -> Explained:
        """Return the score of an item taken apart by its places; base and parts add up to the score.

        Examples
        --------
        >>> import appletaste as at
        >>> from appletaste.policies.boosting import fit
        >>> rng = np.random.default_rng(1)
        >>> items = rng.normal(size=(400, 2))
        >>> forest = fit(items, (items[:, 0] * items[:, 1] > 0).astype(float), np.ones(400), np.arange(2))
        >>> base, parts = forest.explain(items[0])
        >>> bool(abs(base + parts.sum() - forest.longer(items[0])[2]) < 1e-9)
        True
        """
        parts, path = np.empty(self.width), np.zeros((4, DEPTH + 1))
        room = np.zeros(self.width + len(self.places))
        places, levels, starts, features, thresholds, leaves = self._trees
        base = kernels.explain(x, places, levels, starts, features, thresholds, leaves, self.covers, room, path, parts)
        score, whole = float(self.longer_many(x[np.newaxis])[0, -1]), float(parts.sum())
        # where the log-odds are beyond their end, all parts are smaller by the same share
        share = (score - base / UNIT) / whole if abs(whole) > 1e-300 else 0.0
        return Explained(score - share * whole, share * parts)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The places of an item that any split looks at."""
        looked = np.unique(self.features[np.isfinite(self.thresholds)])
        own = looked[looked < self.width].tolist()
        return tuple(sorted({*own, *self.places[looked[looked >= self.width] - self.width].tolist()}))

    @cached_property
    def packed(self) -> bytes:
        """The forest, for keeping; two that are alike have the same."""
        arrays = {
            name: (getattr(self, name).shape, getattr(self, name).astype(kind).tobytes())
            for name, (kind, _) in KEPT.items()
        }
        return pack({"format": FORMAT, "width": self.width, "labels": self.labels, "arrays": arrays})

    @cached_property
    def sha256(self) -> str:
        """The name of the forest: SHA-256 of its bytes, in hexadecimal digits."""
        return sha256(self.packed).hexdigest()

    @staticmethod
    def read(kept: bytes) -> Forest:
        """Return the forest that was kept, or say that these bytes are none: every number is checked, nothing is run.

        Examples
        --------
        >>> Forest.read(b"nonsense")
        Traceback (most recent call last):
            ...
        appletaste.errors.SaveFileError: these 8 bytes are no model of trees that this version can read
        """
        try:
            told = unpack(kept)
            if told["format"] != FORMAT:
                raise ValueError(told["format"])
            arrays = {name: _array(told["arrays"][name], *kind) for name, kind in KEPT.items()}
            forest = Forest(int(told["width"]), int(told["labels"]), **arrays)
            _check(forest)
        except (KeyError, TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise SaveFileError(f"these {len(kept)} bytes are no model of trees that this version can read") from error
        return forest


def _array(told: Sequence[Any], kind: str, axes: int) -> NDArray[Any]:
    """Return one of the arrays, wide enough for the kernels."""
    shape, values = told
    found = np.frombuffer(values, dtype=kind).reshape(tuple(shape))
    if found.ndim != axes:
        raise ValueError(shape)
    return np.ascontiguousarray(found, dtype=np.int64 if kind[1] == "i" else np.float64)


def _check(forest: Forest) -> None:
    """Raise ValueError where a kernel would read beyond an array, or a number is none."""
    trees, folds, columns = len(forest.features), len(forest.starts) - 1, len(forest.places)
    shapes = (trees, SPLITS), (trees, SPLITS), (trees, LEAVES), (trees, SPLITS + LEAVES), (folds, columns)
    arrays = forest.features, forest.thresholds, forest.leaves, forest.covers, forest.levels[:, :, 0]
    starts, inside = forest.starts, forest.width + columns
    wrong = (
        forest.width < 1
        or forest.labels < 0
        or folds < 1
        or [array.shape for array in arrays] != list(shapes)
        or starts[0] != 0
        or starts[-1] != trees
        or bool((np.diff(starts) < 0).any())
        or bool(((forest.features < 0) | (forest.features >= inside)).any())
        or bool(((forest.places < 0) | (forest.places >= forest.width)).any())
        or bool(np.isnan(forest.thresholds).any())
        or not all(bool(np.isfinite(array).all()) for array in (forest.leaves, forest.covers, forest.levels))
        or bool((forest.covers < 0.0).any())
        or len(forest.losses) != 2
    )
    if wrong:
        raise ValueError("the numbers do not fit together")
