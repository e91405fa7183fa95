"""One door to all benches: ``python -m bench NAME``, and the one target of the Makefile that opens it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import __main__ as door

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_words(monkeypatch):
    """The door changes the words and the environment of its process."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(os, "environ", os.environ.copy())


def planned(words):
    """Return what ``make bench`` would do in a new environment, once that is set up."""
    command = ["make", "-n", "-o", "setup", "-o", "new/ready", "bench", "VENV=new", f"ARGS={words}"]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # make may run the tests
    return subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", door.BENCHES)
def test_every_bench_says_what_it_takes(name, capsys):
    with pytest.raises(SystemExit, match="0"):
        door.main([name, "--help"])
    assert capsys.readouterr().out.startswith(f"usage: python -m bench {name} [-h]")


def test_the_help_lists_all_with_pages_that_name_them(capsys):
    door.main(["--help"])
    told = capsys.readouterr().out
    for name, bench in door.BENCHES.items():
        assert f"\n  {name} " in told
        assert f"{bench.measures}\n" in told
        assert f"{bench.takes}; {bench.page}\n" in told
        named = "`make bench`" if name == door.USUAL else f"make bench ARGS={name}"
        page = (ROOT / bench.page).read_text()
        assert named in page or f"make bench ARGS='{name} " in page


def test_without_a_name_it_is_speed(monkeypatch, capsys):
    from bench import speed

    monkeypatch.setattr(speed, "main", lambda: print(*sys.argv[1:]))
    for words in ([], ["--json", "here"], ["speed", "--json", "here"]):
        door.main(words)
        told = capsys.readouterr()
        assert told.out.split() == words[words[:1] == ["speed"] :]
        assert ("ARGS=--help lists them" in told.err) == (words[:1] != ["speed"])


def test_an_unknown_bench_is_refused_with_the_names():
    with pytest.raises(SystemExit, match="there is no bench 'sped'; there are speed, start, "):
        door.main(["sped"])


@pytest.mark.parametrize(("name", "threads"), [("drift", {"1"}), ("speed", {"1"}), ("logs", {None}), ("exact", {None})])
def test_threads_are_set_before_a_bench_is_imported(name, threads, monkeypatch):
    for variable in door.ONE_THREAD:
        monkeypatch.delenv(variable, raising=False)
    seen = []

    def look(_):
        seen.append({os.environ.get(variable) for variable in door.ONE_THREAD})
        return SimpleNamespace(main=lambda: None)

    monkeypatch.setattr(door, "import_module", look)
    door.main([name])
    assert seen == [threads]


def test_the_door_does_not_import_numpy():
    script = "import sys, bench.__main__; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        *((name, "touch new/peers") for name in ("peers", "files", "scale", "sensitivity")),
        ("coverage", "touch new-ope/ready"),
        ("service", "touch new/plain"),
        ("page", "touch new/browser"),
    ],
)
def test_make_installs_what_a_bench_needs(name, needed):
    assert name in door.BENCHES
    assert needed in planned(f"{name} --part x")
    assert "touch" not in planned(f"{name} --help")
    assert (".ci/browser" in planned(name)) == (name == "page")


def test_make_installs_nothing_for_others():
    for words in ("", "drift", "--help"):
        assert planned(words).strip() == f"new/bin/python -m bench {words}".strip()
