"""Labels of passes are carried alike by a replay, a stream, its log in files and the command line, and told alike."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
PLAYED = {"order": "as-is", "time": "day", "log": "voi", "audit": "12%", "seed": 3}


@pytest.fixture(scope="module")
def table():
    """Four hundred days of orders; some frauds that were passed come back as chargebacks weeks later."""
    rng, n = np.random.default_rng(2), 4000
    day, x = np.sort(rng.uniform(0, 400, n)).round(3), rng.normal(size=n).round(3)
    fraud = (rng.random(n) < 1 / (1 + np.exp(3.0 - x))).astype(int)
    back = np.where(rng.random(n) < np.where(fraud == 1, 0.7, 0.01), day + rng.exponential(10.0, n), np.nan)
    return {"day": day, "x": x, "fraud": fraud, "chargeback": [None if one != one else round(one, 3) for one in back]}


@pytest.fixture(scope="module")
def played(table):
    return at.replay(table, "fraud", costs=COSTS, report_time="chargeback", time_unit="day", **PLAYED).log


def test_a_replay_carries_what_is_reported_of_passed_items(table, played):
    chargeback = np.array([np.inf if one is None else one for one in table["chargeback"]])
    day = 86400.0
    there = ~played.act & (chargeback <= table["day"][-1])
    assert there.sum() > 50
    np.testing.assert_array_equal(played.report, np.where(there, table["fraud"], -1))
    np.testing.assert_allclose(played.report_time[there], day * chargeback[there])
    assert played.x.shape[1] == at.replay(
        {name: column for name, column in table.items() if name != "chargeback"},
        "fraud", costs=COSTS, time_unit="day", **PLAYED,
    ).log.x.shape[1]  # when an item is reported is no feature  # fmt: skip
    with pytest.raises(at.errors.OptionError, match="is for the decision log"):
        at.replay(table, "fraud", costs=COSTS, report_time="chargeback", time="day")
    with pytest.raises(at.errors.OptionError, match="name the column of times"):
        at.replay(table, "fraud", costs=COSTS, report_time="chargeback", log="voi", drop=["day"])


def test_the_command_line_says_the_same(table, played, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = zip(*table.values(), strict=True)
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (tmp_path / "orders.csv").write_text("\n".join([",".join(table), *lines]) + "\n")
    command = "replay orders.csv --label fraud --costs miss=5,false_alarm=1,hit=0 --time day --time-unit day"
    asked = [*command.split(), "--report-time", "chargeback", "--audit", "12%", "--seed", "3", "--jobs", "1"]
    assert main([*asked, "--log", "log.jsonl"]) == 0
    log = at.DecisionLog.read("log.jsonl")
    for name in ("act", "probability", "report", "report_time"):
        np.testing.assert_array_equal(getattr(log, name), getattr(played, name), err_msg=name)
    since = 86400.0 * 370
    capsys.readouterr()
    assert main(["missed", "log.jsonl", "--since", str(since), "--json", "--jobs", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["with_reports"] == json.loads(json.dumps(at.missed(log, since=since).as_dict()))["with_reports"]
    assert told["with_reports"]["share"] > 0.3
    assert main(["missed", "log.jsonl", "--since", str(since), "--jobs", "1"]) == 0
    assert "reports carry" in capsys.readouterr().out
    assert main(["missed", "log.jsonl", "--since", "June", "--jobs", "1"]) == 2
    assert "give a number" in capsys.readouterr().err
    assert main([*asked[:-2], "--jobs", "1"]) == 2
    assert "--log" in capsys.readouterr().err


def test_a_stream_of_the_same_items_has_the_same_log_and_answer(played):
    times = played.time
    stream = at.Stream.create("memory", "orders", at.policy("always", n_features=1, costs=at.Costs(**COSTS)), seed=1)
    with stream.group():
        for k in np.flatnonzero(~played.act)[:300].tolist():
            stream.decide([1.0], id=str(k), time=float(times[k]))
            stream.enacted(str(k), False, "ann", time=float(times[k]))
            if played.report[k] >= 0:
                stream.label(str(k), int(played.report[k]), time=float(played.report_time[k]))
    log, rows = stream.log(), np.flatnonzero(~played.act)[:300]
    np.testing.assert_array_equal(log.report, played.report[rows])
    np.testing.assert_array_equal(log.report_time, played.report_time[rows])


def test_the_report_of_a_month_uses_a_long_past(played):
    from appletaste.reports import gather

    dates = np.datetime64("2024-01-01T00:00:00") + played.time.astype("timedelta64[s]")
    told = np.where(played.report >= 0, played.report_time, 0.0).astype("timedelta64[s]")
    texts = np.where(played.report >= 0, (np.datetime64("2024-01-01T00:00:00") + told).astype(str), "")
    log = played.unchecked(time=dates.astype(str), report_time=texts, label_time=None)
    facts = gather(log, first_day="2025-01-01", last_day="2025-01-31")
    found = at.missed(log, since="2025-01-01", until="2025-01-31")
    assert facts.missed.with_reports.missed == found.with_reports.missed
    assert facts.whole.missed == found.with_reports.money
    assert facts.whole.recall == found.with_reports.recall
    from appletaste.reports.sections import in_short, missing

    said = " ".join([*missing(facts).sentences, *in_short(facts).sentences])
    assert "By audits and reports together" in said
    assert "reports carry" in said
