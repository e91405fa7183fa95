"""A broker for tests: librdkafka's own mock cluster, which speaks the protocol of Kafka in this process."""

import json
from collections import defaultdict

import confluent_kafka as kafka

#: A member that was killed is missed soon; sooner than in 4 s the mock, which lets a group gather for 3, misses all.
SETTINGS = {"session.timeout.ms": "4000", "heartbeat.interval.ms": "500"}


class Mock:
    """A cluster that ends with the object."""

    def __init__(self):
        self._cluster = kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 0})
        brokers = self._cluster.list_topics(timeout=10).brokers.values()
        self.address = ",".join(f"{one.host}:{one.port}" for one in brokers)
        self._writer = kafka.Producer({"bootstrap.servers": self.address, "log_level": 0})

    def send(self, topic, *messages, partition=None):
        """Send messages: bytes as they are, or what is to be JSON, all with the same key in the same partition."""
        where = {} if partition is None else {"partition": partition}
        for one in messages:
            value = one if isinstance(one, bytes) else json.dumps(one).encode()
            key = one.get("id") if isinstance(one, dict) else None
            self._writer.produce(topic, value, key, **where)
        assert self._writer.flush(20) == 0

    def read(self, topic, group="reads everything"):
        """Return all messages of a topic, from the first to the last."""
        reader = kafka.Consumer({
            "bootstrap.servers": self.address,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "log_level": 0,
        })  # fmt: skip
        partitions = self._writer.list_topics(topic, timeout=10).topics[topic].partitions
        reader.assign([kafka.TopicPartition(topic, number, kafka.OFFSET_BEGINNING) for number in partitions])
        found, left = [], set(partitions)
        while left:
            one = reader.poll(10)
            assert one is not None, "the mock does not answer"
            if one.error() is None:
                found.append(one)
            else:
                left.discard(one.partition())
        reader.close()
        return found

    def values(self, topic):
        """Return the values of a topic by key."""
        found = defaultdict(list)
        for one in self.read(topic):
            found[one.key().decode()].append(one.value())
        return found

    def done(self, topic, group):
        """Return how many messages of a topic are done, as a group has said."""
        reader = kafka.Consumer({"bootstrap.servers": self.address, "group.id": group, "log_level": 0})
        partitions = self._writer.list_topics(topic, timeout=10).topics[topic].partitions
        kept = reader.committed([kafka.TopicPartition(topic, number) for number in partitions], timeout=10)
        reader.close()
        return sum(max(place.offset, 0) for place in kept)

    def close(self):
        """End the cluster."""
        self._writer = self._cluster = None


def reason(letter):
    """Return why a message is a dead letter: the name of the problem, and where it came from."""
    told = dict(letter.headers())
    name = json.loads(told["appletaste-problem"])["type"].rsplit(":", 1)[-1]
    return name, told["appletaste-topic"].decode(), int(told["appletaste-offset"])
