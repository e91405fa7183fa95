"""docs/how-to: every command and every block of Python of a page runs, in order, in an empty folder, and says so."""

import re
from functools import partial
from pathlib import Path

import pytest

from appletaste.cli.main import main

from .test_guide import commands, is_said, taken_apart

FOLDER = Path(__file__).parent.parent.parent / "docs" / "how-to"
PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "index")


def numbers_of(lines, words):
    """Return the numbers of every printed line with the same words."""
    return [numbers for text, numbers in lines if text == words]


@pytest.mark.parametrize("page", PAGES)
def test_a_how_to_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, done, printed = {}, 0, []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", (FOLDER / f"{page}.md").read_text(), re.S | re.M):
        if language == "python":
            exec(compile(block, page, "exec"), names)
            printed += capsys.readouterr().out.splitlines()
            done += 1
        elif not language:  # blocks of sh need a server that runs
            for program, *arguments in commands(block):
                assert program == "appletaste"
                assert main(arguments) == 0, capsys.readouterr().err
                printed += capsys.readouterr().out.splitlines()
                done += 1
        elif language == "text":  # what the commands above it say
            lines = [taken_apart(line) for line in printed]
            assert [line for line in block.splitlines() if not is_said(line, partial(numbers_of, lines))] == []
    assert done


def test_every_how_to_is_one_page_and_in_the_index():
    index = (FOLDER / "index.md").read_text()
    tree = re.search(r"```\{toctree\}\n:hidden:\n:maxdepth: 1\n\n(.*?)```", index, re.S)[1].split()
    assert sorted(tree) == PAGES
    assert re.findall(r"\]\((.*?)\.md\) \|$", index, re.M) == tree  # the table says the same in the same order
    assert all(len((FOLDER / f"{page}.md").read_text().split()) < 350 for page in PAGES)
