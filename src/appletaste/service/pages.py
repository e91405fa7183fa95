"""The page of the review desk: plain files that anybody may load; what they show needs a key."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from .operations import Call, Operation, Reply
from .problems import Problem

FOLDER = Path(__file__).parent / "page"
#: What a page of ours may do: load its own files and ask its own service, and nothing else.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # kept, and asked for again by its ETag
}
HTML = "text/html; charset=utf-8"
KINDS = {
    "css": "text/css; charset=utf-8",
    "html": HTML,
    "js": "text/javascript; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
_NAME = re.compile(r"[A-Za-z0-9_-]+\.([a-z]+)")


def file_reply(name: str, known: bytes) -> Reply:
    """Return a file of the page; 304 where the reader has it already, as ``known`` (If-None-Match) says."""
    fits = _NAME.fullmatch(name)
    kind = None if fits is None else KINDS.get(fits[1])
    path = FOLDER / name
    if kind is None or not path.is_file():
        raise Problem("unknown-route")
    content = path.read_bytes()
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = {**HEADERS, "ETag": tag}
    if tag.encode() in known:
        return Reply(304, media=kind, headers=headers)
    return Reply(200, content, kind, headers)


async def index(call: Call) -> Reply:
    """Return the page."""
    return file_reply("index.html", call.headers.get(b"if-none-match", b""))


async def file(call: Call) -> Reply:
    """Return a file of the page."""
    return file_reply(call.params["file"], call.headers.get(b"if-none-match", b""))


#: For people and their browsers, so not in the description for programs.
OPERATIONS = (
    Operation("page", "GET", "/", "The review desk", index, None, {200: str}, media=HTML, described=False),
    Operation(
        "page_file",
        "GET",
        "/desk/{file}",
        "A file of the review desk",
        file,
        None,
        {200: str},
        media=HTML,
        problems=("unknown-route",),
        described=False,
    ),
)
