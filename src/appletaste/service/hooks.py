"""Hooks: what of a record is told to which address, and under which number.

A number is a function of the record and of what a hook was first asked to tell: the first thing that happens after the
hook was named is number 1 of its stream, the next is number 2. So whoever sends, and however often, the same number
means the same thing, and a receiver that remembers the last number misses nothing and does nothing twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from ..drift import Alarm
from ..errors import OptionError, near
from ..records.codec import stamp_of, unpack_event
from ..records.events import PENDING, Decided, Enacted, Event, ModeChanged, Noted, Retracted
from ..records.states import after, first_standing
from ..records.stores import Store
from ..records.stores.store import PART, Place, Row
from ..streams.answers import CALLER, SAFE
from .api.log import event_of
from .posting import check_host
from .review.health import name_of
from .types import Who

DECISION, AWAITED, ALARM, ESCALATION = "decision", "label-awaited", "alarm", "escalation"
SAFE_MODE, UNVERIFIED = "safe-mode", "verification-failed"
#: What a hook can tell.
EVENTS = {
    DECISION: "an item was acted on or passed",
    AWAITED: "an item was acted on, and its label is awaited",
    ALARM: "something has changed",
    ESCALATION: "a reviewer asks for somebody else",
    SAFE_MODE: "a fixed action stands from now on",
    UNVERIFIED: "the record does not verify",
}
#: The small values of a store: what each hook tells, since when; and in a space for each hook, how far it has come.
SPACE, CURSORS = "hooks", "hook {}"
#: How the note of an escalation begins (``review.claims``), and who enters safe mode by itself.
ESCALATED, ITSELF = "escalated", "appletaste"
#: The most events in one message, and the fewest letters of a secret.
MOST, SHORTEST = 100, 16


class Registered(msgspec.Struct, frozen=True):
    """What a hook tells, and since when, in microseconds since 1970."""

    events: list[str]
    since: int


class Cursor(msgspec.Struct, frozen=True):
    """How far a hook has come with a stream: up to which event of the record, and which number was the last."""

    seq: int = 0
    number: int = 0


@dataclass(frozen=True)
class Hook:
    """One address that is told what happens."""

    name: str
    url: str
    secret: str
    events: tuple[str, ...] = tuple(EVENTS)
    private: bool = False  #: addresses within the own network may be called, also without encryption

    def __post_init__(self) -> None:
        try:
            msgspec.convert(self.name, Who)
        except msgspec.ValidationError:
            raise OptionError(f"a hook has a name of 1 to 100 characters, got {self.name!r}") from None
        check_url(self.name, self.url, self.private)
        if len(self.secret) < SHORTEST:
            raise OptionError(
                f"hook {self.name!r}: a secret has {SHORTEST} characters or more, and this one {len(self.secret)}: "
                "'openssl rand -hex 32' makes one"
            )
        for event in self.events:
            if event not in EVENTS:
                told = f"hook {self.name!r}: there is no event {event!r}{near(event, EVENTS)}"
                raise OptionError(f"{told}; there are {', '.join(EVENTS)}")

    def __repr__(self) -> str:
        return f"<Hook {self.name!r} to {urlsplit(self.url).hostname}: {', '.join(self.events)}>"


def check_url(name: str, url: str, private: bool) -> None:
    """Refuse an address that a hook may not have; one that is a name is looked at again whenever it is called."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or parts.username is not None or parts.fragment or not url.isascii() or any(c <= " " for c in url):
        raise OptionError(f"hook {name!r}: an address is https://host/path, without a name and a password")
    if parts.scheme == "http" and not private:
        raise OptionError(f"hook {name!r}: the address begins with https://; http:// needs --allow-private-hooks")
    check_host(parts.hostname or "", private)


def read_hooks(urls: Sequence[str], secrets: Sequence[str], events: Sequence[str], private: bool) -> tuple[Hook, ...]:
    """Return the hooks that options name, each ``NAME=...``.

    Examples
    --------
    >>> read_hooks(["ops=https://example.com/hook"], [], [], False)
    Traceback (most recent call last):
    ...
    appletaste.errors.OptionError: hook 'ops' needs a secret: --hook-secret ops=FILE, or ops=env:VARIABLE
    """
    named = _named("--hook", urls)
    kept, chosen = _named("--hook-secret", secrets), _named("--hook-events", events)
    for option, given in (("--hook-secret", kept), ("--hook-events", chosen)):
        for name in given.keys() - named.keys():
            raise OptionError(f"{option} {name}=...: there is no --hook {name}=URL")
    found = []
    for name, url in named.items():
        if name not in kept:
            raise OptionError(f"hook {name!r} needs a secret: --hook-secret {name}=FILE, or {name}=env:VARIABLE")
        told = tuple(dict.fromkeys(chosen[name].split(","))) if name in chosen else tuple(EVENTS)
        found.append(Hook(name, url, _secret(name, kept[name]), told, private))
    return tuple(found)


def _named(option: str, given: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise OptionError(f"{option} is NAME=..., with a name of your own, got {one!r}")
        if name in found:
            raise OptionError(f"{option} {name}=... is given twice")
        found[name] = value
    return found


def _secret(name: str, where: str) -> str:
    """Return the secret that a file or a variable of the environment has."""
    if where.startswith("env:"):
        found = os.environ.get(where.removeprefix("env:"))
        if found is None:
            raise OptionError(f"hook {name!r}: there is no variable {where.removeprefix('env:')!r} in the environment")
        return found.strip()
    return Path(where).read_text(encoding="utf-8").strip()


def register(store: Store, hook: Hook) -> Registered:
    """Return what a hook tells and since when; when it is new, from now on."""
    kept = store.get(SPACE, hook.name)
    if kept is None:
        found = Registered(sorted(hook.events), time.time_ns() // 1000)
        store.put(SPACE, hook.name, msgspec.json.encode(found))
        return found
    found = msgspec.json.decode(kept, type=Registered)
    if found.events != sorted(hook.events):
        raise OptionError(
            f"hook {hook.name!r} tells {', '.join(found.events)}, and its numbers count these: for other events "
            "give the hook another name"
        )
    return found


def cursor_of(store: Store, hook: Hook, since: int, place: Place) -> Cursor:
    """Return how far a hook has come with a stream; at first that is all that happened before there was the hook.

    Stamps of a record never go backwards, so that the first event of the hook is found by halving.
    """
    kept = store.get(CURSORS.format(hook.name), place.name)
    if kept is not None:
        return msgspec.json.decode(kept, type=Cursor)
    low, high = 0, place.head().seq
    while low < high:
        middle = (low + high) // 2
        row = next(iter(place.read(middle)))
        low, high = (low, middle) if _at(row) >= since else (middle + 1, high)
    found = Cursor(low, 0)
    keep_cursor(store, hook, place.name, found)
    return found


def _at(row: Row) -> int:
    try:
        return stamp_of(row.kind, row.body).at
    except Exception:  # any bytes at all may be there: it counts as old
        return 0


def keep_cursor(store: Store, hook: Hook, stream: str, cursor: Cursor) -> None:
    """Keep how far a hook has come."""
    store.put(CURSORS.format(hook.name), stream, msgspec.json.encode(cursor))


# ---- what of a record is told


class Part(NamedTuple):
    """What is told next, each with its number, and up to which event that is."""

    told: list[dict[str, Any]]
    seq: int


def next_part(
    place: Place, cursor: Cursor, last: int, events: Collection[str], alarms: Callable[[], list[tuple[int, Alarm]]]
) -> Part:
    """Return the next things to tell, a hundred at most, up to event ``last``."""
    rows = list(islice(place.read(cursor.seq), PART + 1))
    raised: dict[int, list[dict[str, Any]]] = {}
    if ALARM in events:
        for seq, alarm in alarms():
            raised.setdefault(seq, []).append(_alarm(seq, alarm))
    told: list[dict[str, Any]] = []
    upto = cursor.seq
    for row, following in zip(rows[:PART], [*rows[1:], None], strict=False):
        if row.seq > last or len(told) >= MOST:
            break
        found = [*told_by(place, row, following), *raised.get(row.seq, ())]
        for one in found:
            if one["event"] in events:
                told.append({"number": cursor.number + len(told) + 1, **one})
        upto = row.seq
    return Part(told, upto)


def told_by(place: Place, row: Row, following: Row | None) -> list[dict[str, Any]]:
    """Return what one event has to say, whoever asks; the features of an item are not said."""
    try:
        event, plain = unpack_event(row.kind, row.body, row.item, {}), event_of(row, features=False)
    except Exception:  # any bytes at all may be there, and whoever verifies says so
        return []
    found: list[str] = []
    if isinstance(event, Decided):
        found.append(DECISION)
        if _stands(event, following):
            found.append(AWAITED)
    elif isinstance(event, Enacted | Retracted):
        if not (isinstance(event, Enacted) and event.by == CALLER) and _begins_to_wait(place, row, event):
            found.append(AWAITED)
    elif isinstance(event, Noted) and event.id and event.text.startswith(ESCALATED):
        found.append(ESCALATION)
    elif isinstance(event, ModeChanged) and event.mode == SAFE:
        found.append(SAFE_MODE)
        if event.by == ITSELF:
            found.append(UNVERIFIED)
    return [{"event": name, **plain} for name in found]


def _stands(event: Decided, following: Row | None) -> bool:
    """Return whether an item is acted on: in shadow mode the next event, written together, is what the caller does."""
    if following is not None and following.kind == "enacted" and following.id == event.id:
        done = unpack_event(following.kind, following.body, None, {})
        if isinstance(done, Enacted) and done.by == CALLER:
            return done.act
    return event.decision.act


def _begins_to_wait(place: Place, row: Row, event: Event) -> bool:
    """Return whether the label of a decision is awaited since an event, and was not before."""
    made = place.decisions((row.id,)).get(row.id)
    if made is None:
        return False
    first = unpack_event(made.kind, made.body, made.item, {})
    assert isinstance(first, Decided)
    acted, standing = first.decision.act, first_standing(first.decision.act)
    for one in place.later(row.id):
        if one.seq >= row.seq:
            break
        before = unpack_event(one.kind, one.body, one.item, {})
        standing = after(before, standing, acted)
        acted = before.act if isinstance(before, Enacted) else acted
    return standing.state != PENDING and after(event, standing, acted).state == PENDING


def _alarm(seq: int, alarm: Alarm) -> dict[str, Any]:
    found: Mapping[str, Any] = {
        "id": name_of(alarm, seq),
        "what": alarm.meaning,
        "column": alarm.feature,
        "statistic": alarm.statistic,
        "threshold": alarm.threshold,
        "item": alarm.item,
        "time": alarm.time,
        "remedy": alarm.advice,
    }
    return {"event": ALARM, "seq": seq, **found}
