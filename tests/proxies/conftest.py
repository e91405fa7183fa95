"""The examples of docs/operations, each started for real before two processes on one PostgreSQL."""

import http.client
import json
import shutil
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path

import pytest

from appletaste.records.stores import open_store

from ..service.serving import Told, make_streams, secret_of
from ..streams.stores import fresh_database

EXAMPLES = Path(__file__).parents[2] / "docs" / "operations"


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == item.config.rootpath / "tests" / "proxies":
            item.add_marker(pytest.mark.proxies)


def free_ports(n):
    held = [socket.socket() for _ in range(n)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return found


def wait_for(port, process, log=None):
    """Wait until a port is listened on; where the process ends instead, its log says why."""
    deadline = time.monotonic() + 90
    while True:
        assert process.poll() is None, log.read_text() if log else "it has ended"
        assert time.monotonic() < deadline, "it did not start"
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return
        except OSError:
            time.sleep(0.05)


class Site:
    """A proxy with TLS, and the two processes behind it."""

    def __init__(self, port, processes, secret):
        self.port, self.processes, self.secret = port, processes, secret
        self.tls = ssl.create_default_context()
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE  # the certificate of a test

    def ask(self, method, path, body=None, key=None, **headers):
        """Ask once, on a connection of its own."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=self.tls)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if key is not None:
            given["Authorization"] = f"Bearer {key}"
        if body is not None:
            given["Content-Type"] = "application/json"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), given)
            with connection.getresponse() as answer:
                return Told(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def hear(self, path, headers):
        """Return a live view, as what can be read of it line by line."""
        connection = self.tls.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=20))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
        return connection


def certificate(folder):
    """Return a certificate and its key."""
    crt, key = folder / "appletaste.crt", folder / "appletaste.key"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", key, "-out", crt], check=True, capture_output=True)
    (folder / "appletaste.pem").write_text(crt.read_text() + key.read_text())
    return crt, key


def changed(name, changes):
    """Return an example with ports and files of this test; each change must have something to change."""
    text = (EXAMPLES / name).read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, str(new))
    return text


def nginx_command(folder, port, behind):
    crt, key = certificate(folder)
    changes = {"listen 443 ssl": f"listen 127.0.0.1:{port} ssl", "/etc/nginx/appletaste.crt": crt}
    changes |= {"/etc/nginx/appletaste.key": key}
    changes |= {f"127.0.0.1:{old}": f"127.0.0.1:{new}" for old, new in zip((8081, 8082), behind, strict=True)}
    (folder / "site.conf").write_text(changed("nginx.conf", changes))
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{ access_log off; {temporary} include {folder}/site.conf; }}\n"
    )
    return ["nginx", "-p", folder, "-c", folder / "nginx.conf"], ["-t"]


def haproxy_command(folder, port, behind):
    certificate(folder)
    changes = {"bind :443": f"bind 127.0.0.1:{port}", "/etc/haproxy/appletaste.pem": folder / "appletaste.pem"}
    changes |= {f"127.0.0.1:{old}": f"127.0.0.1:{new}" for old, new in zip((8081, 8082), behind, strict=True)}
    (folder / "haproxy.cfg").write_text(changed("haproxy.cfg", changes))
    return ["haproxy", "-db", "-f", folder / "haproxy.cfg"], ["-c"]


PROXIES = {"nginx": nginx_command, "haproxy": haproxy_command}


@pytest.fixture
def two(tmp_path):
    """Two processes that serve one database, and believe this machine who people are."""
    address = fresh_database()
    store = open_store(address)
    make_streams(store)
    secret = secret_of(store)
    store.close()
    ports, processes = free_ports(2), []
    try:
        for port in ports:
            words = ["--store", address, "--port", str(port), "--proxy", "127.0.0.1", "--group", "team=admin"]
            words = [sys.executable, "-m", "appletaste", "serve", *words]
            with (tmp_path / f"{port}.log").open("w") as log:
                processes.append(subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log))
        for port, process in zip(ports, processes, strict=True):
            wait_for(port, process, tmp_path / f"{port}.log")
        yield ports, processes, secret
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(params=PROXIES)
def site(request, two, tmp_path):
    assert shutil.which(request.param), f"there is no {request.param}: 'make test-proxies' installs one, or says so"
    ports, processes, secret = two
    port = free_ports(1)[0]
    command, check = PROXIES[request.param](tmp_path, port, ports)
    told = subprocess.run([*command, *check], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "warn" not in told.stderr.lower(), told.stderr
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield Site(port, processes, secret)
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(30)
