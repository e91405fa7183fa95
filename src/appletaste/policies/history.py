"""Starting from a history: labels that a team has already, for the cases it reviewed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ..decision import Decision
from ..errors import InputError
from .items import check_items

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .policy import Policy

UNKNOWN = -1  # how ``read_records(..., unlabelled=True)`` writes a label that is not there


class History(NamedTuple):
    """What was taken from a history.

    Examples
    --------
    >>> print(History(learnt=1200, skipped=8800, positives=85))
    1,200 labels learnt (85 positive), 8,800 rows without a label skipped
    """

    learnt: int  #: rows with a label
    skipped: int  #: rows without: nothing is known of them, and nothing is made up
    positives: int  #: of those learnt

    def __str__(self) -> str:
        skipped = f"{self.skipped:,} rows without a label skipped"
        return f"{self.learnt:,} labels learnt ({self.positives:,} positive), {skipped}"


def learn_history(policy: Policy, items: ArrayLike, labels: Any) -> History:
    """Learn the labels that there are, in the order of the rows; nothing is learnt if any of them is wrong.

    The likelihood of the labels given their items is what it is whoever chose them, so labels of reviewed cases alone
    do no harm, as long as they were chosen by what is in the items (Rubin 1976, ignorable selection).
    """
    table, given = check_items(items, policy.n_features), list(labels)
    if len(given) != len(table):
        raise InputError(f"{len(table)} items need as many labels, None where there is none; got {len(given)}")
    known = [_known(row, label) for row, label in enumerate(given)]
    for x, label in zip(table, known, strict=True):
        if label is not None:
            policy.learn(Decision(True, 1.0, x, policy.costs, 0, {}), label)
    learnt = [label for label in known if label is not None]
    return History(len(learnt), len(known) - len(learnt), sum(learnt))


def _known(row: int, label: Any) -> int | None:
    """Return a label as 0 or 1, None where there is none, or say what it cannot be."""
    if label is None or (isinstance(label, float) and math.isnan(label)) or label == UNKNOWN:
        return None
    if isinstance(label, str) or label not in (0, 1):
        raise InputError(
            f"the label of row {row} is {label!r}: a label is 0 or 1, and None, NaN or -1 where there is none"
        )
    return int(label)
