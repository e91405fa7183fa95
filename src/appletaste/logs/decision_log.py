"""The decision log: one row per decision, as plain columns (docs/decision-log.md names every field)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs
from ..errors import DataError
from .checks import check_log
from .columns import COSTS, NEVER_DUE, OBSERVED, PENDING, UNKNOWN, column_of, label_column, matrix_of
from .files import read_rows, write_log

Floats = NDArray[np.float64]
#: Fields that a row cannot do without.
NEEDED = ("id", "act", "probability", "miss", "false_alarm", "hit")


@dataclass(frozen=True, eq=False)
class DecisionLog:
    """Decisions with the probability of each, and the labels seen because of them; checked when it is made.

    ``probability`` is that of acting, drawn or not. A ``label`` is 0, 1 or -1 (not known); a pass has none. ``chance``
    is the model's P(positive) at the time and NaN where it was not recorded.

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
    time: NDArray[Any] | None = None
    stratum: NDArray[np.str_] | None = None
    x: Floats | None = None

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

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], source: str = "the log") -> DecisionLog:
        """Return a log from one mapping per decision; what is wrong is said with its row.

        ``round`` is counted from 1, ``state`` follows from act and label, ``correct_pass`` is 0, ``audit`` false and
        ``policy`` empty where they are absent; fields with other names are refused.
        """
        table = list(rows)
        known = {field.name for field in fields(cls)} | {"schema_version"}
        for place, row in enumerate(table, 1):
            strange = sorted(set(row) - known)
            if strange:
                raise DataError(f"{source}, row {place}: there is no field {strange[0]!r}; fields: {', '.join(known)}")
            lacking = [name for name in NEEDED if row.get(name) is None]
            if lacking:
                named = f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing"
                raise DataError(f"{source}, row {place}: {named}; every row has {', '.join(NEEDED)}")
        columns: dict[str, Any] = {
            name: column_of(name, table, source) for name in known - {"schema_version", "label", "state", "x"}
        }
        columns["label"] = label_column([row.get("label") for row in table], source)
        columns["state"] = np.array(
            [
                row.get("state") or (NEVER_DUE if not act else PENDING if label == UNKNOWN else OBSERVED)
                for row, act, label in zip(table, columns["act"], columns["label"], strict=True)
            ],
            dtype=np.str_,
        )
        columns["x"] = matrix_of([row.get("x") for row in table], source)
        return cls(**columns)

    @classmethod
    def from_trace(
        cls,
        table: Any,
        trace: Any,
        *,
        policy: str = "",
        chance: ArrayLike | None = None,
        known: ArrayLike | None = None,
        audit: ArrayLike | None = None,
        stratum: ArrayLike | None = None,
        features: bool = True,
    ) -> DecisionLog:
        """Return the log of a played table: labels only where the policy acted (and, with ``known``, they came in).

        Examples
        --------
        >>> import appletaste as at
        >>> table = at.problem("i", rounds=50).draw(at.Key(1))
        >>> trace = at.play(at.policy("pg-ts", n_features=5, costs=table.costs), table)
        >>> log = DecisionLog.from_trace(table, trace, policy="pg-ts")
        >>> bool((log.label[~trace.acts] == -1).all())
        True
        """
        n, acts = table.rounds, np.asarray(trace.acts, dtype=bool)
        if acts.shape != (n,):
            raise DataError(f"the trace has {len(acts)} decisions and the table {n} items: they must be of one play")
        seen = acts if known is None else acts & np.asarray(known, dtype=bool)
        costs = {name: np.full(n, getattr(table.costs, name)) for name in COSTS}
        return cls(
            id=np.array([str(t) for t in range(1, n + 1)], dtype=np.str_),
            round=np.arange(1, n + 1),
            act=acts,
            probability=np.asarray(trace.probabilities, dtype=np.float64),
            label=np.where(seen, table.labels, UNKNOWN).astype(np.int8),
            state=np.where(seen, OBSERVED, np.where(acts, PENDING, NEVER_DUE)),
            policy=np.full(n, policy),
            audit=np.zeros(n, dtype=bool) if audit is None else np.asarray(audit, dtype=bool),
            chance=None if chance is None else np.asarray(chance, dtype=np.float64),
            stratum=None if stratum is None else np.asarray(stratum, dtype=np.str_),
            x=table.items if features else None,
            **costs,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dict per decision, with None for what is not known; absent columns are left out."""
        columns: dict[str, list[Any]] = {}
        for field in fields(self):
            values = getattr(self, field.name)
            if values is not None:
                columns[field.name] = values.tolist()
        columns["label"] = [None if label == UNKNOWN else label for label in columns["label"]]
        if "chance" in columns:
            columns["chance"] = [None if chance != chance else chance for chance in columns["chance"]]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def where(self, chosen: ArrayLike) -> DecisionLog:
        """Return the decisions that a mask or a list of places chooses."""
        picked = np.asarray(chosen)
        columns: dict[str, Any] = {}
        for name, values in vars(self).items():
            columns[name] = None if values is None else values[picked]
        return DecisionLog(**columns)

    def priced(self, costs: Costs) -> DecisionLog:
        """Return the same decisions under one cost sheet."""
        columns: dict[str, Any] = vars(self)
        return DecisionLog(**(columns | {name: np.full(len(self), getattr(costs, name)) for name in COSTS}))

    def write(self, path: str | PathLike[str]) -> None:
        """Write a ``.parquet`` or ``.jsonl`` file, aside and renamed, so that no reader sees half of one."""
        write_log(self.rows(), path)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> DecisionLog:
        """Read what ``write`` wrote, or a file of the same fields from elsewhere."""
        return cls.from_rows(read_rows(path), str(path))
