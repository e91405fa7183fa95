"""Numbers of the page: the same, to the bit, as those of the library on the same log."""

import csv
import io
from datetime import date

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate import Refusal
from appletaste.records.stores import MemoryStore
from appletaste.reports import by_day, gather
from appletaste.service.review.days import amount_of, days_of
from appletaste.service.review.downloads import Rows, table_from
from appletaste.service.review.read_model import ReadModel
from appletaste.streams.recovery import policy_at
from appletaste.words import Currency, Words

from .filling import Reading, fill

SHOP = "/v1/streams/shop"
COLUMNS = ("round", "act", "probability", "miss", "false_alarm", "hit", "correct_pass", "label", "state", "policy")


@pytest.fixture(scope="module")
def shop():
    return fill(MemoryStore())


@pytest.fixture(scope="module")
def following(shop):
    return ReadModel(Reading(shop)).catch_up()


def test_columns_are_the_log(shop, following):
    log, ours = shop.log(features=False), following.log()
    assert set(log.state.tolist()) == {"pending", "observed", "corrected", "expired", "never_due"}
    assert list(following.columns.rows) == log.id.tolist()
    for name in (*COLUMNS, "audit"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(log, name), err_msg=name)
    for name in ("chance", "worth", "report"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(log, name), err_msg=name)
    assert at.missed(log).as_dict() == at.missed(ours).as_dict()
    known = {row: time for row, time in enumerate(log.label_time.tolist()) if time}
    assert following.columns.label_times == known


def test_columns_grow_with_the_record(shop, following):
    whole = ReadModel(Reading(shop))
    part = ReadModel(Reading(shop))
    seqs = iter(range(0, len(shop) + 400, 400))
    type(part.writer).seq, usual = property(lambda self: min(next(seqs), len(shop))), type(part.writer).seq
    try:
        while part.seq < len(shop):
            part.catch_up()
    finally:
        type(part.writer).seq = usual
    whole.catch_up()
    for name in ("probability", "chance", "moment", "known_at"):
        np.testing.assert_array_equal(part.columns.amount(name), whole.columns.amount(name))
    assert part.columns.touched == whole.columns.touched
    assert part.watch.alarms == whole.watch.alarms


def test_days_are_those_of_the_library(shop, following):
    log, days = shop.log(features=False), days_of(following, None, None, None)
    library = by_day(log)
    assert [day.day for day in days.days] == [str(day) for day in library.days]
    assert sum(day.overruled for day in days.days) == 2  # a log has what was done, not what was decided
    for day, ours in zip(days.days, library.days.values(), strict=True):
        for name in ("decided", "acted", "audited", "labelled", "positive", "waiting", "arrived"):
            assert getattr(day, name) == getattr(ours, name), (day.day, name)
        assert day.explored + day.overruled == ours.explored
        for name in ("cost", "saved", "precision"):
            answer = getattr(ours, name)
            assert getattr(day, name) == (amount_of(answer) if answer else None), (day.day, name)
    totals, ours = days.totals, library.total
    assert totals.decided == ours.decided == len(log)
    assert totals.explored == sum(day.explored for day in days.days) > 0
    for name in ("missed", "recall", "cost", "saved", "precision"):
        assert getattr(totals, name) == amount_of(getattr(ours, name)), name
    assert totals.missed.low < totals.missed.high
    assert totals.label_delay_days == ours.label_delay_days == pytest.approx(2.0)
    assert days.notes == list(ours.notes)


def test_a_day_is_computed_again_where_it_has_changed():
    shop = fill(MemoryStore(), n=400)
    following = ReadModel(Reading(shop)).catch_up()
    before = {day.day: day for day in days_of(following, None, None, None).days}
    id_ = next(id_ for id_ in shop.pending)
    day = shop.find(id_).entry.time[:10]
    shop.label(id_, 1)
    after = {day.day: day for day in days_of(following.catch_up(), None, None, None).days}
    assert [name for name in after if after[name] is not before[name]] == [day]
    assert after[day].labelled == before[day].labelled + 1
    fresh = {day.day: day for day in days_of(ReadModel(Reading(shop)).catch_up(), None, None, None).days}
    assert after == fresh


def test_too_few_audits_are_said():
    store = MemoryStore()
    policy = at.policy("ts", n_features=1, costs=at.Costs(5, 1, 0))
    stream = at.Stream.create(store, "a", policy, seed=3)
    for k in range(30):
        stream.decide([1.0], id=str(k), time=float(k))
    days = days_of(ReadModel(Reading(stream)).catch_up(), None, None, None)
    assert isinstance(at.missed(stream.log()).design.missed, Refusal)
    assert days.totals.missed.estimate is None
    assert days.totals.missed.too_few
    assert days.days[-1].cost is None  # no label has arrived
    assert "numbers" in days.notes[-1]


def test_days_over_http(ask, following):
    told = ask("GET", SHOP + "/days").json()
    assert told["totals"]["decided"] == 800
    assert told["days"][0]["day"] == told["first"] == "2024-05-01"
    part = ask("GET", SHOP + "/days?from=2024-05-03&to=2024-05-04").json()
    assert part["days"] == told["days"][2:4]
    expected = days_of(following, None, None, None)
    assert told["totals"]["missed"]["estimate"] == expected.totals.missed.estimate
    assert told["days"][5]["saved"]["low"] == expected.days[5].saved.low
    for query in ("from=2024-08-01", "to=2024-04-01"):  # beyond what there is
        (day,) = ask("GET", f"{SHOP}/days?{query}").json()["days"]
        assert (day["day"], day["decided"]) == (query.split("=")[1], 0)
    for query in ("from=2024-05-32", "from=x", "from=2024-05-04&to=2024-05-03", "from=1800-01-01", "to=0000-00-00"):
        assert ask("GET", f"{SHOP}/days?{query}").status == 422, query
    empty = ask("POST", "/v1/streams", {"name": "e", "n_features": 2, "costs": {"miss": 5, "false_alarm": 1, "hit": 0}})
    assert empty.status == 201
    told = ask("GET", "/v1/streams/e/days").json()
    assert (told["days"], told["first"], told["totals"]["decided"]) == ([], None, 0)


def test_capacity_that_was_used():
    shop = fill(MemoryStore(), n=400, budget=at.Budget(per_day=3))
    shop.set_capacity("5/day")
    shop.decide({"amount": 5.0, "country": "DE", "items": 1.0}, id="later", time="2024-06-09T23:00:00")
    days = {day.day: day.capacity for day in days_of(ReadModel(Reading(shop)).catch_up(), None, None, None).days}
    assert {one.limit for name, one in days.items() if name < "2024-06-09"} == {3}
    assert days["2024-06-09"].limit == 5
    assert all(one.used <= one.limit for one in days.values())
    assert sum(one.used for one in days.values()) > 50


def test_curves_are_those_of_the_policy(shop, ask):
    told = ask("GET", SHOP + "/model/curves").json()
    policy = shop.player.policy
    curves = policy.curves(shop.features)
    assert [column["name"] for column in told["columns"]] == [column.name for column in curves]
    for column in told["columns"]:
        ours = curves[column["name"]]
        parts = column.get("points") or column["levels"]
        low, high = ours.band(0.9)
        assert [part["mean"] for part in parts] == list(ours.mean)
        assert np.allclose([part["low90"] for part in parts], low, atol=1e-12)
        assert np.allclose([part["high90"] for part in parts], high, atol=1e-12)
        assert "change" not in column
    log = shop.log(features=False)
    bins = told["calibration"]
    assert sum(one["count"] for one in bins) == int(log.labelled.sum())
    assert sum(one["count"] * one["seen"] for one in bins) == pytest.approx((log.label == 1).sum())
    assert all(one["from"] <= one["predicted"] <= one["to"] for one in bins)
    assert told["labels"] == policy.posterior.belief.labels.n
    assert told["certificate"]["acceptance"] > 0.5


def test_what_has_moved_since_a_day(shop, ask):
    told = ask("GET", SHOP + "/model/curves?since=2024-05-20").json()
    seq = told["since"]["events"]
    then = policy_at(shop.record.place, seq).curves(shop.features)
    country = next(column for column in told["columns"] if column["name"] == "country")
    assert [level["then"] for level in country["levels"]] == list(then["country"].mean)
    moves = [level["mean"] - level["then"] for level in country["levels"]]
    assert country["change"] == max(moves, key=abs) != 0.0
    day = next(event.time[:10] for number, event in shop.events(seq) if number == seq + 1)
    assert day == "2024-05-20"
    assert ask("GET", "/v1/streams/orders/model/curves").json()["columns"] is None  # a stream of vectors


def test_what_was_believed_earlier():
    rng, kept = np.random.default_rng(4), {}
    policy = at.policy("voi", n_features=2, costs=at.Costs(5, 1, 0))
    stream = at.Stream.create("memory", "a", at.streams.Awaiting(policy), seed=2)
    for k in range(60):
        if stream.decide(rng.normal(size=2), id=str(k), time="2024-05-01").act:
            stream.label(str(k), int(rng.random() < 0.3))
        if k == 30:
            stream.snapshot()
        if k in (10, 40):
            stream.set_costs(at.Costs(5 + k, 1, 0))
        kept[len(stream)] = stream.player.policy.posterior.mean, stream.costs
    for seq, (mean, costs) in kept.items():
        then = policy_at(stream.record.place, seq)
        assert then.posterior.mean.tolist() == mean.tolist()
        assert then.costs == costs
    assert policy_at(stream.record.place, 0).round == 0
    stream.erase("50")
    with pytest.raises(at.errors.InputError, match="erased"):
        policy_at(stream.record.place, len(stream) - 8)


def test_the_log_as_csv(shop, ask):
    rows = list(csv.DictReader(io.StringIO(ask("GET", SHOP + "/log.csv").body.decode())))
    log = shop.log(features=False)
    assert [row["id"] for row in rows] == log.id.tolist()
    assert [float(row["probability"]) for row in rows] == log.probability.tolist()
    assert [row["label"] for row in rows] == ["" if label < 0 else str(label) for label in log.label.tolist()]
    for name in ("state", "time", "stratum"):
        assert [row[name] for row in rows] == getattr(log, name).tolist()
    assert [row["label_time"] for row in rows] == log.label_time.tolist()
    assert [row["report"] for row in rows] == ["" if label < 0 else str(label) for label in log.report.tolist()]
    assert [row["report_time"] for row in rows] == log.report_time.tolist()
    assert sum(row["report"] != "" for row in rows) == 1
    assert {(row["act"], row["decided"]) for row in rows} == {("1", "acted on"), ("0", "let through")}
    assert {(row["label"], row["outcome"]) for row in rows} == {("1", "match"), ("0", "no match"), ("", "")}


def test_a_spreadsheet_computes_nothing():
    stream = at.Stream.create("memory", "a", at.policy("always", n_features=1, costs=at.Costs(5, 1, 0)))
    for id_ in ("=1+1", "@SUM(A1)", "-2", "\n=1", "plain, with a comma", 'a "quote"'):
        stream.decide([1.0], id=id_, stratum="+1")
    words = Words.of({"positive": "fraud", "act": "hold"})
    lines = Rows(ReadModel(Reading(stream)), words).next().decode()
    rows = list(csv.reader(io.StringIO(lines)))
    assert [row[0] for row in rows] == ["'=1+1", "'@SUM(A1)", "'-2", "'\n=1", "plain, with a comma", 'a "quote"']
    assert {row[2] for row in rows} == {"'+1"}
    assert {tuple(row[-2:]) for row in rows} == {("held", "")}


def test_the_report_of_a_month(shop, following, ask):
    log = shop.log()
    wanted = log.where(log.days() >= np.datetime64("2024-06-01"))
    reading = Reading(shop)
    ours = table_from(reading, date(2024, 6, 1), date(2024, 6, 30))
    for name, values in wanted.columns().items():
        if name not in ("why", "report", "report_time"):  # there is none in these days
            np.testing.assert_array_equal(values, getattr(ours, name), err_msg=name)
    assert (ours.report, set(wanted.report.tolist())) == (None, {-1})
    told = ask("GET", SHOP + "/report.html?month=2024-05")
    assert told.headers["content-disposition"] == 'attachment; filename="shop-2024-05.html"'
    assert b"<title>shop, 2024-05</title>" in told.body
    assert b'src="http' not in told.body
    days = ask("GET", SHOP + "/days?from=2024-05-01&to=2024-05-31").json()["totals"]
    facts = gather(table_from(reading, date(2024, 4, 1), date(2024, 5, 31)), first_day="2024-05-01")
    same = ((days["saved"], facts.whole.saved), (days["missed"], facts.missed.design.missed))
    for shown, asked in (*same, (days["recall"], facts.missed.design.recall)):  # the same question of the same items
        assert (shown["estimate"], shown["low"], shown["high"]) == (asked.value, asked.low, asked.high)
    assert f'<p class="amount">{Currency()(days["saved"]["estimate"])}</p>'.encode() in told.body
    assert ask("GET", SHOP + "/report.html?month=2024-01").problem == "no-answer"
    assert "2024-05-01" in ask("GET", SHOP + "/report.html?month=2024-01").json()["detail"]
    assert ask("GET", SHOP + "/report.html?month=2024-13").status == 422
