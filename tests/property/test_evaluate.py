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


@settings(max_examples=40)
@given(rows())
def test_answers_are_in_order_or_refused(table):
    log = at.DecisionLog.from_rows(table * 1)
    found = at.missed(log)
    assert 0 <= found.unsupported_share <= 1
    for answer in (found.design.missed, found.design.recall, found.design.missed_hajek):
        assert not answer or 0 <= answer.low <= answer.high
    if found.design.missed:
        assert found.design.missed.high <= found.passes
    other = at.what_if(log, 0.5)
    assert not other.ips or other.ips.low <= other.ips.high
    assert np.isfinite(other.effective_sample_size)
