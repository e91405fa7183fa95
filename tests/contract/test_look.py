"""``appletaste look``: docs/look.md is followed to the letter, and mistakes end with one sentence."""

import json
import re
import shlex
from pathlib import Path

import pytest

from appletaste.cli.main import main

PAGE = (Path(__file__).parents[2] / "docs" / "look.md").read_text()


def blocks(language):
    return [text for kind, text in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.S | re.M) if kind == language]


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder in which every command of the page was run, and what the commands printed."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in "".join(blocks("")).splitlines():
            assert main(shlex.split(line)[1:]) == 0
    return folder


def test_the_page_shows_what_is_printed(followed, monkeypatch, capsys):
    monkeypatch.chdir(followed)
    command = blocks("")[0].splitlines()[-1]
    assert main(shlex.split(command)[1:]) == 0
    printed = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    shown = [" ".join(line.split()) for line in blocks("text")[0].splitlines()]
    assert shown == printed
    assert (followed / "out" / "look" / "index.html").read_text().count("<svg") == 9


def test_its_python_says_what_its_comments_say(followed, monkeypatch, capsys):
    monkeypatch.chdir(followed)
    names = {}
    for block in blocks("python"):
        exec(compile(block, "docs/look.md", "exec"), names)
    said = re.findall(r"^print\(.*?\)  # (.*)$", "".join(blocks("python")), re.M)
    assert capsys.readouterr().out.splitlines() == said
    assert names["drop"] == ["settled_on", "order"]


def test_machines_and_people_read_the_same(followed, capsys):
    asked = ["look", str(followed / "orders.csv"), "--label", "fraud", "--time", "placed_at", "--json"]
    assert main(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {**json.loads((followed / "out/look/look.json").read_text()), "source": asked[1]}
    assert [one["code"] for one in found["findings"]] == ["DATE_AFTER", "IDENTIFIER"]
    assert found["findings"][0]["remedy"] == {"option": "drop", "value": ["settled_on"]}
    assert found["findings"][0]["message"].endswith("--label-time settled_on")
    amount = found["columns"][1]
    assert set(amount) == {"column", "kind", "made", "missing", "distinct", "summary", "tells", "bars", "findings"}
    assert set(amount["bars"][0]) == {"name", "share", "positive_rate"}


def test_every_code_is_in_the_help_and_on_the_page(capsys):
    sources = Path(__file__).parents[2] / "src" / "appletaste" / "history"
    text = "".join((sources / name).read_text() for name in ("leaks.py", "findings.py"))
    codes = set(re.findall(r"Finding\(\s*\"([A-Z_]+)\"", text))
    assert len(codes) == 17
    with pytest.raises(SystemExit):
        main(["look", "--help"])
    told = capsys.readouterr().out
    assert all(code in told and f"| `{code}` |" in PAGE for code in codes)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--label", "frau"], "did you mean 'fraud'"),
        (["--label", "fraud", "--drop", "fraud"], "'fraud' is the label: take it out of --drop"),
        (["--time", "amount", "--label", "amount"], "cannot be both"),
        (["--label", "fraud", "--time", "device"], "no time in column 'device'|is to hold times"),
    ],
)
def test_mistakes_end_with_one_sentence_and_code_2(followed, capsys, more, sentence):
    assert main(["look", str(followed / "orders.csv"), *more]) == 2
    told = capsys.readouterr().err
    assert re.search(sentence, told)
    assert told.count("\n") == 1
