"""``appletaste paper`` as a process: killed without warning, it goes on where it stopped, to the same files."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from appletaste.cli.main import main
from appletaste.paper.published import PRECISION_RECALL

#: The cheapest study: six pairings, on one process so that a kill leaves no worker behind.
COMMAND = ["paper", "--only", "estimators", "--replications", "3", "--jobs", "1", "--seed", "7"]


def start(out):
    return subprocess.Popen(
        [sys.executable, "-m", "appletaste", *COMMAND, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def files(folder):
    """Every file but the one that says how long it took."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found.pop("timing.json")
    return {name: content for name, content in found.items() if not name.endswith(".part")}


def stored(out):
    return len(list((out / "pairings").glob("[!.]*.parquet"))) if (out / "pairings").exists() else 0


def test_killed_at_any_moment_it_resumes_to_the_same_files(tmp_path, capsys):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert main([*COMMAND, "--out", str(whole)]) == 0
    for enough in (1, 6):  # kill it once so many pairings are kept, the last time while it draws
        process = start(broken)
        deadline = time.monotonic() + 60
        while stored(broken) < enough and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert stored(broken) >= min(enough, 6)
    assert main([*COMMAND, "--out", str(broken)]) == 0
    assert files(broken) == files(whole)
    timing = json.loads((broken / "timing.json").read_text())
    assert timing["replications_played"] == 0
    assert "report:" in capsys.readouterr().out


def test_a_table_by_itself_is_shown_beside_the_published_one(tmp_path, capsys):
    """The beginning of ``make demo``: problem (i), every published cell beside ours, on the terminal."""
    assert main(["paper", "--only", "table-1", "--replications", "2", "--jobs", "1", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "Table 1: problem (i)" in shown
    assert "problem (ii)" not in shown
    for policy, (precision, recall) in PRECISION_RECALL["i"].items():
        assert re.search(rf"^{policy} .* {precision:.2f} .* {recall:.2f} ", shown, re.M), policy
    assert (tmp_path / "figures" / "table-1.svg").exists()
    cells = json.loads((tmp_path / "tables.json").read_text())
    assert [cell["study"] for cell in cells] == ["table-1"] * 12


def test_machines_and_mistakes(tmp_path, capsys):
    assert main([*COMMAND, "--out", str(tmp_path / "a"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []  # this study has no published cells
    for arguments, sentence in (
        (["paper", "--only", "figure-7"], "there is no study"),
        (["paper", "--replications", "1"], "replications"),
        (["paper", "--reading", "sideways"], "reading"),
        (["paper", "--jobs", "0"], "jobs"),
        (["paper", "--engine", "abacus"], "engine"),
    ):
        assert main([*arguments, "--out", str(tmp_path / "b")]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("name", ["quick", "replications", "only", "reading", "seed", "jobs", "engine", "out", "json"])
def test_its_options_are_documented(name, capsys):
    with pytest.raises(SystemExit):
        main(["paper", "--help"])
    assert f"--{name}" in capsys.readouterr().out
