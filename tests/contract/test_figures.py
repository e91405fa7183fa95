"""Figures of pages are those of stored runs, and say of which code they are; what can be counted is counted here."""

import dataclasses
import re
import shutil
from pathlib import Path

import pytest
from bench.__main__ import BENCHES
from bench.figures import pages, stored
from bench.figures.parts import as_json, from_json, markdown, parsed, table
from bench.figures.runs import RUNS, code_of

from appletaste.paper.published import AT_LENGTH, KNOWN_MISMATCHES, LONG, NEAR, PRECISION_RECALL, TUNING_REGRET

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
MISSED = (ROOT / "docs" / "decisions" / "measured" / "missed.md").read_text()
ANEW = "make bench ARGS=figures puts stored figures into the pages, and says there which are of older code"


def joined(text):
    return " ".join(text.split())


def test_every_figure_is_the_stored_one_and_says_of_which_code_it_is():
    found = pages.wrong_anywhere()
    assert not found, "\n".join([*found, ANEW])


def test_every_stored_run_can_be_made_again_and_is_shown():
    shown = {name for page in pages.pages() for _, name, *_ in pages.MARK.findall(page.read_text())}
    for name, run in stored.stored().items():
        assert name in shown, f"no page shows {name}"
        assert RUNS[name].command == run.command
        assert RUNS[name].words.split()[0] in BENCHES
        assert run.code or "kept as text" in run.note


RUN = stored.Run(
    "make bench ARGS=drift", "1234567", "2026-11-20", "code", "2 cores", {"table": [table("ab", ["12"])], "n": "4"}
)
BLOCK = "a\n<!-- figure: drift.table -->old<!-- end -->\n*n* is <!-- figure: drift.n -->3<!-- end -->.\n"


def said(text, fresh):
    return pages.wrong(text, {"drift": RUN}, {"drift": fresh})


@pytest.mark.parametrize("fresh", [True, False])
def test_an_edit_by_hand_is_seen(fresh):
    page = pages.rewritten(BLOCK, {"drift": RUN}, {"drift": fresh})
    assert "is <!-- figure: drift.n -->4<!-- end -->." in page
    assert said(page, fresh) == []
    assert said(page.replace("| 1 | 2 |", "| 1 | 3 |"), fresh) == ["drift.table is not the stored figure"]
    assert said(page.replace("-->4<", "-->5<"), fresh) == ["drift.n is not the stored figure"]
    assert said(page.replace("2026-11-20", "2026-11-21"), fresh) == ["drift.table is not the stored figure"]
    assert said(page.replace("drift.n", "drift.m"), fresh) == ["drift.m is not stored"]
    assert said(page.replace("4<!-- end -->", "4"), fresh) != []


def test_a_block_of_older_code_says_so():
    todays = pages.rewritten(BLOCK, {"drift": RUN}, {"drift": True})
    older = pages.rewritten(BLOCK, {"drift": RUN}, {"drift": False})
    assert "the code has changed since" in older
    assert "the code has changed since" not in todays
    assert said(older, True) == []  # too modest is not wrong
    assert said(todays, False) == ["drift.table is of older code and does not say so"]


def test_a_number_in_a_sentence_does_not_begin_a_line():
    """There a comment would end the paragraph."""
    page = pages.rewritten(BLOCK, {"drift": RUN}, {"drift": True})
    for start in ("", "  ", "- ", "1. "):
        moved = page.replace("*n* is <!--", f"{start}<!--")
        assert said(moved, True) == ["drift.n begins a line, where Markdown ends the paragraph"]


def test_a_number_in_a_sentence_needs_the_origin_of_its_run():
    alone = "is <!-- figure: drift.n -->4<!-- end -->"
    assert said(alone, True) == ["drift.n is shown without drift.origin"]
    told = f"{alone} (<!-- figure: drift.origin -->{RUN.figure('origin', stale=True)}<!-- end -->)"
    assert said(told, False) == []


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the code, to be changed."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("src/appletaste", "bench"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.nb?", "__pycache__", "*.pyc"))
    return folder


def test_a_constant_in_a_kernel_makes_a_run_stale_and_a_comment_does_not(tree):
    sources, modules = RUNS["drift"].sources()
    copied = dataclasses.replace(
        sources, folders={"appletaste": tree / "src" / "appletaste", "bench": tree / "bench"}, pins=sources.pins
    )
    kernel, command = (tree / "src" / "appletaste" / name for name in ("kernels/logistic.py", "cli/drift.py"))
    before = kernel.read_text()
    assert copied.fingerprint(*modules) == code_of("drift")
    command.write_text(command.read_text() + "\nMORE = 1\n")
    assert copied.fingerprint(*modules) == code_of("drift")  # what a command prints moves no number
    kernel.write_text(f"# why\n{before}".replace('"""', '"""Or rather: ', 1))
    assert kernel.read_text() != before
    assert copied.fingerprint(*modules) == code_of("drift")
    number = re.search(r"= (\d+\.\d+)$|\b(\d+\.\d+)\b", before.split('"""', 2)[2], re.M)
    kernel.write_text(before.replace(number.group(), f"{number.group()}1", 1))
    assert copied.fingerprint(*modules) != code_of("drift")


def test_parts_come_back_from_json_and_from_markdown():
    parts = ["Words, and more.", table(("a", "b"), [("x | y", "-1.0")], "a title"), "![picture](p.svg)"]
    assert from_json(as_json(parts)) == parts
    assert parsed(markdown(parts)) == parts


def test_coverage_in_short():
    """The short table of docs/missed.md, row by row, is that of the tables which the bench writes."""
    told = (ROOT / "docs" / "missed.md").read_text()
    for row, part in (("hard streams", "hard"), ("labels late or lost", "late"), ("five public files", "files")):
        table = re.search(rf"^<!-- figure: coverage-{part}.table -->.*?^<!-- end -->", MISSED, re.S | re.M).group()
        names = ("missed, HT", "missed, model", "threshold, saving")
        cells = [re.search(rf"^\| {name} \| ([\d.]+) \| [\d,]+ of", table, re.M)[1] for name in names]
        assert re.search(rf"^\| {row}.*? \| ([\d. |]+) \|$", told, re.M)[1] == " | ".join(cells)
    by_design, *_, by_model = re.search(r"^\| all \| ([\d.| ]+) \|$", MISSED, re.M)[1].split(" | ")
    assert f"| policies of the registry | {by_design} | {by_model} | |" in told
    control = re.findall(r"^\| all \| ([\d.]+) \|", MISSED, re.M)[-1]
    assert f"it covers {control} %" in told


def test_cells_of_the_paper():
    cells = sum(map(len, TUNING_REGRET.values())) + sum(2 * len(rows) for rows in PRECISION_RECALL.values())
    told = joined(README)
    assert f"{cells - len(KNOWN_MISMATCHES)} of {cells} published cells agree within {NEAR:g} standard" in told
    assert "SupLogistic's precision of 0.05 on (iii), where always acting gives 0.10" in told
    assert "0.53, printed twice on (ii), for always acting, which gives 0.517" in told
    listed = (ROOT / "docs" / "paper.md").read_text().split("## Cells that cannot be had")[1]
    assert len(re.findall(r"^\| Table", listed, re.M)) == len(KNOWN_MISMATCHES)


TABLES = (ROOT / "docs" / "decisions" / "measured" / "paper.md").read_text().split("## Tables 1-3 at length")[1]
PAIR = re.compile(r"\*([\d.]+)\*(?: /)? ([\d.]+)")


@pytest.mark.parametrize(("page", "problems"), [(README, ["i"]), (TABLES, list(PRECISION_RECALL))])
def test_tables_of_the_paper_are_the_published_ones_beside_ours_at_length(page, problems):
    rows = re.findall(r"^\| [\w, -]+ \| (\*0.*) \|$", page, re.M)
    policies = PRECISION_RECALL["i"]
    assert len(rows) == len(policies)
    for row, policy in zip(rows, policies, strict=True):
        shown = [tuple(map(float, pair)) for pair in PAIR.findall(row)]
        means = [AT_LENGTH[problem, policy, m].mean for problem in problems for m in ("precision", "recall")]
        published = [cell for problem in problems for cell in PRECISION_RECALL[problem][policy]]
        assert shown == [(cell, float(f"{mean:.3f}")) for cell, mean in zip(published, means, strict=True)]
    assert f"over {LONG} replications" in joined(page)
