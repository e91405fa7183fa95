"""``stream create``, ``decide``, ``label``, ``worklist``: docs/stream-commands.md to the letter, and every refusal."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.problems import write_orders
from appletaste.streams.from_history import policy_seed

from .test_guide import commands, is_said, taken_apart

ROOT = Path(__file__).parent.parent.parent
COSTS = "miss=95,false_alarm=6,hit=4"
COLUMNS = ["--label", "fraud", "--id", "order", "--time", "placed_at", "--drop", "settled_on", "--drop", "reviewed"]
CREATE = [*COLUMNS, "--costs", COSTS]
LATER = ("reviewed", "settled_on", "fraud")  #: columns that new items do not have


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows_of(path):
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def look(path):
    """Return the only stream of a file, to be looked at."""
    return at.Stream.open(path, Path(path).stem, read_only=True)


def events(path):
    """Return how many events a stream has: as many as before says that nothing has happened."""
    with look(path) as stream:
        return len(stream)


def without(rows, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A history, a stream that was taught it, and the next 120 orders."""
    folder = tmp_path_factory.mktemp("made")
    write_orders(folder / "orders.csv", rows=720)
    orders = rows_of(folder / "orders.csv")
    write(folder / "past.csv", orders[:600])
    write(folder / "new.csv", without(orders[600:], *LATER))
    (folder / "seed").write_text("1")  # whether there are audits to look at is not left to chance
    desk = ["--teach", "--capacity", "5/day", "--audit", "5%", "--seed-file", str(folder / "seed")]
    assert main(["stream", "create", f"{folder}/shop.db", "--history", f"{folder}/past.csv", *CREATE, *desk]) == 0
    return folder, orders


@pytest.fixture(scope="module")
def worded(made, tmp_path_factory):
    """Streams whose histories say 'good' and 'bad', or call 'no' what is positive, with the next orders acted on."""
    folder, past = tmp_path_factory.mktemp("worded"), rows_of(made[0] / "past.csv")
    for yes, no in (("good", "bad"), ("no", "yes")):
        write(folder / "past.csv", [{**row, "fraud": yes if row["fraud"] == "yes" else no} for row in past])
        desk, history = f"{folder}/{yes}.db", f"{folder}/past.csv"
        assert (
            main(["stream", "create", desk, "--history", history, *CREATE, "--policy", "always", "--positive", yes])
            == 0
        )
        assert main(["decide", desk, f"{made[0]}/new.csv"]) == 0
    return folder


@pytest.fixture
def shop(made, tmp_path, monkeypatch):
    """The same in a folder of its own, and the orders to come."""
    for name in ("past.csv", "new.csv", "shop.db"):
        shutil.copy(made[0] / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return made[1][600:]


def test_the_page_is_followed_to_the_letter(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page, names, printed, verbs = (ROOT / "docs" / "stream-commands.md").read_text(), {}, [], []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", page, re.S | re.M):
        if language == "python":
            exec(compile(block, "docs/stream-commands.md", "exec"), names)
        elif not language:
            for _, *arguments in commands(block):
                assert main(arguments) == 0, arguments
                verbs.append(arguments[0])
        printed += capsys.readouterr().out.splitlines()
    assert (tmp_path / "out" / "june" / "index.html").exists()
    assert (tmp_path / "model.html").exists()
    assert verbs[:9] == ["example", "stream", "decide", "decide", "worklist", "label", "missed", "report", "model"]
    assert verbs[9:] == ["stream"] * 4
    lines = [taken_apart(line) for line in printed]
    shown = [line for block in re.findall(r"^```text\n(.*?)^```", page, re.S | re.M) for line in block.splitlines()]
    assert len(shown) > 18
    assert [line for line in shown if not is_said(line, lambda words: [n for text, n in lines if text == words])] == []


def test_a_stream_made_from_the_command_line_is_the_one_made_in_python(shop, capsys):
    """The same map, the same lessons, the same decisions bit for bit."""
    past = at.read_records("past.csv", label="fraud", drop=["order", "placed_at", "settled_on", "reviewed"])
    features = at.Encoder(warm_up=len(past), curves=True, many=True, spare=8).fit(past)
    sheet = at.Costs(miss=95, false_alarm=6, hit=4)
    policy = at.policy(n_features=features.n_features, groups=features.groups, costs=sheet, seed=policy_seed(1))
    policy.learn_history(features.transform_many(past, update=False), past.labels)
    ledger = at.streams.Ledger(at.Desk(at.streams.Awaiting(policy), at.Budget(per_day=5), at.Audit(rate=0.05)))
    Path("seed").write_text("1")
    desk = ["--teach", "--capacity", "5/day", "--audit", "5%", "--seed-file", "seed"]
    assert call(capsys, "stream", "create", "b.db", "--history", "past.csv", *CREATE, *desk)[0] == 0
    assert call(capsys, "decide", "b.db", "new.csv", "--out", "out.csv")[0] == 0
    for order, row in zip(shop, rows_of("out.csv"), strict=True):
        decision = ledger.decide(features.transform(order), id=order["order"], time=order["placed_at"])
        assert (row["id"], row["act"]) == (order["order"], "yes" if decision.act else "no")
        assert float(row["probability"]) == pytest.approx(decision.probability, rel=1e-5)
        assert row["code"] == at.explain(ledger, order["order"], features).reason.code
    with look("b.db") as kept:
        assert kept.log().rows() == ledger.log().rows()
        x = np.ones(features.n_features)
        assert kept.player.policy.chance(x) == policy.chance(x)


def test_without_teach_and_with_labels_at_once_nothing_is_learnt_or_awaited(shop, capsys):
    arguments = [
        "stream",
        "create",
        "b.db",
        "--history",
        "past.csv",
        *CREATE,
        "--labels-at-once",
        "--policy",
        "ts",
        "--audit",
        "0",
        "--json",
    ]
    code, out, _ = call(capsys, *arguments)
    assert (code, json.loads(out)["history"], json.loads(out)["rows"]) == (0, None, 600)
    with look("b.db") as stream:
        assert isinstance(stream.player, at.Policy)
        assert stream.player.name == "ts"
        assert len(stream.player.learner.arrays().get("labels", ())) == 0
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    code, _, err = call(capsys, *arguments)
    assert (code, "there is a stream 'b' already" in err) == (2, True), err


def test_one_decision_for_an_id_and_none_for_an_id_with_other_values(shop, capsys):
    _, out, _ = call(capsys, "decide", "shop.db", "new.csv", "--json")
    first = json.loads(out)
    assert first["decided"] == first["acted"] + first["passed"] == len(shop)
    today = [row["order"] for row in shop if row["placed_at"][:10] == shop[-1]["placed_at"][:10]]
    assert first["capacity_left"] == 5 - sum(row["act"] for row in first["decisions"] if row["id"] in today)
    before = events("shop.db")
    again = json.loads(call(capsys, "decide", "shop.db", "new.csv", "--json")[1])
    assert again["decisions"] == first["decisions"]
    assert (again["decided"], again["decided_before"]) == (0, len(shop))
    rows = without(shop, *LATER)
    rows[7]["amount"], rows[7]["device"] = "1", "tablet" if rows[7]["device"] != "tablet" else "phone"
    write("other.csv", rows)
    code, _, err = call(capsys, "decide", "shop.db", "other.csv", "--out", "out.csv")
    assert code == 2
    assert f"other.csv, line 9: id '{rows[7]['order']}' was decided before" in err
    assert "column 'amount', column 'device'" in err
    fresh = [{**row, "order": f"X{k}"} for k, row in enumerate(rows[:3])]
    write("twice.csv", [*fresh, {**fresh[0], "amount": "77"}])
    code, _, err = call(capsys, "decide", "shop.db", "twice.csv")
    assert (code, "twice.csv, line 5: id 'X0' is in twice.csv, line 2 too" in err) == (2, True)
    write("twice.csv", [*fresh, fresh[0]])
    assert json.loads(call(capsys, "decide", "shop.db", "twice.csv", "--json")[1])["decided"] == 3
    assert not Path("out.csv").exists()
    assert events("shop.db") > before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"amount": "12,50 EUR"}, "new.csv, line 6: column 'amount' holds numbers, got '12,50 EUR'"),
        ({"placed_at": "soon"}, "new.csv, line 6: column 'placed_at' is to hold times, got 'soon'"),
        ({"placed_at": ""}, "new.csv, line 6: no time in column 'placed_at'"),
        ({"order": ""}, "new.csv, line 6: no id in column 'order'"),
    ],
)
def test_a_bad_row_refuses_the_file_before_anything_is_decided(shop, capsys, change, said):
    rows = without(shop, *LATER)
    rows[4] |= change
    write("new.csv", rows)
    before = events("shop.db")
    code, _, err = call(capsys, "decide", "shop.db", "new.csv", "--out", "out.csv")
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert "--category" not in err or "create the stream anew with --category amount" in err  # no flag of this verb
    assert events("shop.db") == before
    assert not Path("out.csv").exists()
    if "amount" in change:
        assert call(capsys, "decide", "shop.db", "new.csv", "--missing", change["amount"])[0] == 0


def test_columns_that_are_missing_or_new_are_said(shop, capsys):
    rows = without(shop, *LATER)
    write("less.csv", without(rows, "device"))
    assert "has no column 'device'" in call(capsys, "decide", "shop.db", "less.csv")[2]
    write("more.csv", [{**row, "colour": "red"} for row in rows])
    code, _, err = call(capsys, "decide", "shop.db", "more.csv")
    assert (code, "'colour', which this map does not know" in err, "--drop colour" in err) == (2, True, True)
    assert call(capsys, "decide", "shop.db", "more.csv", "--drop", "colour")[0] == 0


def test_ids_and_times_are_asked_for(shop, capsys):
    arguments = ["--label", "fraud", "--drop", "settled_on", "--drop", "reviewed", "--drop", "order", "--costs", COSTS]
    assert call(capsys, "stream", "create", "b.db", "--history", "past.csv", *arguments, "--drop", "placed_at")[0] == 0
    code, _, err = call(capsys, "decide", "b.db", "new.csv")
    assert (code, "--id" in err, "--make-ids" in err) == (2, True, True)
    code, out, _ = call(capsys, "decide", "b.db", "new.csv", "--make-ids")
    assert (code, "the ids were made" in out) == (0, True)
    with look("b.db") as stream:
        assert [event.id for _, event in stream.events(1)][:2] == ["2", "3"]  # by the number of the event
    assert "120 items decided" in call(capsys, "decide", "b.db", "new.csv", "--make-ids")[1]
    assert call(capsys, "decide", "b.db", "new.csv", "--id", "order", "--time", "placed_at")[0] == 0
    write("hours.csv", [{**row, "order": f"H{k}", "placed_at": k} for k, row in enumerate(without(shop, *LATER))])
    code, _, err = call(capsys, "decide", "b.db", "hours.csv", "--id", "order", "--time", "placed_at")
    assert (code, "hours.csv, line 2: times are all numbers, all dates, or all left out" in err) == (2, True), err
    code, _, err = call(capsys, "stream", "create", "c.db", "--history", "past.csv", *arguments, "--capacity", "9/day")
    assert (code, "--time" in err, Path("c.db").exists()) == (2, True, False)


def test_clocks_of_numbers_in_units_that_were_said(shop, capsys):
    """Hours since the shop opened: four acts a day, ages in days, and texts among the numbers are refused."""

    def hours(rows):
        return [{**row, "placed_at": f"{2.5 * k:g}"} for k, row in enumerate(rows)]

    write("past.csv", hours(rows_of("past.csv")))
    write("new.csv", hours(without(shop, *LATER)))
    arguments = [
        "stream",
        "create",
        "b.db",
        "--history",
        "past.csv",
        *CREATE,
        "--capacity",
        "4/day",
        "--policy",
        "always",
    ]
    code, _, err = call(capsys, *arguments)
    assert (code, "--time-unit" in err) == (2, True)
    assert call(capsys, *arguments, "--time-unit", "hour")[0] == 0
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    with look("b.db") as stream:
        log = stream.log()
    assert np.bincount((log.time // 86400).astype(int), log.act).tolist() == [4.0] * 13  # nine or ten orders a day
    work = json.loads(call(capsys, "worklist", "b.db", "--top", 0, "--json")[1])
    assert {case["unit"] for case in work} == {"days"}
    assert max(case["age"] for case in work) == pytest.approx(119 * 2.5 / 24)
    later = json.loads(call(capsys, "worklist", "b.db", "--top", 0, "--now", 119 * 2.5 + 48, "--json")[1])
    assert min(case["age"] for case in later) == pytest.approx(2)  # in hours, as the column
    assert work[0]["code"] == ""  # this policy has no model, and no reasons to tell
    assert "nan" not in call(capsys, "worklist", "b.db")[1]
    rows = hours(without(shop, *LATER))
    write("new.csv", [*rows[:3], {**rows[5], "order": "X", "placed_at": "late"}])
    code, _, err = call(capsys, "decide", "b.db", "new.csv")
    assert (code, "line 5: column 'placed_at' is to hold times, numbers as 0 in new.csv, line 2" in err) == (2, True)


def test_a_map_that_changes_never_decides_an_item_twice(shop, capsys):
    """A new level has a place of its own when it comes again: the rows before it are known again all the same."""
    create = ["stream", "create", "b.db", "--history", "past.csv", *CREATE, "--encoder", "spare=2"]
    assert call(capsys, *create)[0] == 0
    rows = without(shop, *LATER)
    rows[3]["country"] = rows[5]["country"] = "JP"
    write("new.csv", rows)
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    with look("b.db") as stream:
        kept = stream.features.encoder
        assert (kept.spare, kept.curves, kept.many) == (2, True, True)  # the default, but for what was said
        assert "country=JP" in stream.features.names()
        place = stream.features.names().index("country=JP")
        found = [stream.find(rows[k]["order"]).answer.decision.x[place] for k in (3, 5)]
        assert found == [0.0, 1.0]  # one by one, in order
        stream.verify()
    again = "120 items had been decided already; their decisions are unchanged"
    assert again in call(capsys, "decide", "b.db", "new.csv")[1]
    rows[5]["country"] = "KR"
    write("new.csv", rows)
    code, _, err = call(capsys, "decide", "b.db", "new.csv")
    assert (code, "line 7" in err, "with another value: column 'country'" in err) == (2, True, True)


def test_a_late_label_is_learnt_and_said(shop, capsys):
    create = ["stream", "create", "b.db", "--history", "past.csv", *CREATE, "--expire-after", "5", "--policy", "always"]
    assert call(capsys, *create)[0] == 0
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    with at.Stream.open("b.db", "b") as stream:
        assert len(stream.expire("2024-12-01")) == len(shop)
    write("told.csv", [{"case": shop[0]["order"], "bad": "1"}])
    code, out, _ = call(capsys, "label", "b.db", "told.csv", "--id", "case", "--label", "bad", "--by", "ann")
    assert (code, "1 label learnt (1 positive)" in out) == (0, True)
    assert "1 label arrived after the review had expired" in out
    with look("b.db") as stream:
        assert stream.find(shop[0]["order"]).labelled_by == "ann"
    code, _, err = call(capsys, "label", "b.db", "told.csv")
    assert (code, "'order'" in err) == (2, True), err


def test_a_stream_in_use_is_not_shared_and_a_failure_changes_nothing(shop, capsys, monkeypatch):
    before = events("shop.db")
    with at.Stream.open("shop.db", "shop"):
        for verb in (["decide", "shop.db", "new.csv"], ["label", "shop.db", "past.csv"]):
            code, _, err = call(capsys, *verb)
            assert (code, "shop.db is in use" in err, "POST /v1/streams" in err) == (3, True, True), err
        assert call(capsys, "worklist", "shop.db")[0] == 0  # looking is free
    assert events("shop.db") == before
    assert call(capsys, "decide", "shop.db", "new.csv")[0] == 0  # the lock was let go of


def outcomes(shop, acted):
    return [
        {"order": row["order"], "day": row["settled_on"], "fraud": row["fraud"]}
        for row in shop
        if row["order"] in acted
    ]


def test_labels_are_learnt_once_and_everything_else_is_counted(shop, capsys):
    found = json.loads(call(capsys, "decide", "shop.db", "new.csv", "--json")[1])
    acted = [row["id"] for row in found["decisions"] if row["act"]]
    passed = next(row["id"] for row in found["decisions"] if not row["act"])
    rows = outcomes(shop, [*acted, passed])
    rows[0 if rows[0]["order"] != passed else 1]["fraud"] = ""
    write("told.csv", [*rows, {"order": "B1", "day": "2024-08-01", "fraud": "no"}])
    counts = json.loads(call(capsys, "label", "shop.db", "told.csv", "--time", "day", "--out", "done.csv", "--json")[1])
    assert counts.pop("learnt") == len(acted) - 1
    rest = {"corrected": 0, "known": 0, "passed": 1, "recorded": 0, "unknown": 1, "missing": 1}
    assert counts == {**rest, "late": 0, "awaited": 1}
    assert {row["id"]: row["done"] for row in rows_of("done.csv")}[passed] == "passed"
    truth = {row["order"]: int(row["fraud"] == "yes") for row in shop}
    with look("shop.db") as stream:
        labels = {one: stream.find(one).entry.label for one in acted}
        assert stream.find(passed).outcome == truth[passed]
    assert all(label in (truth[one], None) for one, label in labels.items())
    again = json.loads(call(capsys, "label", "shop.db", "told.csv", "--json")[1])
    assert (again["known"], again["passed"]) == (len(acted) - 1, 1)
    learnt = next(one for one in acted if labels[one] is not None)
    write("wrong.csv", [{"order": learnt, "fraud": "no" if truth[learnt] else "yes"}])
    before = events("shop.db")
    code, _, err = call(capsys, "label", "shop.db", "wrong.csv")
    assert (code, "wrong.csv, line 2" in err, "--correct" in err) == (2, True, True)
    assert events("shop.db") == before
    assert json.loads(call(capsys, "label", "shop.db", "wrong.csv", "--correct", "--json")[1])["corrected"] == 1
    with look("shop.db") as stream:
        assert stream.find(learnt).entry.state == "corrected"


def test_a_frozen_stream_takes_no_part_of_a_file_that_corrects(shop, capsys):
    """A label that was only recorded would never be learnt: the file is refused before any label is written."""
    found = json.loads(call(capsys, "decide", "shop.db", "new.csv", "--json")[1])
    acted = [row["id"] for row in found["decisions"] if row["act"]]
    write("told.csv", [{"order": acted[1], "fraud": "yes"}])
    assert call(capsys, "label", "shop.db", "told.csv")[0] == 0
    with at.Stream.open("shop.db", "shop") as stream:
        stream.set_mode("frozen")
    write("told.csv", [{"order": acted[0], "fraud": "yes"}, {"order": acted[1], "fraud": "no"}])
    before = events("shop.db")
    code, _, err = call(capsys, "label", "shop.db", "told.csv", "--correct")
    assert (code, "told.csv, line 3: the stream is frozen" in err) == (2, True), err
    assert events("shop.db") == before


def test_a_row_whose_features_were_erased_is_said_to_be(shop, capsys):
    assert call(capsys, "decide", "shop.db", "new.csv")[0] == 0
    with at.Stream.open("shop.db", "shop") as stream:
        stream.erase(shop[3]["order"])
    code, _, err = call(capsys, "decide", "shop.db", "new.csv")
    assert (code, "line 5" in err, "its features were erased since" in err) == (2, True, True), err


def test_labels_that_cannot_be_are_refused_with_their_line(shop, capsys):
    found = json.loads(call(capsys, "decide", "shop.db", "new.csv", "--json")[1])
    acted = [row["id"] for row in found["decisions"] if row["act"]]
    for rows, said in [
        ([(acted[0], "yes"), (acted[0], "no")], "line 3: id"),
        ([("Z1", "yes"), ("Z2", "no")], "none of its 2 ids is of this stream"),
        ([(acted[0], "maybe"), (acted[1], "yes")], "'maybe'"),
        ([("", "yes")], "line 2: no id"),
    ]:
        write("told.csv", [{"order": one, "fraud": label} for one, label in rows])
        code, _, err = call(capsys, "label", "shop.db", "told.csv")
        assert (code, said in err, "Traceback" in err) == (2, True, False), err
    write("told.csv", [{"order": acted[0], "day": "2024-01-01", "fraud": "yes"}])
    code, _, err = call(capsys, "label", "shop.db", "told.csv", "--time", "day")
    assert (code, "told.csv, line 2: a label cannot arrive before its decision" in err) == (2, True)
    with look("shop.db") as stream:
        assert len(stream.pending) == len(acted)


@pytest.mark.parametrize(
    ("positive", "negative", "told", "learnt"),
    [
        ("good", "bad", "bad", 0),
        ("good", "bad", "good", 1),
        ("good", "bad", "1", 1),  # 0 and 1 say by themselves which is which
        ("no", "yes", "yes", 0),  # the history was told that 'no' is positive
        ("no", "yes", "No", 1),
        ("good", "bad", "ugly", None),
    ],
)
def test_one_label_alone_is_read_as_the_history_was(worded, shop, capsys, positive, negative, told, learnt):
    """A file of labels may hold one value only, and says nothing then of which value is positive."""
    shutil.copy(worded / f"{positive}.db", f"{positive}.db")
    write("told.csv", [{"order": shop[0]["order"], "fraud": told}])
    code, _, err = call(capsys, "label", f"{positive}.db", "told.csv")
    assert (code == 0) == (learnt is not None)
    with look(f"{positive}.db") as stream:
        assert stream.find(shop[0]["order"]).entry.label == learnt
    assert learnt is not None or ("told.csv, line 2" in err and "--positive" in err)


def test_the_worklist_is_ranked_by_what_a_review_saves(shop, capsys):
    call(capsys, "decide", "shop.db", "new.csv")
    work = json.loads(call(capsys, "worklist", "shop.db", "--top", 0, "--json")[1])
    stream = look("shop.db")
    assert {case["id"] for case in work} == set(stream.pending)
    assert [case["rank"] for case in work] == list(range(1, len(work) + 1))
    assert [case["worth"] for case in work] == sorted((case["worth"] for case in work), reverse=True)
    assert {case["code"] for case in work} >= {"EXPLOIT", "AUDIT"}
    for case in work:
        found = at.explain(stream, case["id"])
        assert (case["code"], case["chance"]) == (found.reason.code, pytest.approx(found.chance))
        leading = [part for part in found.contributions[:3] if abs(part.value) >= 0.005]
        words = [f"{part.words} {'raises' if part.value > 0 else 'lowers'} the chance" for part in leading]
        assert case["reasons"] == words
        assert case["worth"] == pytest.approx(
            stream.player.policy.look(stream.find(case["id"]).answer.decision.x).worth
        )
    stream.close()
    assert min(case["age"] for case in work) < 1
    later = json.loads(call(capsys, "worklist", "shop.db", "--top", 0, "--now", "2024-08-01", "--json")[1])
    assert all(new["age"] > old["age"] for new, old in zip(later, work, strict=True))
    _, out, _ = call(capsys, "worklist", "shop.db", "--top", 2, "--out", "work.csv")
    assert [row["id"] for row in rows_of("work.csv")] == [case["id"] for case in work[:2]]
    audits = sum(case["code"] == "AUDIT" for case in work)
    assert f"audits among them: {audits:,}, {audits:,} beyond the list. Do all audits" in out
    assert call(capsys, "worklist", "shop.db", "--now", "5")[0] == 2


def test_a_store_is_a_decision_log_too(shop, capsys):
    call(capsys, "decide", "shop.db", "new.csv")
    with look("shop.db") as stream:
        stream.log().write("log.jsonl")
    for verb in (["missed"], ["what-if", "--threshold", "0.1"], ["plan-audit"]):
        name, *rest = verb
        assert call(capsys, name, "shop.db", *rest)[:2] == call(capsys, name, "log.jsonl", *rest)[:2]
    assert call(capsys, "drift", "shop.db")[0] == 0


def test_files_that_are_no_stores_are_refused(shop, capsys):
    policy = at.policy(n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    policy.save("policy.at")
    at.Stream.create("bare.db", "bare", policy).close()
    for path, said, exits in [
        ("policy.at", "policy.at", 3),
        ("bare.db", "takes vectors and has no map", 2),
        ("past.csv", "past.csv", 3),
        ("none.db", "there is no store none.db", 3),
        (".", ". cannot be a store", 2),
    ]:
        code, _, err = call(capsys, "decide", path, "new.csv", "--id", "order")
        assert (code, said in err, "Traceback" in err) == (exits, True, False), err
    for out in ("x.txt", "no/x.csv", "new.csv"):
        assert call(capsys, "decide", "shop.db", "new.csv", "--out", out)[0] == 2
    assert events("shop.db") == 1


def test_a_leak_is_noted_when_a_stream_is_made(shop, capsys):
    write("leak.csv", [{**row, "refunded": 3 if row["fraud"] == "yes" else 0} for row in rows_of("past.csv")])
    code, _, err = call(capsys, "stream", "create", "b.db", "--history", "leak.csv", *CREATE)
    assert (code, "refunded" in err, "--drop refunded" in err) == (0, True, True)
    code, _, err = call(capsys, "stream", "create", "c.db", "--history", "past.csv", *CREATE, "--encoder", "warm_up=50")
    assert (code, "warm_up" in err) == (2, True)
    code, _, err = call(capsys, "stream", "create", "c.db", "--history", "past.csv", *CREATE, "--drop", "order")
    assert (code, "take it out of --drop" in err) == (2, True)
    code, _, err = call(capsys, "stream", "create", "c.db", "--history", "past.csv", *CREATE, "--stratum", "paymnt")
    assert (code, "did you mean 'payment'" in err, Path("c.db").exists()) == (2, True, False)
