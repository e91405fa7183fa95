"""Alarms of a stream: whether it is still the one that was learnt, and who has taken note.

An alarm is known by the event that raised it, so it has the same name whenever the record is read again. Who has taken
note is kept among the small values of the store, and as a note in the record.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import msgspec

from ...drift.alarms import Alarm
from ...records.stores import Store
from ...streams import Stream
from ..problems import Problem
from .following import Following
from .numbers import Acknowledged, AlarmList, AlarmRead

#: The longest note that a record takes, less the words before it.
LONGEST = 9_000


def name_of(alarm: Alarm, seq: int) -> str:
    """Return what an alarm is called, for ever."""
    return hashlib.sha256(f"{alarm.kind} {alarm.feature} {seq}".encode()).hexdigest()[:12]


class Noticed:
    """Who has taken note of which alarm of a stream, in the small values of its store."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._space = store, f"alarms {stream}"

    def all(self) -> dict[str, Acknowledged]:
        """Return who has taken note, by alarm."""
        found = self._store.values(self._space)
        return {name: msgspec.json.decode(value, type=Acknowledged) for name, value in found.items()}

    def add(self, stream: Stream, alarm: AlarmRead, by: str, text: str) -> Acknowledged:
        """Take note of an alarm, once: who was first stands."""
        known = self.all().get(alarm.id)
        if known is not None:
            return known
        said = f"alarm acknowledged: {alarm.what}"[:LONGEST] + (f"; {text}" if text else "")
        stream.note("", said, by=by)
        found = Acknowledged(by, datetime.now(UTC).isoformat(), text)
        self._store.put(self._space, alarm.id, msgspec.json.encode(found))
        return found


def alarms_of(following: Following, noticed: dict[str, Acknowledged]) -> AlarmList:
    """Return all alarms, the latest first."""
    with following.catch_up().lock:
        watch = following.watch
        found = [alarm_read(alarm, seq, noticed) for alarm, seq in zip(watch.alarms, following.raised, strict=True)]
        notes = []
        if watch.items < watch.reference + watch.window:
            notes.append(
                f"columns are watched from {watch.reference + watch.window:,} items on, and there are "
                f"{watch.items:,} yet; labels are watched from the first on"
            )
        return AlarmList(found[::-1], watch.items, notes)


def alarm_read(alarm: Alarm, seq: int, noticed: dict[str, Acknowledged]) -> AlarmRead:
    """Return one alarm."""
    name = name_of(alarm, seq)
    return AlarmRead(
        name,
        alarm.time,
        alarm.meaning,
        alarm.feature,
        alarm.statistic,
        alarm.threshold,
        alarm.item,
        alarm.since,
        alarm.until,
        alarm.advice,
        noticed.get(name),
    )


def find_alarm(following: Following, name: str, noticed: dict[str, Acknowledged]) -> AlarmRead:
    """Return the alarm with a name, or the problem that there is none."""
    for alarm in alarms_of(following, noticed).alarms:
        if alarm.id == name:
            return alarm
    raise Problem("unknown-alarm")
