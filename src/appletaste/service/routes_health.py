"""What watchers ask: is the process up, is it ready, and its numbers; the first two need no key."""

from __future__ import annotations

from .answers import Health
from .operations import TEXT, Call, Operation, Reply
from .problems import Problem


async def up(call: Call) -> Reply:
    """Say that the process is up."""
    return Reply.of(Health("up"))


async def ready(call: Call) -> Reply:
    """Say whether requests are answered."""
    if not call.host.ready:
        raise Problem("not-ready")
    return Reply.of(Health("ready"))


async def metrics(call: Call) -> Reply:
    """Return the numbers in the format of Prometheus."""
    return Reply(200, call.host.watched(call.key).encode(), TEXT)


OPERATIONS = (
    Operation("healthz", "GET", "/healthz", "Whether the process is up", up, None, {200: Health}),
    Operation("readyz", "GET", "/readyz", "Whether requests are answered", ready, None, {200: Health}),
    Operation("metrics", "GET", "/metrics", "Numbers for Prometheus", metrics, "read", {200: str}, media=TEXT),
)
