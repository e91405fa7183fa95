"""Saved policies: restored they continue bit for bit; damaged they are refused; a failed save harms nothing."""

import contextlib
import json
import math
import zipfile

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import SaveFileError

from .entries import COSTS, every, make, run, stream


@every
@pytest.mark.parametrize("stop", [0, 1, 25])
def test_saved_and_restored_it_continues_bit_for_bit(name, options, stop, tmp_path):
    items, labels = stream(3)
    whole = run(make(name, options), items, labels)
    policy = make(name, options)
    head = run(policy, items, labels, 0, stop)
    path = tmp_path / "policy.at"
    policy.save(path)
    restored = at.load(path)
    assert repr(restored) == repr(policy)
    assert restored.method == policy.method
    assert head + run(restored, items, labels, stop) == whole
    # an item decided before saving is learnt after it
    early = make(name, options)
    waiting = early.decide(items[0])
    early.save(path)
    later = at.load(path)
    if waiting.act:
        early.learn(waiting, 1)
        later.learn(waiting, 1)
    assert run(early, items, labels, 1) == run(later, items, labels, 1)
    assert list(tmp_path.iterdir()) == [path]


def test_damaged_files_are_refused(tmp_path):
    policy = make("pg-ts", {})
    run(policy, *stream(3))
    path = tmp_path / "policy.at"
    policy.save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):  # whatever byte is hit, it is said or it does not matter
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        with contextlib.suppress(SaveFileError):
            assert run(at.load(path), *stream(3)) == run(make_again(policy, tmp_path), *stream(3))
    damaged = {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "text": b"not a policy",
        "flipped": whole[:200] + bytes([whole[200] ^ 255]) + whole[201:],
        "pickle": b"\x80\x04N.",
    }
    for name, content in damaged.items():
        path.write_bytes(content)
        with pytest.raises(SaveFileError) as told:
            at.load(path)
        assert "allow_pickle" not in str(told.value)
        with pytest.raises(SaveFileError, match=r"policy\.at"):
            at.load(path)
        assert path.read_bytes() == content, name
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("other.txt", "hello")
    with pytest.raises(SaveFileError):
        at.load(path)
    header = np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, header=header)
    with pytest.raises(SaveFileError, match="format 99"):
        at.load(path)
    with pytest.raises(FileNotFoundError):
        at.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        policy.save(tmp_path / "nowhere" / "policy.at")


def make_again(policy, folder):
    policy.save(folder / "again")
    return at.load(folder / "again")


def test_a_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    policy = make("pg-ts", {})
    path = tmp_path / "policy.at"
    policy.save(path)
    before = path.read_bytes()
    policy.decide(np.ones(3))

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        policy.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_policy_of_ones_own_plays_but_is_not_saved(tmp_path):
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Coin:
        def start(self, n_features, key):
            return self

        def judge(self, x, costs, round_):
            return 0.5, {}

        def commit(self, round_, act):
            pass

        def learn(self, observation):
            pass

        def arrays(self):
            return {}

    policy = at.Policy(Coin(), n_features=5, costs=COSTS)
    trace = at.play(policy, at.problem("i").draw(at.Key(1)))
    assert abs(trace.acts.mean() - 0.5) < 4 * 0.5 / math.sqrt(500)
    with pytest.raises(SaveFileError, match="only the settings of this package"):
        policy.save(tmp_path / "coin")
