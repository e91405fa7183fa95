"""Signed messages: who sends a hook proves it with a secret that the receiver has, too, and when.

The signature is HMAC-SHA256 (RFC 2104) over ``timestamp.body``: nobody without the secret can make one, and an old one
is refused, so that a message that was overheard cannot be sent again much later.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from ..errors import InputError

SIGNATURE, TIMESTAMP, DELIVERY = "Appletaste-Signature", "Appletaste-Timestamp", "Appletaste-Delivery"
#: Stands before a signature, so that another way of signing can be told from this one.
WAY = "v1="
#: Seconds by which the clocks of a sender and a receiver may differ.
TOLERANCE = 300.0


def signature_of(body: bytes, timestamp: str, secret: str) -> str:
    """Return the signature of a body that is sent at a time.

    Examples
    --------
    >>> signature_of(b"{}", "1700000000", "a secret of many letters")
    'v1=e01ea0064645dbc1a1725967ae6a4b8bc6456bdfbe49e0edd4be7df5b02f5638'
    """
    signed = timestamp.encode() + b"." + body
    return WAY + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def read_hook(body: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE) -> dict[str, Any]:
    """Return what a hook says, or raise ``InputError`` where the message is not from who has the secret, or is old.

    ``body`` is the body as it came, byte for byte, and ``headers`` are those of the request, however they are spelled.

    Examples
    --------
    >>> body, now = b'{"stream": "orders", "events": []}', str(int(time.time()))
    >>> headers = {"appletaste-timestamp": now, "appletaste-signature": signature_of(body, now, "our secret")}
    >>> read_hook(body, headers, "our secret")
    {'stream': 'orders', 'events': []}
    >>> read_hook(body + b" ", headers, "our secret")
    Traceback (most recent call last):
    ...
    appletaste.errors.InputError: the signature is not that of this body: answer 401, and do nothing
    """
    given = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = given.get(TIMESTAMP.lower(), ""), given.get(SIGNATURE.lower(), "")
    if not (timestamp.isascii() and timestamp.isdigit() and signature):
        raise InputError(f"a hook has the headers {TIMESTAMP} and {SIGNATURE}: answer 401, and do nothing")
    if not hmac.compare_digest(signature.encode(), signature_of(body, timestamp, secret).encode()):
        raise InputError("the signature is not that of this body: answer 401, and do nothing")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise InputError(f"the message was signed more than {tolerance:g} s ago, or a clock is wrong: answer 401")
    found: dict[str, Any] = json.loads(body)
    return found
