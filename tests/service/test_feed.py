"""``appletaste feed``: from topics and into topics, with nothing lost, and nothing done twice."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("confluent_kafka")

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import BrokerError, MissingExtraError
from appletaste.records.events import Decided, Labelled
from appletaste.service import broker, connect
from appletaste.service.answering import OwnStream, ServedStream
from appletaste.service.broker import Broker, read_settings
from appletaste.service.feed import Feed

from .brokers import SETTINGS, Mock, reason
from .dying import POINTS
from .serving import COSTS, item, new_store, secret_of

#: Shops that are killed side by side, since most of a kill is to wait until the group misses its member; and how often.
SHOPS, KILLS = (4, 25) if os.environ.get("APPLETASTE_KILLS") else (1, 2)
TOPICS = {"items": "orders", "labels": "back", "decisions": "out", "dead": "dead"}


@pytest.fixture
def mock():
    found = Mock()
    yield found
    found.close()


@pytest.fixture
def stream(tmp_path):
    with make(tmp_path / "shop.db") as found:
        yield found


def make(path):
    policy = at.streams.Awaiting(at.policy("voi", n_features=3, costs=COSTS))
    return at.Stream.create(path, "orders", policy, seed=7)


def feed(mock, answers, once=True, stop=None, group="feed", wait=0.0, **topics):
    """Feed until all is read; return what became of it."""

    def join(names, lost):
        return Broker(mock.address, group, names, SETTINGS, lost)

    return Feed(answers, join, wait=wait, **{**TOPICS, **topics}).run(stop or threading.Event(), once)


def asked(*numbers):
    return [{"id": f"c{k}", "item": item(k), "time": 1000.0 + k} for k in numbers]


def labels(*numbers):
    return [{"id": f"c{k}", "value": k % 2} for k in numbers]


def check(mock, stream, numbers, labelled):
    """Every item has one decision, and every decision that was sent is that one; every label was applied once."""
    events = [event for _, event in stream.events()]
    assert Counter(event.id for event in events if isinstance(event, Decided)) == {f"c{k}": 1 for k in numbers}
    applied = Counter(event.id for event in events if isinstance(event, Labelled))
    assert applied == {f"c{k}": 1 for k in labelled if stream.find(f"c{k}").answer.act}
    assert all(stream.find(f"c{k}").entry.label == k % 2 for k in labelled if stream.find(f"c{k}").answer.act)
    sent = mock.values("out")
    assert sent.keys() == {f"c{k}" for k in numbers}
    assert [name for name, bodies in sent.items() if set(bodies) != {stream.find(name).answer.json()}] == []
    stream.verify()
    return sum(map(len, sent.values())) - len(sent)


def test_items_are_decided_labels_are_learnt_and_what_cannot_be_used_is_set_aside(mock, stream):
    poison = [
        (b"not json", "malformed-json"),
        (b"", "malformed-json"),
        (b'{"id": "p", "item": [1, 2]}', "validation"),
        (b'{"id": "p", "item": [1, 2, 3], "colour": 1}', "validation"),
        (b'{"id": "c3", "item": [9, 9, 9]}', "event-conflict"),
        (b'{"id": "p", "item": [1, 2, 3], "time": "2999-01-01"}', "time-in-future"),
        (b'{"id": "' + b"p" * 70_000 + b'"}', "body-too-large"),
    ]
    mock.send("orders", *asked(*range(20)), *(message for message, _ in poison), *asked(*range(20, 40)), partition=0)
    mock.send("back", *labels(*range(30)), {"id": "c4", "value": 1}, {"id": "c5", "value": 2}, partition=0)
    fed = feed(mock, OwnStream(stream))
    assert (fed.decided, fed.learnt + fed.recorded, fed.waiting) == (40, 30, 0)
    assert fed.dead == len(poison) + 2
    assert check(mock, stream, range(40), range(30)) == 0
    letters = mock.read("dead")
    found = sorted((*reason(one)[1:], reason(one)[0]) for one in letters)
    expected = [("orders", 20 + k, name) for k, (_, name) in enumerate(poison)]
    assert found == [("back", 30, "label-conflict"), ("back", 31, "validation"), *expected]
    assert sorted(one.value() or b"" for one in letters if reason(one)[1] == "orders") == sorted(m for m, _ in poison)
    assert stream.find("c6").labelled_by == "back"  # who says so is the topic, unless the message does
    assert mock.done("orders", "feed") == 47
    assert mock.done("back", "feed") == 32


def test_what_is_done_does_not_come_again(mock, stream):
    mock.send("orders", *asked(*range(9)))
    feed(mock, OwnStream(stream))
    mock.send("orders", *asked(*range(9, 12)))
    fed = feed(mock, OwnStream(stream))
    assert (fed.decided, fed.again) == (3, 0)
    other = feed(mock, OwnStream(stream), group="another")  # which reads all of it again
    assert (other.decided, other.again) == (0, 12)
    assert check(mock, stream, range(12), ()) == 12


def test_a_service_is_fed_as_a_file_is(mock, tmp_path):
    from .serving import Running

    store = new_store(tmp_path)
    mock.send("orders", *asked(*range(700)), b"{", {"id": "p", "item": [1]})
    mock.send("back", *labels(*range(0, 700, 2)), {"id": "c4", "value": 1, "source": None}, {"id": "x", "value": 1})
    key = secret_of(store, "decide", "label", streams=["orders"])
    with Running(store) as running, connect(running.url, key) as client:
        fed = feed(mock, ServedStream(client, "orders"))
    assert fed.decided == 700
    assert fed.dead >= 4  # a member that is missed for a while reads, and sets aside, again
    with at.Stream.open(store, "orders") as stream:
        check(mock, stream, range(700), range(0, 700, 2))
        assert stream.find("c6").labelled_by == "back (says test)"  # the key's name stands beside what a program says
    letters = {(one.partition(), *reason(one)) for one in mock.read("dead")}
    assert {name for _, name, _, _ in letters} == {
        "label-conflict", "malformed-json", "unknown-decision", "validation",
    }  # fmt: skip
    store.close()


def test_a_label_before_its_item_waits_and_one_without_an_item_is_set_aside(mock, stream):
    stop, seen = threading.Event(), []
    mock.send("back", *labels(*range(5)), {"id": "nobody", "value": 1}, *labels(5, 6), partition=0)
    mock.send("orders", *asked(6))
    thread = threading.Thread(target=lambda: seen.append(feed(mock, OwnStream(stream), False, stop, wait=8.0)))
    thread.start()
    until(lambda: len(mock.values("out")) == 1)
    time.sleep(1.5)
    assert mock.done("back", "feed") == 0  # a feed that is killed now would lose the first of them
    mock.send("orders", *asked(*range(6)))
    until(lambda: mock.done("back", "feed") == 5)  # up to the one without an item
    assert mock.read("dead") == []
    until(lambda: mock.done("back", "feed") == 8)
    stop.set()
    thread.join(30)
    assert [reason(one) for one in mock.read("dead")] == [("unknown-decision", "back", 5)]
    check(mock, stream, range(7), range(7))


def until(holds, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_label_is_not_given_up_before_the_items_in_front_are_read(mock, stream, monkeypatch):
    """However long it has waited: a feed that was off for a day reads labels of a day, too."""
    take = Broker.take

    def labels_first(self, most, seconds):
        if not hasattr(self, "begun"):
            self.begun = time.monotonic()
        self.pause("orders", time.monotonic() - self.begun < 6.0)
        return take(self, most, seconds)

    monkeypatch.setattr(Broker, "take", labels_first)
    mock.send("orders", *asked(*range(6)))
    mock.send("back", *labels(*range(6)))
    fed = feed(mock, OwnStream(stream), wait=0.5)
    assert (fed.dead, fed.learnt + fed.recorded) == (0, 6)


@pytest.mark.skipif(SHOPS == 1, reason="long: make test-faults")
def test_too_many_labels_that_wait_hold_their_topic(mock, stream, monkeypatch):
    monkeypatch.setattr("appletaste.service.feed.WAITING", 20)
    monkeypatch.setattr("appletaste.service.feed.BATCH", 10)
    mock.send("back", *labels(*range(200)))
    stop, most = threading.Event(), []
    monkeypatch.setattr("appletaste.service.feed.SAY", 0.0)
    monkeypatch.setattr(Feed, "_hold", noting(Feed._hold, most))
    thread = threading.Thread(target=lambda: feed(mock, OwnStream(stream), False, stop, wait=30.0))
    thread.start()
    until(lambda: most and most[-1] >= 20)
    mock.send("orders", *asked(*range(200)))
    until(lambda: mock.done("back", "feed") == 200)
    stop.set()
    thread.join(30)
    assert max(most) <= 30  # and a batch more
    check(mock, stream, range(200), range(200))


def noting(hold, most):
    def hold_and_note(self):
        most.append(len(self._waiting))
        hold(self)

    return hold_and_note


# ---- members of a group


@pytest.mark.skipif(SHOPS == 1, reason="long: make test-faults")
def test_members_come_and_go_and_nothing_is_lost(mock, tmp_path):
    """Four feeds of one service, one after the other joins and leaves, while messages come."""
    from .serving import Running

    store = new_store(tmp_path)
    key = secret_of(store, "decide", "label", streams=["orders"])
    with Running(store) as running:
        members = []

        def member():
            stop = threading.Event()

            def work():
                with connect(running.url, key) as client:
                    feed(mock, ServedStream(client, "orders"), False, stop, wait=60.0)

            thread = threading.Thread(target=work)
            thread.start()
            members.append((stop, thread))

        for k in range(4):
            member()
            mock.send("orders", *asked(*range(100 * k, 100 * k + 100)))
            mock.send("back", *labels(*range(100 * k, 100 * k + 100)))
            time.sleep(1.0)
        for stop, thread in members[:3]:
            stop.set()
            thread.join(60)
        mock.send("orders", *asked(*range(400, 500)))
        until(lambda: mock.done("orders", "feed") == 500 and mock.done("back", "feed") == 400)
        members[3][0].set()
        members[3][1].join(60)
    with at.Stream.open(store, "orders") as stream:
        check(mock, stream, range(500), range(400))
    assert mock.read("dead") == []
    store.close()


# ---- kills


def started(mock, path, settings, *more, point=None):
    """Start a feed; at a ``point``, if one is given, it dies by ``kill -9``."""
    program = ["appletaste"] if point is None else ["tests.service.dying", *map(str, point)]
    command = [sys.executable, "-m", *program, "feed", str(path), "--broker", mock.address, "--items", "orders"]
    command += ["--labels", "back", "--decisions", "out", "--dead-letters", "dead", "--settings", str(settings)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)


def write_settings(path):
    path.write_text("# of the tests\n" + "".join(f"{name} = {value}\n" for name, value in SETTINGS.items()))


def test_killed_at_any_moment_nothing_is_lost_and_nothing_done_twice(tmp_path):
    """Feeds die before and after all that they do; a signal from outside seldom falls between commit and offsets."""
    with ThreadPoolExecutor(SHOPS) as shops:
        twice = list(shops.map(kill_again_and_again, [tmp_path / f"{shop}.db" for shop in range(SHOPS)], range(SHOPS)))
    print(f"{SHOPS * KILLS} kills, {sum(twice)} decisions sent again")
    assert sum(twice) > 0  # or no kill has fallen in between


def kill_again_and_again(path, shop):
    """Kill the feed of a shop while messages come; compare all topics with the record; return what was sent again."""
    mock, settings, chance, size = Mock(), path.with_suffix(".properties"), random.Random(shop), 40
    make(path).close()
    write_settings(settings)
    for kill in range(KILLS):
        here = range(size * kill, size * kill + size)
        mock.send("back", *labels(*here[::3]))
        point = "deliver+" if not kill else POINTS[(kill + shop) % len(POINTS)]
        process = started(mock, path, settings, point=(point, chance.randint(1, 2) if kill else 1))
        sender = threading.Thread(target=slowly, args=(mock, asked(*here), kill))
        sender.start()
        try:
            process.wait(60.0)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert process.returncode == -signal.SIGKILL
        process.stdout.close()
        sender.join()
    last = started(mock, path, settings, "--once", "--wait", "1", "--json")
    told, _ = last.communicate(timeout=300)
    assert last.returncode == 0
    assert json.loads(told.splitlines()[-1])["waiting"] == 0
    with at.Stream.open(path, "orders") as stream:
        twice = check(mock, stream, range(size * KILLS), [k for k in range(size * KILLS) if k % size % 3 == 0])
    letters = mock.read("dead")
    assert {one.value() for one in letters} == {b"poison of kill %d" % kill for kill in range(KILLS)}
    assert {reason(one)[:2] for one in letters} == {("malformed-json", "orders")}
    mock.close()
    return twice


def slowly(mock, order, kill):
    """Send items a few at a time, so that a kill falls between the batches, with poison in front."""
    mock.send("orders", b"poison of kill %d" % kill)
    for start in range(0, len(order), 4):
        mock.send("orders", *order[start : start + 4])
        time.sleep(0.02)


def test_told_to_end_it_finishes_what_it_has_begun(mock, tmp_path):
    path, settings = tmp_path / "shop.db", tmp_path / "kafka.properties"
    make(path).close()
    write_settings(settings)
    process = started(mock, path, settings, "--json")
    mock.send("orders", *asked(*range(30)))
    until(lambda: mock.done("orders", "appletaste-orders") == 30, 120.0)
    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(told.splitlines()[-1])["decided"] == 30
    with at.Stream.open(path, "orders") as stream:
        assert check(mock, stream, range(30), ()) == 0


# ---- what is refused


def test_a_broker_that_takes_nothing_ends_the_feed_and_the_messages_come_again(mock, stream, monkeypatch):
    mock.send("orders", *asked(*range(5)))

    def refused(self):
        raise BrokerError("the broker did not take what was sent")

    with monkeypatch.context() as patch:
        patch.setattr(Broker, "deliver", refused)
        with pytest.raises(BrokerError):
            feed(mock, OwnStream(stream))
    assert mock.done("orders", "feed") == 0
    fed = feed(mock, OwnStream(stream))
    assert fed.again > 0  # as many as the first feed had read together
    assert fed.decided + fed.again == 5
    check(mock, stream, range(5), ())


def test_what_is_not_delivered_is_said(mock, monkeypatch):
    monkeypatch.setattr(broker, "CONFIRM", 0.5)
    monkeypatch.setattr(broker, "PATIENCE", 1.5)
    writer = Broker(mock.address, "g", ["orders"], {"message.timeout.ms": "1000"})
    mock.close()
    writer.send("out", b"a", b"1")
    with pytest.raises(BrokerError, match="did not take what was sent"):
        writer.deliver()
    with pytest.raises(BrokerError, match="does not answer"):
        writer.join()
    writer.close()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ([], "a feed needs a topic to read"),
        (["--items", "a"], "belong together"),
        (["--items", "a", "--decisions", "a"], "topics of their own"),
        (["--labels", "a", "--wait", "-1"], "--wait is a number"),
        (["--labels", "a", "--service", "http://localhost:1"], "say what is fed"),
    ],
)
def test_calls_that_cannot_be_meant_are_refused(more, told, capsys):
    assert main(["feed", "shop.db", "--broker", "localhost:1", *more]) == 2
    assert told in capsys.readouterr().err


def test_settings_that_a_promise_stands_on_are_refused(tmp_path):
    path = tmp_path / "kafka.properties"
    path.write_text("# secrets\nsecurity.protocol = SASL_SSL\nsasl.password=a=b\n")
    assert read_settings(path) == {"security.protocol": "SASL_SSL", "sasl.password": "a=b"}
    for line, told in (("acks=1", "might not arrive"), ("group.id=x", "--group"), ("nonsense", "line 1")):
        path.write_text(line)
        with pytest.raises(at.errors.InputError, match=told):
            read_settings(path)
    with pytest.raises(at.errors.OptionError, match=r"no\.such\.thing"):
        Broker("localhost:1", "g", ["a"], {"no.such.thing": "1"})


def test_without_the_extra_the_line_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    monkeypatch.delitem(sys.modules, "appletaste.service.broker")
    with pytest.raises(MissingExtraError, match=r"pip install 'appletaste\[kafka\]'"):
        __import__("appletaste.service.broker")
