"""What the page asks for, as types: who has signed in, the queue, and a case with all that is known of it."""

from __future__ import annotations

from msgspec import Struct

from .answers import KeyRead


class SessionRead(Struct, frozen=True):
    """Who has signed in; ``csrf`` goes along with every change as ``X-CSRF-Token``, null: asked with a key."""

    key: KeyRead
    streams: list[str]
    csrf: str | None
