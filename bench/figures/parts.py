"""What a run leaves to be shown: lines of Markdown and tables, as they are kept in JSON and as pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from appletaste.pages.page import Table


@dataclass(frozen=True)
class Grid(Table):
    """A table of a page; ``right`` sets all but the first column to the right."""

    right: bool = True


#: What a block of a page is made of.
Part = str | Grid
#: A block, or a number in a sentence.
Figure = list[Part] | str


def table(header: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Grid:
    """Return a table of numbers."""
    return Grid(title, tuple(header), [tuple(row) for row in rows])


def words_of(table: Table) -> Grid:
    """Return a table whose columns are read, and not compared."""
    return Grid(table.title, tuple(table.header), [tuple(row) for row in table.rows], right=False)


def markdown(parts: Iterable[Part]) -> str:
    """Return parts as a page shows them."""
    return "\n\n".join(part if isinstance(part, str) else part.markdown(part.right).rstrip("\n") for part in parts)


def text(parts: Iterable[Part]) -> str:
    """Return parts as a terminal shows them."""
    return "\n\n".join(part if isinstance(part, str) else part.text() for part in parts)


def as_json(figure: Figure) -> Any:
    """Return a figure as JSON keeps it."""
    if isinstance(figure, str):
        return figure
    return [
        part
        if isinstance(part, str)
        else {"title": part.title, "header": part.header, "rows": part.rows, "right": part.right}
        for part in figure
    ]


def from_json(kept: Any) -> Figure:
    """Return a figure that JSON has kept."""
    return kept if isinstance(kept, str) else [part if isinstance(part, str) else Grid(**part) for part in kept]


def parsed(text: str) -> list[Part]:
    """Return the parts of a block that exists as Markdown alone."""
    found: list[Part] = []
    for piece in re.split(r"\n\s*\n", text.strip()):
        if not piece.startswith("|"):
            found.append(piece)
            continue
        header, rule, *rows = map(_cells, piece.splitlines())
        title = ""
        if found and isinstance(found[-1], str) and re.fullmatch(r"\*[^*].*\*", found[-1], re.S):
            title = str(found.pop())[1:-1]
        found.append(Grid(title, header, rows, right=rule[-1].endswith(":")))
    return found


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner))
