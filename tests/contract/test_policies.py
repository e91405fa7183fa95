"""One contract over the registry: every policy, by name, keeps all of it."""

import math
import subprocess
import sys

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, FeedbackError, InputError
from appletaste.policies import POLICIES, PolicySpec
from appletaste.simulate import made_for
from tests.checks import honesty_p

from ..players import assert_same, state_of
from .entries import COSTS, act_on, every, make, run, stream


@every
@pytest.mark.parametrize("d", [1, 3, 7])
def test_decides_and_learns_in_every_dimension(name, options, d):
    items, labels = stream(d)
    policy = make(name, options, d)
    first = policy.decide(items[0])  # no labels yet
    assert isinstance(first.act, bool)
    assert 0.0 <= first.probability <= 1.0
    assert first.round == 1
    for act, probability, _ in run(policy, items, labels, 1):
        assert 0.0 <= probability <= 1.0
        assert act or probability < 1.0
        assert not act or probability > 0.0
    assert policy.round == len(items)


@every
def test_probability_is_pure_and_is_what_decide_records(name, options):
    items, labels = stream(3)
    asked, quiet = make(name, options), make(name, options)
    for x, label in zip(items, labels, strict=True):
        kept = x.copy()
        for other in items[:3]:
            asked.probability(other)
        p = asked.probability(x)
        assert asked.probability(x) == p
        decision, expected = asked.decide(x), quiet.decide(x)
        assert decision.probability == p == expected.probability
        assert decision.act == expected.act
        assert (x == kept).all()
        if decision.act:
            asked.learn(decision, label)
            asked.probability(x)
            quiet.learn(expected, label)


@every
def test_the_seed_decides_everything(name, options):
    items, labels = stream(3)
    assert run(make(name, options), items, labels) == run(make(name, options), items, labels)


@pytest.mark.parametrize("name", ["pg-ts", "pg-ids", "pg-ids-traditional", "exact-ts", "greedy"])
def test_other_seeds_decide_otherwise(name):
    items, labels = stream(3)
    assert run(make(name, {}), items, labels) != run(make(name, {}, seed=8), items, labels)


#: Those that learn nothing from any label.
FIXED = ("always", "never", "oracle")


@every
def test_late_and_out_of_order_labels(name, options):
    """Told backwards, ten rounds late, it knows what it knows when told in order: not what it knows without them."""
    items, labels = stream(3)
    late, ordered, lost = (make(name, options) for _ in range(3))
    waiting, acts = [], 0
    for t, (x, label) in enumerate(zip(items, labels, strict=True)):
        decision = late.decide(x)
        for other in (ordered, lost):
            other.commit(other.look(x), decision)
        if decision.act:
            waiting.append((decision, label))
        if t % 10 == 9:
            for one, order in ((late, reversed(waiting)), (ordered, waiting)):
                for told in order:
                    one.learn(*told)
            acts += len(waiting)
            waiting = []
    assert late.round == ordered.round == len(items)
    if name in FIXED:
        for told in (late, lost):
            assert [name for name in state_of(told) if state_of(told)[name] != state_of(ordered)[name]] in (
                [],
                ["awaited"],
            )
        return
    assert acts > 10
    tables = list(zip(learnt(late), learnt(ordered), strict=True))
    for mine, other in tables:
        assert sorted(map(tuple, mine)) == sorted(map(tuple, other))
    if late.keeps_labels:
        assert sorted(late.arrays()["rounds"]) == ordered.arrays()["rounds"].tolist()
        assert len(late.arrays()["rounds"]) == acts
        assert name == "suplogistic" or sum(len(mine) for mine, _ in tables) == acts
    belief = late.learner.belief
    if belief is not None and belief.mean is not None:  # known without draws: near in value too
        for part in ("mean", "covariance"):
            mine, right, none = (getattr(one.learner.belief, part) for one in (late, ordered, lost))
            if right is not None:
                assert np.abs(mine - right).max() < 0.2 * np.abs(none - right).max()
    else:
        assert tables
        assert late.keeps_labels


def learnt(policy):
    """Every table of items and labels that a policy carries."""
    arrays = policy.arrays()
    names = sorted(name for name in arrays if name.endswith("items"))
    return [np.column_stack([arrays[name], arrays[name.replace("items", "labels")]]) for name in names]


@every
def test_a_pass_teaches_nothing(name, options):
    policy = make(name, options)
    run(policy, *stream(3), stop=12)
    acted = act_on(policy, np.ones(3))
    before = state_of(policy)
    with pytest.raises(FeedbackError, match="pass"):
        policy.learn(acted._replace(act=False), 1)
    assert_same(state_of(policy), before)
    for label in (2, -1, 0.5, math.nan, None, "1", [1]):
        for learn in (lambda wrong: policy.learn(acted, wrong), lambda wrong: policy.teach(np.ones(3), wrong)):
            with pytest.raises(FeedbackError, match="label is 0"):
                learn(label)
    with pytest.raises(FeedbackError, match="Decision"):
        policy.learn(np.ones(3), 1)
    for x in (np.ones(4), [1, np.nan, 3], np.array([1, np.inf, 3]), [[1, 2, 3]], "abc"):
        for learn in (lambda wrong: policy.learn(acted._replace(x=wrong), 1), lambda wrong: policy.teach(wrong, 1)):
            with pytest.raises(InputError, match=r"item must|feature 1|another item"):
                learn(x)
    assert_same(state_of(policy), before)
    policy.learn(acted, 1)  # the control: an act does
    after = state_of(policy)
    assert ([part for part in after if after[part] != before[part]] == ["awaited"]) == (name in FIXED)


@every
def test_a_decision_may_come_back_as_plain_numbers(name, options):
    """Stored, sent and read back, the item of a decision may be a list or another type of array."""
    items, labels = stream(3)
    one, two = make(name, options), make(name, options)
    for x, label in zip(items, labels, strict=True):
        decision, other = one.decide(x), two.decide(x)
        assert decision.probability == other.probability
        if decision.act:
            one.learn(decision, label)
            two.learn(other._replace(x=other.x.tolist()), label)


@every
def test_bad_items_are_refused_and_change_nothing(name, options):
    items, labels = stream(3)
    policy, clean = make(name, options), make(name, options)
    bad = ([1, 2], [1, 2, 3, 4], [[1, 2, 3]], 1.0, [1, np.nan, 3], [1, np.inf, 3], ["a", "b", "c"], None, [1, 2, 1e120])
    for x in bad:
        with pytest.raises(InputError, match=r"item must|feature 1|feature 2"):
            policy.decide(x)
        with pytest.raises(InputError):
            policy.probability(x)
    assert run(policy, items, labels) == run(clean, items, labels)


@every
def test_beyond_the_item_everything_has_a_name(name, options):
    """The same for whatever plays: no second thing given by place can mean one thing here and another there."""
    policy = make(name, options)
    for player in (policy, at.streams.Awaiting(policy), at.Desk(policy), at.streams.Ledger(policy)):
        with pytest.raises(TypeError, match="positional"):
            player.decide(np.ones(3), COSTS)
    for ask in (policy.look, policy.probability, at.Desk(policy).look, at.streams.Awaiting(policy).look):
        with pytest.raises(TypeError, match="positional"):
            ask(np.ones(3), COSTS)
    assert policy.round == 0


@every
def test_costs_of_one_item(name, options):
    policy = make(name, options)
    run(policy, *stream(3))
    x = np.array([0.1, 0.2, -0.1])
    never, always = at.Costs.of_item(1, 5, 1), at.Costs.of_item(1, 0, 0)
    for costs in (never, always, at.Costs(5, 1, 0)):
        decision = policy.decide(x, costs=costs)
        assert 0 <= decision.probability <= 1
        assert decision.costs is costs
    if name in ("pg-ts", "oracle"):
        assert policy.probability(x, costs=never) == 0.0
        assert policy.probability(x, costs=always) == 1.0


@every
def test_hard_data_get_a_sound_answer(name, options):
    rng = np.random.default_rng(5)
    line = rng.normal(size=60)
    cases = [
        (np.column_stack([line, line, np.ones(60)]), (line > 0).astype(int)),  # duplicated, constant, separable
        (np.zeros((60, 3)), np.ones(60, int)),  # nothing to see, one class
        (1e6 * rng.normal(size=(60, 3)), np.zeros(60, int)),  # badly scaled
        (1e-6 * rng.normal(size=(60, 3)), np.arange(60) % 2),
        (np.column_stack([1e9 * line, 1e9 * line, line]), (line > 0).astype(int)),  # singular to rounding
        (1e99 * rng.uniform(-1, 1, size=(60, 3)), np.arange(60) % 2),  # as large as is let in
    ]
    for items, labels in cases:
        decisions = run(make(name, options), items, labels)
        assert all(0 <= p <= 1 for _, p, _ in decisions)


@pytest.mark.parametrize("name", list(POLICIES))
def test_recorded_probabilities_are_calibrated(name):
    """Over 30 runs each bin of recorded probabilities acts as often as it says; certain ones without exception."""
    problem = at.problem("i", rounds=200)
    acts, probabilities = [], []
    for r in range(30):
        key = at.Key(3).at(r)
        table = problem.draw(key)
        trace = at.play(made_for(PolicySpec(name, {}), table, key), table)
        acts.append(trace.act)
        probabilities.append(trace.probability)
    acts, probabilities = np.concatenate(acts), np.concatenate(probabilities)
    four_sigma = 6.3e-5
    assert honesty_p(probabilities, acts) > four_sigma
    assert honesty_p(np.clip(probabilities * 0.9 + 0.05, 0, 1), acts) < four_sigma


def learn_from_another(name):
    make(name, {}).learn(act_on(make("pg-ts", {}), np.ones(3)), 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: at.policy("nope", n_features=3, costs=COSTS), "there is no policy 'nope'"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, weight=1), "no option 'weight'; its options: sweeps"),
        (lambda: at.policy("pg-ts", n_features=0, costs=COSTS), "n_features"),
        (lambda: at.policy("pg-ts", n_features=2.5, costs=COSTS), "n_features"),
        (lambda: at.policy("pg-ts", n_features=3, costs={"miss": 1}), "costs must be"),
        (lambda: at.policy("pg-ts", n_features=3, costs=at.Costs.of_item(1, 2, 3)), "nothing to decide"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, seed=-1), "seed"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, sweeps=0), "sweeps"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, sweeps=[(2, 5)]), "starts at round 1"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, sweeps="many"), "sweeps is a number or a schedule"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, sweeps=15.7), "whole number"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, burn_in=2.5), "whole number"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS).decide(np.ones(3), costs={"miss": 1}), "costs must be"),
        (lambda: at.policy("greedy", n_features=3, costs=COSTS, estimator="mle", prior=2.0), "no prior"),
        (
            lambda: at.policy(
                "exact-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(1))
            ),
            "region",
        ),
        (lambda: at.policy("exact-ts", n_features=2, costs=COSTS, draws=0), "draws"),
        (lambda: at.policy("exact-ids", n_features=2, costs=COSTS, switch=0), "switch"),
        (lambda: at.policy("exact-ids", n_features=2, costs=COSTS, sweeps=0), "sweeps"),
        (
            lambda: make(
                "pg-ts", {"rao_blackwell": True, "prior": at.posteriors.Gaussian(region=at.posteriors.Ball(1))}
            ),
            "region",
        ),
        (lambda: make("pg-ids", {"rao_blackwell": True, "separate_draws": True}), "separate_draws"),
        (lambda: make("pg-ids", {"rao_blackwell": True, "estimator": "printed"}), "needs draws of theta"),
        (lambda: learn_from_another("voi"), "is not one of this policy"),
        (lambda: make("suplogistic", {}).teach(np.ones(3), 1), "learns from its own acts only"),
        (lambda: at.policy("pg-ids", n_features=3, costs=COSTS, weight="abc"), "weight must be a finite number"),
        (lambda: at.policy("suplogistic", n_features=3, costs=COSTS, horizon=math.inf), "horizon"),
        (lambda: at.policy("oracle", n_features=3, costs=COSTS, theta="abc"), "theta"),
        (lambda: at.policy("oracle", n_features=2, costs=COSTS, theta=[math.nan, 1]), "theta"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, sweeps=10**13), "sweeps"),
        (lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(0, "abc")), "covariance"),
        (
            lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(0, [[1], [1, 2]])),
            "covariance",
        ),
        (lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region="box")), "region"),
        (
            lambda: at.policy(
                "pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region=at.posteriors.Ball("x"))
            ),
            "radius",
        ),
        (lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(1e300)), "prior mean"),
        (lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(0, 1e-300)), "variances"),
        (lambda: at.replicate(at.problem("i"), [PolicySpec("never", {})] * 2, 2), "listed twice"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, burn_in=-1), "burn_in"),
        (lambda: at.policy("pg-ids", n_features=3, costs=COSTS, sweeps=1, separate_draws=True), "sweeps"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, prior="flat"), "prior is"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, prior=at.posteriors.Gaussian([0, 1])), "prior mean"),
        (lambda: at.policy("pg-ts", n_features=3, costs=COSTS, prior=at.posteriors.Gaussian(0, -1)), "variances"),
        (
            lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(0, [[1, 2], [2, 1]])),
            "definite",
        ),
        (
            lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(0, [[1, 0], [1, 1]])),
            "symmetric",
        ),
        (lambda: at.policy("pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(math.nan)), "NaN"),
        (
            lambda: at.policy(
                "pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region=at.posteriors.Box(1, -1))
            ),
            "lower",
        ),
        (
            lambda: at.policy(
                "pg-ts", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(-1))
            ),
            "radius",
        ),
        (
            lambda: at.policy(
                "greedy", n_features=2, costs=COSTS, prior=at.posteriors.Gaussian(region=at.posteriors.Ball(1))
            ),
            "region",
        ),
        (lambda: at.policy("greedy", n_features=2, costs=COSTS, epsilon=2), "epsilon"),
        (lambda: at.policy("greedy", n_features=2, costs=COSTS, estimator="lasso"), "estimator"),
        (lambda: at.policy("cbp-side", n_features=2, costs=COSTS, curvature=0), "curvature"),
        (lambda: at.policy("suplogistic", n_features=2, costs=COSTS, horizon=1), "horizon"),
        (lambda: at.policy("suplogistic", n_features=2, costs=COSTS, alpha=-1), "alpha"),
        (lambda: at.policy("oracle", n_features=2, costs=COSTS), "theta"),
        (lambda: at.policy("oracle", n_features=2, costs=COSTS, theta=[1, 2, 3]), "theta"),
    ],
)
def test_mistakes_get_one_clear_sentence(call, message):
    with pytest.raises(AppleTasteError, match=message):
        call()


def test_the_registry_tells_what_it_has():
    infos = at.list_policies()
    assert [info.name for info in infos] == list(POLICIES)
    assert all(info.summary.endswith(".") for info in infos)
    from appletaste.policies import OPTION_HELP

    assert {option for info in infos for option in info.options} == set(OPTION_HELP)


def test_numbers_do_not_depend_on_workers_or_company():
    problem = at.problem("i", rounds=60)
    entries = [PolicySpec("pg-ts", {}), PolicySpec("pg-ids", {"weight": 0.2})]
    entries += [PolicySpec(name, {}) for name in POLICIES if name not in ("pg-ts", "pg-ids")]
    one = at.replicate(problem, entries, 6, seed=5, jobs=1)
    two = at.replicate(problem, entries, 6, seed=5, jobs=2)
    alone = at.replicate(problem, entries[1:2], 4, seed=5, jobs=1)
    for a, b in zip(one, two, strict=True):
        assert (a.curves == b.curves).all()
        assert (a.acts == b.acts).all()
    assert (alone[0].curves == one[1].curves[:4]).all()
    other = at.replicate(problem, entries[:1], 6, seed=6, jobs=1)
    assert (other[0].curves != one[0].curves).any()


def test_compiled_kernels_have_one_signature():
    """A second signature means that some caller passes another type, and pays for compiling it."""
    script = (
        "from appletaste.cli.warm import warm; warm();"
        "from appletaste.kernels._jit import KERNELS;"
        "print({n: [str(s) for s in k.signatures] for n, k in KERNELS.items() if len(k.signatures) > 1})"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "{}"
