"""Where every random number comes from: a seed and a path, never a shared generator.

``Key(7).at("problem", 3)`` always means the same streams, whatever else was drawn before, so adding a
policy or a replication changes no other number and the order of workers does not matter.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from .errors import InputError


@dataclass(frozen=True, slots=True)
class Key:
    """A seed and a path; names one place where randomness is used.

    Examples
    --------
    >>> Key(7).at("problem", 3) == Key(7).at("problem").at(3)
    True
    >>> int(Key(7).at("problem", 3).word()) == int(Key(7).at("problem", 4).word())
    False
    """

    seed: int = 0
    path: tuple[str | int, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise InputError(f"a seed is a whole number >= 0, got {self.seed!r}")

    def at(self, *parts: str | int) -> Key:
        """Return the key one or more steps further down the path."""
        for part in parts:
            if isinstance(part, bool) or not isinstance(part, str | int | np.integer):
                raise InputError(f"a path is made of names and whole numbers, got {part!r}")
        return Key(self.seed, self.path + tuple(p if isinstance(p, str) else int(p) for p in parts))

    def _digest(self, size: int) -> int:
        # repr keeps 1 and "1" apart and quotes strings, so no two paths share an encoding.
        text = repr((int(self.seed), *self.path)).encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=size, person=b"appletaste").digest(), "little")

    def word(self) -> np.uint64:
        """Return the 64-bit start of this key's kernel streams (see ``kernels.random``)."""
        return np.uint64(self._digest(8))

    def stream(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """Return a fresh kernel stream: the one-word state of SplitMix64, advanced in place."""
        return np.array([self.word()], dtype=np.uint64)

    def generator(self) -> np.random.Generator:
        """Return a fresh NumPy generator (Philox, keyed by 128 bits) for work outside the kernels."""
        return np.random.Generator(np.random.Philox(key=self._digest(16)))
