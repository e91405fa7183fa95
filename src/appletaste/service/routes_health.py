"""What watchers ask: is the process up, is it ready, and its numbers; the first two need no key."""

from __future__ import annotations

from .answers import Health
from .operations import TEXT, Call, Reply, operation
from .problems import Problem


@operation("GET", "/healthz", scope=None)
async def healthz(call: Call[None]) -> Reply[Health]:
    """Say that the process is up."""
    return Reply.of(Health("up"))


@operation("GET", "/readyz", scope=None)
async def readyz(call: Call[None]) -> Reply[Health]:
    """Say whether requests are answered."""
    if not call.host.ready:
        raise Problem("not-ready")
    return Reply.of(Health("ready"))


@operation("GET", "/metrics", scope="read", media=TEXT)
async def metrics(call: Call[None]) -> Reply[str]:
    """Return numbers for Prometheus."""
    return Reply(200, call.host.watched(call.key).encode(), TEXT)
