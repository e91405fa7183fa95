"""What if, and apply: estimates are those of the library; what is applied is an event that folds and is restored."""

import pytest

import appletaste as at
from appletaste.evaluate.support import settled
from appletaste.records.stores import MemoryStore
from appletaste.service.review.read_model import ReadModel
from appletaste.streams.transfer import export_stream, import_stream

from .filling import SHEET, Reading, fill

SHOP, COSTS = "/v1/streams/shop", {"miss": 40.0, "false_alarm": 4.0, "hit": 1.0, "correct_pass": 0.0}
ESTIMATES = ("ips", "snips", "dr", "logged", "saving", "acts", "logged_acts", "decisions", "left_out")


@pytest.fixture(scope="module")
def log():
    return fill(MemoryStore()).log(features=False)


@pytest.mark.parametrize(
    ("body", "change", "costs"),
    [({"threshold": 0.1}, 0.1, None), ({"costs": COSTS}, at.Costs(**COSTS), None),
     ({"threshold": 0.3, "costs": COSTS}, 0.3, at.Costs(**COSTS))],
)  # fmt: skip
def test_estimates_are_those_of_the_library(ask, log, body, change, costs):
    told = ask("POST", SHOP + "/what-if", body).json()
    found = at.what_if(log, change, costs=costs)
    ours = found.as_dict()
    for name in ESTIMATES:
        assert told[name] == ours[name], name
    assert (told["would_act"], told["would_pass"]) == (len(found.would_act), len(found.would_pass))


def test_the_page_gets_a_way_to_decide_beside_that_of_today(ask, log):
    now = ask("POST", SHOP + "/what-if", {}).json()
    assert now["cost"] == now["now"]["cost"]
    assert now["threshold"] == SHEET.threshold
    assert (now["audit"], now["flip_count"], now["flips"]) == ("8%", 0, [])
    found = at.what_if(log, SHEET)
    days = len({time[:10] for time in settled(log).time.tolist()})
    assert now["acts_a_day"] * days == pytest.approx(found.acts + 0.08 * (found.decisions - found.acts))
    less = ask("POST", SHOP + "/what-if", {"threshold": 0.5}).json()
    assert less["now"] == now["now"]
    assert less["acts_a_day"] < now["acts_a_day"]
    assert less["flip_count"] == len(less["flips"]) or len(less["flips"]) == 50
    assert all(flip["act_now"] and not flip["act_then"] for flip in less["flips"])
    assert all(SHEET.threshold <= flip["chance"] < 0.5 for flip in less["flips"])
    assert any("50 %" in sentence for sentence in less["words"])
    none = ask("POST", SHOP + "/what-if", {"audit": None}).json()
    assert none["cost"]["estimate"] == found.best.value
    assert none["audit"] is None
    few = ask("POST", SHOP + "/what-if", {"capacity": "4/day", "audit": None}).json()
    assert few["acts_a_day"] <= 4
    assert few["capacity"] == "4/day"
    assert ask("POST", SHOP + "/what-if", {"capacity": "4/day"}).json()["acts_a_day"] <= 4.0 + 1e-9


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        (
            {"threshold": 0.1, "capacity": "4/day", "audit": "2%"},
            {"threshold": 0.1, "capacity": "4/day", "audit": "2%"},
        ),
        ({"capacity": "20%", "audit": None}, {"threshold": SHEET.threshold, "capacity": "20%"}),
        ({"capacity": None, "audit": "3%", "costs": COSTS}, {"audit": "3%", "costs": COSTS}),
    ],
)
def test_reviewers_and_audits_are_those_of_the_library(ask, log, body, asked):
    told, found = ask("POST", SHOP + "/what-if", body).json(), at.what_if(log, **asked)
    ours = found.as_dict()
    for name in (*ESTIMATES, "capacity", "audit", "acts_a_day"):
        assert told[name] == ours[name], name
    assert (told["would_act"], told["would_pass"]) == (len(found.would_act), len(found.would_pass))


def test_what_cannot_be_is_said(ask):
    for body in ({"capacity": "some"}, {"audit": "200%"}, {"threshold": 2}, {"costs": {"miss": 1}}, {"colour": 1}):
        assert ask("POST", SHOP + "/what-if", body).status == 422, body
    for path, body in (
        ("capacity", {"capacity": "x/day"}),
        ("audit", {"audit": "-1%"}),
        ("audit", {}),
        ("capacity", {}),
    ):
        assert ask("POST", f"{SHOP}/{path}", body).status == 422, body
    whole = ask("POST", SHOP + "/capacity", {"capacity": "8%"})  # audits at 8 % would use all of it
    assert whole.problem == "no-answer"
    assert "audits" in whole.json()["detail"]


def test_a_change_is_an_event_and_the_act_rate_moves(ask, desk_service):
    before = len(ask("GET", SHOP + "/log").body.splitlines())
    seqs = [
        ask("POST", SHOP + "/audit", {"audit": "2%", "by": "ann"}).json()["seq"],
        ask("POST", SHOP + "/capacity", {"capacity": "2/day", "time_zone": "Europe/Berlin"}).json()["seq"],
    ]
    assert seqs == [before + 1, before + 2]
    events = ask("GET", f"{SHOP}/log?from_seq={before + 1}").body.decode().splitlines()
    assert '"by":"ann"' in events[0]
    assert '"by":"test"' in events[1]  # the name of the key
    told = ask("GET", SHOP + "/health").json()
    assert (told["capacity"], told["time_zone"], told["audit"]) == ("2/day", "Europe/Berlin", "2%")
    items = [
        {"id": f"n{k}", "item": {"amount": 900.0, "country": "BR", "items": 1.0}, "time": "2024-07-01T12:00:00"}
        for k in range(20)
    ]
    told = ask("POST", SHOP + "/decisions:batch", {"decisions": items}).json()["results"]
    assert sum(one["body"]["act"] for one in told) == 2
    assert ask("POST", SHOP + "/verify").json()["verifies"]


def test_a_stream_goes_on_where_it_was(tmp_path):
    store = at.records.stores.open_store(tmp_path / "shop.db")
    stream = fill(store, n=200)
    stream.set_capacity("3/day", by="ann")
    stream.set_audit("1%")
    stream.set_capacity(at.Budget(share=0.3, window=50))
    stream.set_audit(None)
    item, when = {"amount": 900.0, "country": "BR", "items": 1.0}, "2024-07-01T12:00:00"
    acts = [stream.decide(item, id=f"a{k}", time=when).act for k in range(40)]
    assert 0 < sum(acts) <= 15
    header, arrays = stream._journal.fold.header(), stream._journal.fold.arrays()
    assert stream.verify().decisions == 240
    stream.close()
    again = at.Stream.open(store, "shop")
    assert (again.trouble, again.budget, again.audit) == (None, at.Budget(share=0.3, window=50), None)
    assert again._journal.fold.header() == header
    assert all((again._journal.fold.arrays()[name] == values).all() for name, values in arrays.items())
    path = tmp_path / "shop.stream"
    export_stream(again.record.place, path)
    assert import_stream(path, store, "copy").events == len(again)
    more = [again.decide(item, id=f"b{k}", time=when).act for k in range(10)]
    assert sum(acts) + sum(more) <= 15
    store.close()


def test_what_was_spent_today_counts_on():
    policy = at.policy("always", n_features=1, costs=at.Costs(5, 1, 0))
    stream = at.Stream.create("memory", "a", policy)
    stream.set_capacity("3/day")
    acts = [stream.decide([1.0], id=f"a{k}", time="2024-07-01").act for k in range(4)]
    stream.set_capacity("4/day")
    acts += [stream.decide([1.0], id=f"b{k}", time="2024-07-01").act for k in range(4)]
    assert sum(acts) == 4
    stream.set_capacity("Mon-Fri 9", time_zone="Europe/Berlin")
    stream.set_capacity("9/day")
    assert stream.time_zone == "Europe/Berlin"  # days stay what they were
    stream.set_capacity("50%")
    stream.set_capacity(None)
    assert stream.decide([1.0], id="c", time="2024-07-01").act
    assert stream.verify().decisions == 9


def test_a_capacity_per_day_needs_dates():
    stream = at.Stream.create("memory", "a", at.policy("always", n_features=1, costs=at.Costs(5, 1, 0)))
    stream.decide([1.0], id="a", time=1.0)
    with pytest.raises(at.errors.InputError, match="needs dates"):
        stream.set_capacity("3/day")
    assert len(stream) == 2
    stream.set_capacity("50%")
    for wrong in ("x", "-1/day", 7.0):
        with pytest.raises(at.errors.InputError):
            stream.set_audit(wrong)
    assert stream.verify().events == 3


def test_a_stream_in_shadow_mode_is_told_why_there_is_no_answer():
    stream = fill(MemoryStore(), n=200)
    stream.set_mode("shadow")
    following = ReadModel(Reading(stream))
    for k in range(5):
        stream.decide({"amount": 9.0, "country": "BR", "items": 1.0}, id=f"s{k}", baseline=True, time="2024-07-01")
    columns = following.catch_up().columns
    assert columns.flag("act")[-5:].tolist() == [1] * 5
    assert not columns.flag("overruled")[-5:].any()  # the caller's own action
    assert columns.amount("probability")[-1] == 1.0
