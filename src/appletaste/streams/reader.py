"""An item at the door of a stream: a vector or a record, and what columns say of its id, time, stratum and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._checks import check_text
from ..costs import Costs, SomeCosts
from ..costs_by_item import CostsByItem
from ..decision import new_tuple
from ..errors import InputError
from ..features import FeatureMap
from ..features.feature_map import Cells
from ..history.clock_column import UNITS
from ..kernels.linear import first_unusable
from ..policies.items import check_costs, check_item
from ..records.codec import as_kept
from ..tables.values import as_level, as_number

LONGEST = 256
#: The roles that a column can have besides being a feature, as the settings of a stream name them.
ID, TIME, UNIT, STRATUM, LABEL, POSITIVE, NEGATIVE = (
    "id",
    "time",
    "time_unit",
    "stratum",
    "label",
    "positive",
    "negative",
)
#: An item, its id, time, stratum, costs and baseline, as ``Stream.decide`` takes them.
ItemRow = tuple[Any, str | None, Any, str | None, SomeCosts | None, bool | None]


class Asked(NamedTuple):
    """An item that was read: what is to be decided, and by what name."""

    id: str | None
    x: NDArray[np.float64] | None  #: None: the map changes, and makes the vector when it is the turn of the item
    record: dict[str, Any] | None
    time: Any
    stratum: str | None
    costs: Costs | None  #: None: the usual ones
    baseline: bool | None  #: the caller's own action
    cells: Cells | None = None  #: of a record whose vector is still to be made


class Reader:
    """Reads items for one stream: by its map, its roles and its formulas of costs."""

    def __init__(
        self,
        features: FeatureMap | None,
        roles: Mapping[str, str],
        sheet: CostsByItem | None,
        n_features: int,
        slots: Sequence[int] = (),
    ) -> None:
        self.features, self.sheet, self._width, self._slots = features, sheet, n_features, slots
        self.roles = dict(roles)
        fields = frozenset(() if features is None else features.fields)
        prices = () if sheet is None else sheet.columns
        own = [roles[role] for role in (ID, TIME, STRATUM, LABEL) if role in roles]
        #: Columns that a record may have, and that are no features.
        self._aside = frozenset(name for name in (*own, *prices) if name not in fields)
        self._clock = roles[TIME] if roles.get(TIME) in fields else None
        self._unit = UNITS[roles[UNIT]] if UNIT in roles else None
        self._changes = features is not None and features.changes

    def read_each(self, rows: Sequence[ItemRow], usual: Costs) -> list[Asked | Exception]:
        """Return items as they are decided, and an error, of whatever kind, in the place of one that cannot be."""
        asked: list[Asked | Exception] = []
        for row, x in zip(rows, self._vectors([row[0] for row in rows]), strict=True):
            item, id, time, stratum, costs, baseline = row
            try:
                asked.append(self.read(x, id, time, stratum, costs, baseline, usual, x is not item))
            except Exception as error:
                asked.append(error)
        return asked

    def _vectors(self, items: list[Any]) -> Sequence[Any]:
        """Return items that are all lists of numbers as vectors that are checked, in one pass; others as they are."""
        if not self._slots and all(type(item) is list and len(item) == self._width for item in items):
            with suppress(TypeError, ValueError, OverflowError):
                table = np.array(items)
                if table.dtype == np.float64 and table.ndim == 2 and first_unusable(table.reshape(-1)) < 0:
                    return list(table)
        return items

    def read(
        self,
        item: Any,
        id: str | None,
        time: Any,
        stratum: str | None,
        costs: SomeCosts | None,
        baseline: bool | None,
        usual: Costs,
        checked: bool = False,
    ) -> Asked:
        """Return an item as it is decided; columns with a role say what was not said.

        ``checked``: it is a vector that can be decided on as it is.
        """
        if type(item) is not list and isinstance(item, Mapping):  # asking an abstract type takes a while
            return self._record(item, id, time, stratum, costs, usual)._replace(baseline=baseline)
        if self.sheet is not None and costs is None:
            raise InputError("the costs of this stream are formulas over columns: give a record, or costs=")
        sheet = None if costs is None else check_costs(costs, usual)
        stratum = None if stratum is None else check_stratum(stratum)
        x = item if checked else check_item(item, self._width, self._slots)
        return new_tuple(Asked, (check_id(id), x, None, time, stratum, sheet, baseline, None))

    def _record(
        self, item: Mapping[str, Any], id: str | None, time: Any, stratum: str | None, costs: Any, usual: Costs
    ) -> Asked:
        features, roles = self.features, self.roles
        if features is None:
            raise InputError(
                f"this stream has no map from columns to features: give {self._width} numbers, or create it "
                "with features="
            )
        record = dict(item)
        try:
            if id is None and roles.get(ID) in record:
                id = as_level(record[roles[ID]], ())
            if time is None and roles.get(TIME) in record:
                time = self._time(record[roles[TIME]])
            if stratum is None and roles.get(STRATUM) in record:
                stratum = as_level(record[roles[STRATUM]], ()) or "missing"
        except ValueError as error:
            raise InputError(f"the id, the time and the stratum are texts or numbers, got {error}") from None
        if self._clock is not None and self._clock not in record:
            record[self._clock] = time
        if costs is None and self.sheet is not None:
            costs = self.sheet.of_item(record)
        sheet = None if costs is None else check_costs(costs, usual)
        if self._changes:
            record = as_kept(record)  # as it will be read when the record is folded
        cells = features.read_cells({name: value for name, value in record.items() if name not in self._aside})
        x = None if self._changes else check_item(features.vector(cells, update=False), self._width, self._slots)
        return Asked(check_id(id), x, record, time, check_stratum(stratum), sheet, None, cells)

    def _time(self, told: Any) -> Any:
        """Return the time that a column has; where the stream knows the unit of its numbers, in seconds."""
        return told if self._unit is None or isinstance(told, str) else as_number(told, ()) * self._unit

    def own(self, record: Mapping[str, Any]) -> Cells:
        """Return the cells of a record that was decided, as the map reads them."""
        assert self.features is not None  # or there would be no record
        return self.features.read_cells({name: value for name, value in record.items() if name not in self._aside})


def check_id(id: str | None) -> str | None:
    """Return an id, or say what is wrong with it; None: the stream makes one."""
    if id is None:
        return None
    if not (isinstance(id, str) and 0 < len(id) <= LONGEST):
        raise InputError(f"an id is a text of 1 to {LONGEST} characters such as 'case-17'")
    if not id.isascii() or "\0" in id:
        check_text("an id", id)
    return id


def check_stratum(stratum: str | None) -> str | None:
    """Return a stratum, or say what is wrong with it."""
    if stratum is None:
        return None
    if not (isinstance(stratum, str) and len(stratum) <= LONGEST):
        raise InputError(f"a stratum is a text such as 'new customers', of at most {LONGEST} characters")
    return check_text("a stratum", stratum)
