"""docs/guide.md is followed to the letter, in an empty folder: every command and every block of Python, in order."""

import re
import shlex
from pathlib import Path

from appletaste.cli.main import main

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "guide.md").read_text()


def commands(block):
    """Return the commands of a block as lists of arguments, lines that go on joined."""
    return [shlex.split(line) for line in block.replace("\\\n", " ").strip().splitlines()]


def test_every_command_and_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said, names = {}, {}
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", GUIDE, re.S | re.M):
        if language == "python":
            exec(compile(block, "docs/guide.md", "exec"), names)
        elif not language:
            for program, *arguments in commands(block):
                assert program == "appletaste"
                assert main(arguments) == 0, arguments
                said[arguments[0]] = capsys.readouterr().out
    assert {"example", "replay", "missed", "plan-audit", "what-if", "report"} <= set(said)
    assert "note: the share of positives changes along the file" not in said["replay"]  # the last one was in order
    for page in ("out/report/index.html", "out/may/index.html", "out/replay/replay.svg", "may.parquet"):
        assert (tmp_path / page).stat().st_size > 1000
    at, ledger, features = names["at"], names["ledger"], names["features"]
    last = [ledger[name].decision for name in list(ledger)[-600:]]
    codes = {at.explain(ledger.policy, decision, features).reason.code for decision in last}
    assert {"EXPLOIT", "CAPACITY", "AUDIT", "PASS"} <= codes  # what the page tells of them is there to see
    recall = at.missed(at.DecisionLog.read("decisions.parquet")).design.recall
    assert recall.low < 0.519 < recall.high  # as the page says of the first two months


def test_its_links_and_pictures_exist():
    for target in re.findall(r"\]\(([\w./-]+)", GUIDE):
        assert (ROOT / "docs" / target).exists(), target


def test_make_demo_is_its_short_form():
    makefile = (ROOT / "Makefile").read_text()
    demo = re.search(r"^demo:.*?\n\n", makefile, re.S | re.M).group()
    verbs = re.findall(r"\$\(BIN\)/appletaste (\S+)", demo)
    assert verbs == ["example", "replay", "missed", "what-if", "report"]
    assert "demo-paper:" in makefile
