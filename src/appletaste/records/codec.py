"""Events as bytes and back: MessagePack, the same bytes for the same event; features apart, so that they can go."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision, new_tuple
from ..errors import InputError, RecordError
from .events import KINDS, Decided, Event

#: The version of bodies, their first number. Those of version 1 do not say who gave a label.
FORMAT, EARLIER = 2, (1,)
_NAMES = {kind: name for name, kind in KINDS.items()}
#: What goes between the digest of the event before and a body.
_CHAINED = {name: name.encode() + b"\0" for name in KINDS}
_ABSENT: NDArray[np.float64] = np.empty(0)
_ABSENT.flags.writeable = False


class Stamp(NamedTuple):
    """What a body says beside its event."""

    at: int  #: microseconds since 1970 by the clock of the machine, but behind the event before; orders nothing
    own_costs: bool  #: the costs were given with the item


def _plain(value: Any) -> Any:
    """Return a cell of a record as MessagePack holds it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a cell is a number, a text, a date or None, got {type(value).__name__}")


_encode = msgspec.msgpack.Encoder(enc_hook=_plain).encode
_decode = msgspec.msgpack.Decoder().decode
pack, unpack, json_bytes = _encode, _decode, msgspec.json.encode
sha256 = hashlib.sha256
_salts: list[bytes] = []


def _salt() -> bytes:
    """Return sixteen random bytes; many are asked for at once, which takes a tenth of the time."""
    if not _salts:
        many = os.urandom(4096)
        _salts.extend(many[start : start + 16] for start in range(0, 4096, 16))
    return _salts.pop()


def pack_item(x: NDArray[np.float64], record: Mapping[str, Any] | None) -> bytes:
    """Return the features of a decision, with the record where there was one.

    Sixteen random bytes go first: once the features are erased, nobody can find out by trying which ones had the
    SHA-256 that stays.
    """
    try:
        return _encode((_salt(), x.tobytes(), None if record is None else dict(record)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"this record cannot be kept: {error}") from None


def as_kept(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as ``unpack_item`` will give it: plain numbers, texts and None."""
    try:
        found: dict[str, Any] = _decode(_encode(dict(record)))
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"this record cannot be kept: {error}") from None
    return found


def unpack_item(item: bytes) -> tuple[NDArray[np.float64], dict[str, Any] | None]:
    """Return the vector and the record of ``pack_item``."""
    _, x, record = _decode(item)
    return np.frombuffer(x, dtype=np.float64), record


def pack_event(event: Event, item: bytes | None, at: int, own_costs: bool) -> tuple[str, bytes]:
    """Return the kind and the body of an event; of a decision with the SHA-256 of its item."""
    if type(event) is Decided:
        id, decision, time, stratum = event
        act, probability, _, costs, round_, why, audit, moment, chance, worth, price, spent = decision
        sheet = (costs.miss, costs.false_alarm, costs.hit, costs.correct_pass)
        made = act, probability, sheet, round_, why, audit, moment, chance, worth, price, spent
        return "decided", _encode((FORMAT, at, id, time, stratum, sha256(item or b"").digest(), own_costs, *made))
    return _NAMES[type(event)], _encode((FORMAT, at, *event))


def unpack_event(kind: str, body: bytes, item: bytes | None, sheets: dict[tuple[float, ...], Costs]) -> Event:
    """Return the event of a row; a decision whose features were erased has an empty vector.

    ``sheets`` are costs that are known, by their numbers, and is added to.
    """
    return event_of(kind, _decode(body), item, sheets)


def event_of(kind: str, fields: list[Any], item: bytes | None, sheets: dict[tuple[float, ...], Costs]) -> Event:
    """Return the event of a body that is unpacked."""
    if fields[0] != FORMAT and fields[0] not in EARLIER:
        raise RecordError(f"a body of format {fields[0]}; this version reads format {FORMAT}")
    if kind != "decided":
        event: Event = KINDS[kind](*fields[2:])
        return event
    _, _, id, time, stratum, _, _, act, probability, sheet, round_, why, audit, moment, *rest = fields
    key = tuple(sheet)
    costs = sheets.get(key)
    if costs is None:
        costs = sheets[key] = Costs.of_item(*key)
    x = _ABSENT if item is None else np.frombuffer(_decode(item)[1], dtype=np.float64)
    decision = new_tuple(Decision, (act, probability, x, costs, round_, why, audit, moment, *rest))
    return new_tuple(Decided, (id, decision, time, stratum))


def stamp_of(kind: str, body: bytes) -> Stamp:
    """Return what a body says beside its event."""
    fields = _decode(body)
    return Stamp(fields[1], kind == "decided" and fields[6])


def fits(fields: list[Any], item: bytes) -> bool:
    """Return whether an item is the one whose SHA-256 the unpacked body of its decision has."""
    return bool(sha256(item).digest() == fields[5])


def chained(before: bytes, kind: str, body: bytes) -> bytes:
    """Return the digest of an event: SHA-256 of the digest of the event before, its kind and its body.

    Examples
    --------
    >>> chained(bytes(32), "noted", b"").hex()[:8]
    '807ae9ac'
    """
    return sha256(before + (_CHAINED.get(kind) or kind.encode() + b"\0") + body).digest()
