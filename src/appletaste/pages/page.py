"""What people read: a table, the same cells on the terminal, in Markdown and in HTML; and a page of its own.

A page is one HTML file that opens anywhere, pictures and style inside.
"""

from __future__ import annotations

import base64
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STYLE = Path(__file__).with_name("page.css")


def show(value: float | None, digits: int = 3) -> str:
    """Return a number for a cell; a dash where there is none.

    Examples
    --------
    >>> show(0.12345), show(12.0, 0), show(None), show(float("nan"))
    ('0.123', '12', '-', '-')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"


@dataclass(frozen=True)
class Table:
    """A table as people read it: the first column is text, the others are numbers unless somebody says otherwise.

    Examples
    --------
    >>> table = Table("two policies", ("policy", "cost"), [("voi", "9.5"), ("never", "120.0")])
    >>> print(table.text())
    two policies
    policy   cost
    voi       9.5
    never   120.0
    >>> print(table.markdown())
    *two policies*
    <BLANKLINE>
    | policy | cost |
    |---|---|
    | voi | 9.5 |
    | never | 120.0 |
    <BLANKLINE>
    """

    title: str  #: may be empty
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Return the table in letters of one width, numbers to the right."""
        lines = [self.header, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines]
        return "\n".join([self.title, *text] if self.title else text)

    def markdown(self, right: bool = False) -> str:
        """Return the table in Markdown; ``right`` sets all but the first column to the right."""
        rule = "|---" + ("|---:" if right else "|---") * (len(self.header) - 1) + "|"
        body = ["| " + " | ".join(part.replace("|", "\\|") for part in row) + " |" for row in self.rows]
        lines = [f"*{self.title}*\n"] if self.title else []
        return "\n".join([*lines, "| " + " | ".join(self.header) + " |", rule, *body]) + "\n"

    def html(self, kind: str = "") -> str:
        """Return the table in HTML; the kind ``text`` has columns of text only, and marks of agreement are coloured."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.header)
        body = "\n".join("<tr>" + "".join(map(_html_cell, row)) + "</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f'<div class="wide"><table class="{kind}">{caption}<tr>{head}</tr>\n{body}</table></div>'


def _html_cell(text: str) -> str:
    mark = "good" if text.endswith("✓") else "bad" if text.endswith("✗") else ""
    tagged = f' class="{mark}"' if mark else ""
    command = text.startswith("appletaste ")
    return f"<td{tagged}>{f'<code>{html.escape(text)}</code>' if command else html.escape(text)}</td>"


def html_part(parts: Sequence[str | Table]) -> str:
    r"""Return lines and tables as a piece of HTML, which a notebook shows in the place of text.

    Examples
    --------
    >>> html_part(["x < 2"])
    '<div>\n<p>x &lt; 2</p>\n</div>'
    """
    told = [part.html() if isinstance(part, Table) else f"<p>{html.escape(part)}</p>" for part in parts]
    return "\n".join(["<div>", *told, "</div>"])


def html_picture(title: str, svg: Path) -> str:
    """Return an SVG file as a picture inside the page."""
    data = base64.b64encode(svg.read_bytes()).decode()
    return f'<img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{data}">'


def html_page(title: str, parts: Sequence[str]) -> str:
    """Return a page that needs nothing else."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    head += f"<title>{html.escape(title)}</title><style>{STYLE.read_text()}</style>"
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
