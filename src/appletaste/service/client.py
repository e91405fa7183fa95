"""``at.connect``: a service from Python, without a library for HTTP; what fails on the way is sent again.

Sending again is safe because ids are: the same id gives the same answer, and the same label is applied once.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, urlsplit

import numpy as np

from ..errors import (
    AppleTasteError,
    ConflictError,
    FeedbackError,
    InputError,
    NotOwnerError,
    OutcomeUnknownError,
    StoreError,
    UnknownDecisionError,
    UnknownStreamError,
)

if TYPE_CHECKING:
    from .remote import RemoteStream

#: Which error a problem is, by the last part of its type.
ERRORS: dict[str, type[AppleTasteError]] = {
    "event-conflict": ConflictError,
    "label-conflict": ConflictError,
    "stream-exists": ConflictError,
    "unknown-stream": UnknownStreamError,
    "unknown-decision": UnknownDecisionError,
    "no-label": FeedbackError,
    "cannot-happen": FeedbackError,
    "outcome-unknown": OutcomeUnknownError,
    "not-ready": NotOwnerError,
    "overloaded": StoreError,
    "internal": StoreError,
}
#: What to do about a problem with the verbs of ``at.Stream``, where the service names a request.
REMEDIES = {
    "unauthenticated": "connect with a key that is neither expired nor revoked: at.connect(address, key='at_...')",
    "insufficient-scope": "ask for a key with the scope {scope!r}",
    "unknown-stream": "at.connect(address, key='at_...').streams() lists the streams that the key may see",
    "label-conflict": "if the new value is right, stream.correct(id, value); the first value stands until then",
    "no-label": "stream.label(id, value) adds one",
    "cannot-happen": "stream.find(id) says what became of the decision",
    "validation": "correct what is named; stream.as_dict() has the columns",
}
#: Fields with the same fault that a message names.
NAMED = 5
#: Statuses that are worth sending the same again for.
PASSING = (502, 503, 504)


class RefusedError(InputError):
    """A request that the service refused; ``problem`` is the document that says why (RFC 9457)."""

    def __init__(self, message: str, problem: dict[str, Any]) -> None:
        super().__init__(message)
        self.problem = problem

    def __reduce__(self) -> tuple[type[RefusedError], tuple[str, dict[str, Any]]]:
        return type(self), (str(self), self.problem)


def _plain(value: Any) -> Any:
    """Return a number or a truth value of NumPy as JSON has it."""
    if isinstance(value, np.generic):
        return value.item()
    raise InputError(
        f"a value of type {type(value).__name__} cannot be sent: give a number, a text, True, False or None"
    )


def error_of(problem: dict[str, Any]) -> AppleTasteError:
    """Return a problem document as the error that ``at.Stream`` raises for the same.

    Examples
    --------
    >>> error_of({"type": "urn:appletaste:problem:event-conflict", "title": "taken", "remedy": "another id"})
    ConflictError('taken: another id')
    """
    told = [str(problem.get("detail") or problem.get("title", "the service refused the request"))]
    faults: dict[str, list[str]] = {}
    for error in problem.get("errors") or ():
        wanted = f", expected {error['expected']}" if error.get("expected") else ""
        where = error.get("pointer") or error.get("parameter") or "the body"
        faults.setdefault(f"{error.get('code')}{wanted}", []).append(where)
    for fault, places in faults.items():
        more = "" if len(places) <= NAMED else f" and {len(places) - NAMED} more"
        told.append(f"{', '.join(places[:NAMED])}{more}: {fault}")
    name = str(problem.get("type", "")).rsplit(":", 1)[-1]
    remedy = REMEDIES.get(name, str(problem.get("remedy", ""))).replace("{scope!r}", repr(problem.get("scope")))
    message, kind = f"{'; '.join(told)}: {remedy}", ERRORS.get(name)
    return RefusedError(message, problem) if kind is None else kind(message)


def split_address(address: str) -> SplitResult:
    """Return the parts of the address of a service, or say what an address is."""
    with suppress(ValueError):  # of a port that is none
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    raise InputError("an address is http://host:port or https://host:port, with a port from 1 to 65535")


class Client:
    """A connection to a service; may be used from several threads, each of which has a socket of its own.

    Examples
    --------
    >>> Client("http://127.0.0.1:8080", key="at_...")
    <Client of http://127.0.0.1:8080>
    >>> Client("ftp://example.com")
    Traceback (most recent call last):
    ...
    appletaste.errors.InputError: an address is http://host:port or https://host:port, with a port from 1 to 65535
    """

    def __init__(self, address: str, key: str = "", *, timeout: float = 30.0, patience: float = 30.0) -> None:
        parts = split_address(address)
        self.address, self._key, self._timeout, self._patience = address.rstrip("/"), key, timeout, patience
        secure = parts.scheme == "https"
        self._kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._host, self._port, self._root = parts.hostname or "", parts.port, parts.path.rstrip("/")
        self._own = threading.local()
        self._open: list[http.client.HTTPConnection] = []

    def __repr__(self) -> str:
        return f"<Client of {self.address}>"

    def __reduce__(self) -> Any:
        raise InputError(
            f"the connection to {self.address} cannot be copied or pickled: it holds sockets, and a key that belongs "
            "in no file. Connect where it is needed: at.connect(address, key=...).stream(name)"
        )

    def stream(self, name: str) -> RemoteStream:
        """Return a stream of the service, with the verbs of ``at.Stream``."""
        from .remote import RemoteStream

        return RemoteStream(self, name)

    def streams(self) -> list[str]:
        """Return the names of the streams that the key may see."""
        names: list[str] = self.call("GET", "/v1/streams")[1]["streams"]
        return names

    def close(self) -> None:
        """Close all sockets; the next request opens another one."""
        while self._open:
            self._open.pop().close()
        self._own = threading.local()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_open", ()):
            connection.close()

    # ---- one request

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the answer of one request; what fails on the way is sent again for a while."""
        content = None
        if body is not None:
            try:
                content = json.dumps(body, allow_nan=False, default=_plain).encode()
            except InputError:
                raise
            except ValueError:
                raise InputError("NaN and infinity cannot be sent: give None where a value is missing") from None
        deadline, pause = time.monotonic() + self._patience, 0.05
        while True:
            try:
                status, answer = self._once(method, path, content)
                if status < 400:
                    return status, answer
                failure: Exception = error_of(answer if isinstance(answer, dict) else {"title": f"status {status}"})
                if status not in PASSING:
                    raise failure
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, AppleTasteError):
                    raise
                self._drop()
                failure = OutcomeUnknownError(
                    f"{self.address} did not answer ({type(error).__name__}): whether the request was done is not "
                    "known. Repeat it with the same id"
                )
            if time.monotonic() + pause > deadline:
                raise failure
            time.sleep(pause)
            pause = min(2.0 * pause, 1.0)

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """Give the lines of an answer that is JSON lines."""
        response = self._send("GET", path, None)
        if response.status >= 400:
            raise error_of(json.loads(response.read()))
        for line in response:
            yield json.loads(line)

    def _drop(self) -> None:
        """Close the socket of this thread."""
        connection = self._own.__dict__.pop("connection", None)
        if connection is not None:
            connection.close()
            if connection in self._open:
                self._open.remove(connection)

    def _once(self, method: str, path: str, content: bytes | None) -> tuple[int, Any]:
        response = self._send(method, path, content)
        raw = response.read()
        try:
            return response.status, json.loads(raw)
        except ValueError:
            return response.status, raw

    def _send(self, method: str, path: str, content: bytes | None) -> http.client.HTTPResponse:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._kind(self._host, self._port, timeout=self._timeout)
            self._open.append(connection)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        if content is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, self._root + path, content, headers)
        response: http.client.HTTPResponse = connection.getresponse()
        return response


def connect(address: str, key: str = "", *, timeout: float = 30.0, patience: float = 30.0) -> Client:
    """Return a connection to a service: ``at.connect("http://...", key=...).stream("orders")``.

    A request that fails on the way is sent again until ``patience`` seconds have passed.
    """
    return Client(address, key, timeout=timeout, patience=patience)


def in_path(text: str) -> str:
    """Return a name or an id as a part of an address.

    Examples
    --------
    >>> in_path("case/17 ü")
    'case%2F17%20%C3%BC'
    """
    return quote(text, safe="")
