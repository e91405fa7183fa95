"""What each outcome costs, item by item: formulas over columns, and the columns of costs that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checks import is_finite
from .costs import LARGEST, OUTCOMES, Costs, outcomes_in
from .errors import CostsError, Message, Remedy
from .formulas import Formula, quoted

Floats = NDArray[np.float64]
#: Outcomes that cost something or nothing: a negative value is a fault of the column. A hit or a correct pass may earn.
NEVER_GAINS = ("miss", "false_alarm")


@dataclass(frozen=True)
class CostsByItem:
    """What a miss, a false alarm, a hit and a correct pass of each item cost: numbers, or formulas over its columns.

    Formulas have numbers, columns, ``+ - * /``, brackets, ``min()``, ``max()`` and ``abs()``; a column whose name is
    not one word stands in quotes or backticks.

    Examples
    --------
    >>> sheet = CostsByItem(miss="amount*0.9 + 15", false_alarm=6, hit=4)
    >>> sheet.of_item({"amount": 100.0, "country": "GB"})
    Costs(miss=105.0, false_alarm=6.0, hit=4.0, correct_pass=0.0)
    >>> sheet.of_table({"amount": [100.0, 20.0]}).miss
    array([105.,  33.])
    """

    miss: float | str
    false_alarm: float | str
    hit: float | str
    correct_pass: float | str = 0.0
    formulas: dict[str, Formula] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        formulas = {}
        for name in OUTCOMES:
            value = getattr(self, name)
            if not isinstance(value, str) and not is_finite(value):
                raise CostsError(f"{name} must be a number or a formula such as 'amount*0.9+15', got {value!r}")
            try:
                formulas[name] = Formula(value if isinstance(value, str) else _written(value))
            except CostsError as error:
                raise CostsError(f"{name}: {error}") from None
        object.__setattr__(self, "formulas", formulas)

    @classmethod
    def of(cls, given: Costs | CostsByItem | Mapping[str, Any]) -> Costs | CostsByItem:
        """Return costs as they are; a mapping of outcomes becomes formulas where a column is named, else ``Costs``.

        Examples
        --------
        >>> CostsByItem.of({"miss": "3*5", "false_alarm": 1, "hit": 0})
        Costs(miss=15.0, false_alarm=1.0, hit=0.0, correct_pass=0.0)
        """
        if isinstance(given, CostsByItem | Costs):
            return given
        sheet = cls(**outcomes_in(given))
        return sheet if sheet.columns else Costs(**{name: float(one({})) for name, one in sheet.formulas.items()})

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that formulas name."""
        return tuple(dict.fromkeys(name for formula in self.formulas.values() for name in formula.columns))

    def outcomes(self) -> dict[str, float | str]:
        """Return the four numbers or formulas that were given, by name."""
        return {name: getattr(self, name) for name in OUTCOMES}

    def scaled(self, outcome: str, factor: float) -> CostsByItem:
        """Return the same formulas with one outcome's cost multiplied."""
        return CostsByItem(**{**self.outcomes(), outcome: f"{_written(factor)}*({self.formulas[outcome].text})"})

    def of_item(self, record: Mapping[str, Any]) -> Costs:
        """Return the costs of one item, from a record with the columns that formulas name.

        Numbers may be texts, as a CSV file has them.

        Examples
        --------
        >>> CostsByItem.of({"miss": "amount*0.9", "false_alarm": 6, "hit": 4}).of_item({"amount": "100"}).miss
        90.0
        """
        self.check_columns(record, "the record")
        columns = {name: np.array([_number(name, record[name])]) for name in self.columns}
        return self.of_table(columns, lambda _: "the record").each()[0]

    def of_table(
        self,
        columns: Mapping[str, Any],
        where: Callable[[int], str] = "row {}".format,
        size: int | None = None,
        source: str = "the table",
    ) -> CostColumns:
        """Return the costs of every row; what is missing, infinite or below 0 is refused with its row."""
        self.check_columns(columns, source)
        numbers = {name: _numbers(name, columns[name]) for name in self.columns}
        if size is None:
            size = len(next(iter(numbers.values()))) if numbers else 1
        found = {
            name: np.array(np.broadcast_to(np.asarray(formula(numbers), dtype=np.float64), size))
            for name, formula in self.formulas.items()
        }
        for name, values in found.items():
            self._check(name, values, numbers, where)
        table = CostColumns(**found, sheet=self)
        swapped = np.flatnonzero((table.alarm_price < 0) & (table.catch_gain < 0))
        if len(swapped):
            raise CostsError(
                f"{where(int(swapped[0]))}: acting pays only on negatives there, because a hit costs more than a miss "
                "and a false alarm less than a correct pass; are the labels swapped?"
            )
        return table

    def check_columns(self, there: Mapping[str, Any], source: str) -> None:
        """Refuse a column that is not there, and point at the column in its formula."""
        for name, formula in self.formulas.items():
            try:
                formula.check_columns(there, source)
            except CostsError as error:
                raise CostsError(f"{name}: {error}") from None

    def _check(self, name: str, values: Floats, numbers: Mapping[str, Floats], where: Callable[[int], str]) -> None:
        """Refuse a cost that is no number, or is below 0 and must not be."""
        bad = np.flatnonzero(~(np.abs(values) < LARGEST))
        formula = self.formulas[name]
        if len(bad):
            row, all_ = int(bad[0]), len(bad)
            at = ", ".join(f"{quoted(column)} is {_shown(numbers[column][row])}" for column in formula.columns)
            rest = f", as in {all_} of {len(values)} rows" if all_ > 1 else ""
            remedy = "Give the value that is missing, leave out the row, or write a formula that has a value there"
            if np.isfinite(values[row]):
                remedy = f"A cost is below {LARGEST:g} in size"
            told = f"{where(row)}: {name} = {formula.text} is {_shown(values[row])}, because {at}{rest}"
            raise CostsError(f"{told}. {remedy}")
        below = np.flatnonzero(values < 0.0)
        if len(below) and name in NEVER_GAINS:
            row, all_ = int(below[0]), len(below)
            rest = f", and {all_} of {len(values)} rows have such a cost" if all_ > 1 else ""
            raise CostsError(
                f"{where(row)}: {name} = {formula.text} is {values[row]:g}, and a {name.replace('_', ' ')} cannot cost "
                f"less than nothing{rest}. Leave out the row (a refund?), or write max({formula.text}, 0)"
            )


@dataclass(frozen=True, eq=False)
class CostColumns:
    """The costs of many items: one array for each outcome, by the same names as ``Costs`` has."""

    miss: Floats
    false_alarm: Floats
    hit: Floats
    correct_pass: Floats
    sheet: CostsByItem

    def __len__(self) -> int:
        return len(self.miss)

    def __getitem__(self, rows: Any) -> CostColumns:
        return CostColumns(**{name: getattr(self, name)[rows] for name in OUTCOMES}, sheet=self.sheet)

    @property
    def alarm_price(self) -> Floats:
        """What acting on each item costs more than passing it, if it is negative."""
        return np.asarray(self.false_alarm - self.correct_pass)

    @property
    def catch_gain(self) -> Floats:
        """What acting on each item saves against passing it, if it is positive."""
        return np.asarray(self.miss - self.hit)

    def each(self) -> list[Costs]:
        """Return the costs of each item."""
        return [Costs.of_item(*row) for row in zip(*(getattr(self, name).tolist() for name in OUTCOMES), strict=True)]

    def average(self) -> Costs:
        """Return the mean costs of the items about which there is something to decide, or refuse if there is none.

        It is the cost sheet of a policy whose every item brings its own: no decision depends on it.
        """
        weighed = (self.alarm_price > 0) & (self.catch_gain > 0)
        if not weighed.any():
            which = "acting never pays" if (self.catch_gain <= 0).any() else "passing never pays"
            told = (
                f"{which} on any of {len(self)} items: a hit must cost less than a miss, and a false alarm more than "
            )
            raise CostsError(Message(told, "a correct pass. Look again at ", Remedy("costs")))
        return Costs(**{name: float(getattr(self, name)[weighed].mean()) for name in OUTCOMES})

    def notes(self, where: Callable[[int], str]) -> list[str]:
        """Return sentences on the items about which there is nothing to decide."""
        found = []
        never = np.flatnonzero((self.catch_gain <= 0) & (self.alarm_price >= 0))
        always = np.flatnonzero((self.alarm_price <= 0) & (self.catch_gain > 0))
        for rows, what, why, names in (
            (never, "never", "a hit costs as much as a miss or more", ("miss", "hit")),
            (always, "always", "a false alarm costs no more than a correct pass", ("false_alarm", "correct_pass")),
        ):
            if len(rows):
                first = int(rows[0])
                shown = ", ".join(f"{name}={getattr(self, name)[first]:g}" for name in names)
                found.append(
                    f"acting {what} pays on {len(rows)} of {len(self)} items ({100 * len(rows) / len(self):.1f} %), "
                    f"where {why}; the first is {where(first)}: {shown}"
                )
        return found


def _written(value: Any) -> str:
    """Return a number as a formula has it."""
    return f"{float(value)!r}"


def _numbers(name: str, column: Any) -> Floats:
    """Return a column as numbers, or say that it has none."""
    values = np.asarray(column)
    if values.dtype.kind not in "biuf":
        first = next((value for value in values.tolist() if value is not None), None)
        told = f"column {name!r} holds texts such as {first!r}, and a cost needs numbers; if they are numbers, say so: "
        raise CostsError(Message(told, Remedy("numbers", [name])))
    return values.astype(np.float64)


def _shown(value: float) -> str:
    return "missing" if value != value else "infinite" if np.isinf(value) else f"{value:g}"


def _number(name: str, value: Any) -> float:
    """Return a value of a record as a number."""
    try:
        if isinstance(value, str | int | float | np.number) and not isinstance(value, bool) and "_" not in str(value):
            return float(value)  # Python reads 2024_05 as 202405
    except ValueError:
        pass
    raise CostsError(f"{name!r} is {value!r} in the record: a cost needs a number")
