"""Alarms and health: raised as a watch raises them, acknowledged once, and the same after a restart."""

import sqlite3
import threading
import time
from contextlib import closing

import numpy as np

import appletaste as at
from appletaste.drift import Watch
from appletaste.records.stores import open_store
from appletaste.service.review.health import store_of

from .serving import Running, new_store

PATH = "/v1/streams/shift"


def shifted(place):
    """Make a stream whose second feature moves after 1,500 items, and return its items."""
    rng = np.random.default_rng(3)
    items = [rng.normal([0.0, 1.5 if k >= 1500 else 0.0]) for k in range(2600)]
    policy = at.policy("never", n_features=2, costs=at.Costs(5, 1, 0))
    with at.Stream.create(place, "shift", policy, seed=1) as stream, stream.group():
        for k, x in enumerate(items):
            stream.decide(x, id=str(k), time=f"2024-05-{1 + k // 100:02d}T00:{k % 60:02d}:00")
    return items


def test_alarms_are_those_of_a_watch_and_are_acknowledged_once(tmp_path):
    watch, place = Watch(), tmp_path / "shop.db"
    for x in shifted(place):
        watch.item(x)
    (ours,) = watch.alarms
    store = open_store(place)
    with Running(store) as service:
        ann, bob = (service.keys.create(name, ["read", "review", "admin"])[0] for name in ("ann", "bob"))
        told = service.ask("GET", PATH + "/alarms", key=ann).json()
        (alarm,) = told["alarms"]
        assert (alarm["column"], alarm["acknowledged"], told["items"]) == (
            "feature 2",
            None,
            2600,
        )  # as the case calls it
        assert (alarm["statistic"], alarm["threshold"], alarm["item"]) == (ours.statistic, ours.threshold, ours.item)
        assert (alarm["what"], alarm["remedy"], alarm["until"]) == (ours.meaning, ours.advice, ours.until)
        assert alarm["raised"].startswith("2024-05-2")
        way = f"{PATH}/alarms/{alarm['id']}/acknowledge"
        first = service.ask("POST", way, {"text": "a new price list"}, key=ann).json()["acknowledged"]
        assert (first["by"], first["text"]) == ("ann", "a new price list")
        assert service.ask("POST", way, {"text": "mine"}, key=bob).json()["acknowledged"] == first
        events = service.ask("GET", PATH + "/log", key=ann).body.decode().splitlines()
        assert sum("alarm acknowledged" in event for event in events) == 1
        assert '"kind":"noted"' in events[-1]
        assert '"by":"ann"' in events[-1]
        assert service.ask("POST", f"{PATH}/alarms/x/acknowledge", {}, key=ann).problem == "unknown-alarm"
    with Running(store) as service:  # another process reads the record again
        (again,) = service.ask("GET", PATH + "/alarms", key=ann).json()["alarms"]
        assert again == {**alarm, "acknowledged": first}
        assert service.ask("POST", PATH + "/verify", key=ann).json()["verifies"]
    store.close()


def test_labels_that_are_not_what_the_model_expects(tmp_path):
    rng = np.random.default_rng(1)
    policy = at.policy("voi", n_features=2, costs=at.Costs(5, 1, 0))
    store = open_store(tmp_path / "labels.db")
    with at.Stream.create(store, "shift", policy, seed=2) as stream, stream.group():
        for k in range(900):
            x, changed = rng.normal(size=2), k > 600
            when, way = f"2024-05-{1 + k // 100:02d}T00:00:{k % 60:02d}", "voucher" if k % 2 else "card"
            if stream.decide([1.0, x[1]], id=str(k), time=when, stratum=way).act:
                stream.label(str(k), int(rng.random() < (0.95 if changed and way == "voucher" else 0.25)))
    with Running(store) as service:
        found = service.ask("GET", PATH + "/alarms", key=service.key()).json()
    store.close()
    late = [alarm for alarm in found["alarms"] if alarm["since"] > 500]
    beginning = [alarm for alarm in found["alarms"] if alarm["since"] <= 500]
    assert all(alarm["segment"] is None for alarm in beginning)
    assert late
    assert late[0]["column"] is None
    assert "more positives" in late[0]["what"]
    assert late[0]["change"] in late[0]["what"]
    assert late[0]["segment"].startswith("most of all 'voucher'")  # and not 'card', which is as it was
    assert "2024-05-06" <= late[0]["since_day"] <= "2024-05-08"  # a day, and no number that nobody can look up
    assert "audit" in late[0]["remedy"]
    assert "2,000" in found["notes"][0]  # columns are not watched yet


def test_an_alarm_that_later_labels_take_back_is_said_to_be_and_drift_agrees(tmp_path):
    """Positives are told at once, negatives much later: at first the model seems wrong, and was not."""
    rng = np.random.default_rng(1)
    policy, store = at.policy("voi", n_features=1, costs=at.Costs(5, 1, 0)), open_store(tmp_path / "labels.db")
    with at.Stream.create(store, "shift", policy, seed=2) as stream, stream.group():
        acted = [str(k) for k in range(600) if stream.decide([1.0], id=str(k)).act]
    with Running(store) as service:
        key = service.key()

        def told():
            alarms = service.ask("GET", PATH + "/alarms", key=key).json()["alarms"]
            drift = service.ask("GET", PATH + "/drift", key=key).json()
            standing = [alarm for alarm in alarms if alarm["stands"]]
            assert [alarm["statistic"] for alarm in drift["alarms"]] == [a["statistic"] for a in standing[::-1]]
            assert bool(len(alarms) - len(standing)) == any("took back" in note for note in drift["notes"])
            return alarms, standing

        def label(ids, value):
            batch = [{"id": id_, "value": value} for id_ in ids]
            for start in range(0, len(batch), 1000):
                sent = service.ask("POST", PATH + "/labels:batch", {"labels": batch[start : start + 1000]}, key=key)
                assert sent.status == 200

        outcomes = {id_: int(rng.random() < 0.5) for id_ in acted}
        label([id_ for id_, value in outcomes.items() if value], 1)
        alarms, standing = told()
        assert len(standing) == len(alarms) >= 1
        assert all("more positives" in alarm["what"] for alarm in alarms)
        label([id_ for id_, value in outcomes.items() if not value], 0)
        after, standing = told()
        back = [alarm for alarm in after if alarm["id"] in {a["id"] for a in alarms}]
        assert [alarm["stands"] for alarm in back] == [False] * len(alarms)
        assert all(alarm["remedy"].startswith("Taken back") for alarm in back)
    store.close()


def test_a_clock_that_was_set_is_an_alarm(tmp_path, monkeypatch):
    store, day, wall = open_store(tmp_path / "clock.db"), 86_400, time.time_ns
    with Running(store) as service:
        key = service.key()
        sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
        assert (
            service.ask("POST", "/v1/streams", {"name": "shift", "n_features": 1, "costs": sheet}, key=key).status
            == 201
        )
        assert service.ask("POST", PATH + "/decisions", {"id": "a", "item": [1.0]}, key=key).status == 201
        monkeypatch.setattr("appletaste.records.timepiece.time.time_ns", lambda: wall() + 10 * day * 10**9)
        assert service.ask("POST", PATH + "/decisions", {"id": "b", "item": [2.0]}, key=key).status == 201
        (alarm,) = service.ask("GET", PATH + "/alarms", key=key).json()["alarms"]
        assert (alarm["what"][:52], alarm["stands"]) == ("the clock of the machine was set forward by 10 days ", True)
        assert service.ask("GET", PATH + "/drift", key=key).json()["alarms"][0]["kind"] == "clock"
        monkeypatch.undo()
        told = service.ask("POST", PATH + "/decisions", {"id": "c", "item": [3.0]}, key=key).json()
        assert abs(at.times.instant(told["time"]) - time.time()) < 60
        alarms = service.ask("GET", PATH + "/alarms", key=key).json()["alarms"]
        assert ["back" in alarm["what"] for alarm in alarms] == [True, False]
        assert len({alarm["id"] for alarm in alarms}) == 2
        assert service.ask("POST", PATH + "/verify", key=key).json()["verifies"]
    store.close()


def test_how_far_the_record_is_read(ask, desk_service):
    path = "/v1/streams/orders"
    ask("GET", path + "/days")
    told = ask("GET", path + "/progress").json()
    assert told["read"] == told["events"] == ask("GET", path).json()["events"]


def test_health(ask, desk_service):
    path = "/v1/streams/people"
    fresh = ask("GET", path + "/health").json()
    assert (fresh["mode"]["mode"], fresh["mode"]["by"], fresh["verified"], fresh["events"]) == ("live", "", None, 1)
    assert (fresh["store"], fresh["trouble"], fresh["pending"]) == ("SQLite, a file", None, 0)
    assert ask("POST", path + "/mode", {"mode": "shadow", "by": "ann", "reason": "a trial"}).status == 200
    item = {"age": 40, "job": "pilot"}
    assert ask("POST", path + "/decisions", {"id": "h", "item": item, "baseline": True}).status == 201
    assert ask("POST", path + "/verify").json()["verifies"]
    told = ask("GET", path + "/health").json()
    assert (told["mode"]["mode"], told["mode"]["by"], told["mode"]["reason"]) == ("shadow", "ann", "a trial")
    assert told["mode"]["since"] > fresh["mode"]["since"]
    assert (told["verified"]["verifies"], told["verified"]["events"]) == (True, 4)
    assert told["commits"]["count"] >= 2
    assert 0.0 < told["commits"]["median"] <= told["commits"]["most"]
    assert told["pending"] == 1
    assert ask("POST", path + "/mode", {"mode": "live", "by": "ann"}).status == 200


def test_a_record_is_checked_while_decisions_go_on(ask, desk_service):
    path, told = "/v1/streams/shop", []
    checking = threading.Thread(target=lambda: told.append(ask("POST", path + "/verify").json()))
    checking.start()
    item, answers = {"amount": 50.0, "country": "DE", "items": 1.0}, 0
    while checking.is_alive():
        body = {"id": f"during-{answers}", "item": item, "time": "2024-06-20T00:00:00"}
        assert ask("POST", path + "/decisions", body).status == 201
        answers += 1
    checking.join()
    assert answers > 1
    assert told[0]["verifies"]
    whole = ask("POST", path + "/verify").json()["events"]
    assert whole - answers <= told[0]["events"] < whole  # those that were there when it began


def test_a_record_that_was_changed_is_found_and_said(tmp_path):
    store = new_store(tmp_path)
    with Running(store) as service:
        key, path = service.key(), "/v1/streams/orders"
        for k in range(5):
            service.ask("POST", path + "/decisions", {"id": f"c{k}", "item": [1, 2, k]}, key=key)
        assert service.ask("POST", path + "/verify", key=key).json()["verifies"]
        with closing(sqlite3.connect(tmp_path / "shop.db")) as rival:
            change = "UPDATE events SET body = CAST(body || x'00' AS BLOB) WHERE id = 'c2' AND kind = 'decided'"
            rival.execute(change)
            rival.commit()
        told = service.ask("POST", path + "/verify", key=key).json()
        assert (told["verifies"], told["first_difference"]) == (False, 4)
        health = service.ask("GET", path + "/health", key=key).json()
        assert (health["mode"]["mode"], health["mode"]["by"]) == ("safe", "appletaste")
        assert not health["verified"]["verifies"]
        assert health["trouble"]
    store.close()


def test_the_address_of_a_store_is_not_told():
    assert "secret" not in store_of("postgresql://ann:secret@db/desk")
