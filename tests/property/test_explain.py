"""Whatever the encoder and the record, contributions and base add up to the posterior mean of the score."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import appletaste as at

numbers = st.one_of(st.none(), st.floats(-1e3, 1e3))
levels = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "never seen"]))
records = st.fixed_dictionaries({"age": numbers, "pay": numbers, "job": levels, "city": levels})
encoders = st.builds(
    at.Encoder,
    standardise=st.booleans(),
    intercept=st.booleans(),
    online=st.booleans(),
    missing_indicator=st.booleans(),
    hashing=st.sampled_from([None, 3]),
    interactions=st.sampled_from([(), (("age", "job"),), (("job", "city"), ("age", "pay"))]),
)


def warm_up():
    rng = np.random.default_rng(1)
    cells = [None, "a", "b", "c"]
    return [
        {
            "age": None if k % 5 == 0 else float(rng.normal(40, 9)),
            "pay": float(rng.normal()),
            "job": cells[rng.integers(4)],
            "city": cells[1 + rng.integers(3)],
        }
        for k in range(40)
    ]


ROWS = warm_up()


@settings(max_examples=60, deadline=None)
@given(encoders, records, st.booleans(), st.integers(0, 2**31))
def test_parts_and_base_are_the_score(encoder, record, measured, seed):
    features = encoder.fit(ROWS)
    policy = at.policy("ts", n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    rng = np.random.default_rng(seed)
    items = [features.transform(row) for row in ROWS]
    for x in items[:12]:
        policy.teach(x, int(rng.random() < 0.5))
    x = features.transform(record, update=False)
    for asked in (record, x):
        found = at.explain(policy, asked, features, reference=np.stack(items) if measured else None)
        scale = 1.0 + np.abs(policy.learner.belief.mean * x).sum() + abs(found.base)
        total = found.base + sum(part.value for part in found.contributions)
        assert abs(total - found.score) < 1e-9 * scale
        assert all(part.sd >= 0 for part in found.contributions)
        assert len({part.column for part in found.contributions}) == len(found.contributions) or encoder.hashing
    words = {part.words for part in at.explain(policy, record, features).contributions}
    if record["age"] is None and encoder.missing_indicator and not encoder.interactions:
        assert "age is missing" in words
