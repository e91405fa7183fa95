"""Tables and pages for people: one HTML page that opens anywhere, and the same tables in Markdown."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

STYLE = Path(__file__).with_name("page.css")


@dataclass(frozen=True)
class Grid:
    """A table as people read it."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def markdown_table(grid: Grid) -> str:
    """Return a table in Markdown."""
    lines = [f"*{grid.title}*\n"] if grid.title else []
    lines.append("| " + " | ".join(grid.header) + " |")
    lines.append("|" + "---|" * len(grid.header))
    lines += ["| " + " | ".join(part.replace("|", "\\|") for part in row) + " |" for row in grid.rows]
    return "\n".join(lines) + "\n"


def html_table(grid: Grid, kind: str = "") -> str:
    """Return a table in HTML; marks of agreement are coloured."""

    def cell(text: str) -> str:
        mark = "good" if text.endswith("✓") else "bad" if text.endswith("✗") else ""
        tagged = f' class="{mark}"' if mark else ""
        command = text.startswith("appletaste ")
        return f"<td{tagged}>{f'<code>{html.escape(text)}</code>' if command else html.escape(text)}</td>"

    head = "".join(f"<th>{html.escape(name)}</th>" for name in grid.header)
    body = "\n".join("<tr>" + "".join(cell(part) for part in row) + "</tr>" for row in grid.rows)
    caption = f"<caption>{html.escape(grid.title)}</caption>" if grid.title else ""
    return f'<div class="wide"><table class="{kind}">{caption}<tr>{head}</tr>\n{body}</table></div>'


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
