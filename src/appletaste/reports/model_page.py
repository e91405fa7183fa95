"""What a stream believes, as one page that opens anywhere: the facts, how to read them, a picture for each column."""

from __future__ import annotations

import html
import math
from importlib.metadata import version

from ..evaluate.answers import per_cent
from ..features.model_curves import ColumnCurve
from ..pages.page import html_page
from .model import Model, told_of
from .model_pictures import Scale, picture, shown_levels

#: By this a page is known as one of these, and may be written over.
MARK = '<meta name="generator" content="appletaste model">'


#: Colours and sizes, for light and for dark screens.
STYLE = """<style>
:root { --curve: #0072B2; --items: #80868b; --told: #D55E00; --trees: #00795C; }
@media (prefers-color-scheme: dark) { :root { --curve: #6CB8F0; --items: #9aa0a6; --told: #F0934E; --trees: #4CC9A5; } }
.tiles.four { grid-template-columns: 1fr 1fr; }
@media (min-width: 46rem) { .tiles.four { grid-template-columns: repeat(4, 1fr); } }
.model { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(22rem, 100%), 1fr)); gap: 1.6rem 1.4rem; }
.model > div { min-width: 0; } .model h3 { margin: 0 0 .2rem; font-size: 1.05rem; overflow-wrap: anywhere; }
.model h3 small { font-weight: 400; color: var(--soft); }
.model p { margin: .2rem 0 0; color: var(--soft); font-size: .85rem; }
svg.column { width: 100%; height: auto; display: block; }
svg.column text { font: 11px system-ui, sans-serif; fill: var(--soft); } svg.column text.name { fill: var(--text); }
.grid { stroke: var(--line); stroke-width: 1; } .zero { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 3 3; }
.bar { fill: var(--items); fill-opacity: .28; } .told { fill: var(--told); }
.outer { fill: var(--curve); fill-opacity: .16; } .inner { fill: var(--curve); fill-opacity: .3; }
.mean { fill: none; stroke: var(--curve); stroke-width: 2.2; stroke-linejoin: round; } .dot { fill: var(--curve); }
.eight { fill: var(--trees); fill-opacity: .22; } .added { fill: var(--trees); }
.trees { fill: none; stroke: var(--trees); stroke-width: 1.8; stroke-dasharray: 5 3; }
.typical { fill: var(--ground); stroke: var(--curve); stroke-width: 1.5; }
.key { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: .6rem 0; font-size: .85rem; color: var(--soft); }
.key span { display: inline-flex; align-items: center; gap: .4rem; } .key svg { width: 26px; height: 14px; flex: none; }
@media (max-width: 30rem) { svg.column text { font-size: 12.5px; } }
@media print { .model { grid-template-columns: 1fr 1fr; } .model > div { break-inside: avoid; } }
</style>"""
#: What is what in a picture: a sample and words.
KEY = (
    ('<path class="mean" d="M1 10 C9 2 17 12 25 4"/>', "what is added, on average"),
    (
        '<rect class="outer" width="26" height="14"/><rect class="inner" y="4" width="26" height="6"/>',
        "50 and 90 % bands",
    ),
    (
        '<rect class="bar" x="2" y="7" width="6" height="7"/><rect class="bar" x="10" y="1" width="6" height="13"/>'
        '<rect class="bar" x="18" y="5" width="6" height="9"/>',
        "how often values were seen",
    ),
    ('<rect class="told" y="5" width="26" height="4"/>', "where labels are"),
    ('<circle class="typical" cx="13" cy="7" r="4"/>', "the typical value"),
)
#: The same for trees, where they take part.
TREES_KEY = (
    '<rect class="eight" y="2" width="26" height="10"/><path class="trees" d="M1 10 C9 4 17 10 25 5"/>',
    "what trees add besides, on average and for eight in ten items",
)


def as_html(model: Model, title: str) -> str:
    """Return the page; it needs nothing else."""
    scale = Scale.of(list(model.curves))
    cards = "\n".join(_card(column, scale, place) for place, column in enumerate(model.curves, 1))
    standing = "".join(f"<li>{_words(sentence)}</li>" for sentence in model.standing())
    samples = (*KEY, TREES_KEY) if any(column.trees for column in model.curves) else KEY
    key = "".join(f'<span><svg viewBox="0 0 26 14">{sample}</svg>{words}</span>' for sample, words in samples)
    parts = [
        STYLE,
        f"<h1>{html.escape(title)}</h1>",
        f"<p>What {html.escape(model.policy)} believes of each column. By appletaste {version('appletaste')}.</p>",
        _tiles(model),
        f'<ul class="notes">{standing}</ul>',
        '<h2 id="reading">How to read the pictures</h2>',
        *(f"<p>{_words(sentence)}</p>" for sentence in model.reading()),
        "<p>The scale on the left (below, for levels) is in log-odds, the other one says what the odds are multiplied "
        "or divided by. All pictures have the same scale, and columns that move the score most come first. Bins are "
        "drawn equally wide, so where values crowd at one end the numbers below a picture are not evenly spaced.</p>",
        f'<div class="key">{key}</div>',
        '<h2 id="columns">Column by column</h2>',
        f'<div class="model">{cards}</div>' if cards else "<p>There is no column to draw.</p>",
    ]
    return html_page(title, parts).replace("<head>", f"<head>{MARK}", 1)


def _tiles(model: Model) -> str:
    """Return the four numbers that everything rests on."""
    low, high = model.interval
    rate = "" if not model.labels else f"{per_cent((model.positives or 0) / model.labels)} of them positive"
    found = model.certificate
    known = found is not None and not math.isnan(found.acceptance)
    tiles = [
        ("Labels learnt", "-" if model.labels is None else f"{model.labels:,}", rate or "nothing is learnt yet"),
        ("A typical item", per_cent(model.chance), f"its chance; 90 % interval {per_cent(low)} to {per_cent(high)}"),
        ("Acting pays from", per_cent(model.threshold), "at the average costs" if model.by_item else "by the costs"),
    ]
    if model.labels is None:
        tiles[0] = ("Labels learnt", "-", f"{model.policy} keeps no labels")
    if known and found is not None:
        tiles.append(
            ("Certificate", f"{found.acceptance:.2f}", f"{found.per_feature:.2f} for each feature; 1 is exact")
        )
    shown = "".join(
        f'<div class="tile"><h2>{name}</h2><p class="amount">{amount}</p><p>{_words(more)}</p></div>'
        for name, amount, more in tiles
    )
    return f'<div class="tiles four">{shown}</div>'


def _card(column: ColumnCurve, scale: Scale, place: int) -> str:
    """Return one column: its name, its picture, and what it says."""
    hidden = len(column.values) - len(shown_levels(column)) if column.by_level else 0
    said = told_of(column) + (f" Levels that are not drawn, since they are rarer: {hidden:,}." if hidden else "")
    moved = f"{column.kind}, moves the score by {column.moves:.2f}"
    return (
        f"<div><h3>{place}. {html.escape(column.name)} <small>{moved}</small></h3>"
        f"{picture(column, scale)}<p>{_words(said)}</p></div>"
    )


def _words(text: str) -> str:
    """Return words for a page; a number and its unit stay on one line."""
    return html.escape(text).replace(" %", "&nbsp;%").replace(" × ", "&nbsp;×&nbsp;")
