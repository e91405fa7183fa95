"""The process: uvicorn with uvloop and httptools around the service, until SIGTERM or until a commit fails."""

from __future__ import annotations

import gc
import json
import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from .._checks import check_port
from ..errors import MissingExtraError
from ..records.stores import Store

try:
    import starlette  # noqa: F401 (what the next line needs)
    import uvicorn
except ImportError:
    raise MissingExtraError("a service", "service") from None
from .app import Application, build
from .connection import Connection, raise_limit, sweep
from .hooks import Hook
from .hosting import IDLE
from .proxy import Proxy

log = logging.getLogger("appletaste.service")
#: Seconds that requests under way have when the process is told to end.
GRACE = 20
#: Seconds that a connection without a request is kept: longer than proxies (60, usually) and other processes
#: (``owners.IDLE``) keep theirs, or they would send requests to connections that are being closed.
KEEP_ALIVE = 75
#: Objects made and not freed before the next look for garbage; a request under way has about a hundred.
GARBAGE = 20_000
#: Fields of a log record that are not of the message.
_USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Log records as lines of JSON: what happened, to which stream; never a feature, an id or a key."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as a line."""
        told: dict[str, Any] = {"at": round(time.time(), 3), "level": record.levelname.lower()}
        told["message"] = record.getMessage()
        told |= {name: value for name, value in vars(record).items() if name not in _USUAL}
        return json.dumps(told, default=str)


def logging_config() -> dict[str, Any]:
    """Return how the process logs: lines of JSON on the error stream."""
    quiet = {"handlers": ["lines"], "level": "WARNING", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": {"()": JsonLines}},
        "handlers": {"lines": {"class": "logging.StreamHandler", "formatter": "lines", "stream": "ext://sys.stderr"}},
        "loggers": {
            "appletaste": {"handlers": ["lines"], "level": "INFO", "propagate": False},
            "uvicorn": quiet,
            "uvicorn.error": quiet,
        },
    }


class _Uvicorn(uvicorn.Server):
    """Tells the service first that the process is about to end, so that live views end, too."""

    def __init__(self, config: uvicorn.Config, app: Application, listening: Callable[[int], None] | None) -> None:
        super().__init__(config)
        self._application, self._listening = app, listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say where."""
        await super().startup(sockets=sockets)
        if self.started:
            port = self.servers[0].sockets[0].getsockname()[1]
            log.info("listening", extra={"port": port})
            if self._listening is not None:
                self._listening(port)

    async def on_tick(self, counter: int) -> bool:
        """Look every second for connections that take too long; return whether the process is to end."""
        if counter % 10 == 0:
            sweep([one for one in self.server_state.connections if isinstance(one, Connection)])
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let requests under way finish, and end."""
        self._application.host.drain()
        await super().shutdown(sockets)


class Server:
    """One process that serves a store; port 0 is any that is free, and ``listening`` is told which."""

    def __init__(
        self,
        store: Store,
        host: str = "127.0.0.1",
        port: int = 8080,
        log: bool = True,
        address: str = "",
        listening: Callable[[int], None] | None = None,
        proxy: Proxy | None = None,
        hooks: tuple[Hook, ...] = (),
        idle: float = IDLE,
    ) -> None:
        check_port(port)
        self.failure = ""
        self.app = build(store, self._failed, address, proxy, hooks, idle)
        config = uvicorn.Config(
            self.app,
            host=host,
            port=port,
            loop="uvloop",
            http=Connection,
            ws="none",
            lifespan="on",
            access_log=False,
            proxy_headers=False,
            log_config=logging_config() if log else None,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=GRACE,
            timeout_keep_alive=KEEP_ALIVE,
        )
        self.uvicorn = _Uvicorn(config, self.app, listening)

    @property
    def port(self) -> int | None:
        """The port that is listened on; None: not yet."""
        if not self.uvicorn.started:
            return None
        port: int = self.uvicorn.servers[0].sockets[0].getsockname()[1]
        return port

    def _failed(self, reason: str) -> None:
        """End the process: what is on disk is found out when the store is opened again."""
        self.failure = reason
        self.uvicorn.should_exit = True

    def run(self) -> str:
        """Serve until told to end; return why the process had to end, empty: it was told to."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again when all is done
            gc.collect()
            gc.freeze()  # what is loaded stays: looking for garbage in it again and again took a tenth of the time
            gc.set_threshold(GARBAGE)
        raise_limit()
        self.uvicorn.run()
        if not self.uvicorn.started and not self.failure:
            self.failure = "the address cannot be listened on"
        if self.failure:
            print(f"appletaste: the service has stopped: {self.failure}", file=sys.stderr)
        return self.failure
