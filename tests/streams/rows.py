"""Rows without a meaning, for tests of what keeps them."""

from appletaste.records.stores import Head, Row
from appletaste.records.stores.store import NOTHING


def rows_after(head, kinds):
    """Return rows of some kinds and ids that follow a head; digests are only numbers here."""
    return [
        Row(seq, kind, id_, b"body %d" % seq, b"item %d" % seq if kind == "decided" else None, seq.to_bytes(32, "big"))
        for seq, (kind, id_) in enumerate(kinds, head.seq + 1)
    ]


def plain(rows):
    return [
        (r.seq, r.kind, r.id, bytes(r.body), None if r.item is None else bytes(r.item), bytes(r.digest)) for r in rows
    ]


SOME = [("created", ""), ("decided", "a"), ("decided", "b"), ("labelled", "a"), ("noted", ""), ("labelled", "b")]


def filled(store, name="orders", kinds=SOME):
    place = store.create(name, b"secret")
    place.append(rows_after(Head(0, NOTHING), kinds), Head(0, NOTHING))
    return place
