"""A feed: items and labels from topics, decisions into another, and nothing lost or done twice on the way.

A batch is decided and learnt, which is our commit; then its decisions are delivered; and only then the broker is told
that its messages are done. A process that is killed in between reads them again, and since ids are what they are, the
same item has the same decision, byte for byte, and the same label is applied once. A message that cannot be used goes
to the topic of dead letters with the reason in its headers, and holds nothing up.

A label may come before its item, since topics have no common order. Such a label waits and is tried again; its
partition is read on meanwhile, but counts as done only up to the first label that waits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from ..errors import OptionError, StoreError
from ..streams.answers import ALREADY_APPLIED, APPLIED
from .answering import Answering, Told
from .broker import Broker, Message, Partition

#: Messages in a batch, seconds that the first one is waited for, and seconds between two words on how it goes.
BATCH, PAUSE, SAY = 500, 0.5, 5.0
#: Seconds between two tries of labels that wait, and the most labels that wait before their topic does, too.
AGAIN, WAITING = 1.0, 10_000
#: The longest name of somebody who says what a label is.
LONGEST_NAME = 100
NOT_THERE = 404


@dataclass
class Fed:
    """What became of the messages, since the feed began."""

    decided: int = 0
    acted: int = 0
    again: int = 0  #: items that had been decided already
    learnt: int = 0
    known: int = 0  #: labels that had been applied already
    recorded: int = 0  #: labels that were kept and not learnt, of passes for the most part
    waiting: int = 0  #: labels whose item has not come yet, now
    dead: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the counts for JSON."""
        return asdict(self)


@dataclass
class Waiting:
    """A label whose item has not come yet."""

    message: Message
    id: str
    since: float
    ends: dict[Partition, int]  #: how often the end of each partition of items had been reached when the label came


class Feed:
    """Feeds one stream; made with who answers, and where messages come from and go to.

    Parameters
    ----------
    wait
        Seconds that a label waits for its item once all items were read up to their end; then it is a dead letter.
    """

    def __init__(
        self,
        answering: Answering,
        connect: Callable[[Sequence[str], Callable[[Iterable[Partition]], None]], Broker],
        *,
        items: str | None,
        labels: str | None,
        decisions: str | None,
        dead: str,
        wait: float = 60.0,
    ) -> None:
        check_topics(items, labels, decisions, dead)
        self._answering, self._items, self._labels = answering, items, labels
        self._decisions, self._dead, self._wait = decisions, dead, wait
        self._next: dict[Partition, int] = {}  # the offset behind the last message that was read
        self._done: dict[Partition, int] = {}  # what the broker was told
        self._waiting: list[Waiting] = []
        self._tried = 0.0
        self._paused = False
        self.fed = Fed()
        self.broker = connect([topic for topic in (items, labels) if topic is not None], self._lost)

    def run(self, stop: threading.Event, once: bool = False, say: Callable[[Fed], None] = lambda fed: None) -> Fed:
        """Feed until told to stop; ``once``: or until all topics were read to their end, and no label waits."""
        said = time.monotonic()
        try:
            self.broker.join(*(topic for topic in (self._decisions, self._dead) if topic is not None))
            while not stop.is_set():
                came = self.broker.take(BATCH, PAUSE)
                self._batch(came)
                if once and not came and not self._waiting and self.broker.read_to_the_end:
                    break
                if time.monotonic() - said >= SAY:
                    said = time.monotonic()
                    say(self.fed)
        finally:
            self.broker.close()
        return self.fed

    # ---- one batch

    def _batch(self, came: Sequence[Message]) -> None:
        """Do what a batch asks for, deliver what it led to, and then say that it is done."""
        new = self._decide([one for one in came if one.topic == self._items])
        self._try_again(new)
        self._label([one for one in came if one.topic == self._labels])
        for one in came:
            self._next[one.place] = one.offset + 1
        done = dict(self._next)
        for held in self._waiting:
            place, offset = held.message.place, held.message.offset
            done[place] = min(done[place], offset)
        changed = {place: offset for place, offset in done.items() if self._done.get(place) != offset}
        if came or changed:
            self.broker.deliver()
            self.broker.done(changed)
            self._done = done
        self.fed.waiting = len(self._waiting)
        self._hold()

    def _decide(self, came: Sequence[Message]) -> set[str]:
        """Decide on items, send the decisions on, and return the ids."""
        found = set()
        for message, told in zip(
            came, self._answering.decide([one.value for one in came]) if came else (), strict=True
        ):
            if told.problem is not None:
                self._set_aside(message, told)
                continue
            new = told.status != 200
            self.fed.decided += new
            self.fed.again += not new
            self.fed.acted += new and msgspec.json.decode(told.body, type=_Act).act
            found.add(told.id)
            if self._decisions is not None:
                self.broker.send(self._decisions, told.id.encode(), told.body)
        return found

    def _label(self, came: Sequence[Message]) -> None:
        """Take labels that came; those whose item is not there wait."""
        now = time.monotonic()
        ends = {place: ends - self.broker.at_end[place] for place, ends in self._ends().items()}
        for message, told in self._labelled(came):
            if told.problem is not None and told.status == NOT_THERE:
                self._waiting.append(Waiting(message, told.id, now, ends))
            else:
                self._take(message, told)

    def _labelled(self, came: Sequence[Message]) -> list[tuple[Message, Told]]:
        if not came:
            return []
        by = (self._labels or "")[:LONGEST_NAME]
        return list(zip(came, self._answering.label([one.value for one in came], by), strict=True))

    def _take(self, message: Message, told: Told) -> None:
        """Count a label that was taken, or set aside one that cannot be."""
        if told.problem is not None:
            self._set_aside(message, told)
        else:
            done = told.done
            self.fed.learnt += done == APPLIED
            self.fed.known += done == ALREADY_APPLIED
            self.fed.recorded += done not in (APPLIED, ALREADY_APPLIED)

    # ---- labels that wait

    def _try_again(self, new: set[str]) -> None:
        """Try labels that wait: those of items that have just come, and from time to time all of them."""
        now = time.monotonic()
        every = now - self._tried >= AGAIN
        if every:
            self._tried = now
        some = [one for one in self._waiting if every or one.id in new]
        if not some:
            return
        gone = set()
        for start in range(0, len(some), BATCH):
            part = some[start : start + BATCH]
            for one, (message, told) in zip(part, self._labelled([one.message for one in part]), strict=True):
                if told.problem is not None and told.status == NOT_THERE and not self._too_late(one, now):
                    continue
                self._take(message, told)
                gone.add(id(one))
        self._waiting = [one for one in self._waiting if id(one) not in gone]

    def _too_late(self, one: Waiting, now: float) -> bool:
        """Return whether a label has waited for long enough, and all items were read that came before it."""
        return now - one.since >= self._wait and all(
            self._ends().get(place, ends + 1) > ends for place, ends in one.ends.items()
        )

    def _ends(self) -> dict[Partition, int]:
        """Return how often the end of each partition of items was reached."""
        return {place: ends for place, ends in self.broker.ends.items() if place[0] == self._items}

    def _hold(self) -> None:
        """Let the topic of labels wait while too many labels do; a partition that was given to us meanwhile, too."""
        paused = len(self._waiting) >= WAITING
        if self._labels is not None and (paused or self._paused):
            self.broker.pause(self._labels, paused)
        self._paused = paused

    def _lost(self, places: Iterable[Partition]) -> None:
        """Forget what another member reads from now on: all that was not done comes to it."""
        gone = set(places)
        self._waiting = [one for one in self._waiting if one.message.place not in gone]
        for place in gone:
            self._next.pop(place, None)
            self._done.pop(place, None)

    # ---- dead letters

    def _set_aside(self, message: Message, told: Told) -> None:
        """Send a message that cannot be used to the dead letters, as it came, with the reason beside it."""
        assert told.problem is not None
        if told.status >= 500:
            raise StoreError(f"{told.problem.title}: {told.problem.remedy}")
        reason: list[tuple[str, Any]] = [
            ("appletaste-problem", msgspec.json.encode(told.problem)),
            ("appletaste-topic", message.topic),
            ("appletaste-partition", str(message.partition)),
            ("appletaste-offset", str(message.offset)),
        ]
        self.broker.send(self._dead, message.key, message.value, [*message.headers, *reason])
        self.fed.dead += 1


class _Act(msgspec.Struct):
    """What of a decision is counted."""

    act: bool


def check_topics(items: str | None, labels: str | None, decisions: str | None, dead: str) -> None:
    """Refuse topics that would feed a feed with itself, or lead nowhere."""
    if items is None and labels is None:
        raise OptionError("a feed needs a topic to read: --items with --decisions, or --labels, or all of them")
    if (items is None) != (decisions is None):
        raise OptionError("--items and --decisions belong together: the decisions on items must go somewhere")
    named = [topic for topic in (items, labels, decisions, dead) if topic is not None]
    if len(set(named)) < len(named):
        raise OptionError(f"items, labels, decisions and dead letters are topics of their own, got {', '.join(named)}")
