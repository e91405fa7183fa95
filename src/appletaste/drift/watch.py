"""A watch over a live stream: it reads items and labels as they arrive, and says when they have changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._checks import number, whole
from ..decision import Decision, Observation
from ..errors import InputError
from .alarms import Alarm, feature_alarm, label_alarm
from .page_hinkley import PageHinkley
from .stability import SHIFT, Bins, Values, clumping, compare, indices

Item = Mapping[str, Any] | Sequence[float] | NDArray[np.float64]


class Watch:
    """Raise an alarm when labels are not what the model expects, or when a feature is not distributed as it was.

    Labels are tested one by one (``PageHinkley``), in the order in which they come. Items are compared by the window
    with the first ``reference`` of them (``psi``), feature by feature: an alarm if the index is both above
    ``least_index`` and above what chance alone gives once in ``items_per_false_alarm`` items, all features together.
    A change that lasts is told once. What is seen again after a pause no longer than it took to be seen is taken to be
    the same; only ``until`` of its alarm moves on.

    Parameters
    ----------
    names
        What features are called, where items are vectors; those of records have names.
    shift, labels_per_false_alarm
        Of ``PageHinkley``.
    window, reference
        Items that are compared at a time, and those they are compared with (as many, if not given).
    items_per_false_alarm
        How many items there are on average before a feature raises a false alarm. Items that come in clumps, a customer
        twenty times in a row, count as one: by how much is told from the reference (``stability.clumping``).
    least_index
        Index below which a change is not worth an alarm, however sure.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> watch = Watch(names=["amount"], window=500)
    >>> for t in range(2000):
    ...     for alarm in watch.item([rng.normal(0.0 if t < 1200 else 2.0)]):
    ...         print(alarm.item, alarm.feature, alarm.since)
    1500 amount 1001
    >>> watch.alarms[0].until
    2000
    """

    def __init__(
        self,
        names: Sequence[str] | None = None,
        *,
        shift: float = 0.5,
        labels_per_false_alarm: float = 20_000,
        window: int = 1000,
        reference: int | None = None,
        items_per_false_alarm: float = 100_000,
        least_index: float = SHIFT,
        bins: int = 10,
    ) -> None:
        self.names = None if names is None else list(names)
        self.test = PageHinkley(shift, labels_per_false_alarm)
        self.window, self.bins = whole("window", window, least=20), whole("bins", bins, least=2, most=1000)
        self.reference = whole("reference", window if reference is None else reference, least=20)
        self.items_per_false_alarm = number("items_per_false_alarm", items_per_false_alarm, least=1.0)
        self.least_index = number("least_index", least_index, least=0.0)
        self.items = 0  #: seen so far
        self.alarms: list[Alarm] = []  #: raised so far
        self._rows: list[Any] = []
        self._known: dict[str, tuple[Bins, NDArray[np.float64]]] | None = None
        self._clumps: dict[str, float] = {}
        self._latest: dict[str | int, int] = {}  # by feature or sign: the place of its last alarm

    def item(self, x: Item, time: Any = None) -> list[Alarm]:
        """Note an item (a vector or a record), whatever was decided; return the alarms that it raises."""
        self.items += 1
        self._rows.append(x)
        if len(self._rows) < (self.reference if self._known is None else self.window):
            return []
        return self.close(time)

    def close(self, time: Any = None) -> list[Alarm]:
        """Compare the items since the last window now, however few; return the alarms."""
        if not self._rows:
            return []
        first = self.items - len(self._rows) + 1
        if self._known is None:
            self.refer_to(self._rows)
            self._rows = []
            return []
        columns = self._columns(self._rows)
        if columns.keys() != self._known.keys():
            raise InputError(f"the reference has {len(self._known)} features and these items have {len(columns)}")
        self._rows = []
        counts = [self._known[name][0].count(values) for name, values in columns.items()]
        return self.counted(counts, self.items - first + 1, time)

    @property
    def known_bins(self) -> list[Bins]:
        """Where the values of each feature are counted, once there is a reference."""
        return [] if self._known is None else [bins_ for bins_, _ in self._known.values()]

    def may_alarm(self, counts: Sequence[NDArray[np.float64]]) -> NDArray[np.bool_]:
        """Return which of many windows can raise an alarm: an index is above the least. Counts are [window, bin]."""
        known = () if self._known is None else self._known.values()
        found = [
            indices(before, now) > (1.0 - 1e-9) * self.least_index
            for (_, before), now in zip(known, counts, strict=True)
        ]
        return np.asarray(np.any(found, axis=0))

    def counted(self, counts: Sequence[NDArray[np.float64]], items: int, time: Any = None) -> list[Alarm]:
        """Compare a window of so many items, the last of those seen, by how many are in each bin of each feature."""
        if self._known is None:
            raise InputError("there is nothing to compare with yet: refer_to(items) first")
        raised, first = [], self.items - items + 1
        share = items / (self.items_per_false_alarm * len(self._known))
        for (name, (bins_, before)), now in zip(self._known.items(), counts, strict=True):
            found = compare(bins_, before, now, self._clumps[name])
            threshold = max(self.least_index, found.critical(min(share, 0.5)))
            if found.value > threshold:
                alarm = feature_alarm(name, found, threshold, self.items, first, time)
                raised += self._tell(name, alarm)
        return sorted(raised, key=lambda alarm: -alarm.statistic)

    def _tell(self, key: str | int, alarm: Alarm) -> list[Alarm]:
        """Return the alarm if it is news; otherwise the one before goes on."""
        which = self._latest.get(key)
        quiet = math.inf if which is None else alarm.since - self.alarms[which].until - 1
        if which is not None and quiet <= alarm.item - alarm.since + 1:
            self.alarms[which] = replace(self.alarms[which], until=alarm.item)
            return []
        self._latest[key] = len(self.alarms)
        self.alarms.append(alarm)
        return [alarm]

    def label(self, decision: Decision, label: int, chance: float | None = None, time: Any = None) -> list[Alarm]:
        """Note the label of an acted-on item and the chance the item had when it was decided; return the alarms.

        The chance is the decision's own unless one is given.
        """
        value = Observation.of(decision, label).label
        chance = decision.chance if chance is None else chance
        if math.isnan(chance):
            raise InputError(
                "this decision does not say what chance the model gave the item: give label(..., chance=p) with "
                "p = policy.chance(x) from before the decision, or decide through a Desk or a Ledger, which note it"
            )
        return self.residual(value, chance, time)

    def residual(self, label: int, chance: float, time: Any = None) -> list[Alarm]:
        """Note a label and the chance that its item had; return the alarms."""
        sign = self.test.update(label, chance, self.items)
        if not sign:
            return []
        alarm = label_alarm(sign, self.test.statistic, self.test.threshold, self.items, self.test.start, time)
        return self._tell(sign, alarm)

    def refer_to(self, items: Sequence[Item]) -> None:
        """Compare with these items from now on, such as those of last month; they are not counted."""
        if not len(items):
            raise InputError("a reference needs items, got none")
        columns = self._columns(items)
        bins = {name: Bins.of(values, self.bins) for name, values in columns.items()}
        self._known = {name: (bins[name], bins[name].count(values)) for name, values in columns.items()}
        self._clumps = {name: clumping(bins[name], values) for name, values in columns.items()}

    def _columns(self, rows: Sequence[Item]) -> dict[str, Values]:
        """Return items by feature."""
        if isinstance(rows[0], Mapping):
            names = list(rows[0]) if self._known is None else list(self._known)
            return {name: [row.get(name) for row in cast(Sequence[Mapping[str, Any]], rows)] for name in names}
        try:
            table = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
        except (TypeError, ValueError):
            raise InputError("items must be records, or vectors of numbers that all have the same length") from None
        names = self.names or [f"feature {j}" for j in range(1, table.shape[1] + 1)]  # as in explanations
        if len(names) != table.shape[1]:
            raise InputError(f"items have {table.shape[1]} features and {len(names)} names were given")
        return {name: table[:, j] for j, name in enumerate(names)}
