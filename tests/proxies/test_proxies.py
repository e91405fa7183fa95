"""What programs and reviewers meet through nginx and through HAProxy, and what a process that dies takes along."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from appletaste.service.server import GRACE, KEEP_ALIVE

from ..service.serving import ORDERS, item
from .conftest import EXAMPLES, changed


def body(k, **more):
    return {"id": f"p{k}", "item": item(k), "time": "2024-05-31", **more}


def decided(site, k, id_=None):
    """Decide, as often as it takes: 503 means try again with the same id."""
    return asked(site, "POST", ORDERS + "/decisions", body(k) | ({"id": id_} if id_ else {}))


def asked(site, method, path, given=None):
    """Ask until the answer is another than that whoever asks should try again."""
    ends = time.monotonic() + 60
    while True:
        told = site.ask(method, path, given, key=site.secret)
        if told.status != 503:
            return told
        assert told.headers["retry-after"]
        assert time.monotonic() < ends, told.body
        time.sleep(0.1)


def heard(view, words):
    """Read a live view until it has said something; a proxy that holds events back makes this time out."""
    said = b""
    while words not in said:
        said += view.recv(65536)
    return said


def test_through_the_proxy(site):
    for k in range(6):
        first = decided(site, k)
        assert first.status in (200, 201)
        again = decided(site, k)
        assert (again.status, again.body) == (200, first.body)
    # an id with a slash is one part of an address, on the whole way
    assert decided(site, 7, "a/b").status in (200, 201)
    label = site.ask("PUT", ORDERS + "/decisions/a%2Fb/label", {"value": 1}, key=site.secret)
    assert (label.status, label.json()["status"]) == (200, "applied")
    assert site.ask("GET", "/readyz").json() == {"status": "ready"}
    assert site.ask("GET", "/metrics", key=site.secret).status == 404
    assert site.ask("GET", ORDERS).status == 401
    # whom a proxy has signed in is said by the proxy alone; straight at the process the same headers would count
    forged = {"X_Forwarded_User": "eve", "X_Forwarded_Groups": "team"}
    assert site.ask("GET", ORDERS, **forged).status == 401
    # a page over TLS gets a cookie that is for TLS alone
    signed_in = site.ask("POST", "/v1/session", {"key": site.secret})
    cookie = signed_in.headers["set-cookie"]
    assert "; Secure" in cookie
    # live events leave at once, also where the process that was asked is not the owner
    for k in (20, 21):
        view = site.hear(ORDERS + "/live", {"Cookie": cookie.split(";")[0]})
        begun = heard(view, b"retry: ")
        assert b" 200 " in begun.split(b"\r\n")[0]
        assert decided(site, k).status == 201
        event = heard(view, b'"id":"p%d"' % k)
        assert b"event: decided" in event
        view.close()
    # a body that is larger than any may be gets no further than the proxy, or the limit of the service
    large = site.ask("POST", ORDERS + "/decisions", {"id": "x" * 100_000, "item": item(1)}, key=site.secret)
    assert large.status == 413


def test_a_process_that_dies_is_not_noticed_for_long(site):
    told = {k: json.loads(decided(site, k).body) for k in range(10)}
    site.processes[0].kill()
    site.processes[0].wait()
    for k in range(10, 30):
        answer = decided(site, k)
        assert answer.status in (200, 201), answer.body
        told[k] = json.loads(answer.body)
    for k, answer in told.items():
        found = asked(site, "GET", f"{ORDERS}/decisions/p{k}")
        assert found.status == 200, found.body
        assert answer.items() <= found.json().items()
    site.processes[1].terminate()
    assert site.processes[1].wait(60) == 0


def test_the_proxies_let_go_of_connections_first():
    """A proxy that keeps a connection longer than the service would send a request to one that is being closed."""
    nginx, haproxy = ((EXAMPLES / name).read_text() for name in ("nginx.conf", "haproxy.cfg"))
    assert int(re.search(r"^    keepalive_timeout (\d+)s;", nginx, re.M)[1]) < KEEP_ALIVE
    assert int(re.search(r"pool-purge-delay (\d+)s", haproxy)[1]) * 2 < KEEP_ALIVE  # purged at the second look
    unit = (EXAMPLES / "appletaste.service").read_text()
    assert int(re.search(r"^TimeoutStopSec=(\d+)", unit, re.M)[1]) > GRACE


def test_the_unit_is_one_that_systemd_takes(tmp_path):
    program = Path(sys.executable).parent / "appletaste"
    text = changed("appletaste.service", {"/opt/appletaste/bin/appletaste": program})

    def verified(name, unit):
        (tmp_path / name).write_text(unit)
        words = ["systemd-analyze", "verify", "--man=no", "--generators=no", tmp_path / name]
        return subprocess.run(words, capture_output=True, text=True, check=False).stderr

    ours = [line for line in verified("good.service", text).splitlines() if "good.service" in line]
    assert ours == []
    assert "Restrat" in verified("bad.service", text.replace("Restart=", "Restrat="))  # this can fail
