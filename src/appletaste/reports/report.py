"""The report on disk: one page that opens anywhere, the same as Markdown and JSON, and the pictures."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

from .._files import MANIFEST, check_folder, write_aside, write_json
from ..logs import DecisionLog
from ..pages.charts import require_pyplot
from ..pages.page import html_page, html_picture
from ..words import Currency, Words
from .facts import Facts, gather
from .first_page import FirstPage, first_page
from .sections import SECTIONS, Section

TITLE = "Monthly report"
#: The picture of the first page.
MONEY = "money.svg"


@dataclass(frozen=True)
class Report:
    """What a report says: the first page, and the facts behind it."""

    facts: Facts
    first: FirstPage

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON."""
        return {"first_page": self.first.as_dict(), **self.facts.as_dict()}


def write_report(
    log: DecisionLog,
    folder: str | PathLike[str],
    *,
    level: float = 0.9,
    period: str | None = None,
    names: Sequence[str] | None = None,
    title: str = TITLE,
    source: str = "a decision log",
    first_day: str | date | None = None,
    last_day: str | date | None = None,
    currency: str = "",
    words: str | Mapping[str, str] | Words | None = None,
) -> Report:
    """Write ``index.html``, ``report.md``, ``report.json`` and the pictures of a log into a folder; return the report.

    The first page says in money what was saved, what is being missed, what was at stake, and what to change. Then
    comes the evidence: what was decided and saved by ``period`` (month, week or day; by itself what fits the log), what
    is being missed three ways, strata, what another threshold would have saved, whether the stream has changed
    (``names`` are those of the features x), and which labels are awaited. An appendix names methods and assumptions.
    What the log cannot say is said in words. Needs the extra ``plot``.

    The report is about the days from ``first_day`` to ``last_day``, both included, and compares them with as many
    calendar months, or days, before. Without days it is about the whole log, and compares its last two periods.
    ``words`` are what a team calls its item, its outcomes and its actions, and its currency:
    ``"order,fraud,fine,hold,let through,EUR"``, or the first few of them, or ``stream.words``. ``currency`` is a code
    such as EUR, and goes before that of the words.

    Examples
    --------
    >>> import tempfile, appletaste as at
    >>> table = at.problem("synthetic", rounds=1000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = write_report(log, folder)
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['figures', 'index.html', 'manifest.json', 'report.json', 'report.md']
    """
    require_pyplot()  # say what is missing before the work, not after it
    target = Path(folder)
    check_folder(target, "report.json")
    own = Words.of(words)
    money = Currency(currency or own.currency)
    facts = gather(log, level, period, names, first_day=first_day, last_day=last_day)
    report = Report(facts, first_page(facts, own, money))
    sections = [section.told(own) for make in SECTIONS if (section := make(facts, money)) is not None]
    figures = target / "figures"
    figures.mkdir(exist_ok=True)
    report.first.draw(figures / MONEY)
    for section in sections:
        if section.draw is not None:
            section.draw(figures / f"{section.name}.svg", own)
    made = {"appletaste": version("appletaste"), "source": source, "level": level, "period": facts.period}
    write_json(target / "report.json", report, indent=1)
    write_aside(target / "report.md", "\n".join([report.first.markdown(title, source), as_markdown(sections)]).encode())
    parts = [report.first.html(title, source, figures / MONEY), contents(sections), *as_html(sections, figures)]
    write_aside(target / "index.html", html_page(title, parts).encode())
    write_json(target / MANIFEST, made, indent=1)  # last: the report is whole
    return report


def as_markdown(sections: Sequence[Section]) -> str:
    """Return the evidence as Markdown, with pictures beside it."""
    parts = []
    for section in sections:
        parts.append(f"## {section.title}\n")
        if section.question:
            parts.append(f"*{section.question}*\n")
        parts += [f"- {sentence}" for sentence in section.sentences] + [""]
        if section.draw is not None:
            parts.append(f"![{section.title}](figures/{section.name}.svg)\n")
        parts += [table.markdown() for table in section.tables]
    return "\n".join(parts)


def contents(sections: Sequence[Section]) -> str:
    """Return links to the sections of the page; the appendix is at its end."""
    links = "".join(f'<a href="#{section.name}">{html.escape(section.title)}</a>' for section in sections[:-1])
    return f'<nav class="contents" aria-label="Contents">{links}</nav>'


def as_html(sections: Sequence[Section], figures: Path) -> list[str]:
    """Return the evidence as parts of the page."""
    parts = []
    for section in sections:
        parts.append(f'<h2 id="{section.name}">{html.escape(section.title)}</h2>')
        if section.question:
            parts.append(f'<p class="question">{html.escape(section.question)}</p>')
        said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in section.sentences)
        parts.append(f'<ul class="answer">{said}</ul>' if said else "")
        if section.draw is not None:
            picture = html_picture(section.title, figures / f"{section.name}.svg")
            parts.append(f'<div class="picture">{picture}</div>')
        kind = "text" if section.worded else "folded" if section.folded else ""
        parts += [table.html(kind) for table in section.tables]
    return parts
