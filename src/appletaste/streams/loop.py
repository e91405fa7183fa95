"""The loop of every rehearsal: decide on each item in turn, and take in each label when it arrives."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Protocol

from ..costs import Costs
from ..engines.pulse import tell
from .ledger import Ledger


class Items(Protocol):
    """Items that can be counted: rows of a matrix, dense or sparse."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


def rehearse(
    items: Items,
    decide: Callable[[int, Any], bool],
    arrive: Callable[[int], None],
    clock: Sequence[float] | None = None,
    arrivals: Sequence[float] | None = None,
    sees_all: bool = False,
) -> None:
    """Call ``decide(t, x)`` on each item in turn, and ``arrive(k)`` when the label of an item that was acted on does.

    Without ``arrivals`` a label arrives at once, before the next item. With them, label k arrives at ``arrivals[k]``
    on the ``clock`` of the items: before the first decision at or after that. Labels that arrive together are taken in
    the order of arrival, ties in the order of the items; those due after the last item never arrive. ``sees_all``: the
    labels of passed items arrive too, which no policy has; it is for comparison.
    """
    waiting: list[tuple[float, int]] = []
    of = len(items)
    with uncollected():
        for t, x in enumerate(items):
            tell(t, of)
            if clock is not None:
                while waiting and waiting[0][0] <= clock[t]:
                    arrive(heappop(waiting)[1])
            if not decide(t, x) and not sees_all:
                continue
            if arrivals is None:
                arrive(t)
            else:
                heappush(waiting, (arrivals[t], t))


@contextmanager
def uncollected() -> Iterator[None]:
    """Let the garbage collector rest: a record is no garbage, and walking through it again and again takes 10 %."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def play_through(
    ledger: Ledger,
    items: Items,
    labels: Sequence[int],
    *,
    costs: Costs | Sequence[Costs] | None = None,
    ids: Sequence[str] | None = None,
    times: Sequence[Any] | None = None,
    strata: Sequence[str] | None = None,
    clock: Sequence[float] | None = None,
    arrivals: Sequence[float] | None = None,
    label_times: Sequence[Any] | None = None,
) -> None:
    """Let a ledger meet every item in turn, as a live stream would (``rehearse``); a label is told only if it acted.

    ``costs`` are those of every item, or of each in turn; ``times`` and ``label_times`` are what the record says of
    items and labels.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("i", rounds=50).draw(at.Key(1))
    >>> ledger = at.streams.Ledger(at.policy("always", n_features=5, costs=table.costs))
    >>> play_through(ledger, table.items, table.labels.tolist(), clock=range(50), arrivals=range(10, 60))
    >>> ledger.counts()["observed"], ledger.counts()["pending"]
    (40, 10)
    """
    names: list[str] = []
    sheets = None if costs is None or isinstance(costs, Costs) else costs
    usual = costs if isinstance(costs, Costs) else None

    def decide(t: int, x: Any) -> bool:
        name = str(t + 1) if ids is None else ids[t]
        names.append(name)
        time, stratum = None if times is None else times[t], None if strata is None else strata[t]
        sheet = usual if sheets is None else sheets[t]
        return ledger.decide(x, id=name, time=time, costs=sheet, stratum=stratum).act

    def arrive(k: int) -> None:
        ledger.label(names[k], labels[k], time=None if label_times is None else label_times[k])

    rehearse(items, decide, arrive, clock, arrivals)
