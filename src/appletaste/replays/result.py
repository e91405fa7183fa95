"""What a replay found: one ``PolicyReplay`` for each policy, in a ``ReplayResult`` that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..errors import Message, OptionError
from ..history.labelled import BLOCKS, edges
from ..logs import DecisionLog
from ..pages.page import Table, html_part, show
from ..policies import PolicySpec
from ..simulate.measures import Summary, summarise
from .comparators import BOOSTER, TODAY
from .passes import Plan
from .tally import POINTS, Tally
from .verdict import standing_of, verdict_on

#: Comparators that are not played item by item.
UNTAUGHT = ("never", "always", TODAY, "oracle")
#: What savings are told against, where it was played.
AGAINST = ("never", "always", TODAY)


@dataclass(frozen=True)
class PolicyReplay:
    """One policy over all passes; arrays have one row for each pass."""

    entry: PolicySpec
    tallies: tuple[Tally, ...]

    @property
    def items(self) -> int:
        """Items in one pass."""
        return self.tallies[0].items

    @property
    def costs_per_1000(self) -> NDArray[np.float64]:
        """Cost per 1,000 items, one number for each pass."""
        return np.array([1000.0 * one.cost / one.items for one in self.tallies])

    @property
    def cost_per_1000(self) -> Summary:
        """Cost per 1,000 items: mean, and standard error over passes (NaN for a single one)."""
        return summarise(self.costs_per_1000)

    @property
    def labels(self) -> float:
        """Labels bought in one pass, on average."""
        return float(np.mean([one.labels for one in self.tallies]))

    @property
    def act_rate(self) -> float:
        """The share of items that were acted on."""
        return float(np.mean([one.acts / one.items for one in self.tallies]))

    @property
    def precision(self) -> float:
        """The share of acts on positives; NaN without an act."""
        return summarise([one.precision for one in self.tallies]).mean

    @property
    def recall(self) -> float:
        """The share of positives that were acted on."""
        return summarise([one.recall for one in self.tallies]).mean

    @property
    def money_recall(self) -> float:
        """The share of what all positives would have cost if missed that belongs to those acted on."""
        return summarise([one.money_recall for one in self.tallies]).mean

    @property
    def items_per_second(self) -> float:
        """Items encoded, decided and learnt in a second by one process."""
        return len(self.tallies) * self.items / max(1e-9, sum(one.seconds for one in self.tallies))

    @property
    def curves(self) -> NDArray[np.float64]:
        """Cost so far at each of ``ReplayResult.points``, one row for each pass."""
        return np.stack([one.curve for one in self.tallies])

    def blocks(self) -> list[dict[str, float]]:
        """Return the tenths of the stream: base rate, act rate and cost per 1,000 items, averaged over passes."""
        names = ("block_positives", "block_acts", "block_costs")
        means = [np.mean([getattr(one, name) for one in self.tallies], axis=0).tolist() for name in names]
        starts = edges(self.items, BLOCKS).tolist()
        return [
            {"first": first + 1, "last": last, "base_rate": base, "act_rate": acted, "cost_per_1000": cost}
            for first, last, base, acted, cost in zip(starts, starts[1:], *means, strict=False)
        ]


@dataclass(frozen=True)
class ReplayResult:
    """Every policy of a replay, by name; ``print`` it for the table.

    ``result["voi"].cost_per_1000.mean`` is one number of it, ``result.as_dict()`` is all of it as JSON has it, and
    ``result.save(folder)`` writes tables and pictures.
    """

    plan: Plan
    policies: dict[str, PolicyReplay]
    notes: tuple[str, ...] = ()
    log: DecisionLog | None = None  #: of the first pass of the policy that ``replay(..., log=name)`` names

    def __getitem__(self, name: str) -> PolicyReplay:
        if name not in self.policies:
            raise OptionError(f"{name!r} was not played; there are {', '.join(self.policies)}")
        return self.policies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.policies)

    @property
    def passes(self) -> int:
        """How often the stream was played by each policy."""
        return len(next(iter(self.policies.values())).tallies)

    @property
    def points(self) -> NDArray[np.int64]:
        """After how many items the curves are taken."""
        return edges(len(self.plan.stream), POINTS)[1:]

    @property
    def title(self) -> str:
        """One line on what was played."""
        plan = self.plan
        how = (
            f"{self.passes} shuffle{'s' * (self.passes != 1)}"
            if plan.shuffled
            else "in the order of " + ("time" if plan.timed else "the file")
        )
        late = ""
        if plan.stream.told_by is not None:
            late = f", labels as late as {plan.stream.told_by!r} says"
        elif plan.delay.scale > 0:
            late = f", labels late ({plan.delay.law} {plan.delay.scale:g} {plan.stream.counted_in})"
        positives = float(plan.stream.labels.mean())
        return f"{len(plan.stream)} items, {100 * positives:.1f} % positive, {how}, seed {plan.seed}{late}"

    def saved(self, name: str, against: str) -> Summary:
        """Return what a policy saves against another per 1,000 items, paired over passes."""
        return summarise(self[against].costs_per_1000 - self[name].costs_per_1000)

    @cached_property
    def verdict(self) -> Message | None:
        """What to read before the table: that never or always acting costs no more than a policy; None: neither does.

        A difference within two standard errors is called a draw.
        """
        return verdict_on(self)

    def table(self) -> Table:
        """Return the table of all policies; where items have costs of their own, recall is also in money."""
        by_item = self.plan.stream.costs is not None
        rows = [
            (
                label,
                show(one.cost_per_1000.mean, 1),
                show(one.cost_per_1000.se, 1),
                *(show(self.saved(label, other).mean, 1) for other in self.against),
                show(one.precision, 3),
                show(one.recall, 3),
                *([show(one.money_recall, 3)] if by_item else []),
                show(one.labels, 0),
                show(one.act_rate, 3),
                show(one.items_per_second, 0) if one.entry.name not in UNTAUGHT else "-",
            )
            for label, one in self.policies.items()
        ]
        shown = ["policy", "cost/1000", "s.e.", *(f"vs {other}" for other in self.against), "precision", "recall"]
        return Table(self.title, (*shown, *(["in money"] if by_item else []), "labels", "acted", "items/s"), rows)

    @property
    def against(self) -> list[str]:
        """What savings are told against."""
        return [name for name in AGAINST if name in self.policies]

    def block_table(self) -> Table:
        """Return the drift table: the tenths of the stream, one row each."""
        learners = [label for label, one in self.policies.items() if one.entry.name not in (*UNTAUGHT, BOOSTER)]
        header = ("items", "base rate", *(f"{label}: {what}" for label in learners for what in ("acted", "cost/1000")))
        rows = []
        for parts in zip(*(self[label].blocks() for label in learners), strict=True):
            place = f"{parts[0]['first']:.0f}-{parts[0]['last']:.0f}"
            cells = [text for part in parts for text in (f"{part['act_rate']:.3f}", f"{part['cost_per_1000']:.1f}")]
            rows.append((place, f"{parts[0]['base_rate']:.3f}", *cells))
        return Table("by tenths of the stream", header, rows)

    def __str__(self) -> str:
        first = [] if self.verdict is None else [self.verdict]
        return "\n".join([*first, self.table().text(), *(f"note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        """Return what ``print`` says, for a notebook."""
        first = [] if self.verdict is None else [str(self.verdict)]
        return html_part([*first, self.table(), *(f"note: {note}" for note in self.notes)])

    def __repr__(self) -> str:
        first = "" if self.verdict is None else f"{self.verdict}; "
        return f"<ReplayResult: {first}{self.title}; {', '.join(self.policies)}>"

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """Return one object for each policy, by name, for JSON; numbers that do not exist are None."""
        found: dict[str, dict[str, Any]] = for_json({label: self._found(label) for label in self})
        return found

    def _found(self, label: str) -> dict[str, Any]:
        one, standing = self[label], standing_of(self, label)
        return {
            "policy": one.entry.name,
            "items": one.items,
            "labels": one.labels,
            "cost_per_1000": {"mean": one.cost_per_1000.mean, "se": one.cost_per_1000.se},
            "precision": one.precision,
            "recall": one.recall,
            "act_rate": one.act_rate,
            "items_per_second": one.items_per_second,
            "options": one.entry.options,
            "passes": self.passes,
            "order": "shuffled" if self.plan.shuffled else "as is",
            "saved_per_1000": {name: self.saved(label, name).mean for name in self.against},
            "labels_learnt": np.mean([tally.learnt for tally in one.tallies]),
            "money_recall": one.money_recall,
            "blocks": one.blocks(),
            "against_constant": None if standing is None else {**standing._asdict(), "verdict": standing.verdict},
        }

    def save(self, folder: str | PathLike[str], pictures: bool = True) -> None:
        """Write the tables as CSV, everything as JSON, and (extra ``plot``) the pictures into a folder."""
        from .folder import write_folder

        write_folder(self, Path(folder), pictures)
