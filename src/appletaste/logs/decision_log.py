"""The decision log: one row per decision, as plain columns (docs/decision-log.md names every field)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import OUTCOMES, Costs
from ..costs_by_item import CostsByItem
from ..errors import DataError
from ..records.events import UNKNOWN
from ..records.states import Entries
from ..times import DAY, instants
from .checks import check_ids, check_log
from .exports import dsjson_lines, obp_feedback, vw_lines
from .lazy import each_batch, picked_rows
from .log_columns import FIELDS, transposed, typed
from .log_files import Frame, frame_columns, names_in, plain, read_columns, write_log
from .scan import Engine, Progress, scanned

Floats = NDArray[np.float64]
#: A decision log, the name of its file or folder, or a data frame with its columns.
Log: TypeAlias = "DecisionLog | str | PathLike[str] | Frame"


@dataclass(frozen=True, eq=False)
class DecisionLog:
    """Decisions with the probability of each, and the labels seen because of them; checked when the log is made.

    ``probability`` is that of acting, whichever action was drawn. A ``label`` is 0, 1 or -1 (not known); a pass has
    none. ``chance`` is the model's P(positive) at the time of the decision, ``worth`` the price up to which acting paid
    and ``price`` the price that there was; each is NaN where it was not recorded. ``time`` and ``label_time`` are
    numbers or ISO texts; NaN or an empty text is a label time that is not known. ``why`` holds a dict for each
    decision, the numbers that the rule looked at. ``truth`` is the label of every item, also of passed ones: a replay
    knows it and writes it down. No estimate looks at it; answers show it beside their numbers. ``names`` are what the
    features in ``x`` are called, for alarms; a replay and a stream of records know them. ``report`` is a label that
    came though the item was passed (a chargeback, a complaint): 0, 1 or -1, with its ``report_time``.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    >>> log = DecisionLog.from_rows([
    ...     {"id": "a", "act": True, "probability": 0.5, "label": 1, **costs},
    ...     {"id": "b", "act": False, "probability": 0.5, **costs},
    ... ])
    >>> len(log), log.state.tolist()
    (2, ['observed', 'never_due'])
    """

    id: NDArray[np.str_]
    round: NDArray[np.int64]
    act: NDArray[np.bool_]
    probability: Floats
    miss: Floats
    false_alarm: Floats
    hit: Floats
    correct_pass: Floats
    label: NDArray[np.int8]
    state: NDArray[np.str_]
    policy: NDArray[np.str_]
    audit: NDArray[np.bool_]
    chance: Floats | None = None
    worth: Floats | None = None
    price: Floats | None = None
    time: NDArray[Any] | None = None
    label_time: NDArray[Any] | None = None
    stratum: NDArray[np.str_] | None = None
    x: Floats | None = None
    why: NDArray[np.object_] | None = None
    truth: NDArray[np.int8] | None = None
    report: NDArray[np.int8] | None = None
    report_time: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_log(self)

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        known = int(self.labelled.sum())
        return f"<DecisionLog: {len(self)} decisions, {int(self.act.sum())} acts, {known} labels>"

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Where a label is known."""
        return np.asarray(self.label != UNKNOWN)

    @property
    def alarm_price(self) -> Floats:
        """What acting on each item costs more than passing it, if it is negative."""
        return np.asarray(self.false_alarm - self.correct_pass)

    @property
    def catch_gain(self) -> Floats:
        """What acting on each item saves against passing it, if it is positive."""
        return np.asarray(self.miss - self.hit)

    @property
    def relative_cost(self) -> Floats:
        """What each decision cost against passing: 0 for a pass, alarm_price or -catch_gain for an act.

        NaN for an act whose label is not known. A pass is 0 by definition, so its unseen label is not needed.
        """
        acted = np.where(self.label == 1, -self.catch_gain, self.alarm_price)
        return np.where(self.act, np.where(self.labelled, acted, np.nan), 0.0)

    def days(self) -> NDArray[np.datetime64]:
        """Return the day of each decision by the clock on the wall; a log with a time that is no date is refused.

        Examples
        --------
        >>> row = {"id": "a", "act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
        >>> DecisionLog.from_rows([{**row, "time": "2024-05-31T23:30:00-05:00"}]).days().tolist()
        [datetime.date(2024, 5, 31)]
        """
        days = np.concatenate(list(each_batch(self.time, _days, what="reading times")))
        bad = np.flatnonzero(np.isnat(days))
        if len(bad):
            got = "" if self.time is None else str(self.time[bad[0]])
            raise DataError(f"row {bad[0] + 1}: a time is a date such as 2024-05-31T12:00:00, got {got!r}")
        return days

    @property
    def dated(self) -> bool:
        """Whether times are dates; a log without times has none."""
        return self.time is not None and self.time.dtype.kind in "UM"  # as text, or as moments

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], source: str = "the log") -> DecisionLog:
        """Return a log from an array or a list for each field; what is wrong is said with its row.

        ``round`` is counted from 1, ``state`` follows from act and label, ``correct_pass`` is 0, ``audit`` false and
        ``policy`` empty where they are absent; fields with other names are refused. None is a value that is not known,
        and so is NaN where the log itself writes NaN; a label of -1 is one too, if the row has a state.

        Examples
        --------
        >>> costs = {"miss": np.full(2, 5.0), "false_alarm": [1, 1], "hit": [0, 0]}
        >>> log = DecisionLog.from_columns({"id": [7, 8], "act": [1, 0], "probability": [0.5, 0.5], **costs})
        >>> log.id.tolist(), log.label.tolist(), log.state.tolist()
        (['7', '8'], [-1, -1], ['pending', 'never_due'])
        """
        found: dict[str, Any] = typed(columns, source)
        return cls(**found)

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], source: str = "the log") -> DecisionLog:
        """Return a log from one mapping per decision, by the rules of ``from_columns``."""
        return cls.from_columns(transposed(rows), source)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that there are, by name; ``from_columns`` takes them back."""
        return {name: values for name in FIELDS if (values := getattr(self, name)) is not None}

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict per decision, with None for what is not known; absent columns are left out."""
        columns = plain(self.columns())
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def where(self, chosen: ArrayLike) -> DecisionLog:
        """Return the decisions that a mask or a list of places chooses."""
        picked = np.asarray(chosen)
        if picked.dtype == bool and len(picked) == len(self):
            picked = np.flatnonzero(picked)  # once, not for every column
        elif len(np.unique(picked)) < len(picked):
            check_ids(self.id[picked])  # says which
        return self.unchecked(**{name: picked_rows(getattr(self, name), picked) for name in FIELDS})

    def unchecked(self, **columns: Any) -> DecisionLog:
        """Return this log with other columns that are known to be right: nothing is checked again."""
        found = object.__new__(DecisionLog)
        vars(found).update(vars(self) | columns)
        return found

    def priced(self, costs: Costs | CostsByItem) -> DecisionLog:
        """Return the same decisions under one cost sheet, or under formulas over the costs that each item has.

        Examples
        --------
        >>> row = {"id": "a", "act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
        >>> twice = CostsByItem(miss="2*miss", false_alarm="false_alarm", hit="hit")
        >>> DecisionLog.from_rows([row]).priced(twice).miss
        array([10.])
        """
        if isinstance(costs, CostsByItem):
            own = {name: np.asarray(getattr(self, name)) for name in OUTCOMES}
            found = costs.of_table(
                own, lambda k: f"decision {self.id[k]}", len(self), "a log, which keeps what each item costs,"
            )
            return self.unchecked(**{name: getattr(found, name) for name in OUTCOMES})
        return self.unchecked(**{name: np.broadcast_to(float(getattr(costs, name)), len(self)) for name in OUTCOMES})

    def named(self, names: Sequence[str] | None) -> DecisionLog:
        """Return the same decisions with what their features are called: one name for each number in x.

        Examples
        --------
        >>> row = {"id": "a", "act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0, "x": [1.0, 30.0]}
        >>> DecisionLog.from_rows([row]).named(["intercept", "amount"]).names
        ('intercept', 'amount')
        """
        if names is None or self.x is None:
            return self
        if len(names) != self.x.shape[1]:
            raise DataError(f"the log has {self.x.shape[1]} features and {len(names)} names for them")
        return self.unchecked(names=tuple(names))

    def write(self, path: str | PathLike[str]) -> None:
        """Write a ``.parquet`` or ``.jsonl`` file, aside and renamed, so that no reader sees half a file."""
        write_log(self.columns(), path, self.names)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> DecisionLog:
        """Read what ``write`` wrote, or a file of the same fields from elsewhere."""
        return cls.from_columns(read_columns(path), str(path)).named(names_in(path))

    @classmethod
    def scan(
        cls, path: str | PathLike[str], *, engine: Engine | None = None, progress: Progress | None = None
    ) -> DecisionLog:
        """Read a log of any length: a file, or a folder of files in the order of their names (one a day, say).

        Every row is checked, batch by batch. What every question needs is kept, in about 40 bytes a decision; ids,
        times, features and the rest stay in the files, and are read when somebody asks for them, as an array would give
        them. So the files must stay as they are. With an ``engine`` (``appletaste.engines.engine("dask", jobs=8)``,
        opened) its workers read, and must see the files under the same path; ``progress`` is called after each part.

        Examples
        --------
        >>> import tempfile
        >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": False, "probability": 0.5}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day in ("monday", "tuesday"):
        ...         DecisionLog.from_rows([{"id": f"{day} 1", **costs}]).write(f"{folder}/{day}.jsonl")
        ...     log = DecisionLog.scan(folder)
        ...     len(log), log.id[1:].tolist(), log.round.tolist()
        (2, ['tuesday 1'], [1, 2])
        """
        found: dict[str, Any] = scanned(path, cls, engine, progress)
        log = object.__new__(cls)
        vars(log).update(found)
        return log.named(names_in(path))

    def to_obp(self) -> dict[str, Any]:
        """Return Open Bandit Pipeline's feedback dictionary, with reward = -(cost relative to passing).

        Acts whose label is missing are left out, which is harmless only if labels are missing at random.

        Examples
        --------
        >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
        >>> rows = [{"id": "a", "act": True, "probability": 0.25, "label": 1, "x": [1.0], **costs}]
        >>> feedback = DecisionLog.from_rows(rows).to_obp()
        >>> feedback["action"].tolist(), feedback["reward"].tolist(), feedback["pscore"].tolist()
        ([1], [5.0], [0.25])
        """
        return obp_feedback(self)

    def to_vw(self) -> Iterator[str]:
        """Yield Vowpal Wabbit's ``action:cost:probability | features`` (``--cb 2``; 1 is pass, 2 is act).

        Acts whose label is missing are left out.

        Examples
        --------
        >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
        >>> rows = [{"id": "a", "act": True, "probability": 0.25, "label": 1, "x": [1.0, 0.0], **costs}]
        >>> list(DecisionLog.from_rows(rows).to_vw())
        ['2:-5.0:0.25 | x0:1.0']
        """
        return vw_lines(self)

    def to_dsjson(self) -> Iterator[str]:
        """Yield dsjson lines, the decision-service form of Vowpal Wabbit (``--dsjson --cb_explore_adf``).

        The two actions are named by a feature each. Acts whose label is missing are left out.

        Examples
        --------
        >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
        >>> log = DecisionLog.from_rows([{"id": "a", "act": False, "probability": 0.25, **costs}])
        >>> print(next(log.to_dsjson())[:74])
        {"_label_cost": 0.0, "_label_probability": 0.75, "_label_Action": 1, "_lab
        """
        return dsjson_lines(self)


def _days(times: NDArray[np.str_]) -> NDArray[np.datetime64]:
    """Return the day of each time; none where there is no such date."""
    seconds = instants(times, wall_clock=True)
    days = np.floor(np.where(np.isnan(seconds), 0.0, seconds) / DAY).astype(np.int64).astype("datetime64[D]")
    days[np.isnan(seconds)] = np.datetime64("NaT")
    return days


def opened(log: Log) -> DecisionLog:
    """Return a log; the name of a file or a folder is scanned, a data frame is read as ``from_columns`` reads."""
    if isinstance(log, str | PathLike):
        return DecisionLog.scan(log)
    columns = None if isinstance(log, DecisionLog) else frame_columns(log)
    if columns is not None:
        return DecisionLog.from_columns(columns, "the data frame")
    return cast(DecisionLog, log)  # or something else, which the question is to refuse


def table_of(entries: Entries, policy: str = "", features: bool = True) -> DecisionLog:
    """Return the decision log of entries, one row per decision in the order of deciding; ``features`` adds x."""
    rows = [entry for _, entry in entries.items()]
    decisions = [entry.decision for entry in rows]
    sheets = {
        id(costs): list(costs.outcomes().values()) for costs in {id(d.costs): d.costs for d in decisions}.values()
    }
    costs = np.array([sheets[id(d.costs)] for d in decisions], dtype=np.float64).reshape(-1, len(OUTCOMES))
    columns: dict[str, Any] = {
        "id": np.array(list(entries), dtype=np.str_),
        "round": np.array([d.round for d in decisions], dtype=np.int64),
        "act": np.array([d.act for d in decisions], dtype=bool),
        "probability": np.array([d.probability for d in decisions], dtype=np.float64),
        **{name: costs[:, k] for k, name in enumerate(OUTCOMES)},
        "label": np.array([UNKNOWN if e.label is None else e.label for e in rows], dtype=np.int8),
        "state": np.array([e.state for e in rows], dtype=np.str_),
        "policy": np.full(len(rows), policy),
        "audit": np.array([d.audit for d in decisions], dtype=bool),
        "chance": _known([d.chance for d in decisions]),
        "worth": _known([d.worth for d in decisions]),
        "price": _known([d.price for d in decisions]),
        "time": _times([e.time for e in rows]),
        "label_time": _times([e.label_time for e in rows]),
        "stratum": _texts([e.stratum for e in rows]),
        "x": np.array([d.x for d in decisions], dtype=np.float64) if features and rows else None,
        "why": _reasons([d.why for d in decisions]),
    }
    if any(e.report is not None for e in rows):
        columns["report"] = np.array([UNKNOWN if e.report is None else e.report for e in rows], dtype=np.int8)
        columns["report_time"] = _times([e.report_time for e in rows])
    return DecisionLog(**columns)


def _known(values: list[float]) -> NDArray[np.float64] | None:
    """Return numbers, NaN where one is not known; None where none is."""
    numbers = np.array(values, dtype=np.float64)
    return None if np.isnan(numbers).all() else numbers


def _times(values: list[float | str | None]) -> NDArray[Any] | None:
    """Return times, all numbers or all texts; None where there is none."""
    first = next((value for value in values if value is not None), None)
    if first is None:
        return None
    if isinstance(first, str):
        return np.array(["" if value is None else value for value in values], dtype=np.str_)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _texts(values: list[str | None]) -> NDArray[np.str_] | None:
    """Return texts, empty where there is none; None where no row has one."""
    return np.array(["" if value is None else value for value in values], dtype=np.str_) if any(values) else None


def _reasons(values: list[dict[str, float]]) -> NDArray[np.object_] | None:
    """Return the numbers behind each decision; None where no decision has any."""
    if not any(values):
        return None
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
