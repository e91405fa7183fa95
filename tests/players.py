"""What a player or a ledger carries, as values that are equal only bit for bit."""

import copy
import json

import numpy as np

import appletaste as at


def state_of(player):
    """Return all that a player would save: its header as text, and every array as bytes."""
    arrays = {name: np.asarray(array) for name, array in player.arrays().items()}
    return {
        "header": json.dumps(player.header(), sort_keys=True),
        **{name: (array.dtype.str, array.shape, array.tobytes()) for name, array in arrays.items()},
    }


def decided(decision):
    """Return a decision as plain values; NaN is equal to itself."""
    x = (decision.x.shape, decision.x.tobytes())
    return (x, decision.costs.outcomes(), *[repr(part) for name, part in decision._asdict().items() if name in PLAIN])


PLAIN = ("act", "probability", "round", "why", "audit", "time", "chance", "worth", "price", "spent")


def record_of(ledger):
    """Return what is in a ledger: its entries in their order, and what is awaited in its order."""
    entries = [
        (id_, decided(entry.decision), entry.time, entry.stratum, entry.state, entry.label, entry.label_time)
        for id_, entry in ledger.entries.items()
    ]
    return {"entries": entries, "pending": ledger.pending, "expire_after": ledger.expire_after}


def reloaded(ledger, path):
    """Return a ledger as another process would go on with it: its player is from a file."""
    ledger.player.save(path)
    again = copy.deepcopy(ledger)
    again.player = at.load(path)
    return again


def assert_same(one, other):
    """Compare two states or records part by part, so that a failure names the part."""
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


def assert_alike(one, other):
    """Compare two ledgers: what happened, and what their players carry."""
    assert_same(record_of(one), record_of(other))
    assert_same(state_of(one.player), state_of(other.player))
