"""First use: a file becomes a look, a replay in money and a stream; what is no table leaves nothing behind."""

import http.client
import json
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest

import appletaste as at
from appletaste.service.review import first_use, uploads
from appletaste.service.review.uploads import Files, latest_rows

from .filling import orders
from .serving import Running, new_store

COSTS = {"miss": "amount*0.9+15", "false_alarm": 6, "hit": 4}
ROLES = {"label": "fraud", "time": "placed_at", "id": "order_id", "costs": COSTS}


def table(n=400):
    """Return a file as bytes."""
    lines = ["order_id,placed_at,amount,country,items,fraud"]
    for k, (record, made, _, _, bad) in enumerate(orders(n)):
        cells = (f"{record['amount']:.2f}", record["country"], f"{record['items']:.0f}", "yes" if bad else "no")
        lines.append(",".join((f"o{k}", made, *cells)))
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def post(service, key):
    def sent(path, body=None, **given):
        return service.ask("POST", path, body, **{"key": key, **given})

    return sent


def upload(post, content):
    return post("/v1/files", raw=content, headers={"Content-Type": "text/csv; charset=utf-8"})


@pytest.fixture(scope="module")
def file(service, key):
    told = service.ask("POST", "/v1/files", raw=table(), key=key, headers={"Content-Type": "text/csv"})
    return told.json()["file"]


def test_a_look_at_a_file(post):
    told = upload(post, table())
    assert told.status == 201
    found = told.json()
    assert found["rows"] == 400
    columns = {column["name"]: column for column in found["columns"]}
    assert found["suggested"] == {"label": "fraud", "time": "placed_at", "id": "order_id", "amount": "amount"}
    assert columns["placed_at"]["kind"] == "date"
    assert columns["fraud"]["could_be"] == ["label"]
    assert columns["fraud"]["levels"] == ["no", "yes"]
    assert columns["order_id"]["could_be"] == ["id"]
    assert "amount" in columns["amount"]["could_be"]
    assert sum(bar["share"] for bar in columns["country"]["look"]) == pytest.approx(1.0)
    assert columns["order_id"]["findings"][0].startswith("IDENTIFIER: ")
    assert "take the tick of 'order_id' away" in columns["order_id"]["findings"][0]
    assert "drop=" not in json.dumps(found)  # the words of the page, not of Python


def test_what_is_known_only_afterwards_is_said_at_once(post):
    lines = table().decode().splitlines()
    paid = [f"{line},2024-07-{1 + k % 28:02d},{9 if line.endswith('yes') else 1}" for k, line in enumerate(lines[1:])]
    found = upload(post, "\n".join([lines[0] + ",settled_on,paid_back", *paid]).encode()).json()
    said = {column["name"]: column["findings"] for column in found["columns"]}
    assert found["suggested"]["time"] == "placed_at"
    assert said["settled_on"][0].startswith("DATE_AFTER: ")
    assert said["paid_back"][0].startswith("LEAK: ")
    odd = upload(post, b"a,kind\n" + b"1,x\n2,x\n3,y\n4,x\n" * 20).json()  # no value says that it is positive
    assert odd["suggested"]["label"] == "kind"


BAD = {
    "empty": b"",
    "blank": b" \n\n",
    "not UTF-8": table().replace(b"yes", b"j\xe4", 3),
    "UTF-16": "a,b\n1,0\n".encode("utf-16"),
    "a spreadsheet": b"PK\x03\x04" + bytes(range(256)),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(100),
    "NUL": b"a,b\n1,\x000\n2,1\n",
    "JSON": b'[{"a": 1}]',
    "one column": b"bad\n0\n1\n0\n",
    "no label": b"a,b\n1,2\n3,4\n5,6\n",
    "ragged": b"a,b\n1,0\n2\n3,1\n",
    "a header twice": b"a,a\n1,0\n2,1\n",
    "no name": b"a,\n1,0\n2,1\n",
    "no rows": b"a,b\n",
    "an open quote": b'a,b\n"1,0\n2,1\n',
    "a long name": 300 * b"a" + b",b\n1,0\n2,1\n",
    "too many columns": (
        ",".join(f"c{k}" for k in range(1001)) + "\n" + 1000 * "1," + "0\n" + 1000 * "2," + "1\n"
    ).encode(),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_table_leaves_nothing_behind(service, post, file, name):
    host, before = service.app.host, service.digest()
    kept = sorted(path.name for path in host.files.find(file).parent.iterdir())
    told = upload(post, BAD[name])
    assert (told.status, told.problem) == (422, "unreadable-file")
    assert told.json()["detail"]
    assert told.json()["remedy"]
    assert "/tmp" not in told.body.decode()
    assert service.digest() == before
    assert sorted(path.name for path in host.files.find(file).parent.iterdir()) == kept


def test_a_file_that_is_too_large(service, key, post, monkeypatch):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.putrequest("POST", "/v1/files")
    for name, value in (("Authorization", f"Bearer {key}"), ("Content-Type", "text/csv")):
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(65 * 2**20))
    connection.endheaders()
    with connection.getresponse() as answer:
        assert answer.status == 413
        assert b"64 MiB" in answer.read()
    connection.close()
    monkeypatch.setattr(uploads, "CELLS", 100)
    assert "more than 100 cells" in upload(post, table()).json()["detail"]
    assert post("/v1/files", raw=table(), headers={"Content-Type": "application/json"}).status == 415


def test_a_replay_is_that_of_the_library(post, file, tmp_path):
    told = post(f"/v1/files/{file}/replay", {**ROLES, "audit": "2%"}).json()
    path = tmp_path / "orders.csv"
    path.write_bytes(table())
    found = at.replay(path, "fraud", costs=COSTS, time="placed_at", drop=["order_id"], audit="2%")
    assert [row["name"] for row in told["rows"]] == list(found)
    for row in told["rows"]:
        ours = found[row["name"]]
        assert row["cost_per_1000"] == ours.cost_per_1000.mean
        assert row["act_rate"] == ours.act_rate
        assert told["money"][-1]["costs"][row["name"]] == ours.curves[0][-1]
    assert told["money"][0]["items"] == 0
    assert told["money"][-1]["items"] == 400
    assert "never acting" in told["words"][0]


def test_a_constant_that_costs_less_is_the_first_word():
    """Nothing can be learnt of noise, and looking into it has a price."""
    rng = np.random.default_rng(1)
    noise = {f"x{k}": rng.normal(size=700) for k in range(6)} | {"bad": (rng.random(700) < 0.05).astype(int)}
    result = at.replay(noise, "bad", costs={"miss": 2, "false_alarm": 1, "hit": 1}, order="as is")
    words = first_use.replay_words(result)
    assert words[0].startswith("Never acting costs ")
    assert (
        "do not go live with voi on this stream. Try scales that follow their columns, on the command line" in words[0]
    )
    assert words[1].startswith("Every 1,000 items would have cost")


def test_what_is_wrong_with_a_replay_is_said(service, post, file):
    before = service.digest()
    for change, word in (
        ({"label": "colour"}, "no column 'colour'"),
        ({"label": "country"}, "A label has two"),
        ({"costs": {"miss": "price*2", "false_alarm": 1}}, "no column 'price'"),
        ({"costs": {"miss": 1, "false_alarm": 1, "hit": 5}}, "hit"),
        ({"capacity": "many"}, "capacity is 120/day"),
        ({"time": "country"}, "country"),
        ({"drop": ["fraud"]}, "label"),
    ):
        for verb, more in (("replay", {}), ("stream", {"name": "wrong"})):
            told = post(f"/v1/files/{file}/{verb}", {**ROLES, **change, **more})
            assert told.problem == "unreadable-file", (change, verb, told.body)
            assert word in told.json()["detail"]
            assert "/tmp" not in told.body.decode()
    for body in ({}, {**ROLES, "colour": 1}, {**ROLES, "costs": {"miss": 5}}, {**ROLES, "drop": "x"}):
        assert post(f"/v1/files/{file}/replay", body).status == 422
    assert post("/v1/files/nothing/replay", ROLES).problem == "unknown-file"
    assert service.digest() == before
    assert "wrong" not in service.ask("GET", "/v1/streams", key=service.key()).json()["streams"]


def test_from_a_file_to_a_first_decision(service, post, file):
    asked = {**ROLES, "name": "shop", "capacity": "20/day", "audit": "2%"}
    told = post(f"/v1/files/{file}/stream", asked)
    assert told.status == 201
    made = told.json()
    assert (made["stream"]["mode"], made["taught"], made["stream"]["name"]) == ("shadow", 400, "shop")
    assert made["stream"]["costs"]["miss"] == "amount*0.9+15"
    code = made["try_it"]
    assert post(f"/v1/files/{file}/stream", asked).problem == "stream-exists"
    parts = shlex.split(code["curl"])  # what a shell makes of it
    assert parts[1] == f"http://127.0.0.1:{service.port}/v1/streams/shop/decisions"
    body = json.loads(parts[parts.index("-d") + 1])
    answer = service.ask("POST", "/v1/streams/shop/decisions", body, key=code["key"])
    assert (answer.status, answer.json()["mode"], answer.json()["act"]) == (201, "shadow", False)
    assert service.ask("GET", "/v1/streams/shop", key=code["key"]).status == 403  # decides and labels, no more
    ran = subprocess.run([sys.executable, "-c", code["python"]], capture_output=True, text=True, check=False)
    assert "'id': 'first-1'" in ran.stdout, ran.stderr
    health = service.ask("GET", "/v1/streams/shop/health", key=service.key()).json()
    assert (health["capacity"], health["audit"]) == ("20/day", "2%")
    curves = service.ask("GET", "/v1/streams/shop/model/curves", key=service.key()).json()
    assert {column["name"] for column in curves["columns"]} >= {"amount", "country", "items"}
    assert curves["labels"] == 400


def test_files_are_for_keys_of_every_stream(service, post, file):
    narrow = service.key(streams=("orders",))
    assert upload(lambda *a, **g: post(*a, **{**g, "key": narrow}), table(20)).status == 403
    assert post(f"/v1/files/{file}/replay", ROLES, key=narrow).status == 403
    assert post(f"/v1/files/{file}/stream", {**ROLES, "name": "x"}, key=narrow).status == 403


def test_files_go(monkeypatch):
    files = Files()
    names = [files.put(b"a,b\n%d,0\n" % k) for k in range(uploads.MOST + 2)]
    folder = files.find(names[-1]).parent
    assert len(files) == uploads.MOST == len(list(folder.iterdir()))
    with pytest.raises(uploads.Problem):
        files.find(names[0])
    now = uploads.time.time()
    monkeypatch.setattr(uploads.time, "time", lambda: now + 90_000.0)
    with pytest.raises(uploads.Problem):
        files.find(names[-1])
    assert not list(folder.iterdir())
    files.close()
    assert not folder.exists()


def test_a_file_goes_by_itself_after_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "LASTS", 0.05)
    store = new_store(tmp_path)
    with Running(store) as service:
        key = service.key()
        told = service.ask("POST", "/v1/files", raw=table(), key=key, headers={"Content-Type": "text/csv"})
        assert told.status == 201
        ends = time.monotonic() + 30.0
        while len(service.app.host.files) and time.monotonic() < ends:  # and nobody asks for a file
            time.sleep(0.01)
        assert not len(service.app.host.files)
    store.close()


def test_a_file_that_goes_meanwhile_is_not_there(service, post):
    name = upload(post, table()).json()["file"]
    service.app.host.files.find(name).unlink()
    for verb, more in (("replay", {}), ("stream", {"name": "gone"})):
        assert post(f"/v1/files/{name}/{verb}", {**ROLES, **more}).problem == "unknown-file"
    assert "gone" not in service.ask("GET", "/v1/streams", key=service.key()).json()["streams"]


def test_of_a_long_file_the_latest_rows_are_played(post, service, file, monkeypatch):
    monkeypatch.setattr(first_use, "PLAYED", 300)
    folder = service.app.host.files.find(file).parent
    before = sorted(folder.iterdir())
    told = post(f"/v1/files/{file}/replay", ROLES).json()
    assert told["money"][-1]["items"] == 300
    assert told["notes"][0].startswith("the latest 300 of 400 rows were played")
    wrong = post(f"/v1/files/{file}/replay", {**ROLES, "label": "country"})
    assert "the file of the latest 300 rows" in wrong.json()["detail"]
    assert "/tmp" not in wrong.body.decode()
    assert sorted(folder.iterdir()) == before  # what was played has gone


def test_the_latest_rows(tmp_path):
    path = tmp_path / "a.csv"
    rows = [(k, f"2024-01-{1 + (7 * k) % 28:02d}", 'a "quoted", cell') for k in range(100)]
    lines = [f'{k};{day};"a ""quoted"", cell"' for k, day, _ in rows]
    path.write_text("k;day;text\n" + "\n".join(lines))
    shorter, n = latest_rows(path, "day", 30, tmp_path)
    found = at.read_records(shorter)
    assert (n, len(found)) == (100, 30)
    later = np.sort([day for _, day, _ in rows])[-30]
    assert min(found.columns["day"].tolist()) >= later
    assert set(found.columns["text"].tolist()) == {'a "quoted", cell'}
    assert found.columns["k"].tolist() == sorted(found.columns["k"].tolist())
    assert latest_rows(path, None, 30, tmp_path)[0].read_text().count("\n") == 31
    assert latest_rows(path, "day", 100, tmp_path) == (path, 100)
    path.write_text("t,bad\n" + "".join(f"{t},0\n" for t in (100, 9, 8, 11, "")))  # as numbers, not as texts
    assert latest_rows(path, "t", 2, tmp_path)[0].read_text().split() == ["t,bad", "100,0", "11,0"]
