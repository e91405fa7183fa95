"""A receiver of hooks for tests: it checks signatures, remembers what came, and fails as it is told to."""

import http.server
import threading
import time

from appletaste.errors import InputError
from appletaste.service import read_hook

SECRET = "a secret for the tests"


class Receiver:
    """Listens at ``url``; ``answer`` says the status of each message, from what was told and how many came before."""

    def __init__(self, answer=lambda told, before: 204):
        self.came, self.refused, self.deliveries = [], 0, []
        receiver, guard = self, threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    told = read_hook(body, dict(self.headers), SECRET)
                except InputError:
                    receiver.refused += 1
                    self.send_error(401)
                    return
                status = answer(told, len(receiver.deliveries))
                with guard:
                    receiver.deliveries.append((self.headers["Appletaste-Delivery"], status, time.monotonic()))
                    if 200 <= status < 300:
                        receiver.came += told["events"]
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", receiver.elsewhere)
                self.end_headers()

            def do_GET(self):  # where a redirect would lead
                receiver.came.append("redirected")
                self.send_error(404)

            def log_message(self, *told):
                """Say nothing."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                """Whoever sent was killed in the middle."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?a=b"
        self.elsewhere = self.url
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def numbers(self, stream=None):
        """Return the numbers in the order in which they came, again and again where they did."""
        return [one["number"] for one in self.came]

    def first(self):
        """Return what came by number, each once, and check that the same number always said the same."""
        found = {}
        for one in self.came:
            assert found.setdefault(one["number"], one) == one
        return found

    def close(self):
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
