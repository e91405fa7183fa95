"""What is done today: the past decisions of a table, or the score that they were made by, as a row to compare with."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, Message, OptionError, Remedy
from ..tables import Records
from ..tables.label_column import PAIRS
from ..tables.records import check_column
from ..tables.values import as_level

#: A score and its threshold: ``risk >= 0.7``.
_RULE = re.compile(r"(.+?)\s*(>=|<=|>|<)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
_COMPARE = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}


@dataclass(frozen=True)
class Today:
    """The rule that is in force: a column of past decisions, or a column of scores and the threshold of acting.

    Examples
    --------
    >>> Today.of("risk >= 0.7", ["risk", "amount"])
    Today(column='risk', sign='>=', threshold=0.7)
    >>> Today.of("reviewed", ["reviewed"]).scored
    False
    """

    column: str
    sign: str = ""
    threshold: float = 0.0

    @property
    def scored(self) -> bool:
        """Whether the column holds scores; a score is known before the decision, so the column stays a feature."""
        return self.sign != ""

    @staticmethod
    def of(text: str, columns: list[str]) -> Today:
        """Return the rule from text: the name of a column, or a name, one of >= > <= < and a number."""
        if not isinstance(text, str):
            raise OptionError(Message(Remedy("today"), f" is a column or a score and its threshold, got {text!r}"))
        rule = None if text in columns else _RULE.fullmatch(text.strip())
        return Today(text) if rule is None else Today(rule[1], rule[2], float(rule[3]))

    def acts(self, records: Records) -> NDArray[np.bool_]:
        """Return which rows were acted on, or would have been by the score."""
        check_column(self.column, records.columns, records.source)
        return self._by_score(records) if self.scored else self._by_decision(records)

    def _by_score(self, records: Records) -> NDArray[np.bool_]:
        scores = records.numbers(self.column)
        unknown = np.flatnonzero(np.isnan(scores))
        if len(unknown):
            raise DataError(
                f"{records.where(int(unknown[0]))}: no score in column {self.column!r}, as in {len(unknown)} of "
                f"{len(records)} rows. What today's rule does there is not known: fill in the scores, or give a column "
                "of decisions"
            )
        return np.asarray(_COMPARE[self.sign](scores, self.threshold))

    def _by_decision(self, records: Records) -> NDArray[np.bool_]:
        column = records.columns[self.column]
        levels = {value: as_level(value, records.missing) for value in set(column.tolist())}
        words = {level.casefold() for level in levels.values() if level is not None}
        pair = next((pair for pair in PAIRS if words <= set(pair)), None)
        if pair is None:
            some = ", ".join(sorted(words)[:4])
            told = f"column {self.column!r} holds {some}: a past decision is 0 or 1, no or yes. For a score say when "
            raise DataError(Message(told, "it acts: ", Remedy("today", f"{self.column} >= 0.5")))
        unknown = next((k for k, value in enumerate(column.tolist()) if levels.get(value) is None), None)
        if unknown is not None:
            raise DataError(
                f"{records.where(unknown)}: no decision in column {self.column!r}. Write what was done, 0 or 1"
            )
        return np.array([str(levels[value]).casefold() == pair[1] for value in column.tolist()], dtype=bool)
