"""Hooks: signed, in order, without gaps, and nothing is lost, whatever is killed, fails or is slow."""

import asyncio
import json
import os
import random
import signal
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import InputError, OptionError
from appletaste.records.events import Decided
from appletaste.records.stores import open_store
from appletaste.service import courier, posting, read_hook
from appletaste.service.hooks import CURSORS, EVENTS, Cursor, Hook, cursor_of, next_part, read_hooks, register
from appletaste.service.posting import PostingError, post
from appletaste.service.server import Server
from appletaste.service.signatures import SIGNATURE, TIMESTAMP, signature_of

from .receivers import SECRET, Receiver
from .serving import ORDERS, Running, ask, item, new_store, secret_of

#: Services that are killed side by side, and how often each is.
SERVICES, KILLS = (4, 25) if os.environ.get("APPLETASTE_KILLS") else (1, 2)


@pytest.fixture
def receiver():
    found = Receiver()
    yield found
    found.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(courier, "FIRST", 0.1)


class Hooked(Running):
    """A service with hooks."""

    def __init__(self, store, *hooks):
        super().__init__(store)
        self.server = Server(store, port=0, log=False, hooks=hooks)
        self.app = self.server.app
        self.thread = threading.Thread(target=self.server.run)


def hook(receiver, name="ops", events=tuple(EVENTS), secret=SECRET):
    return Hook(name, receiver.url, secret, events, private=True)


def until(holds, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def decide(service, key, *numbers):
    decisions = [{"id": f"c{k}", "item": item(k)} for k in numbers]
    found = service.ask("POST", ORDERS + "/decisions:batch", {"decisions": decisions}, key).json()
    return [one["body"]["id"] for one in found["results"] if one["body"]["act"]]


# ---- what is told


def test_everything_that_happens_is_told_in_order_and_once(tmp_path, receiver):
    store = new_store(tmp_path)
    with Hooked(store, hook(receiver)) as service:
        key = service.key()
        acts = decide(service, key, *range(30))
        service.ask("POST", f"{ORDERS}/decisions/{acts[0]}/escalation", {"text": "look"}, key)
        service.ask("POST", f"{ORDERS}/decisions/{acts[0]}/notes", {"text": "no escalated case"}, key)
        service.ask("PUT", f"{ORDERS}/decisions/{acts[1]}/label", {"value": 1}, key)
        service.ask("DELETE", f"{ORDERS}/decisions/{acts[1]}/label", None, key)
        service.ask("PUT", f"{ORDERS}/decisions/{acts[2]}/enacted", {"act": False}, key)
        service.ask("PUT", f"{ORDERS}/decisions/{acts[2]}/enacted", {"act": True}, key)
        service.ask("PUT", f"{ORDERS}/decisions/{acts[2]}/enacted", {"act": True}, key)  # waited for already
        service.ask("POST", f"{ORDERS}/mode", {"mode": "frozen"}, key)
        service.ask("POST", f"{ORDERS}/mode", {"mode": "safe"}, key)
        until(lambda: receiver.came and receiver.came[-1]["event"] == "safe-mode")
    assert receiver.numbers() == list(range(1, len(receiver.came) + 1))
    events = [(one["event"], one.get("id")) for one in receiver.came]
    expected = []
    for k in range(30):
        expected += [("decision", f"c{k}"), *([("label-awaited", f"c{k}")] if f"c{k}" in acts else [])]
    expected += [("escalation", acts[0]), ("label-awaited", acts[1]), ("label-awaited", acts[2]), ("safe-mode", "")]
    assert [(name, id_ or "") for name, id_ in events] == expected
    assert receiver.refused == 0
    assert all("x" not in one and "record" not in one for one in receiver.came)  # features stay
    store.close()


def test_a_record_that_does_not_verify_is_told(tmp_path, receiver):
    store = new_store(tmp_path)
    with Hooked(store, hook(receiver, events=("verification-failed",))) as service:
        key = service.key()
        decide(service, key, *range(5))
        with store.writing() as connection:
            change = "UPDATE events SET body = CAST(body || x'00' AS BLOB) WHERE id = 'c2' AND kind = 'decided'"
            connection.execute(change)
        assert not service.ask("POST", f"{ORDERS}/verify", None, key).json()["verifies"]
        until(lambda: receiver.came)
    assert [(one["event"], one["number"]) for one in receiver.came] == [("verification-failed", 1)]
    assert "does not verify" in receiver.came[0]["reason"]
    store.close()


def test_alarms_are_told_when_they_are_raised(tmp_path, receiver):
    """Labels that turn: the alarm that the page has is the one that the hook is told, with the event that raised it."""
    store = new_store(tmp_path)
    with Hooked(store, hook(receiver, events=("alarm",))) as service:
        key = service.key()
        for k in range(0, 600, 50):
            acts = decide(service, key, *range(k, k + 50))
            value = 0 if k < 300 else 1
            labels = [{"id": one, "value": value} for one in acts]
            service.ask("POST", ORDERS + "/labels:batch", {"labels": labels}, key) if labels else None
        known = service.ask("GET", ORDERS + "/alarms", None, key).json()["alarms"]
        assert known
        until(lambda: len(receiver.came) == len(known))
    assert [one["id"] for one in receiver.came] == [one["id"] for one in reversed(known)]
    assert all(one["what"] and one["remedy"] and one["seq"] > 1 for one in receiver.came)
    store.close()


def test_in_shadow_mode_what_is_awaited_is_what_the_caller_does(monkeypatch):
    stream = at.Stream.create(
        "memory",
        "orders",
        at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0)),
        mode="shadow",
    )
    stream.decide([1.0], id="a", baseline=False)
    stream.decide([1.0], id="b", baseline=True)
    place, last = stream.record.place, len(stream)
    found = next_part(place, Cursor(), last, set(EVENTS), list)
    assert [(one["event"], one["id"]) for one in found.told] == [
        ("decision", "a"), ("decision", "b"), ("label-awaited", "b"),
    ]  # fmt: skip
    stepped, cursor = [], Cursor()  # however few events are read at a time, the numbers are the same
    monkeypatch.setattr("appletaste.service.hooks.MOST", 1)
    monkeypatch.setattr("appletaste.service.hooks.PART", 2)
    while cursor.seq < last:
        part = next_part(place, cursor, last, set(EVENTS), list)
        stepped += part.told
        cursor = Cursor(part.seq, cursor.number + len(part.told))
    assert stepped == found.told


def test_a_hook_begins_when_it_is_named(tmp_path, receiver):
    store = new_store(tmp_path)
    with Running(store) as service:
        decide(service, service.key(), *range(10))
    with Hooked(store, hook(receiver, events=("decision",))) as service:
        decide(service, service.key(), *range(10, 15))
        until(lambda: len(receiver.came) == 5)
    assert [(one["number"], one["id"]) for one in receiver.came] == [(k - 9, f"c{k}") for k in range(10, 15)]
    with pytest.raises(OptionError, match="give the hook another name"):
        register(store, hook(receiver, events=("alarm",)))
    late = Hook("late", receiver.url, SECRET, private=True)
    with at.Stream.open(store, "orders") as stream:
        middle = list(stream.record.place.read(0))[7]
        stamp = at.records.codec.stamp_of(middle.kind, middle.body).at
        assert cursor_of(store, late, stamp, stream.record.place) == Cursor(7, 0)
    store.close()


# ---- receivers that fail


def test_a_receiver_that_fails_hears_all_in_order_and_holds_nobody_else(tmp_path):
    chance = random.Random(5)
    failing = Receiver(lambda told, before: chance.choice([204, 500, 400, 302, 429]))
    down, quiet = Receiver(lambda told, before: 503), Receiver()
    store = new_store(tmp_path)
    with Hooked(store, hook(failing, "failing"), hook(down, "down"), hook(quiet, "quiet")) as service:
        key = service.key()
        for k in range(0, 300, 10):
            decide(service, key, *range(k, k + 10))
        until(lambda: len({one.get("id") for one in quiet.came}) == 300)
        assert not down.came
        until(lambda: len(failing.came) == len(quiet.came))
    assert failing.came == quiet.came != []
    assert failing.numbers() == list(range(1, len(failing.came) + 1))
    statuses = [status for _, status, _ in failing.deliveries]
    assert {204, 500, 400, 302} <= set(statuses)
    assert "redirected" not in failing.came
    tries = [at_ for _, _, at_ in down.deliveries]
    pauses = [later - earlier for earlier, later in pairwise(tries)]
    assert pauses == sorted(pauses) or pauses[-1] > 2 * pauses[0]  # longer and longer
    for one in (failing, down, quiet):
        one.close()
    store.close()


def test_a_slow_receiver_holds_nobody_and_is_not_waited_for_at_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(posting, "SECONDS", 1.0)
    free = threading.Event()
    slow, quiet = Receiver(lambda told, before: (free.wait(20) and 204) or 204), Receiver()
    store = new_store(tmp_path)
    with Hooked(store, hook(slow, "slow"), hook(quiet, "quiet")) as service:
        decide(service, service.key(), *range(20))
        until(lambda: len({one.get("id") for one in quiet.came}) == 20)
        assert not slow.came
        ended = time.monotonic()
    assert time.monotonic() - ended < 15
    free.set()
    with Hooked(store, hook(slow, "slow")):  # what was left is told by the next process
        until(lambda: len(slow.first()) == len(quiet.first()))
    assert slow.first() == quiet.first()
    for one in (slow, quiet):
        one.close()
    store.close()


def test_pauses_double_up_to_five_minutes():
    most = [max(courier.pause(tries) for _ in range(200)) for tries in range(40)]
    least = [min(courier.pause(tries) for _ in range(200)) for tries in range(40)]
    bounds = [min(courier.FIRST * 2.0**tries, 300.0) for tries in range(40)]
    assert all(bound / 2 <= low < high <= bound for low, high, bound in zip(least, most, bounds, strict=True))


# ---- kills


def test_killed_at_any_moment_every_number_arrives_and_says_the_same(tmp_path):
    with ThreadPoolExecutor(SERVICES) as many:
        again = list(many.map(kill_again_and_again, [tmp_path / str(k) for k in range(SERVICES)], range(SERVICES)))
    print(f"{SERVICES * KILLS} kills, {sum(again)} events told again")


def kill_again_and_again(folder, number):
    """Kill a service while it decides and tells; compare what was told with the record; return what was told twice."""
    folder.mkdir()
    chance, receiver = random.Random(number), Receiver()
    store = new_store(folder)
    key = secret_of(store)
    store.close()
    (folder / "secret").write_text(SECRET + "\n")
    done = 0
    for kill in range(KILLS + 1):
        command = [sys.executable, "-m", "appletaste", "serve", "--store", str(folder / "shop.db"), "--port", "0"]
        command += ["--json", "--hook", f"ops={receiver.url}", "--hook-secret", f"ops={folder / 'secret'}"]
        command += ["--hook-events", "ops=decision,label-awaited", "--allow-private-hooks"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        told = ""
        while not told.rstrip().endswith("}"):
            told += process.stdout.readline()
        port = json.loads(told)["port"]
        stop = time.monotonic() + chance.uniform(0.05, 0.5)
        while time.monotonic() < stop:
            decisions = [{"id": f"c{k}", "item": item(k)} for k in range(done, done + 5)]
            assert ask(port, "POST", ORDERS + "/decisions:batch", {"decisions": decisions}, key).status == 200
            done += 5
        if kill == KILLS:
            until(lambda done=done: len({one["id"] for one in receiver.came}) == done, 120)
            process.terminate()
        else:
            process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    found = receiver.first()
    assert sorted(found) == list(range(1, len(found) + 1))  # without gaps
    with at.Stream.open(folder / "shop.db", "orders") as stream:
        decided = [(seq, event) for seq, event in stream.events() if isinstance(event, Decided)]
    expected = [
        (seq, name) for seq, event in decided for name in ("decision", "label-awaited")[: 1 + event.decision.act]
    ]
    assert [(found[k]["seq"], found[k]["event"]) for k in sorted(found)] == expected
    seen = 0
    for one in receiver.numbers():  # never one before those in front of it were heard
        assert one <= seen + 1
        seen = max(seen, one)
    receiver.close()
    assert receiver.refused == 0
    return len(receiver.came) - len(found)


# ---- signatures


def test_only_who_has_the_secret_can_sign_and_only_now():
    body, now = b'{"events": []}', str(int(time.time()))
    good = {TIMESTAMP: now, SIGNATURE: signature_of(body, now, SECRET)}
    assert read_hook(body, good, SECRET) == {"events": []}
    old = str(int(time.time()) - 1000)
    wrong = [
        (body + b" ", good, SECRET),
        (body, good, SECRET + "x"),
        (body, {**good, TIMESTAMP: str(int(now) + 1)}, SECRET),
        (body, {**good, SIGNATURE: good[SIGNATURE].replace("v1=", "")}, SECRET),
        (body, {TIMESTAMP: now}, SECRET),
        (body, {}, SECRET),
        (body, {TIMESTAMP: old, SIGNATURE: signature_of(body, old, SECRET)}, SECRET),
        (body, {TIMESTAMP: "١٢", SIGNATURE: good[SIGNATURE]}, SECRET),
        (body, {TIMESTAMP: now, SIGNATURE: "v1=ü"}, SECRET),
    ]
    for told in wrong:
        with pytest.raises(InputError, match="401"):
            read_hook(*told)
    assert read_hook(body, {TIMESTAMP: old, SIGNATURE: signature_of(body, old, SECRET)}, SECRET, tolerance=2000)


def test_a_receiver_with_another_secret_takes_nothing(tmp_path, receiver):
    store = new_store(tmp_path)
    with Hooked(store, hook(receiver, secret="another secret of the tests")) as service:
        decide(service, service.key(), 1)
        until(lambda: receiver.refused > 1)
    assert not receiver.came
    assert json.loads(store.get(CURSORS.format("ops"), "orders"))["number"] == 0
    store.close()


# ---- addresses


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://127.0.0.1/", "private network"),
        ("https://[::1]/", "private network"),
        ("https://[::ffff:10.1.2.3]/", "private network"),
        ("https://169.254.169.254/latest", "private network"),
        ("https://192.168.0.1/", "private network"),
        ("https://0.0.0.0/", "private network"),
        ("https://[64:ff9b::7f00:1]/", "private network"),
        ("http://example.com/", "begins with https"),
        ("ftp://example.com/", "an address is"),
        ("https://user:password@example.com/", "an address is"),
        ("https://example.com:99999/", "an address is"),
        ("https://", "an address is"),
        ("https://example.com/a b", "an address is"),
        ("https://example.com/\r\nHost: x", "an address is"),
    ],
)
def test_addresses_that_are_refused(url, told):
    with pytest.raises(OptionError, match=told):
        Hook("ops", url, SECRET)


def sent(url, private=False):
    context = ssl.create_default_context()
    with ThreadPoolExecutor(1) as names:
        asyncio.run(post(url, b"{}", {}, private, context, names))


def test_a_name_that_leads_into_the_own_network_is_not_called(receiver, monkeypatch):
    """Whatever it led to before: the address that was looked at is the one that is connected to."""
    url = receiver.url.replace("127.0.0.1", "localhost")
    Hook("ops", url.replace("http", "https"), SECRET)  # a name may be given
    with pytest.raises(PostingError, match="private network"):
        sent(url)
    with pytest.raises(PostingError, match="private network"):
        sent(receiver.url)
    assert not receiver.deliveries
    asked = []

    def rebinding(host, port):
        asked.append(host)
        return ["8.8.8.8"] if len(asked) == 1 else ["127.0.0.1"]

    connected = []

    async def connect(address, port, **given):
        connected.append(address)
        raise OSError

    monkeypatch.setattr(posting, "_look_up", rebinding)
    monkeypatch.setattr(posting.asyncio, "open_connection", connect)
    with pytest.raises(PostingError, match="no answer"):
        sent("http://example.com/")
    assert (asked, connected) == (["example.com"], ["8.8.8.8"])  # looked up once
    with pytest.raises(PostingError, match="private network"):
        sent("http://example.com/")
    assert connected == ["8.8.8.8"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([["ops"], [], []], "--hook is NAME="),
        ([["ops=https://a.com", "ops=https://b.com"], [], []], "given twice"),
        ([["ops=https://a.com"], ["other=FILE"], []], "there is no --hook other"),
        ([["ops=https://a.com"], ["ops=env:NOT_THERE"], []], "NOT_THERE"),
        ([["ops=https://a.com"], ["ops=env:SHORT"], []], "16 characters or more"),
        ([["ops=https://a.com"], ["ops=env:LONG"], ["ops=alarms"]], "did you mean 'alarm'"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options, told, monkeypatch):
    monkeypatch.setenv("SHORT", "short")
    monkeypatch.setenv("LONG", SECRET)
    with pytest.raises(OptionError, match=told):
        read_hooks(*options, False)


def test_serve_says_what_is_wrong_with_a_hook_before_it_opens_anything(tmp_path, capsys):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    command = ["serve", "--store", str(tmp_path / "none.db"), "--hook-secret", f"ops={secret}"]
    assert main([*command, "--hook", "ops=https://10.0.0.1/"]) == 2
    assert "--allow-private-hooks" in capsys.readouterr().err
    store = open_store(tmp_path / "shop.db")
    register(store, Hook("ops", "https://example.com", SECRET, ("alarm",)))
    store.close()
    command[2] = str(tmp_path / "shop.db")
    assert main([*command, "--hook", "ops=https://example.com/"]) == 2
    assert "give the hook another name" in capsys.readouterr().err
