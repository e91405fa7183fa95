"""People whom a proxy has signed in: believed from its address alone, and nothing else opens by what they send."""

import http.client
import http.server
import json
import shutil
import ssl
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from appletaste.errors import OptionError
from appletaste.service import endpoint
from appletaste.service.proxy import Proxy

from .serving import ORDERS, Running, ask, item, new_store

GROUPS = ["leads=lead", "team=reviewer:orders", "auditors=read"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "nginx.conf"


def named(name, groups, **more):
    return {"X-Forwarded-User": name, "X-Forwarded-Groups": groups, **more}


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A service that believes this machine."""
    store = new_store(tmp_path_factory.mktemp("proxy"))
    with Running(store, proxy=Proxy.of(["127.0.0.1"], GROUPS)) as running:
        yield running
    store.close()


def test_a_person_is_whom_the_proxy_names(behind):
    told = behind.ask("GET", "/v1/session", headers=named("Ann", "staff, team")).json()
    assert (told["key"]["name"], told["key"]["role"], told["streams"]) == ("Ann", "reviewer", ["orders"])
    assert told["by_proxy"] is True
    mine = named("Ann", "team")
    assert behind.ask("GET", ORDERS, headers=mine).status == 200
    assert behind.ask("GET", "/v1/streams/people", headers=mine).problem == "unknown-stream"
    assert behind.ask("GET", "/v1/keys", headers=mine).problem == "insufficient-scope"
    assert behind.ask("GET", ORDERS, headers=named("Bo", "auditors")).status == 200
    behind.ask("POST", ORDERS + "/decisions", {"id": "p1", "item": item(1)}, key=behind.key())
    note = ORDERS + "/decisions/p1/notes"
    assert behind.ask("POST", note, {"text": "odd"}, headers=mine).problem == "csrf"
    wrong = {**mine, "X-CSRF-Token": behind.ask("GET", "/v1/session", headers=named("Bo", "team")).json()["csrf"]}
    assert behind.ask("POST", note, {"text": "odd"}, headers=wrong).problem == "csrf"
    done = behind.ask("POST", note, {"text": "odd", "by": "Eve"}, headers={**mine, "X-CSRF-Token": told["csrf"]})
    assert done.status == 201
    case = behind.ask("GET", ORDERS + "/cases/p1", headers=mine).json()
    assert case["history"][-1]["by"] == "Ann"  # a person acts by no other name


def test_what_a_proxy_has_not_said_opens_nothing(behind):
    for headers in ({}, {"X-Forwarded-User": "Ann"}, named("Ann", "staff"), named("", "leads"), named("Ann", "LEADS")):
        assert behind.ask("GET", ORDERS, headers=headers).status == 401, headers
        assert behind.ask("GET", "/v1/session", headers=headers).json()["key"] is None
    twice = http.client.HTTPConnection("127.0.0.1", behind.port, timeout=30)
    twice.putrequest("GET", ORDERS)
    for name in ("Eve", "Ann"):
        twice.putheader("X-Forwarded-User", name)
    twice.putheader("X-Forwarded-Groups", "leads")
    twice.endheaders()
    assert twice.getresponse().status == 401
    twice.close()


def test_only_the_address_of_the_proxy_is_believed(tmp_path):
    """The same headers from a machine that was not named, and where no proxy was named at all, are nothing."""
    for proxy in (Proxy.of(["10.1.0.0/16", "::1"], GROUPS), None):
        store = new_store(tmp_path, f"{proxy is None}.db")
        with Running(store, proxy=proxy) as running:
            assert running.ask("GET", ORDERS, headers=named("Eve", "leads")).status == 401
            assert running.ask("GET", "/v1/session", headers=named("Eve", "leads")).json()["key"] is None
        store.close()


def test_the_token_is_looked_at(behind, monkeypatch):
    """Negative control: without the check a change by another site would be made."""
    monkeypatch.setattr(endpoint, "check_token", lambda headers, wanted: None)
    told = behind.ask("POST", ORDERS + "/queue:claim", {}, headers=named("Ann", "leads"))
    assert told.status == 200


def test_the_lease_of_a_person_lasts(behind):
    """People by a proxy have no key that could be revoked."""
    behind.ask("POST", ORDERS + "/decisions", {"id": "p2", "item": [3.0, 3.0, 3.0]}, key=behind.key())
    mine = named("Ann", "leads")
    token = behind.ask("GET", "/v1/session", headers=mine).json()["csrf"]
    claimed = behind.ask("POST", ORDERS + "/queue:claim", {"ids": ["p2"]}, headers={**mine, "X-CSRF-Token": token})
    assert [one["by"] for one in claimed.json()["items"]] == ["Ann"]
    assert behind.ask("GET", ORDERS + "/cases/p2", headers=mine).json()["by"] == "Ann"


@pytest.mark.parametrize(
    ("addresses", "groups", "words"),
    [
        (["127.0.0.1/8"], GROUPS, "has host bits set"),
        (["proxy.example"], GROUPS, "such as 10.0.0.7"),
        ([], GROUPS, "one or more addresses"),
        (["127.0.0.1"], [], "one or more groups"),
        (["127.0.0.1"], ["team"], "GROUP=ROLE"),
        (["127.0.0.1"], ["team=boss"], "there is no scope 'boss'"),
        (["127.0.0.1"], ["a,b=lead"], "commas"),
    ],
)
def test_a_proxy_that_is_none_is_refused(addresses, groups, words):
    with pytest.raises(OptionError, match=words):
        Proxy.of(addresses, groups)


class Accounts(BaseHTTPRequestHandler):
    """Stands where oauth2-proxy is: whoever has a cookie with a name is that person."""

    def do_GET(self):
        name = (self.headers.get("Cookie") or "").partition("account=")[2]
        if self.path.startswith("/oauth2/auth"):
            self.send_response(202 if name else 401)
            if name:
                self.send_header("X-Auth-Request-Preferred-Username", name)
                self.send_header("X-Auth-Request-Groups", "team,staff")
        else:
            self.send_response(200)
        self.send_header("Content-Length", "7")
        self.end_headers()
        self.wfile.write(b"sign in")

    def log_message(self, *args):
        pass


@pytest.fixture
def nginx(behind, tmp_path):
    """Nginx by the example, with ports and files of its own."""
    missing = [name for name in ("nginx", "openssl") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"THE EXAMPLE FOR NGINX IS NOT TESTED: there is no {' and no '.join(missing)} on this machine")
    accounts = ThreadingHTTPServer(("127.0.0.1", 0), Accounts)
    threading.Thread(target=accounts.serve_forever, daemon=True).start()
    crt, key = tmp_path / "review.crt", tmp_path / "review.key"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=review.example.com"]
    subprocess.run([*made, "-keyout", key, "-out", crt], check=True, capture_output=True)
    free = http.server.HTTPServer(("127.0.0.1", 0), Accounts)
    port = free.server_port
    free.server_close()
    text = EXAMPLE.read_text()
    for old, new in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/nginx/review.crt", str(crt)),
        ("/etc/nginx/review.key", str(key)),
        ("127.0.0.1:4180", f"127.0.0.1:{accounts.server_port}"),
        ("127.0.0.1:8080", f"127.0.0.1:{behind.port}"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (tmp_path / "site.conf").write_text(text)
    folders = " ".join(f"{kind}_temp_path {tmp_path};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {folders} include {tmp_path}/site.conf; }}\n"
    )
    process = subprocess.Popen(["nginx", "-p", tmp_path, "-c", tmp_path / "nginx.conf"], stderr=subprocess.DEVNULL)
    try:
        yield port, process
    finally:
        process.terminate()
        process.wait(20)
        accounts.shutdown()
        accounts.server_close()


def through(port, method, path, body=None, headers=None):
    """Ask the service through nginx; return the status and the body."""
    for _ in range(200):
        try:
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=unchecked())
            connection.request(method, path, body, headers or {})
            with connection.getresponse() as answer:
                return answer.status, answer.read()
        except ConnectionRefusedError:
            time.sleep(0.05)
        finally:
            connection.close()
    raise AssertionError("nginx did not start")


def unchecked():
    """A context that takes the certificate that this test has made."""
    found = ssl.create_default_context()
    found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
    return found


def test_the_example_for_nginx(behind, nginx):
    port, process = nginx
    assert through(port, "GET", "/v1/session") == (200, b"sign in")  # nobody gets further than the sign-in
    status, told = through(port, "GET", "/v1/session", headers={"Cookie": "account=Cleo"})
    assert (status, json.loads(told)["key"]["name"]) == (200, "Cleo")
    forged = named("Eve", "leads", Cookie="account=Cleo", Authorization=f"Bearer {behind.key()}")
    told = json.loads(through(port, "GET", "/v1/session", headers=forged)[1])
    assert (told["key"]["name"], told["key"]["role"]) == ("Cleo", "reviewer")
    ask(behind.port, "POST", ORDERS + "/decisions", {"id": "n1", "item": item(2)}, key=behind.key())
    headers = {"Cookie": "account=Cleo", "Content-Type": "application/json", "X-CSRF-Token": told["csrf"]}
    path = ORDERS + "/decisions/n1/notes"
    assert through(port, "POST", path, b'{"text": "seen"}', headers)[0] == 201
    del headers["X-CSRF-Token"]
    assert through(port, "POST", path, b'{"text": "seen"}', headers)[0] == 403
    status, page = through(port, "GET", "/", headers={"Cookie": "account=Cleo"})
    assert (status, b"<!doctype html>" in page) == (200, True)
    assert process.poll() is None
