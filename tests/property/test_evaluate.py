"""What holds for every log: it survives the disk, and answers are in order."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import appletaste as at

PROBABILITY = st.floats(0.01, 0.99)


@st.composite
def rows(draw):
    found = []
    for k in range(draw(st.integers(1, 30))):
        act = draw(st.booleans())
        label = draw(st.sampled_from([0, 1, None])) if act else None
        found.append(
            {"id": f"d{k}", "act": act, "probability": draw(PROBABILITY), "label": label, "chance": draw(PROBABILITY)}
            | {"miss": draw(st.floats(1, 9)), "false_alarm": draw(st.floats(0.1, 9)), "hit": 0.0}
        )
    return found


@settings(max_examples=40)
@given(rows(), st.sampled_from(["jsonl", "parquet"]))
def test_a_log_survives_the_disk(table, suffix):
    log = at.DecisionLog.from_rows(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"log.{suffix}"
        log.write(path)
        assert at.DecisionLog.read(path).rows() == log.rows()


def made(seed, n, least, lost, shape, prices):
    """Return a log long and random enough to answer: acted on with ``least`` or more, some labels missing."""
    rng = np.random.default_rng(seed)
    chance = np.clip(rng.beta(*shape, n), 0.02, 0.98)
    p = least + (1 - least) * rng.random(n)
    act, label, known = rng.random(n) < p, rng.random(n) < chance, rng.random(n) >= lost
    costs = dict(zip(("miss", "false_alarm"), prices, strict=True), hit=0.0)
    return [
        {"id": f"d{k}", "act": bool(act[k]), "probability": float(p[k]), "chance": float(chance[k]), **costs}
        | {"label": int(label[k]) if act[k] and known[k] else None}
        for k in range(n)
    ]


def in_order(answer):
    assert answer
    assert answer.low <= answer.value <= answer.high
    assert np.isfinite([answer.low, answer.high]).all()
    return True


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(400, 700),
    least=st.floats(0.6, 0.9),  # with the labels that arrive, all items are of one band of probabilities
    lost=st.floats(0.0, 0.3),
    shape=st.tuples(st.floats(1, 4), st.floats(2, 5)),
    prices=st.tuples(st.floats(1, 9), st.floats(0.1, 9)),
    place=st.floats(0.05, 0.6),
)
def test_answers_are_in_order(seed, n, least, lost, shape, prices, place):
    """Every one of these logs answers every question, in numbers that can be."""
    log = at.DecisionLog.from_rows(made(seed, n, least, lost, shape, prices))
    threshold = float(np.quantile(log.chance, place))
    found = at.missed(log)
    assert 0 <= found.unsupported_share <= 1
    for answer in (found.design.missed, found.design.missed_hajek):
        assert in_order(answer)
        assert answer.low >= 0
        assert answer.high <= found.passes
    for answer in (found.design.recall, found.design.recall_hajek):
        assert in_order(answer)
        assert 0 <= answer.low <= answer.high <= 1
    other = at.what_if(log, threshold)
    for name in ("ips", "snips", "dr"):
        assert in_order(getattr(other, name))
    assert other.ips.low < other.ips.high
    for answer in (other.logged, other.saving):  # withheld where nobody knows which labels are lost
        assert in_order(answer) if answer else "positives or negatives are lost" in answer.reason
    assert other.logged or not log.labelled[log.act].all()
    assert 0 < other.effective_sample_size <= log.act.sum()


@settings(max_examples=40)
@given(rows())
def test_small_logs_answer_in_order_or_refuse_in_words(table):
    log = at.DecisionLog.from_rows(table)
    found = at.missed(log)
    assert 0 <= found.unsupported_share <= 1
    for answer in (found.design.missed, found.design.recall, found.design.missed_hajek):
        assert answer.reason if not answer else 0 <= answer.low <= answer.high
    if found.design.missed:
        assert found.design.missed.high <= found.passes
    other = at.what_if(log, 0.5)
    assert other.ips.reason if not other.ips else other.ips.low <= other.ips.high
    assert np.isfinite(other.effective_sample_size)
