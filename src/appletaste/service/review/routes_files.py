"""First use over HTTP: a file is looked at, played, and made into a stream; by a key that administers all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...errors import ConflictError
from ...streams import Stream
from ..api.access import check_whole
from ..api.streams import described
from ..door import NUMBER
from ..operations import CSV, Call, Reply, operation
from ..problems import Problem
from .bodies import FileStream, Played
from .file_answers import FileRead, ReplayRead, StreamMade, TryIt
from .file_look import look_at, words_of
from .files import LARGEST, LASTS
from .first_use import example_item, last_row, lines_of_code, make, play

FILE = "/v1/files/{file}"
_ADDRESS = re.compile(rb"[A-Za-z0-9.-]+(:\d{1,5})?")


@operation("POST", "/v1/files", scope="admin", status=201, takes=CSV, limit=LARGEST, problems=("unreadable-file",))
async def send_file(call: Call[bytes]) -> Reply[FileRead]:
    """Send a table as CSV, and get a look at its columns. A file that is no table leaves nothing behind."""
    check_whole(call)
    files, content = call.host.files, call.body

    def work() -> FileRead:
        name = files.put(content)
        try:
            return look_at(name, files.find(name))
        except BaseException:
            files.drop(name)
            raise

    found = await call.host.aside(work)
    asyncio.get_running_loop().call_later(LASTS, files.sweep)  # also where nobody asks for files any more
    return Reply.of(found, 201)


async def with_file(call: Call[Any], work: Callable[..., Any], *given: Any) -> Any:
    """Do something with the file that an address names; files may go at any time."""
    try:
        return await call.host.aside(work, call.host.files.find(call.params["file"]), *given)
    except FileNotFoundError:
        raise Problem("unknown-file") from None


@operation("POST", FILE + "/replay", scope="admin", problems=("unknown-file", "unreadable-file"))
async def replay_file(call: Call[Played]) -> Reply[ReplayRead]:
    """Play a file as a stream in which a label is seen only if you act."""
    check_whole(call)
    return Reply.of(await with_file(call, play, call.body))


@operation(
    "POST", FILE + "/stream", scope="admin", status=201, problems=("unknown-file", "unreadable-file", "stream-exists")
)
async def stream_of_file(call: Call[FileStream]) -> Reply[StreamMade]:
    """Make a stream from a file, and a key for it that is told this once."""
    check_whole(call)
    asked, host = call.body, call.host

    def work(path: Path) -> tuple[Stream, int, list[str], dict[str, Any]]:
        if asked.name in host.store.names():
            raise Problem("stream-exists")
        last = last_row(path)
        try:
            stream, made = make(host.store, path, asked)
        except ConflictError:
            raise Problem("stream-exists") from None
        taught = 0 if made.history is None else made.history.learnt
        return stream, taught, [words_of(path, note) for note in made.notes], last

    stream, taught, notes, last = await with_file(call, work)
    writer = host.take(stream)
    if host.owners is not None:
        await host.owners.announce(stream.name)
    name = f"first use of {asked.name}"[:100]
    secret, _ = await asyncio.to_thread(host.keys.create, name, ["decide", "label"], [asked.name])
    item = example_item(last, asked, writer.door.kinds, NUMBER)
    python, curl = lines_of_code(address_of(call), secret, asked, item)
    told = await writer.do(described)
    return Reply.of(StreamMade(told, TryIt(secret, python, curl), taught, notes), 201)


def address_of(call: Call[Any]) -> str:
    """Return where whoever asks reaches the service, as far as the request says."""
    host = call.headers.get(b"host", b"")
    safe = call.headers.get(b"x-forwarded-proto") == b"https"
    known = host.decode() if _ADDRESS.fullmatch(host) else "127.0.0.1:8080"
    return f"{'https' if safe else 'http'}://{known}"
