"""The report on disk: one page that opens anywhere, the same as Markdown and JSON, and the pictures."""

from __future__ import annotations

import html
from collections.abc import Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path

from .._files import MANIFEST, check_folder, write_aside, write_json
from ..logs import DecisionLog
from ..pages.charts import require_pyplot
from ..pages.page import html_page, html_picture
from .facts import Facts, gather
from .sections import SECTIONS, Section

TITLE = "Monthly report"


def write_report(
    log: DecisionLog,
    folder: str | PathLike[str],
    *,
    level: float = 0.9,
    period: str | None = None,
    names: Sequence[str] | None = None,
    title: str = TITLE,
    source: str = "a decision log",
) -> Facts:
    """Write ``index.html``, ``report.md``, ``report.json`` and the pictures of a log into a folder; return the facts.

    What was decided and saved by ``period`` (month, week or day; by itself what fits the log), what is being missed
    three ways, what another threshold would have saved, strata, whether the stream has changed (``names`` are those of
    the features x), and which labels are awaited. What the log cannot say is said in words. Needs the extra ``plot``.

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
    facts = gather(log, level, period, names)
    sections = [section for make in SECTIONS if (section := make(facts)) is not None]
    figures = target / "figures"
    figures.mkdir(exist_ok=True)
    for section in sections:
        if section.draw is not None:
            section.draw(figures / f"{section.name}.svg")
    made = {"appletaste": version("appletaste"), "source": source, "level": level, "period": facts.period}
    write_json(target / "report.json", facts, indent=1)
    write_aside(target / "report.md", as_markdown(title, sections, source).encode())
    write_aside(target / "index.html", as_html(title, sections, source, figures).encode())
    write_json(target / MANIFEST, made, indent=1)  # last: the report is whole
    return facts


def as_markdown(title: str, sections: Sequence[Section], source: str) -> str:
    """Return the report as Markdown, with pictures beside it."""
    parts = [f"# {title}\n", f"From {source}, by appletaste {version('appletaste')}.\n"]
    for section in sections:
        parts.append(f"## {section.title}\n")
        if section.question:
            parts.append(f"*{section.question}*\n")
        parts += [f"- {sentence}" for sentence in section.sentences] + [""]
        if section.draw is not None:
            parts.append(f"![{section.title}](figures/{section.name}.svg)\n")
        parts += [table.markdown() for table in section.tables]
    return "\n".join(parts)


def as_html(title: str, sections: Sequence[Section], source: str, figures: Path) -> str:
    """Return the report as one page that needs nothing else."""
    parts = [f"<h1>{html.escape(title)}</h1>"]
    parts.append(f"<p>From {html.escape(source)}, by appletaste {version('appletaste')}.</p>")
    for section in sections:
        parts.append(f'<h2 id="{section.name}">{html.escape(section.title)}</h2>')
        if section.question:
            parts.append(f'<p class="question">{html.escape(section.question)}</p>')
        said = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in section.sentences)
        parts.append(f'<ul class="answer">{said}</ul>' if said else "")
        if section.draw is not None:
            parts.append(html_picture(section.title, figures / f"{section.name}.svg"))
        worded = section.name in ("outstanding", "settings")
        parts += [table.html("text" if worded else "") for table in section.tables]
    return html_page(title, parts)
