"""A folder of logs read by a cluster: the answers are those of this process, bit for bit."""

import json

import pytest

from appletaste.cli.main import main
from appletaste.logs import log_files

from ..unit.logs.test_scan import a_log, folder_of
from .clusters import MARKS

pytestmark = MARKS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(log_files, "GROUP", 400)  # several parts a file
        return folder_of(a_log(5000), tmp_path_factory.mktemp("june"), ".parquet")


@pytest.mark.parametrize("verb", [["missed"], ["what-if", "--threshold", "0.4"], ["drift"]])
def test_the_answers_are_the_same(kind, verb, folder, capsys):
    assert main([verb[0], str(folder), *verb[1:], "--json"]) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([verb[0], str(folder), *verb[1:], "--json", "--engine", kind, "--jobs", "2"]) == 0
    assert json.loads(capsys.readouterr().out) == here


def test_the_report_is_the_same(kind, folder, capsys, tmp_path):
    assert main(["report", str(folder), "--out", str(tmp_path / "here")]) == 0
    assert main(["report", str(folder), "--out", str(tmp_path / "there"), "--engine", kind, "--jobs", "2"]) == 0
    assert (tmp_path / "here/report.json").read_bytes() == (tmp_path / "there/report.json").read_bytes()
