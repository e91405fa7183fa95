"""The review page: plain files that anybody may load; what they show needs a key."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..operations import Call, Reply, operation
from ..problems import Problem

FOLDER = Path(__file__).parent / "page"
#: What a page of ours may do: load its own files and ask its own service, and nothing else; no text becomes HTML.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
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


def without_comments(script: str) -> str:
    r"""Return a script without the lines that are for people: comments, blank lines and what lines begin with.

    A script with a text over several lines stays as it is, since its blanks may mean something.

    Examples
    --------
    >>> without_comments("/** Adds.\n * Both. */\nfunction add(a, b) {\n  // why\n  return a + b;\n}\n")
    'function add(a, b) {\nreturn a + b;\n}\n'
    """
    kept, within = [], False
    for line in (line.strip() for line in script.splitlines()):
        if line.count("`") % 2:
            return script
        begins = within or line.startswith("/*")
        within = begins and not line.endswith("*/")
        if line and not begins and not line.startswith("//"):
            kept.append(line + "\n")
    return "".join(kept)


class File(NamedTuple):
    """A file of the page as it is sent."""

    made: int  #: when the file was changed last
    kind: str
    content: bytes
    packed: bytes  #: the same by gzip
    tag: str


_files: dict[str, File] = {}


def found(name: str) -> File:
    """Return a file of the page, or the problem that there is none; read again where it has changed on disk."""
    fits = _NAME.fullmatch(name)
    kind = None if fits is None else KINDS.get(fits[1])
    path = FOLDER / name
    if kind is None or not path.is_file():
        raise Problem("unknown-route")
    made = path.stat().st_mtime_ns
    kept = _files.get(name)
    if kept is None or kept.made != made:
        content = path.read_bytes()
        if path.suffix == ".js":
            content = without_comments(content.decode()).encode()
        tag = hashlib.sha256(content).hexdigest()[:16]
        kept = _files[name] = File(made, kind, content, gzip.compress(content, mtime=0), tag)
    return kept


def file_reply(name: str, asked: Mapping[bytes, bytes]) -> Reply[Any]:
    """Return a file of the page, packed where the reader can unpack; 304 where the reader has the file already."""
    file = found(name)
    packed = b"gzip" in asked.get(b"accept-encoding", b"")
    tag = f'"{file.tag}{"-gzip" if packed else ""}"'
    headers = {**HEADERS, "ETag": tag}
    if tag.encode() in asked.get(b"if-none-match", b""):
        return Reply(304, media=file.kind, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Reply(200, file.packed if packed else file.content, file.kind, headers)


@operation("GET", "/", scope=None, media=HTML, described=False)
async def page(call: Call[None]) -> Reply[str]:
    """Return the review page."""
    return file_reply("index.html", call.headers)


@operation("GET", "/page/{file}", scope=None, media=HTML, problems=("unknown-route",), described=False)
async def page_file(call: Call[None]) -> Reply[str]:
    """Return a file of the review page."""
    return file_reply(call.params["file"], call.headers)


#: For people and their browsers, so not in the description for programs.
