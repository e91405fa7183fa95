"""How a file writes its cells: what stands between fields and before decimals, how dates look, which sheet is meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from .._checks import shown
from ..errors import DataError, Message, OptionError, Remedy
from .values import DATES

#: 12,5 and 1.234,50 where a comma stands before decimals; whole numbers are written alike everywhere.
_COMMA = re.compile(r"[-+]?(?:[1-9][0-9]{0,2}(?:[.'\u2019\u00a0\u202f ][0-9]{3})+|[0-9]+)(?:,[0-9]+)?")
_BETWEEN = re.compile(r"[.'\u2019\u00a0\u202f ]")
_POINT = re.compile(r"[-+]?[0-9]+\.[0-9]+")
_CLOCK = re.compile(r"%[HIMSfpzZXcTR]")


@dataclass(frozen=True)
class Dialect:
    """How a file writes its cells; the usual way is guessed or is that of programs.

    Examples
    --------
    >>> written = Dialect(decimal=",", date_format="%d.%m.%Y")
    >>> written.read("paid", ["1.234,50", "7", "0,25"], 500, str), written.read("on", ["31.05.2024"], 500, str)
    (['1234.50', '7', '0.25'], ['2024-05-31'])
    """

    separator: str | None = None  #: between the fields of a CSV file; None: the commonest in its first line
    decimal: str = "."  #: before decimals: a point, or a comma
    date_format: str | None = None  #: as ``strptime`` has it, such as %d.%m.%Y; None: ISO 8601
    sheet: str | None = None  #: of a spreadsheet; None: the first

    def __post_init__(self) -> None:
        if self.separator is not None and not is_separator(self.separator):
            told = (
                " is one character, such as ; and no quote or end of a line, got "
                f"{shown(self.separator)}. For , ; | and tabs "
            )
            raise OptionError(Message(Remedy("separator"), told, "leave out ", Remedy("separator")))
        if self.decimal not in (".", ","):
            raise OptionError(Message(Remedy("decimal"), f" is . or ,; got {shown(self.decimal)}"))
        if self.date_format is not None:
            self._check_dates()

    def _check_dates(self) -> None:
        """Refuse a format that does not say which day it is."""
        told = self.date_format
        days = datetime(2021, 3, 4), datetime(2021, 3, 5), datetime(2021, 4, 4), datetime(2022, 3, 4)
        try:
            if not isinstance(told, str):
                raise ValueError(told)
            good = [datetime.strptime(day.strftime(told), told).date() for day in days] == [day.date() for day in days]
        except ValueError:
            good = False
        if not good:
            say = " says where day, month and year stand, such as %d.%m.%Y or '%m/%d/%Y %H:%M', got "
            raise OptionError(Message(Remedy("date_format"), f"{say}{shown(told)}"))

    @property
    def is_usual(self) -> bool:
        """Whether cells are to be read as they are."""
        return self.decimal == "." and self.date_format is None

    def read(self, name: str, cells: Any, warm_up: int, where: Callable[[int], str]) -> Any:
        """Return the texts of a column as programs write them; what the column holds is told by its first rows."""
        texts = [cell.strip() for cell in cells[:warm_up] if isinstance(cell, str) and cell.strip()]
        if self.date_format is not None and _share(texts, lambda text: self._date(text) is not None) >= DATES:
            known: dict[str, str | None] = {}
            return [self._as_date(cell, known) for cell in cells]
        if self.decimal == "," and any("," in text and _COMMA.fullmatch(text) for text in texts):
            return [self._as_number(name, cell, row, where) for row, cell in enumerate(cells)]
        return cells

    def _date(self, text: str) -> str | None:
        try:
            found = datetime.strptime(text, self.date_format or "")
        except ValueError:
            return None
        return found.isoformat() if _CLOCK.search(self.date_format or "") else found.date().isoformat()

    def _as_date(self, cell: Any, known: dict[str, str | None]) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.strip()
        if text not in known:
            known[text] = self._date(text)
        return known[text] or cell

    def _as_number(self, name: str, cell: Any, row: int, where: Callable[[int], str]) -> Any:
        if not isinstance(cell, str):
            return cell
        text = cell.strip()
        if _COMMA.fullmatch(text):
            return _BETWEEN.sub("", text).replace(",", ".")
        if _POINT.fullmatch(text):
            told = (
                f"{where(row)}: column {name!r} has {text!r}, with a point before decimals, among numbers with a comma"
            )
            raise DataError(Message(f"{told}. Correct the cell, or leave out ", Remedy("decimal")))
        return cell


#: The names of what a dialect says, which whoever reads a table passes on.
WRITTEN = tuple(field.name for field in fields(Dialect))


def is_separator(text: Any) -> bool:
    """Return whether a text can stand between the fields of a CSV file: one character, no quote, no end of a line."""
    return isinstance(text, str) and len(text) == 1 and text not in '"\r\n\0'


def _share(texts: list[str], good: Callable[[str], bool]) -> float:
    """Return the share of texts that are good; of none, 0."""
    return sum(map(good, texts)) / len(texts) if texts else 0.0
