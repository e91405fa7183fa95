"""A stream that plays: items, labels that arrive late, and what a stream holds."""

import json

import numpy as np

import appletaste as at

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
RNG = np.random.default_rng(3)
ITEMS = np.round(RNG.normal(size=(400, 3)) - 0.8, 6)
LABELS = (RNG.random(400) < 1 / (1 + np.exp(-ITEMS.sum(1)))).astype(int).tolist()


def seated(name="voi", **options):
    policy = at.policy(name, n_features=3, costs=COSTS, **options)
    return at.Desk(at.streams.Awaiting(policy), at.Budget(share=0.7, window=20), at.Audit(floor=0.2))


def made(store, player=None, **settings):
    """Make a stream with a seed that is known, so that a test passes or fails the same way every time."""
    settings.setdefault("seed", 11)
    return at.Stream.create(store, "orders", seated() if player is None else player, **settings)


def play(stream, start=0, stop=60, late=7):
    """Decide; labels arrive late, one in five never."""
    for k in range(start, stop):
        stream.decide(ITEMS[k], id=f"c{k}", stratum="new" if k % 3 else None)
        past = k - late
        if past >= 0 and past % 5 and f"c{past}" in stream.pending:
            stream.label(f"c{past}", LABELS[past])
    return stream


def acts(stream, act=True):
    log = stream.log()
    return log.id[log.act == act].tolist()


def state(stream):
    header, arrays = stream._journal.fold.header(), stream._journal.fold.arrays()
    return json.dumps(header), {name: array.tobytes() for name, array in arrays.items()}
