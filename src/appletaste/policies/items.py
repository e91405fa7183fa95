"""Items, costs and labels at the door: fresh arrays of finite numbers, or a word about what is wrong with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._sparse import SparseRows, is_sparse
from ..costs import Costs, SomeCosts, outcomes_in
from ..errors import InputError
from ..features.levels import FIRST, LAST
from ..kernels.linear import first_unusable
from ..posteriors import Vector
from ..records.events import UNKNOWN
from ..tables.values import is_nothing


class History(NamedTuple):
    """How many labels of a history were learnt, and how many rows were skipped.

    Examples
    --------
    >>> print(History(learnt=1200, skipped=8800, positives=85))
    1,200 labels learnt (85 positive), 8,800 rows without a label skipped
    """

    learnt: int  #: rows with a label
    skipped: int  #: rows without: nothing is known of them, and nothing is made up
    positives: int  #: of those learnt

    @classmethod
    def of(cls, labels: Iterable[int | None]) -> History:
        """Count labels, None where there is none."""
        given = list(labels)
        learnt = [label for label in given if label is not None]
        return cls(len(learnt), len(given) - len(learnt), sum(learnt))

    def __str__(self) -> str:
        skipped = f"{self.skipped:,} rows without a label skipped"
        return f"{self.learnt:,} labels learnt ({self.positives:,} positive), {skipped}"


def known_labels(labels: Iterable[Any], rows: int) -> list[int | None]:
    """Return labels as 0 and 1, None where there is none, or say which one cannot be."""
    given = list(labels)
    if len(given) != rows:
        raise InputError(f"{rows} items need {rows} labels, None where a label is missing; got {len(given)}")
    known = [_known(row, label) for row, label in enumerate(given)]
    if 1 in known and 0 not in known and any(not is_nothing(label) and label == UNKNOWN for label in given):
        raise InputError(
            "the labels are 1 and -1, and -1 says that a label is missing: write 0 for a negative. If only positives "
            "are known, write None where a label is missing"
        )
    return known


def _known(row: int, label: Any) -> int | None:
    if is_nothing(label) or label == UNKNOWN:
        return None
    if isinstance(label, str) or label not in (0, 1):
        raise InputError(
            f"the label of row {row} is {label!r}: a label is 0 or 1, or None, NaN or -1 where it is missing"
        )
    return int(label)


#: A learner keeps several matrices of this many rows and columns, at 0.8 GB each (docs/features.md).
MOST_FEATURES = 10_000
WANTED = "features must be finite and below 1e100 in size"
_FLOAT = np.dtype(np.float64)


def check_width(n_features: int) -> int:
    """Return a number of features that a learner has the memory for, or say how to have fewer."""
    if n_features > MOST_FEATURES:
        size = 8e-9 * n_features**2
        raise InputError(
            f"{n_features} features are too many to learn from: their covariance alone takes {size:.1f} GB, and the "
            f"limit is {MOST_FEATURES}. Hash categories to fewer columns, Encoder(hashing=500), or keep fewer levels"
        )
    return n_features


def check_item(x: ArrayLike, n_features: int, slots: Sequence[int] = ()) -> Vector:
    """Return x as a fresh float64 vector, or say what is wrong with it; a row of a sparse table will do.

    ``slots`` are the places that hold slots of levels (``Policy.slots``).
    """
    item = x.copy() if type(x) is np.ndarray and x.dtype is _FLOAT else _as_numbers(x, n_features)
    if item.shape != (n_features,):
        raise InputError(f"an item must have shape ({n_features},), got {item.shape}")
    bad = first_unusable(item)
    if bad >= 0 and slots:
        bad = first_unusable(_without(item[None], slots)[0])
    if bad >= 0:
        raise InputError(f"feature {bad} is {item[bad]}: {_why(item[bad])}")
    return item


def _without(table: Vector, slots: Sequence[int]) -> Vector:
    """Return items with 0 where slots are."""
    rest = table.copy()
    rest[:, slots] = 0.0
    return rest


def _why(value: float) -> str:
    """Return what is wrong with a feature."""
    if FIRST <= value <= LAST:
        return (
            "that is the slot of a level, which this policy would take for a number. Give the policy "
            f"groups=features.groups, or encode with Encoder(many=False); {WANTED}"
        )
    return f"{WANTED}. at.Encoder makes features of tables with gaps" if np.isnan(value) else WANTED


def _as_numbers(x: Any, n_features: int) -> Vector:
    """Return whatever a user gives for an item as fresh float64 numbers of any shape."""
    if type(x) is not list and is_sparse(x):
        x = _only_row(x)
    try:
        return _fresh(x)
    except OverflowError:
        raise InputError(f"an item has a number that is too large: {WANTED}") from None
    except (TypeError, ValueError):
        told = f"an item must be {n_features} numbers, got {x!r}. at.Encoder makes numbers of a record"
        raise InputError(told) from None


def _fresh(values: Any) -> Vector:
    """Return values as fresh float64 numbers, NaN where they are masked; dates and complex numbers are none."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    found = np.array(values)
    if found.dtype is _FLOAT and found.flags.c_contiguous:
        return found
    if found.dtype.kind in "mMc":  # NumPy would count the days of a date, or its nanoseconds, and drop a part
        raise TypeError
    return found.astype(np.float64, order="C", copy=False)


def _only_row(x: Any) -> Vector:
    """Return a sparse vector, or a sparse table of one row, as a dense vector."""
    if x.ndim == 2 and x.shape[0] != 1:
        raise InputError(f"an item is one row, got a sparse table of shape {x.shape}; decide_many takes a table")
    return np.asarray(x.toarray(), dtype=np.float64).reshape(-1)


def check_items(items: ArrayLike, n_features: int, slots: Sequence[int] = ()) -> Vector | SparseRows:
    """Return items as a fresh float64 matrix, or say what is wrong with them; a sparse table stays sparse."""
    if is_sparse(items):
        return _check_sparse(items, n_features, slots)
    return check_dense(items, n_features, slots)


def check_dense(items: ArrayLike, n_features: int, slots: Sequence[int] = ()) -> Vector:
    """Return items that are not sparse as a fresh float64 matrix, or say what is wrong with them."""
    try:
        table = _fresh(items)
    except OverflowError:
        raise InputError(f"an item has a number that is too large: {WANTED}") from None
    except (TypeError, ValueError):
        raise InputError(f"items must be rows of {n_features} numbers; an Encoder makes numbers of anything") from None
    if table.ndim != 2 or table.shape[1] != n_features:
        raise InputError(f"items must have shape (n, {n_features}), got {table.shape}")
    bad = first_unusable((_without(table, slots) if slots else table).reshape(-1))
    if bad >= 0:
        raise _unusable(*divmod(bad, n_features), table.reshape(-1)[bad])
    return table


def _check_sparse(items: Any, n_features: int, slots: Sequence[int]) -> SparseRows:
    """Return a sparse table, or say what is wrong with it."""
    if items.ndim != 2 or items.shape[1] != n_features:
        raise InputError(f"items must have shape (n, {n_features}), got {items.shape}")
    rows = SparseRows(items)
    values = np.where((rows.values >= FIRST) & (rows.values <= LAST), 0.0, rows.values) if slots else rows.values
    bad = first_unusable(values)
    if bad >= 0:
        raise _unusable(*rows.place(bad), rows.values[bad])
    return rows


def _unusable(row: int, column: int, value: float) -> InputError:
    return InputError(f"feature {column} of item {row} is {value}: {_why(value)}")


def usual_costs(costs: SomeCosts) -> Costs:
    """Return the costs that a policy has for every item, or say that they leave nothing to decide."""
    found = Costs.of(costs)
    if not math.isfinite(found.threshold):
        raise InputError("these costs leave nothing to decide: use Costs(...), and Costs.of_item for one item only")
    return found


def check_costs(costs: SomeCosts | None, usual: Costs) -> Costs:
    """Return the costs of an item: those given, as Costs or by outcome in a dict, or the stream's.

    Examples
    --------
    >>> check_costs({"miss": 3, "false_alarm": 5, "hit": 5}, Costs(5, 1, 0)).threshold  # acting never pays on this one
    inf
    """
    if costs is None:
        return usual
    if isinstance(costs, Mapping):
        return Costs.of_item(**outcomes_in(costs))
    if not isinstance(costs, Costs):
        raise InputError(
            f"costs must be an appletaste.Costs or a dict of outcomes, got {type(costs).__name__}; of costs by item "
            "give those of the item, costs.of_item(record)"
        )
    return costs
