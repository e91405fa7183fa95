"""A history that a team has already: the labels of the cases it reviewed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..errors import InputError
from ..features.values import is_nothing
from ..logs.states import UNKNOWN


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
