"""Who may read what is kept, and under which names: secrets are for their owner alone, and a lock is of the file."""

import os
import stat
from pathlib import Path

import pytest

import appletaste as at
from appletaste import _files
from appletaste.errors import StoreError
from appletaste.records.stores import open_store
from appletaste.streams.transfer import export_stream

from .crashing import COSTS, ITEMS, player
from .rows import filled

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(folder).iterdir()}


@pytest.fixture(params=[0o000, 0o022], ids=["no umask", "usual umask"], autouse=True)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.fixture
def before_the_rename(monkeypatch):
    """Return the modes of files aside, as they are just before each is renamed."""
    seen, usual = [], Path.replace

    def replace(path, target):
        seen.append(stat.S_IMODE(path.stat().st_mode))
        return usual(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    return seen


def test_a_store_its_log_of_writes_its_lock_and_its_copy(tmp_path, before_the_rename):
    store = open_store(tmp_path / "shop.db")
    filled(store)
    store.backup(tmp_path / "copy.db")
    reading = open_store(tmp_path / "copy.db", read_only=True)
    assert reading.open("orders").head().seq == 6
    found = modes(tmp_path)
    assert {"shop.db", "shop.db-wal", "shop.db-shm", ".shop.db.lock", "copy.db"} <= set(found)
    assert set(found.values()) == {0o600}
    assert before_the_rename == [0o600]
    reading.close()
    store.close()


def test_a_copy_is_private_while_it_is_written(tmp_path, monkeypatch):
    store = open_store(tmp_path / "shop.db")
    filled(store)
    seen = {}

    def fsync(file):
        seen.update(modes(tmp_path))

    monkeypatch.setattr(os, "fsync", fsync)
    store.backup(tmp_path / "copy.db")
    assert [mode for name, mode in seen.items() if name.endswith(".part")] == [0o600]
    store.close()


def test_saved_files(tmp_path, before_the_rename):
    features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    policy = at.policy(n_features=features.n_features, costs=COSTS)
    policy.save(tmp_path / "policy.at")
    features.save(tmp_path / "map.at")
    policy.save(tmp_path / "people.at", features)
    stream = at.Stream.create("memory", "orders", player(), seed=6)
    for k in range(3):
        stream.decide(ITEMS[k], id=str(k))
    export_stream(stream.record.place, tmp_path / "orders.stream")
    stream.log().write(tmp_path / "log.jsonl")
    stream.log().write(tmp_path / "log.parquet")
    found = modes(tmp_path)
    assert len(found) == 6
    assert set(found.values()) == {0o600}
    assert before_the_rename == [0o600] * 6
    assert at.FeatureMap.load(tmp_path / "people.at").names() == features.names()


def test_a_file_is_private_from_its_first_byte_on_and_one_that_is_there_keeps_its_mode(tmp_path):
    path = tmp_path / "map.at"
    with _files.written_aside(path, private=True) as aside:
        assert modes(tmp_path) == {aside.name: 0o600}
    path.chmod(0o640)  # for the group, as somebody chose
    with _files.written_aside(path, private=True) as aside:
        aside.write_text("again")
    assert modes(tmp_path) == {"map.at": 0o640}
    store_path = tmp_path / "shop.db"
    open_store(store_path).close()
    store_path.chmod(0o660)
    store = open_store(store_path)
    filled(store)
    assert {mode for name, mode in modes(tmp_path).items() if name.startswith("shop.db")} == {0o660}
    store.close()


def test_a_lock_goes_by_the_file_and_not_by_its_name(tmp_path):
    (tmp_path / "other").mkdir()
    alias = tmp_path / "other" / "alias.db"
    alias.symlink_to(tmp_path / "shop.db")
    store = open_store(tmp_path / "shop.db")
    filled(store)
    with pytest.raises(StoreError, match="in use by another process"):
        open_store(alias)
    looking = open_store(alias, read_only=True)
    assert looking.names() == ["orders"]
    looking.close()
    store.close()
    again = open_store(alias)
    with pytest.raises(StoreError, match="in use by another process"):
        open_store(tmp_path / "shop.db")
    assert again.names() == ["orders"]
    again.close()
    assert [path.name for path in alias.parent.iterdir()] == ["alias.db"]


def test_a_store_is_made_through_a_link_to_a_file_that_is_not_there_yet(tmp_path):
    alias = tmp_path / "alias.db"
    alias.symlink_to(tmp_path / "shop.db")
    store = open_store(alias)
    filled(store)
    store.close()
    assert alias.is_symlink()
    again = open_store(tmp_path / "shop.db", create=False)
    assert again.names() == ["orders"]
    again.close()


def test_a_file_with_a_second_name_is_not_written(tmp_path):
    """Its log of writes would go by the name: two processes would write one file without seeing each other."""
    open_store(tmp_path / "shop.db").close()
    (tmp_path / "hard.db").hardlink_to(tmp_path / "shop.db")
    for name in ("shop.db", "hard.db"):
        with pytest.raises(StoreError, match="2 names"):
            open_store(tmp_path / name)
    (tmp_path / "hard.db").unlink()
    open_store(tmp_path / "shop.db").close()
