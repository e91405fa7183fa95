"""The exact posterior's guards: what it does when the anchor is far, steps fail, or the data are hard."""

import math

import numpy as np
import pytest

from appletaste import Key
from appletaste.errors import InputError, OptionError
from appletaste.kernels import anchored, linear, metropolis
from appletaste.kernels.logistic import objective
from appletaste.posteriors import Exact, Gaussian
from appletaste.posteriors import anchors as anchors_module
from appletaste.posteriors import exact as exact_module
from appletaste.posteriors.anchors import Anchors
from appletaste.posteriors.label_table import Labels


def table(d, n, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    items = scale * rng.normal(size=(n, d))
    return items, (rng.random(n) < 1 / (1 + np.exp(-items.sum(1)))).astype(int)


def play(chain, items, labels, start=0):
    """Decide and learn every item; return what the scores said."""
    said = []
    for round_, (x, y) in enumerate(zip(items, labels, strict=True), start + 1):
        said.append(chain.score(x, round_).above(0.0))
        chain.commit(round_)
        chain.learn(x, int(y))
    return np.array(said)


def stored(items, labels):
    return Labels.from_arrays({"items": items, "labels": labels.astype(float)}, items.shape[1])


def test_the_expansion_kept_label_by_label_is_the_one_made_at_once():
    """A chain that has learnt one by one, through shadows, has the sums that all labels at its anchor give."""
    items, labels = table(6, 1500)
    rows = np.tril(np.ones((6, 6), bool))
    for most in (48, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(anchors_module, "CUBES_MOST", most)
            chain = Exact(switch=100).start(6, Key(1))
            for x, y in zip(items, labels, strict=True):
                chain.learn(x, int(y))
            kept = chain._anchors
            live = kept.live
            assert live.reference > 1200  # shadows have taken over
            fresh = Anchors(6, Gaussian())
        metric = np.ascontiguousarray(live.matrix[anchored.FACTOR + 7 :])
        fresh._begin(fresh.live, 1500, live.matrix[anchored.POINT].copy(), metric)
        fresh._take_in(fresh.live, stored(items, labels), 1500)
        distance = anchored.finish(fresh.live.matrix)
        for first in (anchored.POINT, anchored.GRADIENT, anchored.MEAN):
            assert live.matrix[first] == pytest.approx(fresh.live.matrix[first], abs=1e-9)
        factors = [matrix[anchored.FACTOR : anchored.FACTOR + 6][rows] for matrix in (live.matrix, fresh.live.matrix)]
        assert factors[0] == pytest.approx(factors[1], rel=1e-9, abs=1e-9)
        assert (live.cubes.size > 0) == (most > 0)
        assert live.cubes == pytest.approx(fresh.live.cubes, rel=1e-9, abs=1e-9)
        assert live.sums[:1500] == pytest.approx(fresh.live.sums[:1500], rel=1e-9)
        assert kept.distance == pytest.approx(distance, abs=1e-8)


@pytest.mark.parametrize("d", [1, 3, 7])
def test_the_expansion_and_its_bounds(d):
    """Quadratic, cubic part and remainders add up to the log posterior; bounds hold for every label."""
    items, labels = table(d, 50)
    items[20] = 30.0
    store, prior = stored(items, labels), Gaussian(0.3, 2.0)
    anchors = Anchors(d, prior)
    anchors.settle(store, prior.mean_vector(d))
    live, rng = anchors.live, np.random.default_rng(1)
    point, gradient = live.matrix[anchored.POINT], live.matrix[anchored.GRADIENT]
    factor = np.tril(live.matrix[anchored.FACTOR : anchored.FACTOR + d])
    metric = np.tril(live.matrix[anchored.FACTOR + d + 1 :])

    light = np.ones(50, bool)
    light[live.heavy[1 : 1 + int(live.heavy[0])].astype(int)] = False

    def log_posterior(theta):
        return objective(store.features, store.values, 50, anchors.prior[0], anchors.prior[1:], theta, anchors.work)

    assert not light[20]
    for scale in (0.1, 1.0, 3.0):
        offset = scale * rng.normal(size=d)
        remainders = np.array([metropolis.remainder(x @ point, x @ offset, True) for x in items])
        quadratic = gradient @ offset - 0.5 * np.sum((factor.T @ offset) ** 2)
        smooth = metropolis.smooth_part(store.features, live.matrix, live.cubes, live.heavy, offset, anchors.work[1])
        rise = log_posterior(point + offset) - log_posterior(point)
        assert quadratic + smooth + remainders[light].sum() == pytest.approx(rise, rel=1e-9, abs=1e-9)
        reach = metropolis.reach(live.matrix, offset, True)
        assert reach == pytest.approx(np.sum((metric.T @ offset) ** 2) ** 2)
        assert (np.abs(remainders) <= np.diff(live.sums[:50], prepend=0.0) * reach)[light].all()


def test_cubes_are_sums_of_cubes(rng):
    items, weights = rng.normal(size=(40, 5)), rng.normal(size=40)
    one, two, pairs = anchored.make_cubes(5), anchored.make_cubes(5), np.empty(15)
    for x, weight in zip(items, weights, strict=True):
        anchored.add_cube(one, weight, x, pairs)
    work = linear.aligned_zeros(5, 40)
    anchored.add_cubes_block(two, np.ascontiguousarray(items.T), 0, 40, weights, work[4], np.empty((5, 5)), work[:4])
    offset = rng.normal(size=5)
    for cubes in (one, two):
        assert anchored.sum_of_cubes(cubes, offset, pairs) == pytest.approx(weights @ (items @ offset) ** 3)


def test_a_far_anchor_is_renewed_at_once():
    """Labels that contradict all before move the mode; few enough are refitted, and until then a pass decides."""
    items, labels = table(3, 200)
    chain = Exact(switch=150).start(3, Key(1))
    play(chain, items, labels)
    loud = 12.0 * np.ones(3)
    references = []
    for _ in range(12):
        chain.learn(loud, 0)
        references.append(chain._anchors.live.reference)
        if chain._anchors.is_far:
            assert chain.regime != "thinned"
    assert references[-1] >= 200
    assert not chain._anchors.is_far
    assert chain._anchors.distance < 7


def test_a_far_anchor_among_many_labels_is_renewed_by_shadows(monkeypatch):
    monkeypatch.setattr(anchors_module, "REFIT_WORK", 0)
    items, labels = table(3, 2000)
    chain = Exact(switch=150).start(3, Key(1))
    for x, y in zip(items, labels, strict=True):
        chain.learn(x, int(y))
    was_far = 0
    for _ in range(300):
        chain.learn(20.0 * np.ones(3), 0)
        was_far += chain._anchors.is_far
    assert 0 < was_far < 100
    assert not chain._anchors.is_far


def test_collapsed_acceptance_brings_sweeps_back_until_the_next_trial(monkeypatch):
    items, labels = table(3, 60)
    chain = Exact(switch=20).start(3, Key(1))
    play(chain, items, labels)
    assert chain.regime != "gibbs"
    chain.acceptance = 0.05
    assert chain.regime == "gibbs"
    for round_ in range(61, 161):  # where the chain goes does not change what it does
        chain.commit(round_)
    assert chain.acceptance == 0.05
    play(chain, *table(3, 30, seed=1), start=160)
    assert chain.acceptance > exact_module.COLLAPSED
    assert chain.regime != "gibbs"
    # Beyond 50 times the switch point sweeps cost more than 64 factorised steps, and as much as 64 in full.
    chain.acceptance, chain._switch = 0.05, 1
    monkeypatch.setattr(exact_module, "LOOK", 1e-3)
    assert chain.regime == "thinned"
    monkeypatch.setattr(exact_module, "LOOK", 1e9)
    assert chain.regime == "gibbs"


def plan(chain, rounds):
    """What a chain does in rounds without labels, and by which trial: the regime, the steps, the acceptance."""
    found = []
    for round_ in rounds:
        chain.commit(round_)
        found.append((chain._tried, chain.regime, chain._steps, chain.acceptance))
    return found


@pytest.mark.parametrize("look", [1e-3, 1e9])
def test_what_a_round_does_does_not_depend_on_where_the_chain_is(look, monkeypatch):
    """Chains with the same labels, one of them far out in a tail where every proposal is rejected, do the same."""
    monkeypatch.setattr(exact_module, "LOOK", look)
    items, labels = table(2, 150, scale=10.0)
    chains = [Exact(switch=100).start(2, Key(1)) for _ in range(2)]
    for chain in chains:
        play(chain, items, labels)
    home, far = chains
    plans = []
    for chain in chains:
        if chain is far:
            chain._chain.theta[:] = chain._anchors.mean * 2.0
            assert (chain.draws(151) == chain._chain.theta).all()  # as every proposal is rejected there
            chain._stepped = 0
        plans.append(plan(chain, range(151, 251)))
        play(chain, *table(2, 60, seed=1, scale=10.0), start=250)
        plans[-1] += plan(chain, range(311, 351))
    assert plans[0] == plans[1]
    assert len({tried for tried, *_ in plans[0]}) == 2
    assert (home._anchors.live.matrix == far._anchors.live.matrix).all()


def test_labels_in_bulk_do_not_leave_the_chain_behind():
    """Ten thousand labels before the first round: the chain starts near the mode and moves."""
    items, labels = table(3, 10_000)
    chain = Exact().start(3, Key(1))
    for x, y in zip(items, labels, strict=True):
        chain.learn(x, int(y))
    assert chain.regime == "thinned"
    first = chain.draws(1)
    chain.commit(1)
    assert len(np.unique(first, axis=0)) > 1
    assert first[-1] == pytest.approx(np.ones(3), abs=0.3)  # what made the labels
    assert chain.acceptance > 0.9
    assert (chain._start(2) == chain._chain.theta).all()


def test_low_acceptance_takes_more_steps_up_to_a_limit(monkeypatch):
    items, labels = table(2, 60)
    chain = Exact(switch=20, draws=3).start(2, Key(1))
    play(chain, items, labels)
    chain._switch = 1
    monkeypatch.setattr(exact_module, "LOOK", 1e-3)  # no sweeps
    taken = []
    for acceptance in (1.0, 0.9, 0.5, 0.2, 0.01, 0.0):
        chain.acceptance = acceptance
        chain._stepped = 0
        taken.append(len(chain.draws(61)))
    assert taken == [3, 3, 7, 21, 64, 64]


def test_the_rate_has_a_limit_beyond_which_a_pass_decides():
    """With an anchor 40 standard deviations off, factorised steps would look at millions of labels."""
    items, labels = table(4, 400)
    store = stored(items, labels)
    anchors = Anchors(4, Gaussian())
    anchors.settle(store, np.zeros(4))
    factor = np.tril(anchors.live.matrix[anchored.FACTOR : anchored.FACTOR + 4])
    point = anchors.live.matrix[0] + np.linalg.solve(factor.T, np.full(4, 20.0))
    anchors._begin(anchors.live, 400, point, factor)
    anchors._take_in(anchors.live, store, 400)
    anchored.finish(anchors.live.matrix)
    live, path = anchors.live, np.zeros((2, 200, 4))
    args = (
        np.uint64(1),
        1,
        store.features,
        store.values,
        400,
        anchors.prior,
        point,
        live.matrix,
        live.cubes,
        live.heavy,
        live.sums,
    )
    metropolis.run_steps(*args, 32.0, 1.0, 200, path, anchors.work)
    in_full = np.zeros((2, 200, 4))
    metropolis.run_steps(*args, -1.0, 1.0, 200, in_full, anchors.work)
    assert (path == in_full).all()  # every pair was beyond the limit
    anchors.settle(store, np.zeros(4))  # the control: with the anchor where it belongs, labels are thinned
    args = (*args[:6], anchors.live.matrix[0].copy(), *args[7:])
    metropolis.run_steps(*args, 32.0, 1.0, 200, path, anchors.work)
    metropolis.run_steps(*args, -1.0, 1.0, 200, in_full, anchors.work)
    assert (path != in_full).any()


def test_one_huge_row_is_neither_wrong_nor_endless():
    items, labels = table(3, 1200)
    items[700] *= 1e4
    chain = Exact(switch=100).start(3, Key(1))
    said = play(chain, items, labels)
    assert np.isfinite(said).all()
    heavy = chain._anchors.live.heavy
    assert heavy[1 : 1 + int(heavy[0])].tolist() == [700]  # listed, so that the others' bounds are not drowned
    assert chain.regime == "thinned"
    assert chain.acceptance > 0.9


def test_more_huge_rows_than_are_listed():
    """The bounds of the rest are too large for factorised steps to pay: passes over the labels decide."""
    anchors, n = Anchors(3, Gaussian()), anchored.MOST_HEAVY + 76
    anchors._begin(anchors.live, n, np.zeros(3), np.eye(3))
    anchors._take_in(anchors.live, stored(np.full((n, 3), 100.0), np.zeros(n)), n)
    assert anchors.live.heavy[0] == anchored.MOST_HEAVY
    assert anchors.live.sums[anchored.MOST_HEAVY - 1] == 0.0
    assert exact_module.LOOK * anchors.looks > n


@pytest.mark.parametrize("switch", [2, 20])
@pytest.mark.parametrize("kind", ["duplicated", "constant", "collinear", "zero", "separable", "large", "small", "line"])
def test_hard_data(kind, switch, monkeypatch):
    rng = np.random.default_rng(2)
    items = rng.normal(size=(120, 3))
    labels = (rng.random(120) < 0.5).astype(int)
    if kind == "duplicated":
        items[:, 1] = items[:, 0]
    if kind == "constant":
        items[:, 1] = 1.0
    if kind == "collinear":
        items[:, 2] = items[:, 0] - 2 * items[:, 1]
        items *= 1e5
    if kind == "zero":
        items[:] = 0.0
    if kind == "separable":
        labels = (items[:, 0] > 0).astype(int)
    if kind == "large":
        items *= 1e99
    if kind == "small":
        items *= 1e-90
    if kind == "line":
        items = items[:, :1]
    for look in (exact_module.LOOK, 1e-3):
        monkeypatch.setattr(exact_module, "LOOK", look)
        chain = Exact(switch=switch).start(items.shape[1], Key(3))
        said = play(chain, items, labels)
        assert ((said >= 0) & (said <= 1)).all()
        assert np.isfinite(chain.draws(200)).all()


def test_without_labels_it_is_the_prior():
    chain = Exact(sweeps=4000, prior=Gaussian(2.0, 0.25)).start(2, Key(1))
    draws = chain.draws(1)
    assert chain.regime == "gibbs"
    assert draws.mean(0) == pytest.approx([2.0, 2.0], abs=4 * 0.5 / math.sqrt(4000))
    assert chain.score(np.array([1.0, 0.0]), 1).variance == pytest.approx(0.25)


def test_many_features_do_without_cubes():
    items, labels = table(50, 300, scale=0.3)
    chain = Exact(switch=200).start(50, Key(1))
    said = play(chain, items, labels)
    assert chain._anchors.live.cubes.size == 0
    assert np.isfinite(said).all()
    assert chain.acceptance > 0.15


def test_asking_changes_nothing_and_arrays_carry_everything():
    items, labels = table(3, 400)
    asked, quiet = (Exact(switch=40).start(3, Key(5)) for _ in range(2))
    restored = None
    for round_, (x, y) in enumerate(zip(items, labels, strict=True), 1):
        for other in items[:2]:
            asked.score(other, round_).above(0.1)
        chains = [asked, quiet] if restored is None else [asked, quiet, restored]
        found = [chain.score(x, round_).above(0.1) for chain in chains]
        assert len(set(found)) == 1
        for chain in chains:
            chain.commit(round_)
            chain.learn(x, int(y))
        if round_ == 300:
            while not asked._anchors.shadow.reference:  # in the middle of a shadow
                for chain in chains:
                    chain.learn(x, int(y))
                if asked._chain.labels.n > 420:
                    break
            restored = Exact(switch=40).start(3, Key(5))
            restored.restore({name: array.copy() for name, array in quiet.arrays().items()})
    one, two = quiet.arrays(), restored.arrays()
    assert one.keys() == two.keys()
    assert all(np.array_equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("look", [1e-3, 1e9])
def test_the_tail_is_evaluated_and_never_certain(look, monkeypatch):
    """It is strictly between 0 and 1 from either side, and near the Gaussian's where proposals are accepted."""
    monkeypatch.setattr(exact_module, "LOOK", look)
    items, labels = table(3, 400)
    chain = Exact(switch=100).start(3, Key(1))
    play(chain, items, labels)
    sides, found, smooth = [], [], []
    for round_ in range(401, 801):
        score = chain.score(items[0], round_)
        cut = score.mean + 1.5 * math.sqrt(score.variance)
        found.append(score.above(cut))
        assert score.above(cut) == found[-1]  # asking twice draws nothing anew
        sides.append(chain.draws(round_)[-1] @ items[0] >= cut)
        smooth.append(0.5 * math.erfc(1.5 / math.sqrt(2)))
        chain.commit(round_)
    found = np.array(found)
    assert 0 < sum(sides) < 400
    assert ((found > 0) & (found < 1)).all()
    assert np.median(np.abs(found - smooth)) < 0.01


def test_the_tail_of_items_without_a_spread():
    items, labels = table(3, 200)
    chain = Exact(switch=100).start(3, Key(1))
    play(chain, items, labels)
    nothing = chain.score(np.zeros(3), 201)
    assert [nothing.above(cut) for cut in (-0.1, 0.0, 0.1)] == [1.0, 1.0, 0.0]
    assert [chain.score(items[0], 201).above(cut) for cut in (-math.inf, math.inf)] == [1.0, 0.0]
    assert chain.score(np.full(3, 1e200), 201).above(0.0) in (0.0, 1.0)  # x'Vx overflows: no endless loop


def test_settings_are_checked():
    for settings in ({"draws": 0}, {"draws": 65}, {"switch": 0}, {"switch": 1.5}, {"sweeps": 0}):
        with pytest.raises(OptionError):
            Exact(**settings)
    with pytest.raises(InputError):
        Exact(prior=Gaussian([0.0, 1.0])).start(3, Key(1))
