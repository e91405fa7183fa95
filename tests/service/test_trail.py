"""Who opened the door is on record, bounded; and a program writes under no name but its own."""

import json
import threading

import pytest

from appletaste.cli.main import main
from appletaste.records.stores import open_store
from appletaste.service import trail
from appletaste.service.keys import Keys

from .serving import ORDERS, Running, item, new_store


@pytest.fixture
def running(tmp_path):
    store = new_store(tmp_path)
    with Running(store) as service:
        yield service
    store.close()


def entries(service, key):
    return service.ask("GET", "/v1/trail", key=key).json()["entries"]


def test_who_signs_in_is_refused_makes_and_revokes_keys_is_on_record(running, tmp_path, capsys):
    boss = running.keys.create("boss", ["admin"], by=trail.COMMAND_LINE)[0]
    made = running.ask("POST", "/v1/keys", {"name": "ann", "scopes": ["read", "review"]}, key=boss).json()
    person = running.sign_in(made["secret"])
    assert running.ask("DELETE", "/v1/session", headers=person).status == 204
    for k in range(300):
        assert running.ask("POST", "/v1/session", {"key": f"at_guess{k}"}).status == 401
        assert running.ask("GET", ORDERS, key=f"at_guess{k}").status == 401
    assert running.ask("DELETE", f"/v1/keys/{made['key']['id']}", key=boss).status == 200
    told = entries(running, boss)
    ours = [(entry["what"], entry.get("who", ""), entry.get("by", ""), entry.get("count", 1)) for entry in told[::-1]]
    refused = [("sign-in refused", "", "", 300), ("key refused", "", "", 300)]
    assert [one for one in ours if one not in refused] == [
        ("key made", "boss", "the command line", 1),
        ("key made", "ann", "boss", 1),
        ("signed in", "ann", "", 1),
        ("signed out", "ann", "", 1),
        ("key revoked", "ann", "boss", 1),
    ]
    assert sorted(one for one in ours if one in refused) == sorted(refused)
    assert {entry["address"] for entry in told if entry["what"] in ("signed in", "key refused")} == {"127.0.0.1"}
    assert [entry["at"] for entry in told] == sorted((entry["at"] for entry in told), reverse=True)
    assert not any("at_guess" in json.dumps(entry) or made["secret"] in json.dumps(entry) for entry in told)
    assert len(running.ask("GET", "/v1/trail?limit=2", key=boss).json()["entries"]) == 2
    assert main(["keys", "trail", "--store", str(tmp_path / "shop.db"), "--json"]) == 0  # while the file is served
    assert json.loads(capsys.readouterr().out)["entries"] == told
    assert main(["keys", "trail", "--store", str(tmp_path / "shop.db"), "--limit", "1"]) == 0
    assert told[0]["what"] in capsys.readouterr().out


def test_the_trail_is_for_those_who_make_keys(running):
    for scopes, streams, problem in ((["read", "review", "lead"], ("*",), 403), (["admin"], ("orders",), 403)):
        key = running.keys.create("x", scopes, streams)[0]
        assert running.ask("GET", "/v1/trail", key=key).status == problem
    assert running.ask("GET", "/v1/trail").status == 401


def test_the_trail_is_bounded_and_knocking_takes_no_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(trail, "MOST", 50)
    monkeypatch.setattr(trail, "SWEPT", 10)
    store = open_store(tmp_path / "shop.db")
    kept = trail.Trail(store)

    def knock(number):
        for k in range(500):
            kept.refuse(trail.REFUSED_KEY, f"10.0.{number}.{k}")

    threads = [threading.Thread(target=knock, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.values(trail.SPACE) == {}
    kept.keep_refused()
    assert len(store.values(trail.SPACE)) <= trail.ADDRESSES + 1
    assert sum(entry.count for entry in kept.latest(100)) == 2000
    for k in range(200):
        kept.note(trail.SIGNED_IN, who=str(k))
    assert len(store.values(trail.SPACE)) <= 60
    assert [entry.who for entry in kept.latest(3)] == ["199", "198", "197"]
    store.close()


def test_what_cannot_be_written_down_is_not_done(tmp_path, monkeypatch):
    store = open_store(tmp_path / "shop.db")
    keys = Keys(store)
    _, key = keys.create("ann", ["review"])

    def fail(*given):
        raise OSError("no room")

    monkeypatch.setattr(keys.trail, "note", fail)
    with pytest.raises(OSError, match="no room"):
        keys.create("ben", ["review"])
    with pytest.raises(OSError, match="no room"):
        keys.revoke(key.id)
    assert [one.name for one in keys.all()] == ["ann"]
    assert keys.opens(key.id)
    store.close()


def test_a_program_acts_under_its_own_name_and_says_for_whom(running):
    shop, _ = running.keys.create("shop", ["decide", "label", "correct", "review", "read"])
    boss, _ = running.keys.create("boss", ["label", "review", "read", "admin"])
    path = ORDERS + "/decisions/t1"
    assert running.ask("POST", ORDERS + "/decisions", {"id": "t1", "item": item(1)}, key=shop).status == 201
    for key, said, kept in (
        (shop, "Ann", "Ann (says shop)"),
        (shop, "shop", "shop"),
        (shop, None, "shop"),
        (shop, "Ann (says boss)", "Ann (says boss) (says shop)"),
        (boss, "Ann", "Ann"),  # who could make a key of that name
    ):
        body = {"text": "odd"} if said is None else {"text": "odd", "by": said}
        assert running.ask("POST", path + "/notes", body, key=key).status == 201
        assert running.ask("GET", path, key=shop).json()["notes"][-1]["by"] == kept
    label = {"value": 1, "source": "Ann"}
    assert running.ask("PUT", path + "/label", label, key=shop).status == 200
    assert running.ask("GET", path, key=shop).json()["labelled_by"] == "Ann (says shop)"
