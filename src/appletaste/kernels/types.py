"""Names for the arrays that kernels take."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
#: Items in blocks [block, feature, place in the block].
Blocks: TypeAlias = NDArray[np.float64]
#: What a chain went through [states or proposals, step, feature].
Path: TypeAlias = NDArray[np.float64]
Word: TypeAlias = np.uint64
Words: TypeAlias = NDArray[np.uint64]
Indices: TypeAlias = NDArray[np.int64]
#: One word: the state of a random stream, advanced in place.
Stream: TypeAlias = NDArray[np.uint64]
