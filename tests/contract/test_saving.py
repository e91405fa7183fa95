"""Saved policies: restored they continue bit for bit; damaged they are refused; a failed save harms nothing."""

import json
import math
import zipfile

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import SaveFileError

from ..players import assert_same, state_of
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
    refused = unharmed = 0
    for place in range(0, len(whole), 7):  # whatever byte is hit, it is said or it does not matter
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5A]) + whole[place + 1 :])
        try:
            found = at.load(path)
        except SaveFileError:
            refused += 1
            continue
        assert_same(state_of(found), state_of(policy))
        unharmed += 1
    assert refused > 100
    assert unharmed > 10  # dates of a zip file, and the like: something was compared
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
    with pytest.raises(FileNotFoundError):
        at.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        policy.save(tmp_path / "nowhere" / "policy.at")


def things():
    """Return one of each kind that can be saved, at work, with the words that a file of it is called by."""
    items, _ = stream(3)
    features = at.Encoder(intercept=False).fit([{"a": float(a), "b": float(b), "c": float(c)} for a, b, c in items])
    policy, lane = make("voi", {}), at.Audit(floor=0.1, strata={"new": 0.3}, budget=at.Budget(share=0.5))
    awaiting, desk = (
        at.streams.Awaiting(make("ts", {})),
        at.Desk(at.streams.Awaiting(make("voi", {})), at.Budget(share=0.5), lane),
    )
    for player in (policy, awaiting, desk):
        for x in items[:30]:
            player.decide(x, stratum="new")
    return features, {
        "a policy": policy, "a policy that awaits labels": awaiting, "a desk": desk
    }  # fmt: skip


def rewritten(path, **changes):
    """Write a saved file with another header; None: without that entry."""
    with np.load(path) as file:
        arrays = dict(file)
    header = {**json.loads(arrays["header"].tobytes()), **changes}
    kept = {name: value for name, value in header.items() if value is not None}
    arrays["header"] = np.frombuffer(json.dumps(kept).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)


def test_one_load_for_every_kind_with_or_without_its_features(tmp_path):
    features, kinds = things()
    path, record = tmp_path / "it", {"a": 0.3, "b": -1.0, "c": 2.0}
    for thing in kinds.values():
        for kept in (None, features):
            thing.save(path, features=kept)
            found = at.load(path)
            assert type(found) is type(thing)
            assert_same(state_of(found), state_of(thing))
            if kept is None:
                with pytest.raises(SaveFileError, match=r"no feature map"):
                    at.FeatureMap.load(path)
            else:
                assert (at.FeatureMap.load(path).transform(record) == features.transform(record, update=False)).all()
        with pytest.raises(at.errors.InputError, match="vectors of 2 features, the policy takes 3"):
            thing.save(path, features=at.Encoder(intercept=False).fit([{"a": 1.0, "b": 2.0}, {"a": 2.0, "b": 1.0}]))
    features.save(path)
    assert isinstance(at.load(path), at.FeatureMap)
    assert at.load(path).header() == features.header()


def test_a_policy_saved_under_a_name_that_is_gone_is_read_and_keeps_it(tmp_path):
    """``voi[ahead=lindy]`` had a name of its own."""
    old = at.Policy(
        at.policy(n_features=1, costs=COSTS, ahead="lindy").method, n_features=1, costs=COSTS, name="voi-item"
    )
    old.decide([1.0])
    old.save(tmp_path / "old.at")
    again = at.load(tmp_path / "old.at")
    assert (again.name, again.round) == ("voi-item", 1)
    assert again.probability([0.5]) == old.probability([0.5])
    with pytest.raises(at.errors.OptionError, match=r"no policy 'voi-item' any more: say voi\[ahead=lindy\]"):
        at.policy("voi-item", n_features=1, costs=COSTS)


def test_a_file_of_another_kind_or_version_is_refused_by_what_it_is(tmp_path):
    features, kinds = things()
    path = tmp_path / "it"
    for words, thing in kinds.items():
        thing.save(path)
        rewritten(path, format=99)
        with pytest.raises(SaveFileError, match=f"it holds {words} in save format 99; this version reads format 8"):
            at.load(path)
        for old in ({"kind": None}, {"kind": None, "format": 1}, {"kind": "spaceship"}):
            thing.save(path)
            rewritten(path, **old)
            with pytest.raises(
                SaveFileError, match=r"does not say that it holds a policy, .* an older version wrote it"
            ):
                at.load(path)
        thing.save(path)
        rewritten(path, kind="desk" if words != "a desk" else "awaiting")
        with pytest.raises(SaveFileError, match="not a readable appletaste file, or is damaged"):
            at.load(path)
        rewritten(path, kind="ledger")  # as an earlier version wrote desks
        with pytest.raises(SaveFileError, match=r"desk file, or ledger, of an earlier version.*stream create"):
            at.load(path)
    features.save(path)
    rewritten(path, format=99)
    with pytest.raises(SaveFileError, match="a feature map of save format 99"):
        at.load(path)


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

    class Tosses(at.policies.Learner):
        def judge(self, x, costs, round_):
            return at.rules.Verdict(0.5, {})

        def commit(self, verdict, round_, act):
            pass

        def learn(self, observation):
            pass

        def arrays(self):
            return {}

        def restore(self, arrays):
            pass

    @dataclass(frozen=True)
    class Coin:
        def start(self, n_features, key):
            return Tosses()

    policy = at.Policy(Coin(), n_features=5, costs=COSTS)
    trace = at.play(policy, at.problem("i").draw(at.Key(1)))
    assert abs(trace.act.mean() - 0.5) < 4 * 0.5 / math.sqrt(500)
    with pytest.raises(SaveFileError, match="only the settings of this package"):
        policy.save(tmp_path / "coin")
    assert not list(tmp_path.iterdir())
    decision = policy.decide(np.ones(5))  # whatever it does not say has an honest answer
    assert math.isnan(policy.chance(np.ones(5)))
    assert (
        at.Desk(at.streams.Awaiting(policy), at.Budget(share=0.5, window=4)).decide(np.ones(5)).round
        == decision.round + 1
    )
    assert len(policy.decide_many(np.ones((3, 5)))) == 3
    with pytest.raises(at.errors.OptionError, match="Tosses keeps no labels"):
        policy.revise([])
