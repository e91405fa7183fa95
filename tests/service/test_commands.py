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
from appletaste.streams.from_history import policy_seed
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
    run("stream", "create", "shop.db", "--stream", "clicks", *VECTORS, "--audit", "5%")
    return "shop.db"


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
    assert run("stream", "list", desk) == {"streams": ["clicks"]}
    shown = run("stream", "show", desk, "--stream", "clicks")
    assert (shown["n_features"], shown["mode"], shown["events"]) == (2, "live", 1)
    fill(desk)
    told = run("stream", "verify", desk, "--stream", "clicks")
    assert told["verifies"]
    assert told["events"] == 61
    assert run("stream", "export", desk, "--stream", "clicks", "--out", "log.jsonl")["decisions"] == 30
    run("stream", "create", desk, "--stream", "clicks", *VECTORS, code=2)
    assert "clicks" in run("stream", "list", desk, json_=False).out


def test_a_stream_from_a_file(run, tmp_path):
    rows = "".join(f"{k},{'web' if k % 2 else 'shop'},{k % 3 == 0:d}\n" for k in range(60))
    (tmp_path / "items.csv").write_text("amount,where,bad\n" + rows)
    (tmp_path / "seed").write_text("12345\n")
    made = run(
        *("stream", "create", "shop.db", "--stream", "items", "--history", "items.csv", "--label", "bad", "--teach"),
        *("--costs", "miss=5,false_alarm=1,hit=0", "--seed-file", "seed", "--mode", "shadow"),
        *("--encoder", "levels=20"),
    )
    assert made["columns"] == ["amount", "where"]
    assert made["mode"] == "shadow"
    with Stream.open("shop.db", "items") as stream:
        answer = stream.decide({"amount": 3, "where": "web"}, id="a", baseline=False)
        assert 0.2 < answer.chance < 0.9
        kept = stream.features.encoder
        assert (kept.levels, kept.curves, kept.many) == (20, True, True)  # the default of a replay, but for the levels
        assert stream.record.place.secret == policy_seed(12345).to_bytes(16, "big")  # and it draws as a replay does


def test_moving_a_stream_goes_on_with_the_same_bits(run, desk):
    fill(desk)
    run("stream", "export", desk, "--stream", "clicks", "--out", "clicks.stream")
    run("stream", "import", "other.db", "clicks.stream", "--stream", "moved")
    run("stream", "import", "other.db", "clicks.stream", "--stream", "moved", code=2)
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
    run("stream", "import", "other.db", "bad.stream", code=1, json_=False)
    assert open_store("other.db").names() == []
    (tmp_path / "none.stream").write_bytes(b"hello")
    run("stream", "import", "third.db", "none.stream", code=2, json_=False)


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
    told = run("stream", "verify", desk, "--stream", "clicks", code=1)
    assert told["verifies"] is False
    assert told["first_difference"] > 1
    run("stream", "list", "nowhere.db", code=3, json_=False)
    run("stream", "show", desk, "--stream", "nobody", code=2, json_=False)
    held = open_store(desk)
    run("keys", "create", "shop", "--store", desk, "--scope", "decide", code=3, json_=False)
    held.close()


def test_a_store_that_is_served_says_how_to_ask_the_service(run, tmp_path):
    """What the message says can be typed: its address and its body make the very key that was asked for."""
    with Running(new_store(tmp_path)) as service:
        words = ("keys", "create", "ann", "--scope", "review", "--scope", "read", "--stream", "orders", "--days", "3")
        told = run(*words, "--store", "shop.db", code=3, json_=False).err
        assert "shop.db is in use" in told
        assert "open_store" not in told
        assert "stop the service, repeat this command" in told
        assert "'appletaste keys create me --store shop.db --scope admin'" in told
        path, body = re.search(r"POST (/v1/\S+) (\{.*?\})", told).groups()
        made = service.ask("POST", path, json.loads(body), key=service.key("admin")).json()
        kept = service.keys.find(made["secret"])
        assert (kept.name, kept.scopes, kept.streams) == ("ann", ("review", "read"), ("orders",))
        assert 2.9 < (kept.expires - time.time()) / 86400 < 3.1
        told = run("keys", "revoke", kept.id, "--store", "shop.db", code=3, json_=False).err
        path = re.search(r"DELETE (/v1/\S+)", told)[1]
        assert service.ask("DELETE", path, key=service.key("admin")).status == 200
        assert service.keys.find(made["secret"]) is None
        told = run("stream", "create", "shop.db", "--stream", "b", *VECTORS, code=3, json_=False).err
        assert "POST /v1/streams" in told
        (tmp_path / "a.stream").write_bytes(b"the store is looked at first")
        told = run("stream", "import", "shop.db", "a.stream", code=3, json_=False).err
        assert "with an admin key" not in told
        assert "stop the service, repeat this command" in told
        told = serve("shop.db")
        assert (told.returncode, told.stdout) == (3, "")
        assert "another service runs on the store: end" in told.stderr
    service.store.close()


def test_a_name_that_is_mistyped_leaves_no_file_behind(run, tmp_path):
    for read_only in (False, True):
        with pytest.raises(StoreError, match=r"there is no store .*dekc\.db: look at the name of the file"):
            Stream.open(tmp_path / "dekc.db", "clicks", read_only=read_only)
    commands = (
        *(("stream", verb, "dekc.db", "--stream", "clicks") for verb in ("show", "verify")),
        ("stream", "list", "dekc.db"),
        ("stream", "export", "dekc.db", "--stream", "clicks", "--out", "log.jsonl"),
        ("stream", "backup", "dekc.db", "--out", "copy.db"),
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


def test_a_store_is_a_log_and_a_stream_is_named_where_there_are_several(run, desk, tmp_path):
    """The verbs of a log take a store: its only stream, or the one that is named; a desk of old says what to do."""
    fill(desk)
    alone = run("missed", desk)
    assert alone["decisions"] == 30
    run("stream", "create", desk, "--stream", "orders", *VECTORS)
    told = run("missed", desk, json_=False, code=2).err
    assert "shop.db has 2 streams: clicks, orders. Say which with --stream" in told
    assert run("missed", desk, "--stream", "clicks") == alone
    assert run("worklist", desk, "--stream", "clicks") == []
    run("stream", "export", desk, "--stream", "clicks", "--out", "log.parquet")
    assert run("missed", "log.parquet") == alone
    told = run("missed", "log.parquet", "--stream", "clicks", json_=False, code=2).err
    assert "log.parquet is no store: leave out --stream clicks" in told
    told = run("label", "log.parquet", "x.csv", json_=False, code=3).err
    assert "log.parquet" in told
    assert "'appletaste stream create shop.db" in run("desk", "create", "x.at", json_=False, code=2).err


def test_backup(run, desk):
    fill(desk, 10)
    held = open_store(desk)  # while a service has it
    run("stream", "backup", desk, "--out", "copy.db")
    held.close()
    assert run("stream", "verify", "copy.db", "--stream", "clicks")["events"] == 21
    run("stream", "backup", desk, "--out", "copy.db", code=2, json_=False)
    run("stream", "backup", "postgresql://x/y", "--out", "c.db", code=2, json_=False)


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
    run("stream", "create", "d.db", "--stream", "a", "--costs", "miss=5,false_alarm=1,hit=0", code=2, json_=False)
    run("stream", "create", "d.db", "--stream", "a", *VECTORS, "--history", "x.csv", code=2, json_=False)
    run("stream", "create", "d.db", "--stream", "a", "--history", "x.csv", *VECTORS[2:], code=2, json_=False)


def test_a_stream_without_any_reviews_is_not_made(run):
    told = run("stream", "create", "d.db", "--stream", "a", *VECTORS, "--capacity", "0/day", code=2, json_=False)
    assert "--capacity 0/day allows no act on any day" in told.err


def test_doctor(run, monkeypatch):
    told = run("doctor")
    assert told["fit"]
    assert {one["name"] for one in told["findings"]} >= {"SQLite", "confirmed write", "clock", "processor"}
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")
    told = run("doctor", code=1)
    assert not told["fit"]
