"""Answers by group: what was missed and what another way would save, and who bears acts, audits and exploration.

Groups share no decision, and each action was drawn afresh, so the errors of their estimates are not correlated. With G
groups each interval has the level L^(1/G) (Šidák 1967); then all of a column hold together with the level L.

A group in which fewer than ten labels are to be expected, on items that might have been passed, can say nothing by
itself. Such groups stand together as one. That is known before any label, so pooling chooses no outcome.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..errors import InputError
from ..logs.decision_log import DecisionLog, Log, opened
from ..pages.page import Table
from ..records.codec import unpack_item
from ..streams import Audit, Budget, Stream
from ..streams.staffing import Share
from .alternatives import Change, OwnThreshold, thresholds_of
from .answers import Answer, Estimate, Refusal, brief, design_beside, per_cent
from .by_design import by_design
from .money_missed import money_missed
from .support import FLOOR, LEAST_EXPECTED, check_question, support_of
from .what_if import Ground, acting, answer_of, as_asked, ground_of, logged_cost

#: Values of a column: one for each decision, or by id.
Values = ArrayLike | Mapping[str, Any]
#: Groups that are shown by themselves at most, and distinct numbers beyond which numbers are cut into quarters.
MOST, QUARTERS_FROM = 20, 12
MISSING = "missing"
POOLED = "all others"


@dataclass(frozen=True)
class Group:
    """What a group of decisions bears, and what is answered of it."""

    name: str
    decisions: int
    acts: int  #: audits included
    audits: int
    explored: int  #: acts that are no audits, on items whose chance was below the threshold of their costs
    answers: dict[str, Answer]  #: by what was asked: ``missed``, ``recall``, ``money`` or ``saving``


@dataclass(frozen=True)
class ByGroup:
    """Answers for each group, the largest first; intervals of the same question hold together at the level."""

    groups: tuple[Group, ...]
    level: float
    pooled: tuple[str, ...] = ()  #: groups too small to speak for themselves, which stand together as one
    title: str = ""

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __getitem__(self, name: str) -> Group:
        for group in self.groups:
            if group.name == name:
                return group
        raise InputError(f"there is no group {name!r}; there are {', '.join(group.name for group in self.groups)}")

    def table(self) -> Table:
        """Return groups as rows: their shares in per cent, and the answers."""
        asked = list(self.groups[0].answers)
        rows = []
        for one in self.groups:
            passes = one.decisions - one.acts + one.audits
            shares = [per_cent(part / whole) if whole else "-" for part, whole in (
                (one.acts, one.decisions), (one.audits, passes), (one.explored, one.decisions))]  # fmt: skip
            rows.append([one.name, f"{one.decisions:,}", *shares, *(_short(one.answers[name]) for name in asked)])
        return Table(self.title, ["group", "decisions", "acted on", "audited of passes", "explored", *asked], rows)

    def notes(self) -> list[str]:
        """Return what to know of the table, in sentences."""
        told = [f"All intervals of a column hold together, {100 * self.level:.0f} times in 100."]
        if self.pooled:
            few = f"{len(self.pooled)} group{'' if len(self.pooled) == 1 else 's'}"
            shown = ", ".join(self.pooled[:5]) + (" and others" if len(self.pooled) > 5 else "")
            told.append(
                f"{few} ({shown}) stand together as {POOLED!r}: fewer than {LEAST_EXPECTED:.0f} labels are to be "
                f"expected in each on items that might have been passed, or there are more than {MOST} groups."
            )
        for one in self.groups:
            told += dict.fromkeys(f"{one.name}: {why}" for why in one.answers.values() if isinstance(why, Refusal))
        return told

    def __str__(self) -> str:
        return "\n".join([self.table().text(), *self.notes()])

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        shown = [
            {name: getattr(one, name) for name in ("name", "decisions", "acts", "audits", "explored")}
            | {name: answer.as_dict() for name, answer in one.answers.items()}
            for one in self.groups
        ]
        return {"level": self.level, "groups": shown, "pooled": list(self.pooled)}


def _short(answer: Answer) -> str:
    if isinstance(answer, Refusal):
        return "no answer"
    return f"{brief(answer.value)} ({brief(answer.low)} to {brief(answer.high)})"


def missed_by(log: Log, by: str | Values, level: float = 0.9, floor: float = FLOOR) -> ByGroup:
    """Say for each group how many positives were passed, recall, and the money in them, by design.

    ``by`` is a column of the log (``stratum``, ``policy``), or one value for each decision, or values by id. Numbers
    of more than twelve kinds are cut into quarters.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=4000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> found = missed_by(log, np.where(table.items[:, 0] > 0, "new", "old"))
    >>> [group.name for group in found], found["new"].answers["missed"].value > 0
    (['old', 'new'], True)
    """
    log = opened(log)
    check_question(log, "missed", level, floor)
    parts, pooled = _parts(log, values_of(log, by), floor)
    alone = level ** (1.0 / len(parts))
    found = []
    for name, rows in parts:
        some = log.where(rows)
        support = support_of(some, floor)
        design = design_beside(by_design(some, support, alone, floor), some, support)
        money = money_missed(some, support, alone, design.missed).cost
        answers: dict[str, Answer] = {"missed": design.missed, "recall": design.recall, "money": money}
        found.append(_group(name, some, answers))
    return ByGroup(tuple(found), level, pooled, "What was missed, by group")


def what_if_by(
    log: Log,
    by: str | Values,
    change: Change | Mapping[str, Any] | None = None,
    *,
    threshold: float | OwnThreshold | None = None,
    capacity: Share | Budget | None = None,
    audit: Share | Audit | None = None,
    costs: Costs | CostsByItem | Mapping[str, Any] | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
) -> ByGroup:
    """Say for each group what another way to decide would save against what was done.

    What would be otherwise is as ``what_if`` takes it; reviewers go to the best items of a day, whatever their group.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=4000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> found = what_if_by(log, np.where(table.items[:, 0] > 0, "new", "old"), 0.3)
    >>> whole = at.what_if(log, 0.3).saving.value
    >>> bool(abs(sum(group.answers["saving"].value for group in found) / whole - 1) < 0.5)
    True
    """
    log = opened(log)
    values = values_of(log, by)
    other, sheet = as_asked(change, threshold, capacity, audit, costs)
    ground = ground_of(log, sheet, level, floor)
    if ground.left_out:
        kept = np.isin(log.id, ground.log.id)
        values = values[kept]
    asked = acting(ground, other)
    parts, pooled = _parts(ground.log, values, floor)
    alone, found = level ** (1.0 / len(parts)), []
    for name, rows in parts:
        some = ground.log.where(rows)
        support = support_of(some, floor)
        logged = logged_cost(some, support.arrival, alone)
        mine = Ground(some, ground.as_logged.where(rows), support, logged, alone, 0)
        told = answer_of(mine, asked if isinstance(asked, Refusal) else asked[rows])
        found.append(_group(name, some, {"saving": told.saving}))
    return ByGroup(tuple(found), level, pooled, "Saving against what was done, by group")


def cells_of(stream: Stream, column: str) -> dict[str, Any]:
    """Return the cell of a column for each decision of a stream that keeps records, by id; erased ones have None.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    >>> policy = at.policy("always", n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "people", policy, features=features)
    >>> answer = stream.decide({"age": 40}, id="a")
    >>> cells_of(stream, "age")
    {'a': 40}
    """
    if stream.features is None:
        raise InputError("this stream takes vectors, so it has no columns to group by, only stratum and policy")
    found: dict[str, Any] = {}
    known: set[str] = set()
    for one in stream.log(features=False).id.tolist():
        decision = stream.record.decision(one)
        item = None if decision is None else decision.item
        record = None if item is None else unpack_item(item)[1]
        known |= set(record or ())
        found[one] = None if record is None else record.get(column)
    if found and column not in known:
        raise InputError(f"no record of the stream has a column {column!r}; there are {', '.join(sorted(known))}")
    return found


def values_of(log: DecisionLog, by: str | Values) -> NDArray[np.str_]:
    """Return the group of each decision, by a column of the log, by one value for each, or by id."""
    if isinstance(by, str):
        if by not in ("stratum", "policy"):
            raise InputError(
                f"the log has no column {by!r} to group by, only stratum and policy: give one value for each decision, "
                "or values by id"
            )
        given = getattr(log, by)
        if given is None:
            raise InputError(f"the log has no {by}: give each item one when it is decided, decide(..., {by}=...)")
        return np.asarray(given).astype(str)
    if isinstance(by, Mapping):
        lacking = [one for one in log.id.tolist() if one not in by]
        if len(lacking) == len(log):
            raise InputError(f"no id of the log is among the {len(by):,} ids with a value, such as {lacking[0]!r}")
        return _as_names([by.get(one) for one in log.id.tolist()])
    given = by if isinstance(by, Sequence) and not isinstance(by, str) else np.asarray(by)
    if len(given) != len(log):
        raise InputError(f"by has {len(given)} values for {len(log)} decisions; give one for each")
    return _as_names(list(given))


def _as_names(values: Sequence[Any]) -> NDArray[np.str_]:
    """Return values as names of groups; many numbers as quarters."""
    gone = [value is None or value != value for value in values]
    numbers = [v for v, lost in zip(values, gone, strict=True) if not lost]
    if numbers and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in numbers):
        known = np.array(numbers, dtype=np.float64)
        if len(np.unique(known)) > QUARTERS_FROM:
            edges = np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
            names = [f"up to {edge:.4g}" for edge in edges] + [f"above {edges[-1]:.4g}"]
            placed = iter(np.searchsorted(edges, known, side="left").tolist())
            return np.array([MISSING if lost else names[next(placed)] for lost in gone])
        return np.array([MISSING if lost else f"{v:g}" for v, lost in zip(values, gone, strict=True)])
    return np.array([MISSING if lost else str(v) for v, lost in zip(values, gone, strict=True)])


def _parts(
    log: DecisionLog, values: NDArray[np.str_], floor: float
) -> tuple[list[tuple[str, NDArray[np.intp]]], tuple[str, ...]]:
    """Return the rows of each group that can speak for itself, the largest first, and the names of the others."""
    names, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    p = log.probability
    might = np.where((p >= floor) & (p < 1.0), p, 0.0)
    expected = np.bincount(place, weights=might, minlength=len(names))
    order = np.argsort(-counts, kind="stable")
    large = [k for k in order.tolist() if expected[k] >= LEAST_EXPECTED][:MOST]
    small = [k for k in order.tolist() if k not in large]
    if len(small) == 1:  # with nothing to stand together with
        large.append(small.pop())
    parts = [(str(names[k]), np.flatnonzero(place == k)) for k in large]
    if small:
        parts.append((POOLED, np.flatnonzero(np.isin(place, small))))
    return parts, tuple(str(names[k]) for k in small)


def _group(name: str, log: DecisionLog, answers: dict[str, Answer]) -> Group:
    """Return what a group bears, with its answers."""
    explored = np.zeros(len(log), dtype=bool)
    if log.chance is not None:
        explored = log.act & ~log.audit & (np.asarray(log.chance[:]) < thresholds_of(log))
    return Group(name, len(log), int(log.act.sum()), int(log.audit.sum()), int(explored.sum()), answers)


__all__ = ["ByGroup", "Estimate", "Group", "missed_by", "values_of", "what_if_by"]
