"""Trees behind HTTP: they are grown beside decisions, adopted at a label, and in every case of the review page."""

import time

import numpy as np
import pytest

import appletaste as at
from appletaste.records.events import Adopted

from .serving import Running, new_store

pytest.importorskip("lightgbm")

COSTS = at.Costs(miss=1, false_alarm=0.5, hit=0)
RNG = np.random.default_rng(4)
ROWS = [{"a": float(a), "b": float(b)} for a, b in RNG.normal(size=(1200, 2)).round(6)]
LABELS = [int(row["a"] * row["b"] > 0) for row in ROWS]
SHOP = "/v1/streams/shop"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    found = new_store(tmp_path_factory.mktemp("trees"))
    features = at.Encoder().fit(ROWS[:300])
    policy = at.policy("voi", n_features=features.n_features, costs=COSTS)
    at.Stream.create(found, "shop", at.streams.Awaiting(policy), features=features, seed=5).close()
    yield found
    found.close()


def played(service, key, start, stop):
    """Decide on rows and label what was acted on."""
    for k in range(start, stop):
        told = service.ask("POST", SHOP + "/decisions", {"id": f"c{k}", "item": ROWS[k]}, key=key).json()
        if told["act"]:
            assert service.ask("PUT", f"{SHOP}/decisions/c{k}/label", {"value": LABELS[k]}, key=key).status == 200
        if k % 50 == 49:
            time.sleep(0.1)  # a thread fits meanwhile


def test_trees_join_behind_http_and_the_record_verifies(store):
    with Running(store) as service:
        key = service.key()
        played(service, key, 0, 600)
        told = service.ask("GET", SHOP + "/decisions/c599", key=key).json()
        model = service.ask("GET", SHOP + "/model", key=key).json()
        assert [one["name"] for one in model["coefficients"]][-1] == "trees"
        curves = service.ask("GET", SHOP + "/model/curves", key=key).json()
        assert any("a × b" in note or "b × a" in note for note in curves["notes"])
    with at.Stream.open(store, "shop") as stream:
        adopted = [event for _, event in stream.events() if isinstance(event, Adopted) and event.sha256]
        assert len(adopted) >= 2
        stream.verify()
        assert stream.player.policy.learner.forest.sha256 == adopted[-1].sha256
        assert stream.find("c599").answer.probability == told["probability"]
        found = at.explain(stream, {"a": 1.2, "b": 1.1})
        assert {part.column for part in found.contributions} == {"a", "b"}
    with Running(store) as service:  # another process goes on
        played(service, service.key(), 600, 700)
        assert service.ask("GET", SHOP + "/decisions/c699", key=service.key()).status == 200
