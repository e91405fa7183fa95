"""Who opened the door: sign-ins, refusals, keys made and revoked, in the small values of a store.

What somebody did is written down before it is done, so that nothing is done that is not there. What was refused is
counted in memory and written down once a minute: nobody fills the disk by knocking.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import Counter
from datetime import UTC, datetime

from ..errors import MissingExtraError
from ..records.stores import Store

try:
    import msgspec
except ImportError:
    raise MissingExtraError("a service", "service") from None

log = logging.getLogger("appletaste.service")
SPACE = "trail"
#: Entries that are kept; the oldest go, so many at a time at least.
MOST, SWEPT = 10_000, 100
#: Seconds between two entries about what was refused, and addresses that are told apart in one.
MINUTE, ADDRESSES = 60.0, 20
OTHERS = "others"
SIGNED_IN, SIGNED_OUT, MADE, REVOKED = "signed in", "signed out", "key made", "key revoked"
REFUSED_SIGN_IN, REFUSED_KEY = "sign-in refused", "key refused"
#: Who makes keys where no service runs.
COMMAND_LINE = "the command line"


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened at the door."""

    at: str
    what: str
    who: str = ""  #: the name of the key; empty: nobody knows
    key: str = ""  #: the id of the key
    by: str = ""  #: who made or revoked the key
    address: str = ""  #: where the request came from: that of a proxy where there is one
    count: int = 1  #: how often, since the entry before about the same


class Trail:
    """What happened at the door of a store, the latest ``MOST`` entries.

    Examples
    --------
    >>> from appletaste.records.stores import MemoryStore
    >>> trail = Trail(MemoryStore())
    >>> trail.note(MADE, who="ann", by=COMMAND_LINE)
    >>> for _ in range(1000):
    ...     trail.refuse(REFUSED_SIGN_IN, "10.0.0.9")
    >>> trail.keep_refused()
    >>> [(entry.what, entry.who or entry.address, entry.count) for entry in trail.latest(10)]
    [('sign-in refused', '10.0.0.9', 1000), ('key made', 'ann', 1)]
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._refused: Counter[tuple[str, str]] = Counter()
        self._people: dict[str, float] = {}
        self._guard = threading.Lock()
        self._written = 0

    def note(self, what: str, who: str = "", key: str = "", by: str = "", address: str = "", count: int = 1) -> None:
        """Write down that something happened."""
        entry = Entry(datetime.now(UTC).isoformat(), what, who, key, by, address, count)
        name = f"{time.time_ns() // 1000:020d}{secrets.token_hex(4)}"  # several processes may write
        self._store.put(SPACE, name, msgspec.json.encode(entry))
        with self._guard:
            self._written += 1
            due = self._written % SWEPT == 1
        if due:
            for old in sorted(self._store.values(SPACE))[:-MOST]:
                self._store.remove(SPACE, old)

    def refuse(self, what: str, address: str) -> None:
        """Count something that was refused; takes no disk."""
        with self._guard:
            known = (what, address) in self._refused or len(self._refused) < ADDRESSES
            self._refused[what, address if known else OTHERS] += 1

    def keep_refused(self) -> None:
        """Write down what was refused since the last time, and say so aloud."""
        with self._guard:
            refused, self._refused = self._refused, Counter()
        for (what, address), count in refused.items():
            self.note(what, address=address, count=count)
        if refused:
            log.warning("requests without a valid key were refused", extra={"count": refused.total()})

    def is_news(self, person: str, lasts: float) -> bool:
        """Return whether a person whom a proxy names was not seen here for so many seconds."""
        now = time.monotonic()
        with self._guard:
            news = now - self._people.get(person, -lasts) >= lasts
            if news:
                self._people[person] = now
        return news

    def latest(self, count: int) -> list[Entry]:
        """Return the latest entries, the latest first."""
        found = self._store.values(SPACE)
        return [msgspec.json.decode(found[name], type=Entry) for name in sorted(found, reverse=True)[:count]]
