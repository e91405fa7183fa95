"""A replay under other costs: half, once and twice what an outcome costs, and what does not change thereby."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from .._checks import number
from ..costs import OUTCOMES, Costs
from ..costs_by_item import CostsByItem
from ..errors import AppleTasteError, CostsError, Message, OptionError
from ..history.labelled import is_matrix
from ..pages.page import Table, show
from ..simulate.measures import Summary
from ..tables import read_records
from ..tables.dialect import WRITTEN
from .comparators import COMPARATORS
from .comparison import replay
from .result import ReplayResult
from .verdict import advice_for, said_of

#: Half, once and twice.
FACTORS = (0.5, 1.0, 2.0)
#: Shares that differ by less than this part of the larger are said not to change.
ALIKE = 0.1
#: Settings of a replay that are about reading its table.
READING = ("positive", "missing", "numbers", "categories", *WRITTEN)


@dataclass(frozen=True)
class Sweep:
    """Replays of one table that differ in one cost, by the factor on that cost; ``print`` it for the table."""

    outcome: str
    results: dict[float, ReplayResult]

    def __getitem__(self, factor: float) -> ReplayResult:
        return self.results[factor]

    def table(self) -> Table:
        """Return one row for each policy, and for each factor its cost, its share of acts and its recall."""
        names = list(self._first)
        header = ["policy"]
        for factor in self.results:
            header += [f"x{factor:g}: cost/1000", "acted", "recall"]
        rows = []
        for name in names:
            cells = [name]
            for result in self.results.values():
                one = result[name]
                cells += [show(one.cost_per_1000.mean, 1), show(one.act_rate, 3), show(one.recall, 3)]
            rows.append(tuple(cells))
        return Table(f"{self._first.title}; {self.outcome} times the factor", tuple(header), rows)

    @property
    def verdicts(self) -> list[Message]:
        """What to read before the table: at which factors never or always acting costs no more, and what to try."""
        said = {factor: said_of(result) for factor, result in self.results.items()}
        lines = [Message(f"{self.outcome} x{factor:g}: {told}") for factor, told in said.items() if told is not None]
        tries = [advice_for(result) for result in self.results.values()]
        return [*lines, *dict.fromkeys(advice for advice in tries if advice is not None)]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the replay under the costs nearest to those given has to say."""
        return self.results[min(self.results, key=lambda factor: abs(factor - 1.0))].notes

    @property
    def _first(self) -> ReplayResult:
        return next(iter(self.results.values()))

    @property
    def findings(self) -> list[str]:
        """Sentences on what does not change with the cost, and what does."""
        return [*self._ranking(), *(told for name in self._policies() for told in self._shares(name))]

    def _policies(self) -> list[str]:
        return [name for name in self._first if self._first[name].entry.name not in COMPARATORS]

    def _ranking(self) -> list[str]:
        """Say whether the policies, never and always keep their order by cost."""
        names = [*self._policies(), "never", "always"]
        orders = {
            factor: sorted(names, key=lambda name: result[name].cost_per_1000.mean)
            for factor, result in self.results.items()
        }
        first = next(iter(orders.values()))
        if all(order == first for order in orders.values()):
            return [f"the order of the policies by cost does not change: {', '.join(first)}"]
        told = "; ".join(f"x{factor:g}: {', '.join(order)}" for factor, order in orders.items())
        best = {order[0] for order in orders.values()}
        same = f"{first[0]} is the cheapest at every factor" if len(best) == 1 else "which one is the cheapest does too"
        close = [
            f"{one} and {other} at x{factor:g}"
            for factor, order in orders.items()
            for one, other in pairwise(order)
            if _close(self.results[factor].saved(one, other))
        ]
        noise = [f"within two standard errors of one another: {', '.join(close)}"] if close else []
        return [f"the order of the policies by cost changes, the cheapest first ({told}); {same}", *noise]

    def _shares(self, name: str) -> list[str]:
        """Say whether a policy acts on as many items, and catches as many positives."""
        found = []
        for what, values in (
            ("the share of items acted on", [result[name].act_rate for result in self.results.values()]),
            ("recall", [result[name].recall for result in self.results.values()]),
        ):
            span = f"from {values[0]:.3f} to {values[-1]:.3f}"
            low, high = min(values), max(values)
            same = high - low <= ALIKE * high
            kept = f"hardly changes ({low:.3f} to {high:.3f})"
            found.append(f"{name}: {what} {kept if same else f'changes, {span}'}")
        return found

    def __str__(self) -> str:
        return "\n".join(
            [*self.verdicts, self.table().text(), *(f"note: {told}" for told in (*self.findings, *self.notes))]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        plays = [
            {"factor": factor, "policies": list(result.as_dict().values())} for factor, result in self.results.items()
        ]
        said = {"verdicts": list(self.verdicts), "findings": self.findings, "notes": list(self.notes)}
        return {"outcome": self.outcome, "plays": plays, **said}


def sweep(
    source: Any,
    label: Any = None,
    *,
    costs: Costs | CostsByItem | Mapping[str, Any],
    outcome: str = "miss",
    factors: Sequence[float] = FACTORS,
    played: Callable[[float], None] | None = None,
    **settings: Any,
) -> Sweep:
    """Replay a table with one of its costs multiplied by each factor; all else, items and seeds included, is the same.

    ``settings`` are those of ``replay``; ``played`` is called with each factor once it is done.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=400)
    >>> found = sweep({"x": x, "bad": (x > 0.5).astype(int)}, "bad", costs=Costs(5, 2, 0), shuffles=1)
    >>> [round(result["always"].cost_per_1000.mean) for result in found.results.values()]
    [1475, 1475, 1475]
    """
    if outcome not in OUTCOMES:
        raise OptionError(f"a sweep is over one of {', '.join(OUTCOMES)}; got {outcome!r}")
    if not factors:
        raise OptionError("a sweep needs factors, such as 0.5, 1 and 2")
    if settings.get("log") is not None:
        raise OptionError("a sweep keeps no decision log: replay the table once with the costs that you choose")
    sheet = CostsByItem.of(costs)
    wanted = sorted({number("a factor", factor, above=0.0) for factor in factors})
    sheets = {factor: _scaled(sheet, outcome, factor) for factor in wanted}
    if not is_matrix(source) and label is not None:
        reading = {name: settings.pop(name) for name in READING if name in settings}
        source = read_records(source, label=label, **reading)  # once
        label = None
    results = {}
    for factor, one in sheets.items():
        try:
            results[factor] = replay(source, label, costs=one, **settings)
        except CostsError as error:
            raise _at(factor, outcome, error) from None
        if played is not None:
            played(factor)
    return Sweep(outcome, results)


def _close(saved: Summary) -> bool:
    """Return whether two costs are closer than chance makes them; False where there was one pass alone."""
    return bool(saved.se > 0.0 and abs(saved.mean) <= 2.0 * saved.se)


def _scaled(sheet: Costs | CostsByItem, outcome: str, factor: float) -> Costs | CostsByItem:
    """Return costs with one outcome's cost multiplied."""
    if isinstance(sheet, CostsByItem):
        return sheet.scaled(outcome, factor)
    try:
        return replace(sheet, **{outcome: factor * getattr(sheet, outcome)})
    except CostsError as error:
        raise _at(factor, outcome, error) from None


def _at(factor: float, outcome: str, error: AppleTasteError) -> CostsError:
    return CostsError(f"{outcome} times {factor:g}: {error}. Leave out this factor, or begin from other costs")
