"""Stretches of an index in which no id lies: an id that falls into one is new, and nobody need look."""

from __future__ import annotations

from collections.abc import Sequence

#: Behind every id: ids have at most 256 characters.
LAST = "\U0010ffff" * 257
#: So many stretches are kept, the most recently used.
KEPT = 8


class Gaps:
    """The stretches between neighbours of an index that ids have come into last.

    Ids that are numbered in their order, such as those of orders, come one behind the other, also where others are in
    other places: each source of ids has a stretch of its own. Stretches never overlap: opening one forgets those that
    would.

    Examples
    --------
    >>> gaps = Gaps()
    >>> gaps.open("shop-7", "web-1")
    >>> gaps.outside(["shop-8", "shop-9", "web-2"])
    ['web-2']
    >>> gaps.taken(["shop-8"])
    >>> gaps.outside(["shop-8", "shop-9"])  # what lies before an id that was taken is forgotten
    ['shop-8']
    """

    __slots__ = ("_gaps",)

    def __init__(self) -> None:
        self._gaps: list[tuple[str, str]] = []  # replaced and not changed: another thread may be looking

    def outside(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of which it is not known that they are new."""
        for low, high in self._gaps:
            ids = [id for id in ids if not low < id < high]
            if not ids:
                break
        return ids

    def taken(self, ids: Sequence[str]) -> None:
        """Take note of ids that are there from now on."""
        used, others = [], []
        for gap in self._gaps:
            low, high = gap
            inside = [id for id in ids if low < id < high] if ids else ()
            if inside:
                used.append((max(inside), high))
                ids = [id for id in ids if not low < id < high] if len(inside) < len(ids) else ()
            else:
                others.append(gap)
        self._gaps = used + others

    def open(self, low: str, high: str = LAST) -> None:
        """Take note that no id lies between two."""
        apart = [gap for gap in self._gaps if gap[1] <= low or high <= gap[0]]  # a rollback lets others begin inside
        self._gaps = [(low, high), *apart[: KEPT - 1]]
