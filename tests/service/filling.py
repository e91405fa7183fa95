"""A shop that has been running for forty days: orders, labels two days later, and all else that happens."""

import numpy as np

import appletaste as at

SHEET = at.Costs(miss=20, false_alarm=4, hit=1)
DAYS = 40


def orders(n, seed=0):
    """Return orders with their times and what turned out."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        day = k * DAYS // n
        amount, country = float(np.exp(rng.normal(4, 1))), str(rng.choice(["DE", "FR", "US", "BR"]))
        odds = 3 - 2 * (country == "BR") - (np.log(amount) - 4)
        bad = int(rng.random() < 1 / (1 + np.exp(odds)))
        record = {"amount": amount, "country": country, "items": float(rng.integers(1, 6))}
        found.append((record, moment(day, k), moment(day + 2, k), day, bad))
    return found


def moment(day, k):
    return f"2024-{5 + day // 31:02d}-{1 + day % 31:02d}T10:{k % 60:02d}:00"


def fill(store, name="shop", n=800, **given):
    """Make a stream with every kind of event in it, and leave it open."""
    table, rng = orders(n), np.random.default_rng(1)
    features = at.Encoder(curves=True).fit([record for record, *_ in table[:300]])
    policy = at.policy("voi", n_features=features.n_features, costs=SHEET, groups=features.groups)
    desk = at.Desk(at.streams.Awaiting(policy), given.get("budget"), at.Audit(rate=0.08))
    stream = at.Stream.create(store, name, desk, features=features, seed=5, expire_after=86400.0 * 30)
    with stream.group():
        for k, (record, made, told, day, bad) in enumerate(table):
            act = stream.decide(record, id=f"o{k}", time=made, stratum=record["country"]).act
            if act and day < DAYS - 3 and rng.random() < 0.9:
                stream.label(f"o{k}", bad, time=told)
    labelled = [id_ for id_ in (f"o{k}" for k in range(n)) if stream.find(id_).learnt][:9]
    passed = [f"o{k}" for k in range(n) if not stream.find(f"o{k}").entry.decision.act][:4]
    stream.correct(labelled[0], 1 - stream.find(labelled[0]).entry.label)
    stream.retract(labelled[1])
    stream.enacted(passed[0], True, "ann")
    stream.label(passed[0], 1, time="2024-06-06")
    stream.enacted(passed[1], True, "ann")
    stream.label(passed[2], 0, time="2024-06-07")  # of a pass: a report
    stream.expire("2024-06-05")
    stream.note(labelled[2], "odd")
    return stream


class Reading:
    """What a ``Following`` needs of a writer."""

    def __init__(self, stream):
        self.stream, self.place, self.policy = stream, stream.record.place, stream.player.policy.name
        self.names = None if stream.features is None else stream.features.names()

    @property
    def seq(self):
        return len(self.stream)
