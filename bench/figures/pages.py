"""Stored figures in pages, between ``<!-- figure: RUN.FIGURE -->`` and ``<!-- end -->``: a block, or within a sentence.

A block says above its tables which commit made it, and by itself that the code has changed since. A page with a number
in a sentence says the same in a block, or by the figure ``RUN.origin``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from appletaste._files import write_aside

from .parts import Figure, markdown
from .runs import RUNS
from .stored import ROOT, Run, digest, stored

MARK = re.compile(r"((?<!`)<!-- figure: ([a-z][\w-]*)\.([a-z][\w-]*) -->)(.*?)(<!-- end -->)", re.S)
#: What may stand between marks by mistake, or be left of one.
STRAY = re.compile(r"(?<!`)<!-- (?:figure:[^>]*|end[^>]*|results) -->")


def pages() -> list[Path]:
    """Return every page that may have figures."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def page_of(figure: str) -> Path:
    """Return the page that shows a figure: pictures are beside it."""
    found = [page for page in pages() if f"<!-- figure: {figure} -->" in page.read_text()]
    if len(found) != 1:
        raise SystemExit(f"{figure} is on {len(found)} pages; one is to have it between its marks")
    return found[0]


def shown(name: str, run: Run, figure: str, stale: bool) -> str:
    """Return what a page has between the marks of a figure."""
    content: Figure = run.figure(figure, stale)
    if isinstance(content, str):
        return content
    origin = run.origin(stale)
    again = RUNS[name].command if name in RUNS else run.command
    return f"\n\n*{origin[0].upper()}{origin[1:]} (`{again}`).*\n\n{markdown(content)}\n\n"


def rewritten(text: str, runs: Mapping[str, Run], fresh: Mapping[str, bool]) -> str:
    """Return a page with the stored figures between its marks."""

    def put(found: re.Match[str]) -> str:
        start, name, figure, _, end = found.groups()
        if name not in runs or figure not in {*runs[name].figures, "origin"}:
            return found.group()
        return start + shown(name, runs[name], figure, not fresh[name]) + end

    return MARK.sub(put, text)


def write_pages() -> list[str]:
    """Put all stored figures into the pages; return the pages that changed."""
    runs = stored()
    fresh = {name: run.fresh(name) for name, run in runs.items()}
    changed = []
    for page in pages():
        text = page.read_text()
        new = rewritten(text, runs, fresh)
        if new != text:
            write_aside(page, new.encode())
            changed.append(str(page.relative_to(ROOT)))
    return changed


def wrong(text: str, runs: Mapping[str, Run], fresh: Mapping[str, bool]) -> list[str]:
    """Return what is wrong with the figures of a page: each must be the stored one, and say so if its code is older.

    That code has changed since may be said of code that has not.
    """
    found, told, needed = [], set(), {}
    for _, name, figure, content, _ in MARK.findall(text):
        key = f"{name}.{figure}"
        if name not in runs or figure not in {*runs[name].figures, "origin"}:
            found.append(f"{key} is not stored")
            continue
        block = not isinstance(runs[name].figure(figure, True), str)
        if block or figure == "origin":
            told.add(name)
        else:
            needed[name] = key
        if content == shown(name, runs[name], figure, True) or (
            fresh[name] and content == shown(name, runs[name], figure, False)
        ):
            continue
        claims = content == shown(name, runs[name], figure, False)
        found.append(f"{key} is of older code and does not say so" if claims else f"{key} is not the stored figure")
    found += [f"{key} is shown without {name}.origin" for name, key in needed.items() if name not in told]
    return found + [f"a mark that closes nothing: {left}" for left in STRAY.findall(MARK.sub("", text))]


def wrong_anywhere() -> list[str]:
    """Return what is wrong with the figures of all pages, and with pictures."""
    runs = stored()
    fresh = {name: run.fresh(name) for name, run in runs.items()}
    found = [f"{page.relative_to(ROOT)}: {said}" for page in pages() for said in wrong(page.read_text(), runs, fresh)]
    for name, run in runs.items():
        for picture, drawn in run.pictures.items():
            if not (ROOT / picture).is_file() or digest(ROOT / picture) != drawn:
                found.append(f"{picture} is not what {name} drew")
    return found
