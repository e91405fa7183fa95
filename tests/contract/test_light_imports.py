"""What must load little: reading a log needs no compiler."""

import subprocess
import sys

import pytest

import appletaste as at

SCRIPT = """
import sys
from appletaste.logs import DecisionLog
log = DecisionLog.read({path!r})
assert len(log) == 1
heavy = {{name.partition(".")[0] for name in sys.modules}} & {{"numba", "llvmlite", "scipy", "joblib"}}
ours = sorted(name for name in sys.modules if name.startswith("appletaste."))
print(*sorted(heavy), "|", *ours)
"""
GROUND = {
    *("errors", "costs", "costs_by_item", "formulas", "decision", "keys", "times"),
    *("_checks", "_files", "_sparse", "logs", "records"),
}


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_reading_a_log_loads_neither_numba_nor_the_rest_of_the_package(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    at.DecisionLog.from_rows([{"id": "a", "act": True, "probability": 0.5, "x": [1.0], **costs}]).write(path)
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(path=str(path))], capture_output=True, text=True, check=True
    ).stdout
    heavy, ours = found.split("|")
    assert not heavy.strip()
    assert {name.split(".")[1] for name in ours.split()} <= GROUND
