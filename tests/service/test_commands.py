"""``appletaste stream``, ``keys``, ``serve`` and ``doctor``: what they do, as JSON, and their exit codes."""

import json
import re
import subprocess
import sys
import time

import apsw
import pytest

from appletaste.cli.main import main
from appletaste.errors import InputError, OptionError, StoreError
from appletaste.records.stores import open_store
from appletaste.service import connect
from appletaste.service.keys import Keys
from appletaste.service.server import Server
from appletaste.streams import Stream
from appletaste.streams.transfer import export_stream, import_stream

from .serving import Running, new_store

VECTORS = ("--n-features", "2", "--costs", "miss=5,false_alarm=1,hit=0")


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words, json_=True, **expected):
        code = main([*words, *(["--json"] if json_ else [])])
        told = capsys.readouterr()
        assert code == expected.get("code", 0), told.err
        return json.loads(told.out) if json_ and told.out else told

    return run


@pytest.fixture
def desk(run):
    run("stream", "create", "clicks", "--store", "desk.db", *VECTORS, "--audit", "5%")
    return "desk.db"


def fill(address, n=30):
    with Stream.open(address, "clicks") as stream:
        for k in range(n):
            stream.decide([k / 10 - 1, 1.0], id=str(k))
            stream.label(str(k), k % 2)


def serve(store, *words):
    """Return how ``appletaste serve`` ended by itself."""
    command = [sys.executable, "-m", "appletaste", "serve", "--store", str(store), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_a_port_is_1_to_65535(run, desk):
    store = open_store(desk)
    for port in (65536, 99999, -1, True, "8080", 8080.0):
        with pytest.raises(OptionError, match="port= is a whole number from 1 to 65535, or 0 for any that is free"):
            Server(store, port=port)
    store.close()
    for address in ("http://127.0.0.1:99999", "http://127.0.0.1:0", "http://127.0.0.1:web", "http://[::1"):
        with pytest.raises(InputError, match="an address is http://host:port or https://host:port, with a port from 1"):
            connect(address)
    told = serve(desk, "--port", "99999")
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.startswith("appletaste: --port is a whole number from 1 to 65535")
    for words in (("--port", "0"), ("--address", "http://one.internal:99999")):
        run("serve", "--store", "postgresql://127.0.0.1:1/none", *words, code=2, json_=False)


def test_port_0_is_told_as_the_port_that_is_listened_on(desk):
    command = [sys.executable, "-m", "appletaste", "serve", "--store", desk, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            listening = next(json.loads(line)["port"] for line in process.stderr if '"listening"' in line)
            assert process.stdout.readline() == f"serving clicks at http://127.0.0.1:{listening}\n"
        finally:
            process.terminate()


def test_a_stream_of_vectors(run, desk):
    assert run("stream", "list", "--store", desk) == {"streams": ["clicks"]}
    shown = run("stream", "show", "clicks", "--store", desk)
    assert (shown["n_features"], shown["mode"], shown["events"]) == (2, "live", 1)
    fill(desk)
    told = run("stream", "verify", "clicks", "--store", desk)
    assert told["verifies"]
    assert told["events"] == 61
    assert run("stream", "export", "clicks", "--store", desk, "--out", "log.jsonl")["decisions"] == 30
    run("stream", "create", "clicks", "--store", desk, *VECTORS, code=2)
    assert "clicks" in run("stream", "list", "--store", desk, json_=False).out


def test_a_stream_from_a_file(run, tmp_path):
    rows = "".join(f"{k},{'web' if k % 2 else 'shop'},{k % 3 == 0:d}\n" for k in range(60))
    (tmp_path / "items.csv").write_text("amount,where,bad\n" + rows)
    (tmp_path / "seed").write_text("12345\n")
    made = run(
        *("stream", "create", "items", "--store", "desk.db", "--from", "items.csv", "--label", "bad", "--teach"),
        *("--costs", "miss=5,false_alarm=1,hit=0", "--seed-file", "seed", "--mode", "shadow"),
        *("--encoder", "levels=20"),
    )
    assert made["columns"] == ["amount", "where"]
    assert made["mode"] == "shadow"
    with Stream.open("desk.db", "items") as stream:
        answer = stream.decide({"amount": 3, "where": "web"}, id="a", baseline=False)
        assert 0.2 < answer.chance < 0.9
        kept = stream.features.encoder
        assert (kept.levels, kept.curves, kept.many) == (20, True, False)  # the default of a stream, but for the levels
        assert stream.record.place.secret == (12345).to_bytes(16, "big")


def test_moving_a_stream_goes_on_with_the_same_bits(run, desk):
    fill(desk)
    run("stream", "export", "clicks", "--store", desk, "--out", "clicks.stream")
    run("stream", "import", "clicks.stream", "--store", "other.db", "--name", "moved")
    run("stream", "import", "clicks.stream", "--store", "other.db", "--name", "moved", code=2)
    with Stream.open(desk, "clicks") as old, Stream.open("other.db", "moved") as new:
        answers = [stream.decide([0.3, 1.0], id="next", time="2024-05-31") for stream in (old, new)]
        assert answers[0].json() == answers[1].json()
        new.verify()


def test_a_file_that_was_changed_is_not_imported(run, desk, tmp_path):
    fill(desk, 5)
    store = open_store(desk)
    place = store.open("clicks")
    row = next(iter(place.read(2)))
    place.read = lambda after=0: iter(
        [
            one._replace(body=one.body[:-1] + b"\0") if one.seq == row.seq else one
            for one in type(place).read(place, after)
        ]
    )
    export_stream(place, "bad.stream")
    store.close()
    run("stream", "import", "bad.stream", "--store", "other.db", code=1, json_=False)
    assert open_store("other.db").names() == []
    (tmp_path / "none.stream").write_bytes(b"hello")
    run("stream", "import", "none.stream", "--store", "third.db", code=2, json_=False)


def test_erased_features_stay_erased_when_a_stream_moves(tmp_path):
    store, other = open_store(tmp_path / "a.db"), open_store(tmp_path / "b.db")
    import appletaste as at

    policy = at.policy("voi", n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    with Stream.create(store, "clicks", policy) as stream:
        for k in range(5):
            stream.decide([k, 1.0], id=str(k))
        stream.erase("2")
        stream.decide([9.0, 1.0], id="9")
    place = store.open("clicks")
    export_stream(place, tmp_path / "c.stream")
    told = import_stream(tmp_path / "c.stream", other)
    assert told.gaps
    with Stream.open(other, "clicks") as moved:
        assert moved.trouble is None
        assert moved.find("2").erased
    store.close()
    other.close()


def test_verify_fails_with_1_and_a_store_with_3(run, desk):
    fill(desk, 10)
    connection = apsw.Connection(desk)
    connection.execute("UPDATE events SET body = CAST(body || x'00' AS BLOB) WHERE id = '4' AND kind = 'decided'")
    connection.close()
    told = run("stream", "verify", "clicks", "--store", desk, code=1)
    assert told["verifies"] is False
    assert told["first_difference"] > 1
    run("stream", "list", "--store", "nowhere.db", code=3, json_=False)
    run("stream", "show", "nobody", "--store", desk, code=2, json_=False)
    held = open_store(desk)
    run("keys", "create", "shop", "--store", desk, "--scope", "decide", code=3, json_=False)
    held.close()


def test_a_store_that_is_served_says_how_to_ask_the_service(run, tmp_path):
    """What the message says can be typed: its address and its body make the very key that was asked for."""
    with Running(new_store(tmp_path)) as service:
        words = ("keys", "create", "ann", "--scope", "review", "--scope", "read", "--stream", "orders", "--days", "3")
        told = run(*words, "--store", "desk.db", code=3, json_=False).err
        assert "desk.db is in use" in told
        assert "open_store" not in told
        assert "stop the service, repeat this command" in told
        assert "'appletaste keys create me --store desk.db --scope admin'" in told
        path, body = re.search(r"POST (/v1/\S+) (\{.*?\})", told).groups()
        made = service.ask("POST", path, json.loads(body), key=service.key("admin")).json()
        kept = service.keys.find(made["secret"])
        assert (kept.name, kept.scopes, kept.streams) == ("ann", ("review", "read"), ("orders",))
        assert 2.9 < (kept.expires - time.time()) / 86400 < 3.1
        told = run("keys", "revoke", kept.id, "--store", "desk.db", code=3, json_=False).err
        path = re.search(r"DELETE (/v1/\S+)", told)[1]
        assert service.ask("DELETE", path, key=service.key("admin")).status == 200
        assert service.keys.find(made["secret"]) is None
        told = run("stream", "create", "b", "--store", "desk.db", *VECTORS, code=3, json_=False).err
        assert "POST /v1/streams" in told
        told = run("stream", "import", "a.stream", "--store", "desk.db", code=3, json_=False).err
        assert "with an admin key" not in told
        assert "stop the service, repeat this command" in told
        told = serve("desk.db")
        assert (told.returncode, told.stdout) == (3, "")
        assert "another service runs on the store: end" in told.stderr
    service.store.close()


def test_a_name_that_is_mistyped_leaves_no_file_behind(run, tmp_path):
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"there is no store .*dekc\.db: look at the name of the file"):
            Stream.open(tmp_path / "dekc.db", "clicks", read_only=read_only)
    commands = (
        *(("stream", verb, "clicks", "--store", "dekc.db") for verb in ("show", "verify")),
        ("stream", "list", "--store", "dekc.db"),
        ("stream", "export", "clicks", "--store", "dekc.db", "--out", "log.jsonl"),
        ("stream", "backup", "--store", "dekc.db", "--out", "copy.db"),
        ("keys", "list", "--store", "dekc.db"),
        ("keys", "revoke", "abc", "--store", "dekc.db"),
    )
    told = serve(tmp_path / "dekc.db")
    assert told.returncode == 3
    assert "there is no store" in told.stderr
    assert "'appletaste keys create'" in told.stderr
    for words in commands:
        assert "there is no store dekc.db" in run(*words, json_=False, code=3).err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_named_as_a_log_or_a_desk_is_told_to_be_one(run, desk):
    for words in (("missed", desk), ("report", desk, "--out", "out"), ("worklist", desk), ("label", desk, "x.csv")):
        told = run(*words, json_=False, code=2).err
        assert "desk.db is a SQLite file, as a store of streams is, and no " in told
        assert "'appletaste stream export NAME --store desk.db --out log.parquet'" in told
    run("stream", "export", "clicks", "--store", "desk.db", "--out", "log.parquet")


def test_backup(run, desk):
    fill(desk, 10)
    held = open_store(desk)  # while a service has it
    run("stream", "backup", "--store", desk, "--out", "copy.db")
    held.close()
    assert run("stream", "verify", "clicks", "--store", "copy.db")["events"] == 21
    run("stream", "backup", "--store", desk, "--out", "copy.db", code=2, json_=False)
    run("stream", "backup", "--store", "postgresql://x/y", "--out", "c.db", code=2, json_=False)


def test_keys(run, desk):
    made = run("keys", "create", "shop", "--store", desk, "--scope", "decide", "--stream", "clicks", "--days", "3")
    assert made["secret"].startswith("at_")
    listed = run("keys", "list", "--store", desk)["keys"]
    assert [(key["name"], key["scopes"], key["streams"]) for key in listed] == [("shop", ["decide"], ["clicks"])]
    run("keys", "revoke", made["id"], "--store", desk)
    store = open_store(desk)
    assert Keys(store).find(made["secret"]) is None
    store.close()
    assert "revoked" in run("keys", "list", "--store", desk, json_=False).out
    run("keys", "revoke", "000000000000", "--store", desk, code=2, json_=False)
    run("keys", "create", "shop", "--store", desk, "--scope", "fly", code=2, json_=False)
    run("keys", "create", "shop", "--store", desk, "--scope", "read", "--days", "-1", code=2, json_=False)
    run("keys", "create", "shop", "--store", desk, "--scope", "read", "--days", "1e12", code=2, json_=False)


def test_usage(run):
    run("stream", "create", "a", "--store", "d.db", "--costs", "miss=5,false_alarm=1,hit=0", code=2, json_=False)
    run("stream", "create", "a", "--store", "d.db", *VECTORS, "--from", "x.csv", code=2, json_=False)
    run("stream", "create", "a", "--store", "d.db", "--from", "x.csv", *VECTORS[2:], code=2, json_=False)


def test_a_stream_without_any_reviews_is_not_made(run):
    told = run("stream", "create", "a", "--store", "d.db", *VECTORS, "--capacity", "0/day", code=2, json_=False)
    assert "--capacity 0/day allows no act on any day" in told.err


def test_doctor(run, monkeypatch):
    told = run("doctor")
    assert told["fit"]
    assert {one["name"] for one in told["findings"]} >= {"SQLite", "confirmed write", "clock", "processor"}
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    told = run("doctor", code=1)
    assert not told["fit"]
