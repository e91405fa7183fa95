"""A page for people: one HTML file that opens anywhere, pictures and style inside."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence
from pathlib import Path

STYLE = Path(__file__).with_name("page.css")


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
