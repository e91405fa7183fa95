"""A store that is looked at where nothing can be written, and one that cannot be locked."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import StoreError
from appletaste.records.stores import open_store

from .crashing import COSTS, ITEMS, player

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
#: Looks at a store as somebody who may write nothing there.
LOOKING = """
import os, sys
from appletaste.cli.main import main
verbs = (["stream", "show"], ["stream", "verify"], ["missed"])
for verb in verbs:  # what is needed is loaded while the modules can be read
    main([*verb, sys.argv[2]])
print("=====")
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
for verb in verbs:
    code = main([*verb, sys.argv[1]])
    if code:
        sys.exit(code)
"""


@pytest.fixture
def copy(tmp_path):
    """A store on a medium that nobody can write to."""
    store = open_store(tmp_path / "shop.db")
    with at.Stream.create(store, "orders", player(), seed=6) as stream:
        for k in range(30):
            if stream.decide(ITEMS[k], id=str(k)).act:
                stream.label(str(k), k % 2)
    folder = Path(tempfile.mkdtemp())  # which others may enter, unlike what pytest makes
    store.backup(folder / "copy # 1.db")
    store.close()
    (folder / "copy # 1.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder / "copy # 1.db", tmp_path / "shop.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


def look(path, other):
    command = [sys.executable, "-c", LOOKING, str(path), str(other)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.returncode, told.stdout.partition("=====")[2], told.stderr


def test_a_copy_on_read_only_media_is_shown_and_verified(copy):
    copy, other = copy
    code, told, errors = look(copy, other)
    assert code == 0, errors
    assert "bit for bit" in told
    assert [path.name for path in copy.parent.iterdir()] == ["copy # 1.db"]


def test_last_writes_that_cannot_be_read_there_are_not_left_out_unsaid(copy):
    copy, other = copy
    copy.parent.chmod(0o755)
    copy.with_name("copy # 1.db-wal").write_bytes(b"x" * 100)
    copy.with_name("copy # 1.db-wal").chmod(0o444)
    copy.parent.chmod(0o555)
    code, _, errors = look(copy, other)
    assert code == 3, errors
    assert "copy both files" in errors


def test_a_store_that_cannot_be_locked_cannot_be_used(tmp_path, capsys):
    at.Stream.create(tmp_path / "shop.db", "orders", player()).close()
    (tmp_path / ".shop.db.lock").unlink()
    (tmp_path / ".shop.db.lock").mkdir()  # nobody can open it for writing, the administrator neither
    with pytest.raises(StoreError, match="cannot be locked"):
        open_store(tmp_path / "shop.db")
    assert main(["decide", str(tmp_path / "shop.db"), "--id", "a", "[0.5, 1.0]"]) in (2, 3)
    assert main(["keys", "create", "me", "--store", str(tmp_path / "shop.db"), "--scope", "admin"]) == 3
    assert "cannot be locked" in capsys.readouterr().err
    assert main(["stream", "show", str(tmp_path / "shop.db")]) == 0  # to look needs no lock


def test_a_stream_of_vectors_says_that_nothing_is_added_to_them(tmp_path, capsys):
    address = str(tmp_path / "shop.db")
    assert (
        main(
            ["stream", "create", address, "--stream", "a", "--n-features", "3", "--costs", "miss=5,false_alarm=1,hit=0"]
        )
        == 0
    )
    assert "note: items are vectors, and nothing is added to them" in capsys.readouterr().err
    stream = at.Stream.create("memory", "b", at.policy("voi", n_features=2, costs=COSTS))
    assert "intercept" in stream.notes[0]
    assert at.Stream.create("memory", "c", at.policy("never", n_features=2, costs=COSTS)).notes == []
    features = at.Encoder().fit([{"age": 30}, {"age": 50}])
    policy = at.policy("voi", n_features=features.n_features, costs=COSTS)
    assert at.Stream.create("memory", "d", policy, features=features).notes == []
