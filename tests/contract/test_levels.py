"""What holds for every policy holds for one whose items have many levels: late labels, changes, saving, reasons."""

import copy

import numpy as np
import pytest

import appletaste as at
from appletaste.features.levels import FIRST, LAST, SLOTS
from appletaste.kernels import gaussian as rows
from appletaste.policies.reasons import Wording
from appletaste.streams.requests import decide_table, read_items

from .entries import COSTS
from .entries import run as play

ENTRIES = [
    ("voi", {}),
    ("voi", {"randomised": True, "prior": 2.0}),
    ("voi", {"ahead": "lindy"}),
    ("ts", {"skew": False}),
    ("ids", {}),
]
every = pytest.mark.parametrize(("name", "options"), ENTRIES)


def table(n, seed=4, levels=120):
    """A number, a column of many levels of which some come late, another with missing values, and a category."""
    rng = np.random.default_rng(seed)
    shares = 1.0 / np.arange(1, levels + 1) ** 0.8
    shop = rng.choice(levels, n, p=shares / shares.sum())
    town = rng.choice(levels, n)
    columns = {
        "age": rng.normal(40, 12, n),
        "shop": np.array([f"shop {k}" for k in shop], dtype=object),
        "town": np.array([None if k % 9 == 0 else f"town {k}" for k in town], dtype=object),
        "job": rng.choice(["chef", "pilot", "clerk"], n),
    }
    score = 0.05 * (columns["age"] - 40) + rng.normal(0, 1.5, levels)[shop] + rng.normal(0, 0.5, levels)[town] - 0.5
    return columns, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def made(name="voi", options=None, n=260, **encoding):
    columns, labels = table(n)
    features, X = at.Encoder(many=True, warm_up=100, **encoding).fit_transform(columns)
    options = options or {}
    policy = at.policy(name, n_features=X.shape[1], costs=COSTS, seed=7, groups=features.groups, **options)
    return policy, features, X, labels


@every
def test_saved_and_restored_bit_for_bit(name, options, tmp_path):
    policy, features, X, labels = made(name, options)
    play(policy, X[:173], labels[:173])
    policy.save(tmp_path / "p", features=features)
    back, same = at.load(tmp_path / "p"), at.FeatureMap.load(tmp_path / "p")
    assert same.groups == features.groups
    assert same.groups.count(SLOTS) == 2
    twin = copy.deepcopy(policy)
    found = play(back, X[173:], labels[173:])
    assert found == play(policy, X[173:], labels[173:])
    assert found == play(twin, X[173:], labels[173:])


def test_the_map_goes_on_where_it_was_saved(tmp_path):
    columns, _ = table(260)
    features = at.Encoder(many=True, warm_up=100).fit(columns)
    records = [{name: column[k] for name, column in columns.items()} for k in range(260)]
    for record in records[:180]:
        features.transform(record)
    features.save(tmp_path / "map")
    back = at.FeatureMap.load(tmp_path / "map")
    assert back.continues(features)
    one, other = features.transform_many(records[180:]), back.transform_many(records[180:])
    assert one.tolist() == other.tolist()
    assert features.header() == back.header()


@every
def test_many_at_once_are_one_by_one(name, options):
    one, _, X, labels = made(name, options)
    many, _, _, _ = made(name, options)
    for policy in (one, many):
        play(policy, X[:120], labels[:120])
    singles = [one.decide(x) for x in X[120:]]
    assert [(d.act, d.probability) for d in many.decide_many(X[120:])] == [(d.act, d.probability) for d in singles]
    within = many.decide_many(X[:50], capacity=5)
    assert within.acts.sum() <= 5


@every
def test_late_and_changed_labels_end_where_the_right_ones_do(name, options):
    told, _, X, labels = made(name, options)
    right, _, _, _ = made(name, options)
    lost, _, _, _ = made(name, options)
    decisions = []
    for x in X:
        decision = told.settle(told.look(x)._replace(floor=1.0))
        for other in (right, lost):
            other.commit(other.look(x), decision)
        decisions.append(decision)
    for k in reversed(range(len(X))):
        told.learn(decisions[k], int(labels[k]) if k % 7 else 1 - int(labels[k]))
    told.revise([(decisions[k], int(labels[k])) for k in range(0, len(X), 7)])
    told.retract(decisions[5])
    for k, decision in enumerate(decisions):
        if k != 5:
            right.learn(decision, int(labels[k]))
    scores = [[policy.posterior.score(x).mean for x in X] for policy in (told, right, lost)]
    spreads = [[policy.posterior.score(x).variance for x in X] for policy in (told, right, lost)]
    for mine, theirs, before in (np.array(scores), np.array(spreads)):
        assert np.abs(mine - theirs).mean() < 0.2 * np.abs(before - theirs).mean()


def test_labels_on_their_way_are_kept_in_mind(tmp_path):
    """A level of which five labels are on their way is not worth five more; when they arrive all is as it was."""
    policy, _, X, labels = made()
    plain, waiting = made()[0], at.streams.Awaiting(policy)
    late = []
    for k, (x, label) in enumerate(zip(X, labels, strict=True)):
        seen, before = policy.posterior.score(x).variance, waiting._waiting.score(x).variance
        assert before <= seen * (1 + 1e-9)
        decision = waiting.decide(x)
        if decision.act:
            late.append((k + 20, decision, int(label)))
            assert waiting._waiting.score(x).variance < before
            assert policy.posterior.score(x).variance == seen
        while late and late[0][0] <= k:
            waiting.learn(*late.pop(0)[1:])
    assert np.isfinite(policy.learner.belief.matrix[rows.MODE]).all()
    assert policy.learner.belief.labels.n > 50
    waiting.save(tmp_path / "w")
    back = at.load(tmp_path / "w")
    for one, other in zip((waiting.look(x) for x in X[:9]), (back.look(x) for x in X[:9]), strict=True):
        assert one.why == other.why
    for _, decision, label in late:
        waiting.learn(decision, label)
        back.learn(decision, label)
    assert waiting.look(X[0]).why == policy.look(X[0]).why == back.look(X[0]).why
    assert play(waiting, X[:20], labels[:20]) == play(back, X[:20], labels[:20])
    assert plain.round == 0


def test_a_label_that_has_arrived_is_not_on_its_way_any_more():
    policy, _, X, labels = made()
    waiting = at.streams.Awaiting(policy)
    play(waiting, X[:100], labels[:100])
    one, other = X[0].copy(), X[0].copy()
    one[policy.slots[0]], other[policy.slots[0]] = FIRST + 500, FIRST + 501
    one[policy.slots[1]], other[policy.slots[1]] = FIRST + 500, FIRST + 501
    waiting.settle(waiting.look(X[1])._replace(floor=1.0))  # so that something is on its way all the time
    decisions = [waiting.settle(waiting.look(x)._replace(floor=1.0)) for x in (one, other)]
    before = [effect.variance for effect in policy.posterior.effects(one)]
    assert (waiting._waiting.score(one).parts[2] < before).all()
    waiting.learn(decisions[0], 0)
    after = [effect.variance for effect in policy.posterior.effects(one)]
    assert waiting._waiting.score(one).parts[2] == pytest.approx(after, rel=1e-9)
    assert (waiting._waiting.score(other).parts[2] < before).all()


def test_reasons_add_up_by_column():
    policy, features, X, labels = made()
    play(policy, X, labels)
    columns, _ = table(260)
    record = {name: column[3] for name, column in columns.items()}
    found = at.explain(policy, record, features=features)
    assert sorted(part.column for part in found.contributions) == ["age", "job", "shop", "town"]
    assert found.base + sum(part.value for part in found.contributions) == pytest.approx(found.score)
    score = policy.posterior.score(X[3])
    assert found.score == pytest.approx(score.mean)
    assert found.score_sd == pytest.approx(np.sqrt(score.variance))
    shop = next(part for part in found.contributions if part.column == "shop")
    told = sum(bool(e == record["shop"]) for e in columns["shop"])
    assert shop.words.startswith(f"shop = {record['shop']} (")
    assert 0 < int(shop.words.rsplit("(", 1)[1].split()[0]) <= told
    assert at.explain(policy, X[3], features=features).score == found.score
    assert "level" in " ".join(part.words for part in at.explain(policy, X[3]).contributions)
    absent = at.explain(policy, {**record, "town": None, "shop": "nobody's"}, features=features)
    words = " ".join(part.words for part in absent.contributions)
    assert "town is missing" in words
    assert "shop = nobody's (not among its known levels) (0 labels)" in words


def test_slots_are_never_taken_for_numbers():
    policy, features, X, _ = made()
    plain = at.policy("voi", n_features=X.shape[1], costs=COSTS)
    with pytest.raises(at.errors.InputError, match="the slot of a level"):
        plain.decide(X[0])
    with pytest.raises(at.errors.InputError, match="the slot of a level"):
        plain.decide_many(X)
    place = features.groups.index(SLOTS)
    for wrong in (0.0, 3.0, FIRST - 1, FIRST + 0.5, LAST + 1, np.nan):
        x = X[0].copy()
        x[place] = wrong
        with pytest.raises(at.errors.InputError):
            policy.decide(x)
        with pytest.raises(at.errors.InputError):
            policy.teach(x, 1)
    for name in ("pg-ts", "exact-voi", "adf-voi"):
        with pytest.raises(at.errors.OptionError, match="each level"):
            at.policy(name, n_features=X.shape[1], costs=COSTS, groups=features.groups)
    for options, told in (({"half_life": 100}, "do not fade"), ({"surprises": 0.2}, "surprises=0")):
        with pytest.raises(at.errors.OptionError, match=told):
            at.policy("voi", n_features=X.shape[1], costs=COSTS, groups=features.groups, **options)
    prior = at.posteriors.Gaussian(0.0, np.eye(X.shape[1]))
    with pytest.raises(at.errors.OptionError, match="not a matrix"):
        at.policy("voi", n_features=X.shape[1], costs=COSTS, groups=features.groups, prior=prior)
    assert policy.certificate().n_features < X.shape[1]


def test_a_log_is_read_with_its_levels():
    """Nobody who reads a log takes slots for numbers: alarms of drift, and the model that looks for what was missed."""
    columns, labels = table(3000)
    found = at.replay({**columns, "bad": labels}, "bad", costs=COSTS, order="as is", audit="10%", log="voi")
    assert ((found.log.x >= FIRST) & (found.log.x <= LAST)).any(axis=0).sum() == 2
    alarms = at.drift.check(found.log, window=500).alarms
    assert not [alarm for alarm in alarms if "feature" in alarm.kind]
    answer = at.missed(found.log, 0.99)
    truth = int((~found.log.act & (labels == 1)).sum())
    assert answer.model.low <= truth <= answer.model.high


def test_a_stream_lets_levels_join_and_says_why(tmp_path):
    columns, labels = table(700)
    rows = [{name: column[k] for name, column in columns.items()} for k in range(700)]
    history = {**{name: column[:400] for name, column in columns.items()}, "bad": labels[:400]}
    made = at.streams.from_history(history, "bad", id=None, costs=COSTS, teach=True)
    assert made.features.groups.count(SLOTS) == 2
    stream = made.create(tmp_path / "shop.db", "shop")
    new = [{**row, "id": f"case {k}"} for k, row in enumerate(rows[400:])] + [
        {**rows[0], "shop": "brand new", "id": "x"}
    ]
    before = len(stream.features.columns[1].numbered)
    answers = decide_table(stream, read_items(new, stream, id="id"))
    assert "brand new" in stream.features.columns[1].numbered
    assert len(stream.features.columns[1].numbered) > before
    assert "brand new" not in made.features.columns[1].numbered  # the stream has a map of its own
    for answer, label in list(zip(answers, labels[400:], strict=False))[:50]:
        if answer.act:
            stream.label(answer.id, int(label))
    record = {name: value for name, value in new[60].items() if name != "id"}
    said = at.explain(stream, record)
    words = " ".join(Wording(stream.player.policy, stream.features).columns(answers[0].decision.x, rows[400]))
    assert "the chance" in words
    stream.close()
    with at.Stream.open(tmp_path / "shop.db", "shop") as back:
        assert at.explain(back, record) == said
        assert [answer.again for answer in decide_table(back, read_items(new, back, id="id"))] == [True] * 301
        back.verify()
