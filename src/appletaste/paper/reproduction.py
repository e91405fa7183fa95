"""The report: one page that opens anywhere, and the same as Markdown and JSON."""

from __future__ import annotations

import html
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from .._files import write_aside, write_json
from ..pages.page import Table, html_page, html_picture
from .errata import ERRATA
from .evidence import FINDINGS, Finding
from .figures import draw, index
from .published import LONG
from .results import Store, outcomes_of
from .studies import Study, all_studies
from .tables import LEAST_REPLICATIONS, Cell, tally

TITLE = "Apple Tasting Revisited, reproduced"
INTRO = (
    "Every figure and table of Grant & Leslie, Apple Tasting Revisited: Bayesian Approaches to Partially Monitored "
    "Online Binary Classification, computed anew. Each number of ours stands beside the published one, with the "
    "distance in standard errors: z = (published - ours) / sqrt(our s.e.² + our sd² / 50), after allowing 0.005 for "
    "rounding. ✓ within 3; known: beyond 3 at "
    f"{LONG} replications too; stray: beyond 3 here, by chance, and within 3 at {LONG}; ✗ disagrees. With fewer than "
    f"{LEAST_REPLICATIONS} replications nothing is judged."
)
#: The page on the theory, in a checkout of the source.
THEORY = Path(__file__).parents[3] / "docs" / "theory.md"


@dataclass(frozen=True)
class Section:
    """One study in the report."""

    study: Study
    finding: Finding
    pictures: list[Path]


def build(
    store: Store, replications: int, studies: Sequence[Study], folder: Path, reading: str = "as-run"
) -> list[Section]:
    """Write figures, tables.json, report.md and index.html from what is stored; return a section for each study."""
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    sections = []
    for study in studies:
        # The study on readings compares the two, whichever the others use.
        outcomes = index(outcomes_of(study, store, replications), "as-run" if study.name == "readings" else reading)
        sections.append(Section(study, FINDINGS[study.name](outcomes), draw(study.name, outcomes, figures)))
    whole = reading == "as-run" and len(studies) == len(all_studies())
    errata = errata_table(store, replications) if whole else None
    facts = settings_table(store, replications, reading)
    write_json(folder / "tables.json", [cell.as_dict() for cell in cells_of(sections)], indent=1)
    theory = theory_from(folder)
    write_aside(folder / "report.md", as_markdown(sections, errata, facts, theory).encode())
    write_aside(folder / "index.html", as_html(sections, errata, facts, theory).encode())
    return sections


def cells_of(sections: Sequence[Section]) -> list[Cell]:
    """Return every published number beside ours, section by section."""
    return [cell for section in sections for cell in section.finding.cells]


def theory_from(folder: Path) -> str | None:
    """Return where the page on the theory is from a folder of the same checkout; None: it is not beside it."""
    root = THEORY.parents[1]
    if not THEORY.exists() or not folder.resolve().is_relative_to(root):
        return None
    return Path(os.path.relpath(THEORY, folder.resolve())).as_posix()


def tally_of(sections: Sequence[Section]) -> str:
    """Return how many of the published numbers agree; empty where there are none."""
    cells = cells_of(sections)
    return tally(cells) if cells else ""


def errata_table(store: Store, replications: int) -> Table:
    """Return the errata with their evidence, from all studies."""
    outcomes = index([o for study in all_studies() for o in outcomes_of(study, store, replications)])
    rows = [(e.where, e.printed, e.corrected, e.evidence(outcomes), e.command) for e in ERRATA]
    return Table("", ("where", "as printed", "corrected", "evidence", "see it"), rows)


def settings_table(store: Store, replications: int, reading: str) -> Table:
    """Return what made the numbers."""
    rows = [
        ("reading of the losses", reading),
        ("replications", str(replications)),
        ("seed", str(store.seed)),
        ("appletaste", version("appletaste")),
        ("code", store.code),
        ("Python, NumPy, Numba", f"{platform.python_version()}, {version('numpy')}, {version('numba')}"),
        ("prior, sweeps, lambda, epsilon", "N(0, I), M = 15, 0.05, 0.1 unless stated otherwise"),
        ("how long it took", "timing.json, beside this page: the one file that differs between two equal runs"),
    ]
    return Table("", ("setting", "value"), rows)


def as_markdown(sections: Sequence[Section], errata: Table | None, facts: Table, theory: str | None = None) -> str:
    """Return the report as Markdown."""
    page = f"[docs/theory.md]({theory})" if theory else "docs/theory.md"
    parts = [f"# {TITLE}\n", f"**{told}**\n" if (told := tally_of(sections)) else "", INTRO + "\n"]
    parts.append(f"What the paper proves, beside measurements: `appletaste theory`, explained in {page}.\n")
    for section in sections:
        study, finding = section.study, section.finding
        parts += [f"## {study.title}\n", f"*{study.question}*\n", f"**{finding.sentence}**\n"]
        parts.append(f"![{study.title}](figures/{section.pictures[0].name})\n")
        parts += [table.markdown() for table in finding.tables]
        parts += [f"{note}\n" for note in finding.notes]
    if errata:
        parts += ["## Errata, with evidence\n", errata.markdown()]
    parts += ["## Settings\n", facts.markdown()]
    return "\n".join(parts)


def as_html(sections: Sequence[Section], errata: Table | None, facts: Table, theory: str | None = None) -> str:
    """Return the report as one page that needs nothing else."""
    page = f'<a href="{html.escape(theory)}">docs/theory.md</a>' if theory else "docs/theory.md"
    parts = [f"<h1>{TITLE}</h1>", f'<p class="answer">{html.escape(tally_of(sections))}</p>']
    parts.append(f"<p>{html.escape(INTRO)}</p>")
    parts.append(
        f"<p>What the paper proves, beside measurements: <code>appletaste theory</code>, explained in {page}.</p>"
    )
    for section in sections:
        study, finding = section.study, section.finding
        parts.append(f'<h2 id="{study.name}">{html.escape(study.title)}</h2>')
        parts.append(f'<p class="question">{html.escape(study.question)}</p>')
        parts.append(f'<p class="answer">{html.escape(finding.sentence)}</p>')
        parts.append(html_picture(study.title, section.pictures[0]))
        parts += [table.html() for table in finding.tables]
        parts += [f"<p>{html.escape(note)}</p>" for note in finding.notes]
    if errata:
        parts += ['<h2 id="errata">Errata, with evidence</h2>', errata.html("text")]
    parts += ['<h2 id="settings">Settings</h2>', facts.html("text")]
    return html_page(TITLE, parts)
