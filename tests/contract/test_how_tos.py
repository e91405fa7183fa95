"""docs/how-to: every command and every block of Python of a page runs, in order, in an empty folder."""

import re
from pathlib import Path

import pytest

from appletaste.cli.main import main

from .test_guide import commands

FOLDER = Path(__file__).parent.parent.parent / "docs" / "how-to"
PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", PAGES)
def test_a_how_to_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, done = {}, 0
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", (FOLDER / f"{page}.md").read_text(), re.S | re.M):
        if language == "python":
            exec(compile(block, page, "exec"), names)
            done += 1
        elif not language:  # blocks of sh need a server that runs
            for program, *arguments in commands(block):
                assert program == "appletaste"
                assert main(arguments) == 0, capsys.readouterr().err
                done += 1
    assert done


def test_every_how_to_is_one_page_and_in_the_index():
    index = (FOLDER / "index.md").read_text()
    tree = re.search(r"```\{toctree\}\n:hidden:\n:maxdepth: 1\n\n(.*?)```", index, re.S)[1].split()
    assert sorted(tree) == PAGES
    assert re.findall(r"\]\((.*?)\.md\) \|$", index, re.M) == tree  # the table says the same in the same order
    assert all(len((FOLDER / f"{page}.md").read_text().split()) < 350 for page in PAGES)
