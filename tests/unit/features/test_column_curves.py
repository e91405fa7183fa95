"""Curves of columns: bands against the quadratic form, sums against explain, and every kind of column."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.features.model_curves import curves_of
from appletaste.features.seen import Seen, count_between

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def table(n=400, seed=3):
    """Numbers that are smooth, mostly 0, few-valued, constant and sometimes missing; a category; two dates."""
    rng = np.random.default_rng(seed)
    placed = np.datetime64("2024-01-03T00:00") + rng.integers(0, 500 * 24 * 60, n).astype("timedelta64[m]")
    opened = placed - rng.integers(1, 900, n).astype("timedelta64[D]")
    job = rng.choice(["chef", "pilot", "clerk"], n, p=[0.5, 0.3, 0.2]).astype(object)
    job[rng.random(n) < 0.1] = None
    return {
        "age": rng.normal(40, 12, n),
        "amount": np.where(rng.random(n) < 0.6, 0.0, rng.exponential(100.0, n)),
        "children": rng.integers(0, 4, n).astype(float),
        "site": np.full(n, 7.0),
        "income": np.where(rng.random(n) < 0.2, np.nan, rng.lognormal(3, 1, n)),
        "job": job,
        "placed": placed.astype(str).tolist(),
        "opened": [None if rng.random() < 0.1 else str(day) for day in opened],
    }


def taught(encoder, columns, n=300, name="voi", **options):
    features, X = encoder.fit_transform(columns)
    rng = np.random.default_rng(5)
    given = {"groups": features.groups} if features.curves else {}
    policy = at.policy(name, n_features=X.shape[1], costs=COSTS, seed=2, **given, **options)
    for x, u in zip(X[:n], rng.random(n), strict=True):
        policy.teach(x, int(u < 1 / (1 + math.exp(-1.5 * x[1] + 1.0))))
    return policy, features, X


ENCODERS = {
    "curves": at.Encoder(curves=True),
    "lines": at.Encoder(),
    "raw": at.Encoder(standardise=False, clip=None, curves=True),
    "no intercept": at.Encoder(intercept=False, curves=True),
    "spare": at.Encoder(curves=True, spare=2, levels=2),
    "pairs": at.Encoder(curves=True, interactions=[("age", "job"), ("job", "children"), ("age", "placed")]),
    "hashed": at.Encoder(curves=True, hashing=8),
    "online": at.Encoder(curves=True, online=True, warm_up=200),
}
#: Cells of the record at which curves are held against ``explain``.
RECORD = {"age": 51.0, "amount": 20.0, "children": 2.0, "site": 7.0, "income": 30.0, "job": "pilot"}


def at_cell(curve, cell):
    """Return what a curve adds at a cell; a grid is exact at its own values and between them but for a rounding."""
    if cell is None or cell != cell:
        return curve.missing[0] if curve.missing is not None else curve.mean[curve.values.index("missing")]
    if curve.by_level:
        shown = cell if isinstance(cell, str) else f"{cell:.6g}"
        return curve.mean[curve.values.index(shown)]
    return float(np.interp(cell, curve.values, curve.mean))


@pytest.mark.parametrize("kind", ["curves", "lines", "raw", "no intercept", "spare", "hashed"])
@pytest.mark.parametrize("changes", [{}, {"income": None, "job": None}, {"job": "chef", "age": 12.0}])
def test_the_base_and_all_curves_sum_to_explain(kind, changes):
    columns = {name: column for name, column in table().items() if name not in ("placed", "opened")}
    policy, features, _ = taught(ENCODERS[kind], columns)
    found, record = policy.curves(features), {**RECORD, **changes}
    assert not found.not_drawn or kind == "hashed"
    parts = features.explain(record, policy.posterior.mean)
    added = [at_cell(curve, record[curve.name]) for curve in found]
    # straight between the points of the grid, and the grid has all knots: equal but for rounding
    assert found.base + sum(added) == pytest.approx(sum(part for _, part in parts), abs=1e-9)
    by_column = dict(parts)
    for name in ("age", "amount", "children"):
        typical = {**record, name: found[name].typical}
        usual = dict(features.explain(typical, policy.posterior.mean)).get(name, 0.0)
        assert at_cell(found[name], record[name]) == pytest.approx(by_column.get(name, 0.0) - usual, abs=1e-9)


@pytest.mark.parametrize("kind", list(ENCODERS))
def test_bands_are_the_quadratic_form_of_the_vectors(kind):
    policy, features, _ = taught(ENCODERS[kind], table())
    found = policy.curves(features)
    V, m = policy.posterior.covariance, policy.posterior.mean
    usual = {
        "job": "chef",
        "placed": None,
        "opened": None,
        **{n: found[n].typical for n in ("age", "amount", "income")},
    }
    for name in ("age", "amount", "income", "job"):
        curve = found[name]
        for place in range(0, len(curve.values), 7 if not curve.by_level else 1):
            value = curve.values[place]
            if value in ("any other", "missing"):
                continue
            here, there = ({**usual, name: cell} for cell in (value, curve.typical))
            x = features.transform(here, update=False) - features.transform(there, update=False)
            own = {int(p) for p in np.flatnonzero(x)}
            if kind == "pairs":  # the interactions are curves of their own
                first = min(product.start for product in features.products)
                last = max(product.start + len(product.names) for product in features.products)
                own -= set(range(first, last))
            x = np.where([p in own for p in range(len(x))], x, 0.0)
            assert curve.mean[place] == pytest.approx(float(x @ m), abs=1e-9)
            assert curve.spread[place] == pytest.approx(math.sqrt(x @ V @ x), abs=1e-9)
    low, high = found["age"].band(0.9)
    assert high - low == pytest.approx(2 * 1.6448536 * np.array(found["age"].spread))
    low, high = found["age"].band(0.5)
    assert high - low == pytest.approx(2 * 0.6744898 * np.array(found["age"].spread))


def test_every_view_of_dates_and_pairs_sums_to_the_score():
    policy, features, _ = taught(ENCODERS["pairs"], table())
    found = policy.curves(features)
    m = policy.posterior.mean
    assert {curve.kind for curve in found} == {"number", "category", "date", "pair"}
    assert found["placed weekday"].values[0] == "Monday"
    assert found["age × job"].values[:2] == ("age × chef", "age × clerk")
    assert len(found["placed month"].values) == 12
    assert found["placed hour"].values[-1] == 24.0
    assert found["placed hour"].mean[-1] == found["placed hour"].mean[0]
    # 2024-05-06 was a Monday, in May; at 13:00. The account was opened 100 days before.
    record = {**RECORD, "job": "chef", "placed": "2024-05-06T13:00", "opened": "2024-01-27T13:00"}
    x = features.transform(record, update=False)
    cells = {"placed weekday": "Monday", "placed month": "May", "placed hour": 13.0}
    cells |= {"opened days before placed": 100.0, "opened given": "given", **record}
    dated = {name for name in (curve.name for curve in found) if name.startswith("opened ") and name not in cells}
    assert dated <= {"opened hour", "opened weekday", "opened month"}
    cells |= {"opened weekday": "Saturday", "opened month": "January", "opened hour": 13.0}
    single = sum(at_cell(curve, cells[curve.name]) for curve in found if curve.kind != "pair")
    pairs = sum(
        float((x[p.start : p.start + len(p.names)]) @ m[p.start : p.start + len(p.names)]) for p in features.products
    )
    origin = found.base - _without_pairs(found, features, m)
    assert found.base - origin + single + pairs == pytest.approx(float(x @ m), abs=1e-6)


def _without_pairs(found, features, m):
    """Return the base without what interactions add to the typical item."""
    pairs = sum(
        -curve.mean[0] + float(m[product.start])
        for product, curve in ((p, found[f"{p.one.name} × {p.two.name}"]) for p in features.products)
    )
    return found.base - pairs


def test_missing_dates_are_counted_and_drawn():
    policy, features, _ = taught(ENCODERS["curves"], table())
    found = policy.curves(features)
    given = found["opened given"]
    assert given.values == ("given", "missing")
    assert sum(given.seen) == 400
    assert 20 < given.seen[1] < 60
    assert sum(given.labels) == 300
    assert found["opened days before placed"].missing is not None


def test_what_was_seen_is_counted_and_bounded():
    columns = table()
    policy, features, X = taught(ENCODERS["curves"], columns)
    found = policy.curves(features)
    for name in ("age", "amount", "children", "income"):
        curve, known = found[name], columns[name][~np.isnan(columns[name])]
        assert len(curve.seen) <= 24
        assert sum(curve.seen) == len(known)
        assert curve.missing_seen == 400 - len(known)
        labelled = columns[name][:300]
        expected = count_between(curve.edges, labelled[~np.isnan(labelled)])
        assert sum(curve.labels) == sum(expected)
        assert list(curve.labels[:-2]) == expected[:-2]  # what is held within 5 deviations may change its bin
    assert found["children"].edges == (-0.5, 0.5, 1.5, 2.5, 3.5)
    assert found["job"].labels == tuple(int(n) for n in (X[:300, _places(features, "job")] != 0).sum(axis=0))
    assert found["site"].values == ("below 7", "7", "above 7")
    assert found["site"].seen == (0, 400, 0)


def _places(features, name):
    column = next(column for column in features.columns if column.name == name)
    return list(range(column.start, column.start + len(column.names)))


def test_cycles_count_labels_where_they_are():
    policy, features, _ = taught(ENCODERS["curves"], table(), n=400)
    found = policy.curves(features)
    for name in ("placed hour", "placed weekday", "placed month", "opened weekday"):
        assert found[name].labels == found[name].seen  # all 400 rows are labelled


def test_how_much_a_column_moves_is_its_deviation_over_what_was_seen():
    columns = {"age": table()["age"], "job": np.where(np.arange(400) % 4 == 0, "chef", "pilot")}
    policy, features, X = taught(ENCODERS["curves"], columns)
    found, m = policy.curves(features), policy.posterior.mean
    places = _places(features, "job")
    assert found["job"].moves == pytest.approx((X[:, places] @ m[places]).std(), rel=1e-9)
    own = [*_places(features, "age"), *range(features.curves[0].start, features.curves[0].start + 5)]
    assert found["age"].moves == pytest.approx((X[:, own] @ m[own]).std(), rel=0.05)  # by bins
    assert [curve.moves for curve in found] == sorted((curve.moves for curve in found), reverse=True)


def test_missing_values_move_a_column_too():
    income = np.where(np.arange(400) % 2 == 0, np.nan, np.random.default_rng(1).normal(size=400))
    features = at.Encoder().fit({"income": income})
    found = curves_of(features, np.array([0.0, 0.0, 2.0]), np.eye(3))
    assert found["income"].moves == pytest.approx(1.0)
    assert found["income"].missing == pytest.approx((2.0, 1.0), abs=0.01)


def test_hashed_levels_are_drawn_by_name_and_other_hashed_places_are_named():
    policy, features, _ = taught(at.Encoder(hashing=64), table())
    found = policy.curves(features)
    assert set(found["job"].values) == {"chef", "pilot", "clerk", "missing"}
    assert found["job"].labels is None
    assert found.not_drawn
    assert all(name.startswith("hashed ") for name in found.not_drawn)


def test_levels_of_later_records_have_a_row():
    features = at.Encoder(spare=1).fit({"job": ["chef", "pilot", "chef"]})
    assert not curves_of(features, np.zeros(5), np.eye(5)).not_drawn
    features.transform({"job": "clerk"})
    found = curves_of(features, np.arange(5.0), np.eye(5))["job"]
    assert found.values == ("chef", "pilot", "clerk", "any other")
    assert found.seen == (2, 1, 0, 0)
    assert found.mean == (0.0, 1.0, 2.0, 3.0)
    assert found.spread == pytest.approx((0.0, *[math.sqrt(2)] * 3))


def test_a_column_without_a_value_has_no_curve_and_is_named():
    features = at.Encoder().fit({"age": [30.0, 50.0], "gone": [None, None]}, drop=())
    found = curves_of(features, np.zeros(features.n_features), None)
    assert "age" in [curve.name for curve in found]
    assert all(name.startswith("gone") for name in found.not_drawn)


@pytest.mark.parametrize("name", ["ts", "pg-ts", "exact-ts", "adf-voi", "greedy"])
def test_every_posterior_has_curves(name):
    columns = {"age": table()["age"], "job": table()["job"]}
    encoder = at.Encoder(curves="groups" in at.policies.find(name).options)
    policy, features, _ = taught(encoder, columns, n=120, name=name)
    found = policy.curves(features)
    spread = np.array(found["age"].spread)
    assert (spread == 0.0).all() if name == "greedy" else spread.max() > 0.01
    assert (found["age"].labels is None) == (name == "adf-voi")
    assert found["age"].mean[-1] > found["age"].mean[0]  # the truth rises


def test_before_the_first_label_the_prior_is_drawn():
    policy, features, _ = taught(ENCODERS["curves"], table(), n=0)
    found = policy.curves(features)
    assert all(curve.moves == 0.0 for curve in found)
    assert max(found["age"].spread) > 1.0
    assert [curve.name for curve in found][:3] == ["age", "amount", "children"]


def test_what_cannot_be_drawn_is_refused():
    policy, features, _ = taught(ENCODERS["curves"], table(), n=0)
    with pytest.raises(at.errors.OptionError, match=r"no posterior.*'voi'"):
        at.policy("always", n_features=features.n_features, costs=COSTS).curves(features)
    with pytest.raises(at.errors.InputError, match="give the map"):
        policy.curves(at.Encoder().fit({"age": [1.0, 2.0]}))
    with pytest.raises(at.errors.InputError, match="Encoder"):
        policy.curves(["age"])


def test_a_map_keeps_what_was_seen(tmp_path):
    features = at.Encoder(curves=True).fit(table())
    features.save(tmp_path / "map")
    assert at.FeatureMap.load(tmp_path / "map").seen == features.seen


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bins_follow_values_that_crowd_at_one_end(sign):
    values = sign * np.random.default_rng(2).lognormal(0, 2, 2000)
    seen = Seen.of_numbers(values)
    widths = np.diff(seen.edges)
    assert (widths > 0).all()
    assert len(seen.counts) == 24
    assert sum(seen.counts) == 2000
    assert max(seen.counts) < 600  # a bin as wide as any other would hold nearly all
    assert (widths[-1] > 10 * widths[0]) if sign > 0 else (widths[0] > 10 * widths[-1])


def test_levels_are_counted_up_to_a_bound():
    seen = Seen.of_levels([str(k) for k in range(100) for _ in range(1 + (k < 10))] + [None], most=20)
    assert len(seen.levels) == 20
    assert sum(seen.counts) == 30
    assert (seen.others, seen.missing) == (80, 1)
    assert Seen.restore(seen.header()) == seen
