"""docs/guide.md is followed to the letter, in an empty folder: every command and every block of Python, in order."""

import re
import shlex
from pathlib import Path

from appletaste.cli.main import main

ROOT = Path(__file__).parent.parent.parent
GUIDE = (ROOT / "docs" / "guide.md").read_text()


def commands(block):
    """Return the commands of a block as lists of arguments, lines that go on joined."""
    return [shlex.split(line, comments=True) for line in block.replace("\\\n", " ").strip().splitlines()]


NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*")


def taken_apart(line):
    """Return a line without its numbers, and its numbers; the speed at the end of a row of a replay is left out."""
    if re.match(r"(voi|ucb|never|always|today|oracle|full-information|booster, all labels) ", line):
        line = line.rsplit(maxsplit=1)[0]
    return " ".join(NUMBER.sub("#", line).split()), [float(n.replace(",", "")) for n in NUMBER.findall(line)]


def is_said(line, told):
    """Whether a line of the page was printed: the same words, and each number to 2 % (processors round differently)."""
    words, numbers = taken_apart(line)
    near = [
        all(abs(a - b) <= 0.02 * abs(a) + 0.005 for a, b in zip(numbers, found, strict=True)) for found in told(words)
    ]
    return any(near)


def test_every_command_and_block_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    said, names, printed = {}, {}, []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", GUIDE, re.S | re.M):
        if language == "python":
            exec(compile(block, "docs/guide.md", "exec"), names)
            printed += capsys.readouterr().out.splitlines()
        elif not language:
            for program, *arguments in commands(block):
                assert program == "appletaste"
                assert main(arguments) == 0, arguments
                said[arguments[0]] = capsys.readouterr().out
                printed += said[arguments[0]].splitlines()
    assert {"example", "replay", "missed", "plan-audit", "what-if", "report"} <= set(said)
    assert "note: the share of positives changes along the file" not in said["replay"]  # the last one was in order
    lines = [taken_apart(line) for line in [*printed, *(tmp_path / "orders.csv").read_text().splitlines()[:3]]]

    def told(words):
        return [numbers for text, numbers in lines if text == words]

    shown = [line for block in re.findall(r"^```text\n(.*?)^```", GUIDE, re.S | re.M) for line in block.splitlines()]
    assert len(shown) > 60
    assert [line for line in shown if line.strip(". ") and not is_said(line, told)] == []
    assert not is_said(shown[-1].replace("-2.13", "-2.03"), told)  # a number that moved is seen
    for page in ("out/report/index.html", "out/may/index.html", "out/replay/replay.svg", "may.parquet"):
        assert (tmp_path / page).stat().st_size > 1000
    at, stream = names["at"], names["stream"]
    codes = {stream.find(name).answer.as_dict()["code"] for name in stream.log().id[-600:].tolist()}
    assert {"EXPLOIT", "CAPACITY", "AUDIT", "PASS"} <= codes  # what the page tells of them is there to see
    recall = at.missed(at.DecisionLog.read("decisions.parquet")).design.recall
    assert recall.low < recall.truth < recall.high  # as the page says of the first two months


def test_the_readme_and_the_first_page_show_what_the_guide_shows():
    """The same command, and a table whose numbers are those of the page that is followed to the letter."""
    readme, first = ((ROOT / page).read_text() for page in ("README.md", "docs/index.md"))
    replay = re.search(r"^appletaste replay .*?\n```", GUIDE, re.S | re.M).group()
    assert replay in readme
    assert replay in first
    table = re.search(r"^```text\n(policy .*?)^```", readme, re.S | re.M)[1].splitlines()
    assert len(table) > 4
    whole = re.search(r"^(policy .*?)^```", GUIDE, re.S | re.M)[1].splitlines()
    headings = {line.split()[0]: re.split(r" {2,}", line) for line in whole}
    chosen = [headings["policy"].index(name) for name in re.split(r" {2,}", table[0])]
    for line in table[1:]:
        name, *numbers = line.split()
        assert [name, *numbers] == [headings[name][k] for k in chosen]
    for cost in (f"{float(headings[name][1]):,.0f}" for name in ("never", "today", "voi")):
        assert all(cost in page for page in (readme, first, GUIDE)), cost


def test_the_commands_of_the_readme_run(tmp_path, monkeypatch, capsys):
    """In an empty folder and in order, on fewer rows."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "README.md").read_text(), re.S | re.M)
    typed = [words for language, block in blocks if not language for words in commands(block)]
    called = [words[1:] for words in typed if words[0] == "appletaste"]
    assert [words[0] for words in called] == ["paper", "--cite", "example", "replay", "replay", "missed", "report"]
    others = {words[0] for words in typed if words[0] != "appletaste"}
    assert others == {"make", "."}  # set-up, which tests have behind them
    fewer = {"example": ["--rows", "3000"], "paper": ["--replications", "2"]}
    for words in called:
        assert main([*words, *fewer.get(words[0], [])]) == 0, words
    said = capsys.readouterr().out
    assert said.count("@article{grant2021apple") == 1
    assert all(f"{question}    " in said for question in ("missed, by design:", "recall, by design:"))
    assert "missed, by design:    no answer" not in said  # what the page asks for can be answered
    assert {path.name for path in tmp_path.iterdir()} >= {"decisions.parquet", "report", "out"}


def test_its_links_and_pictures_exist():
    for target in re.findall(r"\]\(([\w./-]+)", GUIDE):
        assert (ROOT / "docs" / target).exists(), target


def test_make_demo_is_its_short_form():
    makefile = (ROOT / "Makefile").read_text()
    demo = re.search(r"^demo:.*?\n\n", makefile, re.S | re.M).group()
    verbs = re.findall(r"\$\(BIN\)/appletaste (\S+)", demo)
    assert verbs == ["paper", "example", "replay", "missed", "what-if", "report"]
