"""A look as a page: one HTML file that opens anywhere, a small picture for each column, and the same as text."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from .._files import MANIFEST, check_folder, write_aside, write_json
from ..errors import Remedy
from ..pages.page import html_page

if TYPE_CHECKING:
    from .look import Bar, ColumnLook, Look

#: By this file a folder of a look is known.
SIGN = "look.json"
#: The size of a picture, and the room under the bars.
WIDTH, HEIGHT, FOOT = 420, 110, 14
STYLE = """<style>
.columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 1.2rem; }
.columns h3 { margin: 0; font-size: 1rem; } .columns p { margin: .1rem 0; color: var(--soft); font-size: .85rem; }
.columns svg { width: 100%; height: auto; } .columns svg text { font: 10px system-ui, sans-serif; fill: currentColor; }
</style>"""


def write_look(look: Look, folder: Path, door: Callable[[Remedy], str]) -> None:
    """Write a look into a folder, which must be new or hold an earlier one."""
    check_folder(folder, SIGN)
    (folder / MANIFEST).unlink(missing_ok=True)
    write_json(folder / SIGN, look.as_dict(door), indent=1)
    write_aside(folder / "look.md", as_markdown(look, door).encode())
    write_aside(folder / "index.html", as_html(look, door).encode())
    made = {"appletaste": version("appletaste"), "source": look.source, "label": look.label, "time": look.time}
    write_json(folder / MANIFEST, made, indent=1)  # last: the page is whole


def as_markdown(look: Look, door: Callable[[Remedy], str] = str) -> str:
    """Return a look as Markdown."""
    said = [f"- {sentence}" for sentence in look.sentences(door)]
    return "\n".join(["# The data before a replay\n", *said, "", look.table().markdown()])


def as_html(look: Look, door: Callable[[Remedy], str] = str) -> str:
    """Return a look as one page that needs nothing else."""
    said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in look.sentences(door))
    parts = [
        STYLE,
        "<h1>The data before a replay</h1>",
        f"<p>{html.escape(look.title)}. By appletaste {version('appletaste')}.</p>",
        '<h2 id="findings">What is worth knowing</h2>',
        '<p class="question">Is there anything that would make a replay say more than the truth?</p>',
        f'<ul class="answer">{said}</ul>',
        '<h2 id="columns">Column by column</h2>',
        "<p>Bars: the share of rows. "
        + ("" if look.label is None else "Dots: the rate of positives, from 0 at the foot to the largest at the top. ")
        + "</p>",
        '<div class="columns">' + "\n".join(map(_column, look.columns)) + "</div>",
        '<h2 id="table">All columns</h2>',
        look.table().html("text"),
    ]
    return html_page("The data before a replay", parts)


def _column(column: ColumnLook) -> str:
    """Return one column: its name, its picture, and what it is."""
    codes = " ".join(finding.code for finding in column.findings)
    mark = f' <span class="bad">{html.escape(codes)}</span>' if codes else ""
    told = "" if math.isnan(column.tells) else f"; tells {column.tells:.2f}"
    said = f"{column.kind}, {column.distinct} distinct, {100 * column.missing:.1f} % missing{told}"
    return (
        f"<div><h3>{html.escape(column.name)}{mark}</h3><p>{html.escape(said)}</p>{picture(column.name, column.bars)}"
        f"<p>{html.escape(column.summary)}</p></div>"
    )


def picture(name: str, bars: tuple[Bar, ...]) -> str:
    """Return the picture of a column as SVG: a bar for each bin or level, with the rate of positives as a dot."""
    tall, wide = HEIGHT - FOOT - 6, WIDTH / max(1, len(bars))
    most = max((bar.share for bar in bars), default=0.0) or 1.0
    rates = [bar.rate for bar in bars if not math.isnan(bar.rate)]
    top = max(rates, default=0.0) or 1.0
    parts = []
    for k, bar in enumerate(bars):
        high, middle = tall * bar.share / most, (k + 0.5) * wide
        known = not math.isnan(bar.rate)
        told = f"{bar.name}: {100 * bar.share:.1f} % of rows" + (f", {100 * bar.rate:.1f} % positive" if known else "")
        parts.append(
            f'<rect x="{k * wide + 1:.1f}" y="{HEIGHT - FOOT - high:.1f}" width="{wide - 2:.1f}" height="{high:.1f}" '
            f'fill="#56B4E9" fill-opacity="0.55"><title>{html.escape(told)}</title></rect>'
        )
        if known:
            at = HEIGHT - FOOT - tall * bar.rate / top
            parts.append(f'<circle cx="{middle:.1f}" cy="{at:.1f}" r="3" fill="#D55E00"/>')
    if bars:
        ends = (
            ((0, "start", bars[0].name), (WIDTH, "end", bars[-1].name))
            if len(bars) > 1
            else ((0, "start", bars[0].name),)
        )
        parts += [
            f'<text x="{x}" y="{HEIGHT - 3}" text-anchor="{anchor}">{html.escape(text[:28])}</text>'
            for x, anchor, text in ends
        ]
    if rates:
        parts.append(f'<text x="{WIDTH}" y="9" text-anchor="end">{100 * top:.3g} % positive</text>')
    label = html.escape(f"{name}: shares of rows by value", quote=True)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
