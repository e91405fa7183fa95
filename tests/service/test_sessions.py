"""Signing in with a key: a cookie stands for the key, a token goes with every change, and both end with the key."""

import asyncio
import gzip
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from appletaste.records.stores import MemoryStore
from appletaste.service import sessions
from appletaste.service.keys import Keys, digest_of
from appletaste.service.review import assets
from appletaste.service.sessions import COOKIE, Sessions

from .serving import Running, hear, new_store

ORDERS = "/v1/streams/orders"


def test_sign_in_and_out(service):
    secret = service.key("read", "review", streams=("orders",))
    told = service.ask("POST", "/v1/session", {"key": secret})
    assert told.status == 200
    assert (told.json()["key"]["scopes"], told.json()["streams"]) == (["review", "read"], ["orders"])
    cookie = told.headers["set-cookie"]
    assert re.fullmatch(rf"{COOKIE}=[\w-]{{43}}; Max-Age=\d+; Path=/; HttpOnly; SameSite=Strict", cookie)
    mine = {"Cookie": "theme=dark; " + cookie.split(";")[0]}
    assert service.ask("GET", "/v1/session", headers=mine).json() == told.json()
    assert service.ask("GET", ORDERS, headers=mine).status == 200
    assert service.ask("GET", "/v1/streams/people", headers=mine).problem == "unknown-stream"
    assert service.ask("DELETE", "/v1/session", headers=mine).problem == "csrf"
    gone = service.ask("DELETE", "/v1/session", headers={**mine, "X-CSRF-Token": told.json()["csrf"]})
    assert (gone.status, gone.body) == (204, b"")
    assert "Max-Age=0" in gone.headers["set-cookie"]
    assert service.ask("GET", ORDERS, headers=mine).status == 401


def test_nobody_has_signed_in(service):
    """Every page begins with the question, so that the answer is no error."""
    nobody = {"key": None, "streams": [], "csrf": None, "by_proxy": False}
    assert service.ask("GET", "/v1/session").json() == nobody
    assert service.ask("GET", "/v1/session", headers={"Cookie": f"{COOKIE}=guess"}).json() == nobody


@pytest.mark.parametrize("key", ["at_guess", "x", "at_" + 43 * "A"])
def test_a_wrong_key_begins_nothing(service, key):
    before = service.digest()
    told = service.ask("POST", "/v1/session", {"key": key})
    assert (told.status, "set-cookie" in told.headers) == (401, False)
    assert service.digest() == before


def test_the_cookie_is_for_tls_where_the_page_came_over_tls(service):
    secret = service.key("read")
    for headers in ({"Origin": "https://desk.example"}, {"X-Forwarded-Proto": "https"}):
        told = service.ask("POST", "/v1/session", {"key": secret}, headers=headers)
        assert told.headers["set-cookie"].endswith("; Secure")


def test_the_store_knows_no_cookie(service):
    headers = service.sign_in(service.key("read"))
    token = headers["Cookie"].split("=")[1]
    assert token.encode() not in b"".join(service.store.values("sessions").values())
    assert token not in service.store.values("sessions")


def test_who_acts_is_who_has_signed_in(service):
    secret = service.keys.create("ann", ["decide", "label", "review", "correct", "read"])[0]
    ann, path = service.sign_in(secret), ORDERS + "/decisions/signed"
    service.ask("POST", ORDERS + "/decisions", {"id": "signed", "item": [3.0, 1.0, 1.0]}, headers=ann)
    service.ask("POST", path + "/notes", {"text": "odd", "by": "somebody else"}, headers=ann)
    service.ask("PUT", path + "/label", {"value": 1, "source": "somebody else"}, headers=ann)
    service.ask("POST", ORDERS + "/labels:batch", {"labels": [{"id": "signed", "value": 1}]}, headers=ann)
    service.ask("POST", path + "/label/corrections", {"value": 0, "by": "somebody else"}, headers=ann)
    service.ask("DELETE", path + "/label", headers=ann)
    case = service.ask("GET", ORDERS + "/cases/signed", headers=ann).json()
    assert [(one["kind"], one["by"]) for one in case["history"]] == [
        ("decided", ""),
        ("noted", "ann"),
        ("labelled", "ann"),
        ("corrected", "ann"),
        ("retracted", "ann"),
    ]
    service.ask("POST", path + "/notes", {"text": "told by a program", "by": "bob"}, key=secret)
    service.ask("POST", path + "/notes", {"text": "by the name of the key"}, key=secret)
    notes = service.ask("GET", path, key=secret).json()["notes"]
    assert [note["by"] for note in notes[-2:]] == ["bob (says ann)", "ann"]


def to_the_end(live):
    """Wait until a live view ends: the last chunk of an answer is empty."""
    heard = b""
    while not heard.endswith(b"0\r\n\r\n"):
        more = live.recv(65536)
        assert more
        heard += more


def test_a_revoked_key_ends_its_sessions_and_its_live_views(service):
    admin = service.key()
    for by_cookie in (True, False):
        secret, key = service.keys.create("leaver", ["read"])
        headers = service.sign_in(secret) if by_cookie else {"Authorization": f"Bearer {secret}"}
        with hear(service.port, ORDERS + "/live", headers) as live:
            assert service.ask("DELETE", f"/v1/keys/{key.id}", key=admin).status == 200
            assert service.ask("GET", ORDERS, headers=headers).status == 401
            to_the_end(live)


def test_signing_out_ends_the_live_view(service):
    headers = service.sign_in(service.key("read"))
    with hear(service.port, ORDERS + "/live", headers) as live:
        assert service.ask("DELETE", "/v1/session", headers=headers).status == 204
        to_the_end(live)


def test_a_session_outlives_the_process(tmp_path):
    store = new_store(tmp_path)
    with Running(store) as first:
        headers = first.sign_in(first.key())
    with Running(store) as second:
        body = {"id": "later", "item": [1, 2, 3]}
        assert second.ask("POST", ORDERS + "/decisions", body, headers=headers).status == 201
    store.close()


def test_sessions_of_another_process_are_found_and_end_there(monkeypatch):
    store = MemoryStore()
    keys = Keys(store)
    secret, _ = keys.create("ann", ["read"])
    here, there = Sessions(store, keys), Sessions(store, Keys(store))
    token, _ = here.begin(secret)
    assert there.known(token) is None
    assert asyncio.run(there.find(token)).key.name == "ann"
    here.end(token)
    there.reload()
    assert asyncio.run(there.find(token)) is None
    kept, _ = here.begin(secret)
    now = time.time()
    monkeypatch.setattr(sessions.time, "time", lambda: now + sessions.LASTS - 1)
    assert here.known(kept) is not None
    monkeypatch.setattr(sessions.time, "time", lambda: now + sessions.LASTS + 1)
    assert here.known(kept) is None


def test_sessions_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(sessions, "MOST", 3)
    store = MemoryStore()
    keys = Keys(store)
    secret, key = keys.create("ann", ["read"])
    other, _ = keys.create("bob", ["read"])
    mine = Sessions(store, keys)
    bobs, _ = mine.begin(other)
    tokens = [mine.begin(secret)[0] for _ in range(5)]
    assert [mine.known(token) is not None for token in tokens] == [False, False, True, True, True]
    keys.revoke(key.id)
    mine.begin(other)
    assert len(store.values("sessions")) == 2
    assert mine.known(bobs) is not None


# ---- the page


def test_the_page_is_for_everybody_and_may_do_little(service):
    told = service.ask("GET", "/")
    assert (told.status, told.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert told.headers["content-security-policy"] == assets.POLICY
    assert service.ask("GET", "/v1/session").headers["x-content-type-options"] == "nosniff"  # whatever is answered
    assert "unsafe" not in assets.POLICY
    assert "'none'" in assets.POLICY.split(";")[0]
    assert told.headers["x-content-type-options"] == "nosniff"
    assert told.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in told.headers


def test_every_file_of_the_page_is_sent_once(service):
    for path in assets.FOLDER.iterdir():
        first = service.ask("GET", f"/page/{path.name}")
        whole = path.read_bytes()
        assert (first.status, 0 < len(first.body) <= len(whole)) == (200, True)
        assert path.suffix == ".js" or first.body == whole
        assert first.headers["content-type"] == assets.KINDS[path.suffix[1:]]
        packed = service.ask("GET", f"/page/{path.name}", headers={"Accept-Encoding": "gzip, br"})
        assert (packed.headers["content-encoding"], gzip.decompress(packed.body)) == ("gzip", first.body)
        assert packed.headers["etag"] != first.headers["etag"]
        again = service.ask("GET", f"/page/{path.name}", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize(
    "name", ["nothing.js", "..%2Fkeys.py", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e", "a.exe", "x.js%00"]
)
def test_nothing_else_is_sent(service, name):
    told = service.ask("GET", f"/page/{name}")
    assert told.problem in ("unknown-route", "bad-encoding")


def test_what_ends_while_others_begin_stays_ended(monkeypatch):
    """Threads begin and end sessions at once: none that is over comes back."""

    def slowly(secret):
        time.sleep(0.0005)  # others have their turn in the middle of every change
        return digest_of(secret)

    monkeypatch.setattr(sessions, "digest_of", slowly)
    store = MemoryStore()
    keys = Keys(store)
    secret, _ = keys.create("ann", ["read"])
    mine = Sessions(store, keys)

    def one(_):
        token, _ = mine.begin(secret)
        mine.end(token)
        return token

    with ThreadPoolExecutor(8) as pool:
        assert [token for token in pool.map(one, range(60)) if mine.known(token)] == []
