"""docs/operations.md: its commands run in an empty folder, and Prometheus takes its alerts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from appletaste.cli.main import main

from .test_guide import commands

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = (DOCS / "operations.md").read_text()
ALERTS = DOCS / "operations" / "alerts.yml"


def test_every_command_runs_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    done = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.S | re.M):
        for program, *arguments in commands(block) if not language else ():
            assert program == "appletaste"
            assert main(arguments) == 0, (arguments, capsys.readouterr().err)
            done.append(" ".join(arguments[:2]))
    assert {"stream create", "stream backup", "stream verify", "stream export", "stream import"} <= set(done)
    assert (tmp_path / "backup-monday.db").stat().st_mode & 0o777 == 0o600


def test_prometheus_takes_the_alerts(tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("THE ALERTS ARE NOT CHECKED BY PROMETHEUS: there is no promtool on this machine")
    told = subprocess.run([promtool, "check", "rules", ALERTS], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    (tmp_path / "bad.yml").write_text(ALERTS.read_text().replace("rate(", "rat(", 1))
    assert subprocess.run([promtool, "check", "rules", tmp_path / "bad.yml"], capture_output=True).returncode
