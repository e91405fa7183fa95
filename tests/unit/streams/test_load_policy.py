"""``at.load_policy``: the policy of a file, as type checkers know it; anything else is refused with what would do."""

import subprocess
import sys

import pytest

import appletaste as at
from appletaste.errors import SaveFileError

PROGRAM = """\
import appletaste as at

policy = at.load_policy("policy.at")
act: bool = policy.decide([1.0]).act
probability: float = policy.probability([1.0])
"""


def test_policies_are_read_and_maps_refused(tmp_path):
    policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    for player in (policy, at.streams.Awaiting(policy), at.Desk(policy)):
        player.save(tmp_path / "policy.at")
        assert type(at.load_policy(tmp_path / "policy.at")) is type(player)
    at.Encoder().fit([{"a": 1.0}, {"a": 2.0}]).save(tmp_path / "map.at")
    with pytest.raises(SaveFileError, match=r"is a feature map and no policy: at\.load reads either"):
        at.load_policy(tmp_path / "map.at")


def test_a_type_checker_knows_that_it_decides(tmp_path):
    (tmp_path / "good.py").write_text(PROGRAM)
    (tmp_path / "bad.py").write_text(PROGRAM.replace("load_policy", "load"))
    for name, code in (("good.py", 0), ("bad.py", 1)):
        told = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", tmp_path / "cache", name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert told.returncode == code, told.stdout
