"""Without its library an adapter says what to install; with all of them nothing is loaded before it is asked for."""

import subprocess
import sys
from importlib import import_module

import pytest

import appletaste as at

LIBRARIES = ["sklearn", "river", "gymnasium"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_missing_library_is_named(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setitem(sys.modules, f"{library}.base", None)
    monkeypatch.delitem(sys.modules, f"appletaste.adapters.{library}", raising=False)
    with pytest.raises(at.errors.MissingExtraError, match=rf"pip install 'appletaste\[{library}\]'"):
        import_module(f"appletaste.adapters.{library}")


def test_arviz_is_named_when_it_is_needed(monkeypatch):
    from appletaste.adapters.arviz import to_arviz

    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(at.errors.MissingExtraError, match=r"pip install 'appletaste\[arviz\]'"):
        to_arviz(([[1.0]], [1]))


@pytest.mark.parametrize(
    ("library", "module", "extra"),
    [
        ("apsw", "appletaste.records.stores.sqlite_stream", "stream"),
        ("psycopg", "appletaste.records.stores.connections", "postgres"),
    ],
)
def test_what_a_store_needs_is_named(library, module, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(at.errors.MissingExtraError, match=rf"pip install 'appletaste\[{extra}\]'"):
        import_module(module)


def test_nothing_is_loaded_before_it_is_asked_for():
    script = f"""
import sys, appletaste as at, appletaste.adapters
at.policy(n_features=1, costs=at.Costs(1, 1, 0)), at.play, at.replay, at.problem
print([name for name in {[*LIBRARIES, "arviz", "apsw", "psycopg"]} if name in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
