"""A broker of the Kafka protocol, as a feed needs it: messages in, messages out, and up to where all of it is done.

Nothing is sent into the blue: ``deliver`` returns when the broker has all that was sent, on all its replicas, and only
then does a feed say that messages are done. What is not said to be done comes again, to this process or to another one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BrokerError, DataError, MissingExtraError, OptionError

try:
    import confluent_kafka as kafka
except ImportError:
    raise MissingExtraError("a feed from a broker", "kafka") from None

log = logging.getLogger("appletaste.feed")
#: Seconds that a broker has to answer the first question, and to confirm what was sent.
PATIENCE, CONFIRM = 15.0, 60.0
#: Seconds in which messages that come together are gathered, once there is one.
GATHER = 0.02
#: What the promises of a feed stand on, and nobody sets otherwise.
KEPT: dict[str, Any] = {
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "enable.partition.eof": True,
    "enable.idempotence": True,
    "acks": "all",
}
#: What options say.
SAID = {"bootstrap.servers": "--broker", "group.id": "--group"}
#: Settings of a consumer alone, and of a producer alone: each hears only its own.
_CONSUMER = {"enable.auto.commit", "enable.auto.offset.store", "enable.partition.eof", "auto.offset.reset"}
_CONSUMER |= {"session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "partition.assignment.strategy"}
_CONSUMER |= {"group.instance.id", "fetch.min.bytes", "fetch.wait.max.ms", "isolation.level", "client.rack"}
_PRODUCER = {"enable.idempotence", "acks", "compression.type", "linger.ms", "message.timeout.ms", "batch.size"}

#: A topic, and the number of one of its partitions.
Partition = tuple[str, int]


class Message(NamedTuple):
    """A message as it came."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...] = ()

    @property
    def place(self) -> Partition:
        """Where it came from."""
        return self.topic, self.partition


def read_settings(path: str | Path) -> dict[str, str]:
    """Return the settings of a file with lines such as ``security.protocol=SASL_SSL``; # begins a remark.

    The names are those of librdkafka, https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals):
            raise DataError(f"{path}, line {number}: a setting is a line NAME=VALUE, such as security.protocol=SSL")
        if name in KEPT or name in SAID:
            why = "what is sent might not arrive otherwise" if name in KEPT else f"{SAID[name]} says so"
            raise OptionError(f"{path}, line {number}: {name!r} cannot be set here, {why}: leave out the line")
        found[name] = value
    return found


class Broker:
    """A member of a group of readers, and a writer. For one thread; ``close`` leaves the group."""

    def __init__(
        self,
        address: str,
        group: str,
        topics: Sequence[str],
        settings: Mapping[str, str] | None = None,
        lost: Callable[[Iterable[Partition]], None] = lambda places: None,
    ) -> None:
        """Join a group; ``lost`` is told the partitions that another member reads from now on."""
        self.address, self._topics, self._lost = address, topics, lost
        given = dict(settings or {})
        common: dict[str, Any] = {"bootstrap.servers": address, "client.id": "appletaste", "logger": log}
        reads = {name: value for name, value in given.items() if name not in _PRODUCER}
        writes = {name: value for name, value in given.items() if name not in _CONSUMER}
        kept_reads = {name: value for name, value in KEPT.items() if name in _CONSUMER}
        kept_writes = {name: value for name, value in KEPT.items() if name in _PRODUCER}
        begin = {"auto.offset.reset": "earliest", "group.id": group}
        timeout = {"message.timeout.ms": int(1000 * CONFIRM), "linger.ms": 5}
        try:
            self._writer = kafka.Producer({**common, **timeout, **writes, **kept_writes})
            self._reader = kafka.Consumer({**common, **begin, **reads, **kept_reads})
        except (kafka.KafkaException, ValueError, TypeError) as error:
            raise OptionError(f"the broker cannot be asked with these settings: {_words(error)}") from None
        self._failed: list[str] = []
        self._joined = False
        #: Of each partition that is read: whether its end was reached, with nothing behind it since.
        self.at_end: dict[Partition, bool] = {}
        #: How often the end of each was reached.
        self.ends: dict[Partition, int] = {}

    def join(self, *writes: str) -> None:
        """Check that all topics are there, and begin to read."""
        for topic in (*self._topics, *writes):
            try:
                found = self._writer.list_topics(topic, timeout=PATIENCE).topics.get(topic)
            except kafka.KafkaException as error:
                raise BrokerError(
                    f"the broker at {self.address} does not answer: {_words(error)}. Is the address right, and does "
                    "the broker want settings (--settings)?"
                ) from None
            if found is None or found.error is not None or not found.partitions:
                told = "" if found is None or found.error is None else f" ({found.error.str()})"
                raise BrokerError(f"the broker at {self.address} has no topic {topic!r}{told}: make the topic first")
        self._reader.subscribe(list(self._topics), on_assign=self._assigned, on_revoke=self._gone, on_lost=self._gone)

    def _assigned(self, reader: Any, places: list[Any]) -> None:
        self._joined = True
        for place in places:
            self.at_end[place.topic, place.partition] = False
            self.ends[place.topic, place.partition] = 0

    def _gone(self, reader: Any, places: list[Any]) -> None:
        gone = [(place.topic, place.partition) for place in places]
        for place in gone:
            self.at_end.pop(place, None)
            self.ends.pop(place, None)
        self._lost(gone)

    @property
    def read_to_the_end(self) -> bool:
        """Whether nothing was left in any partition when it was last looked at."""
        return self._joined and all(self.at_end.values())

    def take(self, most: int, seconds: float) -> list[Message]:
        """Return the next messages, those that are there together; none after so many seconds."""
        try:
            first = self._reader.poll(seconds)
            came = [] if first is None else [first, *self._reader.consume(most - 1, GATHER)]
        except kafka.KafkaException as error:
            raise BrokerError(f"the broker at {self.address} cannot be read: {_words(error)}") from None
        found = []
        for one in came:
            place, trouble = (one.topic(), one.partition()), one.error()
            if trouble is None:
                self.at_end[place] = False
                headers = tuple(one.headers() or ())
                found.append(Message(*place, one.offset(), one.key(), one.value() or b"", headers))
            elif trouble.code() == kafka.KafkaError._PARTITION_EOF:
                self.at_end[place] = True
                self.ends[place] = self.ends.get(place, 0) + 1
            elif trouble.fatal() or not (trouble.retriable() or trouble.code() in _PASSING):
                raise BrokerError(f"the broker at {self.address} cannot be read: {trouble.str()}")
            else:
                log.warning("the broker has trouble: %s", trouble.str())
        return found

    def pause(self, topic: str, paused: bool) -> None:
        """Let the partitions of a topic wait, or go on."""
        mine = [kafka.TopicPartition(*place) for place in self.at_end if place[0] == topic]
        if mine:
            (self._reader.pause if paused else self._reader.resume)(mine)

    def send(self, topic: str, key: bytes | None, value: bytes, headers: Sequence[tuple[str, Any]] = ()) -> None:
        """Send a message; whether it has arrived says ``deliver``."""
        while True:
            try:
                self._writer.produce(topic, value, key, headers=list(headers), on_delivery=self._delivered)
                return
            except BufferError:
                self._writer.poll(0.1)
            except kafka.KafkaException as error:
                raise BrokerError(f"{topic!r} takes no messages: {_words(error)}") from None

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self._failed.append(f"{message.topic()!r}: {error.str()}")

    def deliver(self) -> None:
        """Wait until the broker has all that was sent."""
        left = self._writer.flush(CONFIRM + PATIENCE)
        if left or self._failed:
            told = self._failed[0] if self._failed else f"{left} messages are on their way"
            raise BrokerError(
                f"the broker at {self.address} did not take what was sent ({told}). All is decided and kept; what was "
                "not delivered is sent when the feed is started again"
            )

    def done(self, places: Mapping[Partition, int]) -> None:
        """Say that all before these offsets is done, for whoever reads next.

        Where the broker does not take note, the messages come again: that is harmless, and said in the log.
        """
        mine = [kafka.TopicPartition(*place, offset) for place, offset in places.items() if place in self.at_end]
        if not mine:
            return
        try:
            self._reader.commit(offsets=mine, asynchronous=False)
        except kafka.KafkaException as error:
            log.warning("messages that are done will come again: %s", _words(error))

    def close(self) -> None:
        """Leave the group, so that another member reads on at once."""
        try:
            self._reader.close()
        finally:
            self._writer.flush(1.0)


#: Trouble that passes by itself.
_PASSING = {
    kafka.KafkaError._ALL_BROKERS_DOWN,
    kafka.KafkaError._TRANSPORT,
    kafka.KafkaError._TIMED_OUT,
    kafka.KafkaError._RESOLVE,
    kafka.KafkaError._MAX_POLL_EXCEEDED,
    kafka.KafkaError.UNKNOWN_TOPIC_OR_PART,
}


def _words(error: Exception) -> str:
    told = error.args[0] if error.args else error
    return told.str() if isinstance(told, kafka.KafkaError) else str(told)
