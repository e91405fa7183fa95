"""What to change, on logs of which the right advice is known."""

import numpy as np
import pytest

import appletaste as at
from appletaste.reports.advice import (
    MOST,
    advise,
    changed_columns,
    late_labels,
    more_reviews,
    other_audits,
    other_threshold,
)
from appletaste.reports.estimates import overdue_labels, usual_delay, value_of_a_review
from appletaste.reports.facts import gather
from appletaste.words import Currency

EUROS = Currency("EUR")


def made(n, seed=1, **columns):
    """Return a log of n items; columns are arrays, or one value for all."""
    base = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0, "probability": 0.5, "act": True}
    given = {name: values for name, values in {**base, **columns}.items() if values is not None}
    full = {name: np.asarray(v) if np.ndim(v) else np.full(n, v) for name, v in given.items()}
    return at.DecisionLog.from_columns({"id": np.arange(n), **full})


def labelled(act, truth):
    return [int(y) if a else None for a, y in zip(act, truth, strict=True)]


def days(n, per_day):
    return [f"2024-05-{1 + k // per_day:02d}T12:00:00" for k in range(n)]


def test_one_more_review_a_day_is_worth_the_median_price_of_each_day():
    """Prices 1, 2, 90 on the first day and 4, 4, 6 on the second: 2 + 4."""
    log = made(6, act=False, price=[1.0, 2.0, 90.0, 4.0, 6.0, 4.0], time=days(6, 3))
    found = value_of_a_review(log, 0.9)
    assert (found.value, found.reviews, found.daily) == (6.0, 2.0, True)
    undated = made(200, act=False, price=3.0)
    assert value_of_a_review(undated, 0.9).value == pytest.approx(6.0)  # one for every 100 items
    assert value_of_a_review(made(6, act=False, price=0.0), 0.9) is None
    assert value_of_a_review(made(6, act=False), 0.9) is None


@pytest.mark.parametrize(("share", "model_is_right"), [(0.35, True), (0.9, False)])
def test_labels_on_items_next_in_line_check_the_price(share, model_is_right):
    """The model says that the next item brings 1; with 35 % positives that is so, with 90 % it is 4.4."""
    rng = np.random.default_rng(2)
    n = 1000
    act, truth = rng.random(n) < 0.5, rng.random(n) < share
    log = made(n, act=act, label=labelled(act, truth), price=1.1, worth=1.0, chance=1 / 3, time=days(n, 100))
    advice = more_reviews(gather(log), EUROS)
    assert advice.kind == "reviews"
    if model_is_right:
        assert advice.money == pytest.approx(10 * 1.1)
        assert "labels on such items say €" in advice.sure
    else:
        assert advice.money == pytest.approx(10 * (6 * truth[act].mean() - 1))
        assert "not by the model, whose chances say €11.00" in advice.sure


def coin_flips(n=3000, **more):
    """Acting is a coin, and the model knows: of 10 items one is surely worth an act and nine surely not."""
    rng = np.random.default_rng(3)
    act, truth = rng.random(n) < 0.5, np.arange(n) % 10 == 0
    chance = np.where(truth, 0.95, 0.05)
    return made(n, act=act, label=labelled(act, truth), chance=chance, **more)


def test_a_threshold_is_advised_where_it_surely_saves_and_the_reviews_are_there():
    facts = gather(coin_flips())
    advice = other_threshold(facts, EUROS)
    assert advice.do.startswith("Act from a chance of")
    assert advice.money == pytest.approx(300 * 5 - (150 * 5 - 1350), rel=0.1)  # all 300, instead of half of all items
    assert "items acted on instead of" in advice.worth
    assert advice.sure.endswith("so wide that all thresholds asked about hold at once")
    truth = np.arange(100) % 2 == 0
    certain = made(100, act=True, probability=1.0, label=labelled(np.full(100, True), truth), chance=truth * 0.9 + 0.05)
    assert other_threshold(gather(certain), EUROS).sure == "known exactly"  # every label of fewer acts was seen
    rng = np.random.default_rng(4)
    act = rng.random(3000) < 0.5
    blind = made(3000, act=act, label=labelled(act, rng.random(3000) < 1 / 6), chance=rng.uniform(0, 1 / 3, 3000))
    assert other_threshold(gather(blind), EUROS) is None  # the model knows nothing, so no threshold is better


def test_a_threshold_that_takes_more_reviews_than_there_are_is_not_advised():
    """Acting on everything is best, and acts had a price: more reviews are wanted, not another threshold."""
    rng = np.random.default_rng(5)
    act, n = rng.random(2000) < 0.3, 2000
    log = {"act": act, "probability": 0.3, "label": labelled(act, np.ones(n)), "chance": 0.9}
    assert other_threshold(gather(made(n, **log)), EUROS).kind == "threshold"
    assert other_threshold(gather(made(n, **log, price=1.0)), EUROS) is None


def audited(n, floor, share):
    rng = np.random.default_rng(6)
    act, truth = rng.random(n) < floor, rng.random(n) < share
    return made(n, act=act, probability=floor, audit=act, label=labelled(act, truth), chance=share)


def test_audits_are_too_few_too_many_or_none():
    few = other_audits(gather(audited(3000, 0.05, 0.1)), EUROS)
    assert few.do.startswith("Audit more, about")
    assert few.money is None
    assert "no money can be put on that" in few.worth
    many = other_audits(gather(audited(20_000, 0.5, 0.1)), EUROS)
    assert many.do.startswith("Audit half as many")
    acts = int(audited(20_000, 0.5, 0.1).act.sum())
    assert many.money == pytest.approx(0.5 * acts * (0.9 - 0.1 * 5), rel=0.1)
    certain = made(100, act=np.arange(100) < 50, probability=np.repeat([1.0, 0.0], 50), label=[0] * 50 + [None] * 50)
    none = other_audits(gather(certain), EUROS)
    assert none.do.startswith("Audit a share")
    assert "cannot be said yet" in none.worth


def with_late_labels(late):
    """A label takes two days; those of ``late`` have not arrived."""
    arrived = [None if k in late else f"2024-05-{3 + k // 10:02d}T12:00:00" for k in range(250)]
    return made(250, time=days(250, 10), label_time=arrived, label=[None if k in late else 0 for k in range(250)],
                chance=0.4)  # fmt: skip


def test_who_audits_is_not_told_to_audit():
    """Two in a hundred of the passed items are audited, and hardly any of the audits has a label."""
    rng = np.random.default_rng(5)
    n = 3000
    surely, lot = rng.random(n) < 0.2, rng.random(n) < 0.02
    audit, truth = lot & ~surely, rng.random(n) < 0.1
    given = {"act": surely | audit, "audit": audit, "probability": np.where(surely, 1.0, 0.02)}
    waiting = made(n, label=labelled(surely | (audit & (np.arange(n) < 300)), truth), **given)
    known, all_audits = int((waiting.audit & waiting.labelled).sum()), int(audit.sum())
    advice = other_audits(gather(waiting), EUROS)
    assert advice.do == f"Get the labels of {all_audits - known} audits that have none yet"
    assert advice.sure == f"counted: {known} of {all_audits} audits have a label"
    few = made(
        300, **{name: column[:300] for name, column in {**given, "label": labelled(surely | audit, truth)}.items()}
    )
    advice = other_audits(gather(few), EUROS)
    assert advice.do == f"Go on auditing, for longer or a larger share: {int(audit[:300].sum())} audits are too few"
    none = made(n, label=labelled(surely, truth), act=surely, probability=np.where(surely, 1.0, 0.0))
    assert other_audits(gather(none), EUROS).do.startswith("Audit a share of the items that are passed, 2 % say")


def test_no_audit_mends_probabilities_that_are_not_those_of_the_actions():
    act = np.arange(600) % 2 == 0
    log = made(600, act=act, probability=0.05, label=labelled(act, np.arange(600) % 6 == 0))
    advice = other_audits(gather(log), EUROS)
    assert advice.do.startswith("Log the probability")
    assert "300 of 600 decisions" in advice.worth


def test_labels_are_overdue_after_longer_than_nearly_all_took():
    found = overdue_labels(with_late_labels({40, 41, 249}))  # the last was decided on the 25th, two days before the end
    assert (found.labels, found.since, found.usual) == (2, "2024-05-05", "2.0 days")
    assert found.money == pytest.approx(2 * 0.4 * 5)
    advice = late_labels(gather(with_late_labels({40, 41})), EUROS)
    assert str(advice).startswith("Chase 2 labels that are overdue, the oldest of 2024-05-05: €4.00 of savings")
    assert overdue_labels(with_late_labels({249})) is None
    assert overdue_labels(made(50, label=[None] * 50)) is None


def test_labels_by_another_clock_do_not_say_how_late_labels_are():
    """Labels take two days; those that a reviewer gave have the time of the machine, years later."""
    n = 300
    asked = [f"2024-05-{1 + k // 10:02d}T12:00:00" for k in range(n)]
    came = [f"2024-05-{min(31, 3 + k // 10):02d}T12:00:00" for k in range(n)]
    labels = [None if k == 7 else 0 for k in range(n)]
    came = [
        ("" if k == 7 else f"2026-11-16T17:00:{k % 60:02d}" if k % 20 == 3 else time) for k, time in enumerate(came)
    ]
    log = made(n, time=asked, label=labels, label_time=came, probability=1.0, chance=0.3)
    found = overdue_labels(log)
    assert (found.labels, found.usual, found.other_clock) == (1, "2.0 days", 15)
    usual, others = "95 % of labels arrive within 2.0 days", "15 labels with times long after all decisions"
    assert late_labels(gather(log), EUROS).sure == f"counted: {usual}, not counting {others}, as of another clock"
    late = [f"2025-05-{1 + k // 10:02d}T12:00:00" if label is not None else "" for k, label in enumerate(labels)]
    found = overdue_labels(made(n, time=asked, label=labels, label_time=late, probability=1.0))
    assert (found.labels, found.usual, found.other_clock) == (1, "365.0 days", 0)  # all of them are a year late


def test_how_long_labels_take_is_not_what_those_that_arrived_took():
    """Delays up to 10 days, watched for up to 12: the quick ones have arrived, and still 95 % take up to 9.5."""
    rng = np.random.default_rng(10)
    delay, watched = rng.uniform(0, 10, 20_000), rng.uniform(0, 12, 20_000)
    early = delay <= watched
    error = np.sqrt(0.95 * 0.05 / early.sum()) * 10 * 3  # that of a quantile, and three times for those not watched
    assert abs(usual_delay(delay[early], watched[~early]) - 9.5) < 3 * error
    assert abs(np.quantile(delay[early], 0.95) - 9.5) > 3 * error


def drifting(shift, **more):
    x = np.random.default_rng(7).normal(size=(2400, 1))
    x[1200:] += shift
    label = (np.arange(2400) % 10 < 3).astype(int)  # as many as the model expects, and evenly
    return made(2400, label=label, chance=0.3, x=list(x), **more)


def test_a_column_that_changed_is_to_be_checked():
    advice = changed_columns(gather(drifting(3.0), names=["amount"]), EUROS)
    assert advice.do == "Check the column 'amount'"
    assert advice.money is None
    assert "since about item 1,001" in advice.worth
    assert changed_columns(gather(drifting(0.0), names=["amount"]), EUROS) is None


def test_acting_from_nothing_on_is_acting_on_every_item():
    """Half of the items are positive, a miss costs 50 times a false alarm, and three of four were passed."""
    rng = np.random.default_rng(8)
    n = 2000
    act, truth, miss = rng.random(n) < 0.25, rng.random(n) < 0.5, np.where(np.arange(n) % 2, 40.0, 60.0)
    chance = rng.uniform(0.0, 0.002, n)  # far too low, and below a quarter of every item's own threshold
    log = made(n, act=act, probability=0.25, label=labelled(act, truth), miss=miss, chance=chance)
    facts = gather(log)
    assert facts.by_item
    advice = other_threshold(facts, EUROS)
    assert advice.do == "Act on every item"
    assert f"with 2,000 items acted on instead of {int(act.sum())}" in advice.worth
    plain = other_threshold(gather(log.unchecked(miss=np.full(n, 50.0))), EUROS)
    assert plain.do == "Act on every item"


def test_at_most_three_the_most_money_first_and_nothing_where_nothing_pays():
    """Five things to say: what has no money comes last, and is what falls away."""
    n = 2400
    time = [f"2024-05-{1 + k // 100:02d}T12:00:00" for k in range(n)]
    came = [None if k < 3 else f"2024-05-{3 + k // 100:02d}T12:00:00" for k in range(n)]
    base = drifting(3.0, price=1.0, worth=0.1)
    label = [None if k < 3 else int(base.label[k]) for k in range(n)]
    log = at.DecisionLog.from_columns(
        {**base.columns(), "time": time, "label_time": came, "label": label, "state": None}
    )
    found = advise(gather(log, names=["amount"]), EUROS)
    assert len(found) <= MOST
    amounts = [one.money for one in found]
    known = [money for money in amounts if money is not None]
    assert amounts == sorted(known, reverse=True) + [None] * (len(amounts) - len(known))
    assert [one.kind for one in found] == ["reviews", "labels", "columns"]
    assert advise(gather(made(200, probability=1.0, label=[1] * 200, chance=0.9)), EUROS) == ()
