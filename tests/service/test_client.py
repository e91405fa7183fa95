"""``at.connect``: the verbs of ``at.Stream``, the same answers, the same errors; docs/service.md shows the one line."""

import http.server
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.service import RefusedError, connect
from appletaste.service.remote import _cell
from appletaste.streams import Stream

from .serving import COSTS, PEOPLE, Running, new_store

ROOT = Path(__file__).parent.parent.parent
TIME = "2024-05-31T12:00:00"


@pytest.fixture
def remote(service, key):
    return connect(service.url, key=key).stream("orders")


def play(stream):
    """Use a stream as somebody would, and return all that is seen."""
    items = np.random.default_rng(3).normal(size=(60, 3)).tolist()
    seen = [stream.decide(item, id=f"c/{k}", time=TIME) for k, item in enumerate(items[:40])]
    seen += stream.decide_many(items[40:], ids=[f"c/{k}" for k in range(40, 60)], times=[TIME] * 20)
    told = [(answer.id, answer.act, answer.probability, answer.chance, answer.audit_lane) for answer in map(Seen, seen)]
    told += [stream.label(f"c/{k}", k % 2) for k in range(0, 60, 3)]
    labelled = next(receipt.id for receipt in told[-20:] if receipt.status == "applied")
    told += [stream.correct(labelled, 1), stream.correct(labelled, 0), stream.retract(labelled)]
    for wrong in (
        lambda: stream.decide([1.0, 2.0, 9.0], id="c/1"),
        lambda: stream.label("nobody", 1),
        lambda: stream.correct(labelled, 1),
        lambda: stream.decide([1.0], id="short"),
        lambda: stream.set_mode("asleep"),
    ):
        with pytest.raises(at.errors.InputError) as caught:
            wrong()
        told.append([kind for kind in SHARED if isinstance(caught.value, kind)])
    told.append(stream.decide(items[0], id="c/0", time=TIME).again)
    told += ["c/3" in stream, "nobody" in stream, stream.mode, len(stream)]
    return told


SHARED = (at.errors.ConflictError, at.errors.UnknownDecisionError, at.errors.FeedbackError, at.errors.InputError)


class Seen:
    """An answer of either kind."""

    def __init__(self, answer):
        told = answer.as_dict()
        self.audit_lane, self.id, self.act = told["audit"], answer.id, answer.act
        self.probability, self.chance = answer.probability, answer.chance


def test_a_service_gives_what_a_stream_gives(remote):
    policy = at.policy("voi", n_features=3, costs=COSTS)
    alone = Stream.create("memory", "orders", at.streams.Awaiting(policy), seed=7, expire_after=100.0)
    assert play(remote) == play(alone)
    ours, theirs = remote.log(), alone.log()
    assert {name: column.tolist() for name, column in ours.columns().items() if name != "label_time"} == {
        name: column.tolist() for name, column in theirs.columns().items() if name != "label_time"
    }
    assert str(remote.missed()) == str(at.missed(alone.log()))
    assert remote.explain("c/3").as_dict() == at.explain(alone, "c/3").as_dict()
    assert remote.verify() == str(alone.verify())
    assert remote.log(features=False).x is None


def test_the_other_verbs(remote):
    remote.decide([1.0, 0.0, 0.0], id="v1", time=TIME)
    assert remote.enacted("v1", False, "ann")["acted"] is False
    assert remote.note("v1", "odd", by="ann") > 0
    assert remote.find("v1")["notes"][0]["text"] == "odd"
    assert remote.erase("v1")["erased"]
    with pytest.raises(at.errors.FeedbackError, match="erased"):
        remote.log(features=True)
    assert remote.expire("1990-01-01") == []
    assert remote.set_costs(at.Costs(miss=9, false_alarm=1, hit=0), by="ann") > 0
    assert remote.set_capacity("120/day", time_zone="Europe/Berlin", by="ann") > 0
    assert remote.set_audit("2%") > 0
    assert remote.words.acted == "acted on"
    assert remote.set_words("order,fraud,fine,hold,let through,EUR") > 0
    assert (remote.words.acted, remote.words.currency) == ("held", "EUR")
    with pytest.raises(at.errors.OptionError, match="begins with a letter"):
        remote.set_words({"positive": "=1+1"})
    assert remote.set_capacity(None) > remote.set_audit(None) - 2
    assert remote.set_mode("frozen", by="ann") > 0
    assert remote.set_mode("live", by="ann") > 0
    made = remote.decide([1.0, 0.0, 0.0], time=TIME)
    assert len(made.id) == 32  # made here, so that it can be sent again
    with pytest.raises(AttributeError, match="colour"):
        _ = made.colour


def test_what_a_client_is_told(service, key):
    client = connect(service.url, key=key)
    assert client.streams() == ["orders", "people"]
    with pytest.raises(at.errors.UnknownStreamError):
        client.stream("nowhere").decide([1.0], id="a")
    with pytest.raises(RefusedError, match="neither expired nor revoked") as caught:
        connect(service.url, key="at_wrong").streams()
    assert caught.value.problem["status"] == 401
    assert pickle.loads(pickle.dumps(caught.value)).problem == caught.value.problem
    with pytest.raises(at.errors.InputError, match="NaN"):
        client.stream("orders").decide([float("nan"), 1.0, 2.0], id="a")
    with pytest.raises(RefusedError, match="/item/age"):
        client.stream("people").decide({"age": "old", "job": "chef"}, id="a")
    answer = client.stream("people").decide({"age": float("nan"), "job": np.str_("chef")}, id="missing")
    assert answer.again is False


def test_a_client_is_told_in_its_own_words(service, remote):
    """The scope that is missing, the verb that corrects, and every column that is not there."""
    reader = connect(service.url, key=service.key("decide", "label")).stream("orders")
    reader.decide([1.0, 0.0, 0.0], id="w1", time=TIME)
    reader.label("w1", 1)
    with pytest.raises(RefusedError, match=r"ask for a key with the scope 'correct'$"):
        reader.correct("w1", 0)
    with pytest.raises(at.errors.ConflictError, match=r"if the new value is right, stream\.correct\(id, value\)"):
        reader.label("w1", 0)
    for wrong in (
        lambda: connect(service.url, key="at_wrong").streams(),
        lambda: remote.decide([1.0], id="w3"),
        lambda: remote.label("nobody", 1),
        lambda: remote.correct(remote.decide([1.0, 0.0, 0.0], id="w2", time=TIME).id, 1),
        lambda: connect(service.url, key=service.key("read")).stream("nowhere").find("w1"),
    ):
        with pytest.raises(at.errors.InputError) as caught:
            wrong()
        assert not re.search(r"/v1/|\b(GET|POST|PUT)\b|Authorization", str(caught.value)), caught.value


def test_a_record_is_told_of_all_columns_that_are_missing(service, key):
    names, wide = ([f"c{k:02}" for k in range(columns)] for columns in (13, 300))
    sheet = {"miss": 5, "false_alarm": 1, "hit": 0}
    for name, columns in (("many", names), ("wide", wide)):
        examples = [dict.fromkeys(columns, value) for value in (1.0, 2.0)]
        made = service.ask("POST", "/v1/streams", {"name": name, "costs": sheet, "examples": examples}, key=key)
        assert made.status == 201
    with pytest.raises(
        RefusedError, match=r"/item/c00, /item/c01, .*/item/c04 and 8 more: missing-column, expec"
    ) as told:
        connect(service.url, key=key).stream("many").decide({}, id="a")
    assert [error["pointer"] for error in told.value.problem["errors"]] == [f"/item/{name}" for name in names]
    with pytest.raises(RefusedError, match="the first 100 of 300 faults are listed") as told:
        connect(service.url, key=key).stream("wide").decide({}, id="a")
    assert len(told.value.problem["errors"]) == 100


def test_what_fails_on_the_way_is_sent_again(service, key):
    """A proxy that loses the first answers, after the service has given them."""
    lost = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            told = service.ask("POST", self.path, raw=body, headers=dict(self.headers))
            if len(lost) < 2:
                lost.append(told.body)
                if len(lost) == 1:
                    self.close_connection = True
                    return  # not a word
                self.send_response(503)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(told.status)
            self.send_header("Content-Length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        client = connect(f"http://127.0.0.1:{proxy.server_address[1]}", key=key)
        answer = client.stream("orders").decide([0.1, 0.2, 0.3], id="twice", time=TIME)
        client.close()
        proxy.shutdown()
    assert answer.again  # the service has decided once
    assert len(lost) == 2
    gone = connect("http://127.0.0.1:9", key=key, patience=0.2)
    with pytest.raises(at.errors.OutcomeUnknownError, match="same id"):
        gone.stream("orders").decide([0.1, 0.2, 0.3], id="never")


def test_one_changed_line(tmp_path, monkeypatch):
    """docs/service.md: the program that runs on a file runs on a service, with the line that the page says."""
    page = (ROOT / "docs" / "service.md").read_text()
    (old,), (new,) = re.findall(r"^-(stream = .*)$", page, re.M), re.findall(r"^\+(stream = .*)$", page, re.M)
    program = [block for block in re.findall(r"```python\n(.*?)```", page, re.S) if block.startswith(old)][-1]
    monkeypatch.chdir(tmp_path)
    features = at.Encoder().fit(PEOPLE[:2])
    policy = at.policy(n_features=features.n_features, costs=COSTS)
    Stream.create("shop.db", "people", policy, features=features, seed=5).close()
    here = {"at": at}
    exec(compile(program, "docs/service.md", "exec"), here)
    store = new_store(tmp_path, "other.db")
    Stream.create(store, "again", policy, features=features, seed=5).close()
    with Running(store) as running:
        line = new.replace("http://127.0.0.1:8080", running.url).replace('"people"', '"again"')
        there = {"at": at, "key": running.key()}
        exec(compile(program.replace(old, line), "docs/service.md", "exec"), there)
    store.close()
    assert (here["act"], here["status"]) == (there["act"], there["status"])


def test_numbers_of_numpy_are_sent_and_what_cannot_be_is_refused_in_words(remote, service, key):
    costs = {"miss": np.float64(5), "false_alarm": np.int64(1), "hit": 0}
    remote.decide(np.array([1, 2, 3], np.float32), id="numpy", costs=costs, time=TIME)
    assert remote.label("numpy", np.int64(1)).status == "applied"
    assert [remote.label("numpy", one).status for one in (np.int8(1), np.bool_(True), 1.0)] == ["already_applied"] * 3
    people = connect(service.url, key=key).stream("people")
    here = {"time": TIME, "id": "refused"}
    for wrong, said in (
        (lambda: remote.label("numpy", np.nan), "a label is 0 .negative. or 1"),
        (lambda: remote.label("numpy", "1"), "a label is 0 .negative. or 1"),
        (lambda: remote.decide(["a", 2, 3], **here), "an item is a record .* or a list of numbers"),
        (lambda: remote.decide([1, 2, 3], costs="miss=5", **here), "costs must be an appletaste.Costs or a dict"),
        (
            lambda: remote.decide([1, 2, 3], id="refused", time=np.datetime64(TIME)),
            "a time is a finite number or a date",
        ),
        (lambda: remote.decide([1, 2, 3], id="refused", time="tomorrow"), "a time is a number or a date"),
        (
            lambda: people.decide({"age": object(), "job": "pilot"}, id="refused"),
            "a value of type object cannot be sent",
        ),
    ):
        with pytest.raises(at.errors.InputError, match=said):
            wrong()
    assert "refused" not in remote
    assert "refused" not in people


def test_a_date_that_is_missing_is_sent_as_missing():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert [_cell(value) for value in (pandas.NaT, np.nan, np.datetime64("NaT"), None)] == [None] * 4
    assert _cell(pandas.Timestamp(TIME)) == TIME
