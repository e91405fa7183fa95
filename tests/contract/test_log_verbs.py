"""The verbs that read a decision log, and the report that they write."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.evaluate.together import Together, together
from appletaste.evaluate.what_if import ground_of

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def rows(n=1500, dates=True, audited=True, late=0):
    """A month or two of a log whose probabilities are honest; without audits passes are certain."""
    rng = np.random.default_rng(5)
    found = []
    for k in range(n):
        chance = float(rng.beta(1, 4))
        probability = 1.0 if chance > 0.3 else 0.1 if audited else 0.0
        act = bool(rng.random() < probability)
        known = act and k < n - late
        row = {"id": f"case {k}", "act": act, "probability": probability, "chance": chance, **COSTS}
        row |= {"label": int(rng.random() < chance) if known else None, "stratum": "ab"[k % 2], "policy": "mine"}
        if dates:
            row["time"] = f"2024-{5 + k * 2 // n:02d}-{1 + k * 60 // n % 30:02d}T10:00:00"
        found.append(row)
    return found


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "decisions.jsonl"
    at.DecisionLog.from_rows(rows()).write(path)
    return path


def test_missed(capsys, log):
    code, out, _ = call(capsys, "missed", log)
    assert code == 0
    assert out.strip() == str(at.missed(at.DecisionLog.read(log)))
    code, out, _ = call(capsys, "missed", log, "--level", 0.5, "--json")
    found = json.loads(out)
    assert found["design_missed"]["level"] == 0.5
    assert found["passes"] + sum(row["act"] for row in rows()) == 1500


def test_what_if(capsys, log):
    code, out, _ = call(capsys, "what-if", log, "--threshold", 0.5)
    assert code == 0
    assert "saving against what was done" in out
    found = json.loads(call(capsys, "what-if", log, "--threshold", 0.5, "--json")[1])
    assert found["acts"] == sum(row["chance"] >= 0.5 for row in rows())
    assert found["saving"]["value"] == pytest.approx(found["logged"]["value"] - found["dr"]["value"])
    assert found["would_pass"]
    dearer = json.loads(call(capsys, "what-if", log, "--costs", "miss=50,false_alarm=1,hit=0", "--json")[1])
    assert dearer["acts"] == sum(row["chance"] >= 1 / 51 for row in rows())


def test_what_if_with_reviewers_and_audits(capsys, log, tmp_path):
    told, library = call(capsys, "what-if", log, "--capacity", "5/day", "--audit", "2%"), at.DecisionLog.read(log)
    found = at.what_if(library, capacity="5/day", audit="2%")
    assert told[:2] == (0, f"{found}\n")
    assert "reviewers: 5/day, audited passes: 2%; 4." in told[1]
    assert "the best of each day" in told[1]
    arguments = ["--threshold", 0.4, "--capacity", "20%", "--json"]
    found = json.loads(call(capsys, "what-if", log, *arguments)[1])
    assert found == at.what_if(library, 0.4, capacity="20%").as_dict()
    assert (found["capacity"], found["audit"]) == ("20%", None)
    assert found["acts_a_day"] <= 5.0
    at.DecisionLog.from_rows(rows(dates=False)).write(tmp_path / "no_dates.jsonl")
    code, _, error = call(capsys, "what-if", tmp_path / "no_dates.jsonl", "--capacity", "5/day")
    assert code == 2
    assert "the log has no times: give a share, --capacity 5%" in error


def test_labels_that_are_out_leave_the_last_days_out(capsys, tmp_path):
    path = tmp_path / "late.jsonl"
    at.DecisionLog.from_rows(rows(late=300)).write(path)
    found = json.loads(call(capsys, "what-if", path, "--threshold", 0.3, "--json")[1])
    assert 150 < found["left_out"] < 450
    assert "value" in found["saving"]  # with the last days it would be refused
    assert found["decisions"] + found["left_out"] == 1500
    _code, out, _ = call(capsys, "what-if", path, "--threshold", 0.3)
    assert f"{found['left_out']} recent decisions are excluded: most of their labels have not arrived yet" in out
    _code, out, _ = call(capsys, "plan-audit", path)
    assert f"{found['left_out']} recent decisions are excluded" in out


def test_the_same_answers_everywhere(capsys, tmp_path):
    """One file with late labels: the library, the command line and the report say the same of it."""
    path = tmp_path / "late.jsonl"
    at.DecisionLog.from_rows(rows(late=300)).write(path)
    log = at.DecisionLog.read(path)
    told = at.what_if(log, 0.3)
    plan = at.plan_audit(log, margin=0.1)
    assert told.left_out == plan.left_out > 0
    asked = ["what-if", path, "--threshold", 0.3]
    assert json.loads(call(capsys, *asked, "--json")[1]) == told.as_dict()
    assert call(capsys, *asked)[1].strip() == str(told)
    costs = {"miss": 50.0, "false_alarm": 1.0, "hit": 0.0}
    asked = ["what-if", path, "--costs", "miss=50,false_alarm=1,hit=0", "--json"]
    assert json.loads(call(capsys, *asked)[1]) == at.what_if(log, at.Costs(**costs)).as_dict()
    assert json.loads(call(capsys, "plan-audit", path, "--margin", 0.1, "--json")[1]) == plan.as_dict()
    assert json.loads(call(capsys, "missed", path, "--json")[1]) == at.missed(log).as_dict()
    facts = json.loads(call(capsys, "report", path, "--out", tmp_path / "r", "--json")[1])
    assert facts["unsettled"] == told.left_out
    answered = [one["threshold"] for one in facts["thresholds"] if "value" in one["saving"]]
    assert facts["together_factor"] == together(ground_of(log), answered).factor
    first = facts["thresholds"][2]
    wider = Together(facts["together_factor"]).widened(at.what_if(log, first["threshold"]).saving)
    assert first.pop("saving_together") == wider.as_dict()
    same = at.what_if(log, first["threshold"]).as_dict()
    assert first == {"threshold": first["threshold"]} | {k: v for k, v in same.items() if not k.startswith("would_")}


def test_plan_audit(capsys, log, tmp_path):
    found = json.loads(call(capsys, "plan-audit", log, "--margin", 0.1, "--json")[1])
    assert found["margin"] == pytest.approx(0.1)
    assert sum(found["items"]) == sum(not row["act"] for row in rows())
    code, out, _ = call(capsys, "plan-audit", log)
    assert code == 0
    assert "to within 5 percentage points, audit about" in out
    assert "the same audit probability for every item would take" in out
    bare = [{name: value for name, value in row.items() if name != "chance"} for row in rows()]
    at.DecisionLog.from_rows(bare).write(tmp_path / "bare.jsonl")
    code, _, err = call(capsys, "plan-audit", tmp_path / "bare.jsonl")
    assert code == 2
    assert "does not record the model's chance" in err


def test_report(capsys, log, tmp_path):
    out = tmp_path / "out" / "june"
    code, text, _ = call(capsys, "report", log, "--out", out, "--title", "Mine & yours")
    assert code == 0
    assert "index.html" in text
    page, markdown = (out / "index.html").read_text(), (out / "report.md").read_text()
    assert "Mine &amp; yours" in page
    assert page.count("data:image/svg+xml;base64,") == 4
    assert "http://" not in page.split("<body>")[1]  # it needs no network
    assert "https://" not in page
    for words in ("2024-05", "2024-06", "by the model", "Another threshold", "never_due", "stratum", "Recall"):
        assert words in page, words
        assert words in markdown, words
    facts = json.loads((out / "report.json").read_text())
    decided = rows()
    acted = [row for row in decided if row["act"]]
    assert facts["whole"]["decisions"] == 1500
    assert facts["whole"]["acts"] == len(acted)
    assert facts["whole"]["positives"] == sum(row["label"] for row in acted)
    saved = sum(5.0 if row["label"] else -1.0 for row in acted)
    assert facts["whole"]["saved"]["value"] == pytest.approx(saved)  # all labels are in, so it is known
    assert facts["whole"]["saved"]["low"] == pytest.approx(saved)
    assert [month["name"] for month in facts["periods"]] == ["2024-05", "2024-06"]
    assert sum(part["acts"] for part in facts["strata"]) == len(acted)
    assert call(capsys, "report", log, "--out", out)[0] == 0  # an earlier report is replaced
    (tmp_path / "mine.txt").write_text("keep me")
    code, _, err = call(capsys, "report", log, "--out", tmp_path)
    assert code == 2
    assert "holds other files" in err


def test_report_of_a_log_that_can_say_little(capsys, tmp_path):
    """No dates, no audits, certain passes: refusals in words, and no picture of what is not known."""
    path = tmp_path / "certain.jsonl"
    at.DecisionLog.from_rows(rows(dates=False, audited=False)).write(path)
    code, text, _ = call(capsys, "report", path, "--out", tmp_path / "r")
    assert code == 0
    assert "cannot be said yet (every item let through was let through with certainty" in text
    page = (tmp_path / "r" / "report.md").read_text()
    assert "| block |" in page
    assert "audit a share of what is let through, 2 % say, or use a policy that decides by lot" in page
    unlabelled = [{**row, "label": None} for row in rows(dates=False)]
    at.DecisionLog.from_rows(unlabelled).write(tmp_path / "new.jsonl")
    code, text, _ = call(capsys, "report", tmp_path / "new.jsonl", "--out", tmp_path / "r")
    assert code == 0
    assert "no label has arrived yet" in text
    assert "labels are awaited, the oldest since round 1" in (tmp_path / "r" / "report.md").read_text()


def test_periods(capsys, log, tmp_path):
    from appletaste.reports.periods import periods_of

    dated = at.DecisionLog.read(log)
    assert periods_of(dated)[0] == "month"
    assert len(set(periods_of(dated, "week")[1])) == 9
    assert periods_of(dated.where(dated.time < "2024-06"))[0] == "week"
    assert periods_of(dated.where(dated.time < "2024-05-02"))[0] == "day"
    kind, names = periods_of(at.DecisionLog.from_rows(rows(dates=False)))
    assert kind == "block"
    assert np.unique(names, return_counts=True)[1].tolist() == [250] * 6
    code, _, err = call(capsys, "report", log, "--out", tmp_path / "r", "--period", "year")
    assert code == 2
    assert "month, week, day" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["missed", "nowhere.jsonl"], "there is no file nowhere.jsonl"),
        (["missed", "nowhere.parquet"], "there is no file nowhere.parquet"),
        (["missed", "table.csv"], ".parquet or .jsonl"),
        (["missed", "LOG", "--level", "2"], "level"),
        (["what-if", "LOG", "--threshold", "7"], "threshold on the chance is in [0, 1]"),
        (["what-if", "LOG", "--costs", "miss=1"], "false_alarm is missing"),
        (["what-if", "LOG", "--capacity", "many"], "capacity is 120/day"),
        (["what-if", "LOG", "--audit", "2 per cent"], "audit is auto, 0 or a share"),
        (["plan-audit", "LOG", "--margin", "0"], "margin"),
        (["example", "LOG"], "is there already"),
    ],
)
def test_mistakes_end_with_one_sentence(capsys, log, arguments, sentence):
    code, out, err = call(capsys, *[log if word == "LOG" else word for word in arguments])
    assert code == 2
    assert sentence in err
    assert err.count("\n") == 1
    assert out == ""


@pytest.mark.parametrize("verb", ["missed", "what-if", "plan-audit", "report", "example"])
def test_help_teaches(capsys, verb):
    with pytest.raises(SystemExit) as stop:
        main([verb, "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "examples:" in out
    assert "docs/" in out


def test_replay_writes_a_log_that_the_verbs_read(capsys, tmp_path):
    table = tmp_path / "orders.csv"
    assert call(capsys, "example", table, "--rows", 1200)[0] == 0
    log = tmp_path / "log.jsonl"
    asked = ["replay", table, "--label", "fraud", "--drop", "order", "--drop", "settled_on", "--time", "placed_at"]
    asked += ["--costs", "miss=95,false_alarm=6,hit=4", "--audit", "5%", "--jobs", 1]
    code, out, _ = call(capsys, *asked, "--delay", 3, "--log", log, "--stratum", "device")
    assert code == 0
    assert "decisions of voi are in" in out
    found = at.DecisionLog.read(log)
    lines = table.read_text().splitlines()
    place = int(str(found.id[700]).removeprefix("line "))
    assert lines[place - 1].split(",")[1] == str(found.time[700])[:16]  # its time, on its line of the file
    assert set(found.stratum) == {"phone", "desktop", "tablet", "missing"}
    assert found.x is not None
    assert (found.probability >= 0.05 / 4).all()
    assert found.label[-1] == -1  # not due before the end
    code, _, err = call(capsys, *asked, "--stratum", "device")
    assert code == 2
    assert "--log" in err
    (tmp_path / "d.jsonl").mkdir()
    long = tmp_path / f"{'x' * 300}.jsonl"  # stands for a folder that cannot be written: no user can write such a name
    wrong = ((tmp_path / "log.csv", ".parquet or .jsonl"), (tmp_path / "no" / "log.jsonl", "no folder"))
    for name, sentence in (*wrong, (tmp_path / "d.jsonl", "is a folder"), (long, "cannot read or write")):
        code, out, err = call(capsys, *asked, "--log", name)
        assert code == 2
        assert sentence in err
        assert out == ""  # before the work, not after it
    code, _, err = call(capsys, *asked, "--log", log, "--policy", "oracle")
    assert code == 2
    assert "oracle makes none" in err
    code, _, err = call(capsys, *asked, "--capacity", "lots")
    assert "120/day, 'Mon-Fri 120, Sat 40' or a share" in err
    no_time = [word for word in asked if word not in ("--time", "placed_at")]
    code, _, err = call(capsys, *no_time, "--capacity", "5/day")
    assert "name the time column with --time" in err
    code, _, err = call(capsys, *asked, "--log", log, "--stratum", "colour")
    assert code == 2
    assert "colour" in err


def test_ids_are_lines_of_the_file_in_a_shuffled_log_too(tmp_path):
    table = tmp_path / "orders.csv"
    at.problems.write_orders(table, rows=800)
    drop, costs = ["order", "settled_on", "placed_at"], at.Costs(miss=95, false_alarm=6, hit=4)
    at.replay(table, "fraud", costs=costs, drop=drop, shuffles=1, log="voi").log.write(tmp_path / "log.jsonl")
    found = at.DecisionLog.read(tmp_path / "log.jsonl")
    lines = table.read_text().splitlines()
    seen = found.labelled
    places = [int(str(name).removeprefix("line ")) for name in found.id[seen]]
    assert [lines[place - 1].endswith("yes") for place in places] == (found.label[seen] == 1).tolist()
    assert places != sorted(places)


def test_the_example_is_the_same_for_everybody(tmp_path):
    one, two, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    at.problems.write_orders(one, rows=300)
    at.problems.write_orders(two, rows=300)
    at.problems.write_orders(other, rows=300, seed=8)
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()
    records = at.read_records(one, label="fraud")
    assert records.labels.sum() > 3
    assert np.isnan(records.columns["account_days"]).any()


def test_missed_and_what_if_by_a_column_of_another_table(capsys, log, tmp_path):
    found = at.DecisionLog.read(log)
    items = tmp_path / "items.csv"
    items.write_text(
        "number,country\n" + "".join(f"{one},{'de' if k % 2 else 'nl'}\n" for k, one in enumerate(found.id))
    )
    asked = ("--by", "country", "--items", items, "--id", "number")
    told = json.loads(call(capsys, "missed", log, *asked, "--json")[1])
    assert {one["name"] for one in told["groups"]} == {"de", "nl"}
    assert sum(one["decisions"] for one in told["groups"]) == len(found)
    code, out, _ = call(capsys, "what-if", log, "--threshold", 0.3, *asked)
    assert (code, "All intervals of a column hold together" in out) == (0, True)
    code, _, err = call(capsys, "missed", log, "--by", "country")
    assert (code, "no column 'country'" in err) == (2, True)


def test_numbers_that_may_be_looked_at_every_day_are_wider(capsys, log):
    for verb, name in ((["missed", log], "design_missed"), (["what-if", log, "--threshold", 0.3], "saving")):
        told = json.loads(call(capsys, *verb, "--daily", 1000, "--json")[1])
        known, every = ((one["low"], one["high"]) for one in (told[name], told["daily"]))
        assert every == known if known[0] == known[1] else every[0] <= known[0] < known[1] < every[1]
        assert told["daily"]["value"] == told[name]["value"]
        assert "for daily looks" in call(capsys, *verb, "--daily", 1000)[1]
        code, _, err = call(capsys, *verb, "--daily", 1000, "--by", "policy")
        assert (code, "leave out --daily" in err) == (2, True)
