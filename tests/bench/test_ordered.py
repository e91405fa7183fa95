"""What the bench of streams in the order of time computes before it compares."""

import numpy as np
import pytest
from bench.ordered import made, nightly

import appletaste as at
from appletaste.history.labelled import read_labelled

ROLES = {"time": "day", "label_time": "told"}


@pytest.mark.parametrize("kind", made.KINDS)
def test_made_up_streams_are_the_same_every_time_and_have_both_labels(kind):
    one, again = (made.table_of(kind, True, 3, 1500) for _ in range(2))
    assert all(np.array_equal(one[name], again[name]) for name in one)
    assert 0 < one["bad"].sum() < 1500
    assert one["day"] == sorted(one["day"])
    assert all(told >= day for told, day in zip(one["told"], one["day"], strict=True))
    prompt = made.table_of(kind, False, 3, 1500)
    assert prompt["told"] == prompt["day"]
    assert (prompt["bad"] == one["bad"]).all()


class Says:
    """A model that says the same of every item."""

    def __init__(self, chance):
        self.chance = chance

    def fit(self, X, y):
        assert len(X) == len(y)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.chance, self.chance], (len(X), 1))


def test_a_nightly_model_that_says_one_thing_is_a_constant_but_for_what_it_tries():
    costs = at.Costs(**made.COSTS)
    stream = read_labelled(made.table_of("nothing", False, 1, 3000), "bad", **ROLES)
    X, positives = nightly.codes(stream), stream.labels.mean()
    always, never = 1000 * (1 - positives) * costs.false_alarm, 1000 * positives * costs.miss
    assert nightly.play(stream, costs, X, lambda: Says(1.0), 1) == pytest.approx(always)
    passes = nightly.play(stream, costs, X, lambda: Says(0.0), 1)
    assert passes == pytest.approx(never, rel=0.1)  # but for the first night, and 5 % at random


def test_labels_that_are_on_their_way_are_not_fitted():
    costs, seen = at.Costs(**made.COSTS), []

    class Counts(Says):
        def fit(self, X, y):
            seen.append(len(y))
            return super().fit(X, y)

    for late in (False, True):
        stream = read_labelled(made.table_of("nothing", late, 1, 2000), "bad", **ROLES)
        seen.append(0)
        nightly.play(stream, costs, nightly.codes(stream), lambda: Counts(1.0), 1)
    prompt, delayed = seen[1 : seen.index(0, 1)], seen[seen.index(0, 1) + 1 :]
    assert max(delayed) < max(prompt) <= 2000
    assert max(delayed) == pytest.approx(2000 * (1 - made.LATE / made.DAYS), rel=0.05)
