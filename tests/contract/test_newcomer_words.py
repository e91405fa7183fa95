"""Settings that a newcomer got wrong are refused in the words that a user would use."""

import argparse
import ast
import errno
import os
import re
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import build_parser, main
from appletaste.errors import DataError, InputError, OptionError, PositiveClassWarning

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
TABLE = {"x": [float(k) for k in range(50)], "bad": [k % 3 == 0 for k in range(50)]}
SHEET = at.Costs(**COSTS)


# ---- settings and words


def test_no_shuffles_is_refused_with_the_word_for_it(tmp_path, capsys):
    with pytest.raises(OptionError, match="order='as is'"):
        at.replay(TABLE, "bad", costs=COSTS, shuffles=0)
    path = tmp_path / "t.csv"
    path.write_text("x,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    given = ["replay", str(path), "--label", "bad", "--jobs", "1"]
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--shuffles", "0"]) == 2
    assert "--order as-is" in capsys.readouterr().err
    for order in ("as_is", "as-is", "as is"):
        assert main([*given, "--costs", "miss=5, false_alarm = 1, hit=0", "--order", order]) == 0
    capsys.readouterr()
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--order", "asis"]) == 2
    assert "there are --order shuffled and --order as-is, got 'asis'" in capsys.readouterr().err
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--drop", "bad"]) == 2
    assert "both the label and a column to leave out: take it out of --drop" in capsys.readouterr().err


def test_a_mistyped_separator_and_a_column_of_two_kinds_are_told_as_flags(tmp_path, capsys):
    path, store = tmp_path / "t.csv", str(tmp_path / "d.db")
    path.write_text("case,x,bad\n" + "".join(f"{k},{k},{k % 2}\n" for k in range(60)))
    sheet = ("--costs", "miss=5,false_alarm=1,hit=0")
    verbs = (
        ("look", str(path)),
        ("replay", str(path), *sheet),
        ("stream", "create", store, "--history", str(path), *sheet),
    )
    for words in verbs:
        assert main([*words, "--label", "bad", "--separator", "ab"]) == 2
        assert capsys.readouterr().err.startswith("appletaste: --separator is one character")
        assert main([*words, "--label", "bad", "--number", "x", "--category", "x"]) == 2
        assert "take the column out of --number or --category" in capsys.readouterr().err
    assert main(["stream", "create", store, "--history", str(path), *sheet, "--label", "bad", "--id", "case"]) == 0
    for verb in ("decide", "label"):
        assert main([verb, store, str(path), "--separator", "ab"]) == 2
        assert "--separator is one character" in capsys.readouterr().err


def test_a_column_that_is_left_out_is_no_number_and_no_category(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("case,x,bad\n" + "".join(f"{k},{k},{k % 2}\n" for k in range(60)))
    for flag, kind in (("--number", "number"), ("--category", "category")):
        assert main(["look", str(path), "--label", "bad", "--drop", "x", flag, "x"]) == 2
        told = f"column 'x' cannot be both left out and a {kind}: take the column out of --drop or {flag}"
        assert told in capsys.readouterr().err
    with pytest.raises(
        OptionError, match=r"out of drop=\[\.\.\.\] or categories=|out of drop or categories|drop.*categories"
    ):
        at.read_records(path, drop=["x"], categories=["x"])
    assert (
        main(["replay", str(path), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--encoder", "many=3"])
        == 2
    )
    assert "many must be true or false, got 3" in capsys.readouterr().err


def test_a_pipe_is_refused_in_words(tmp_path, capsys):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    assert main(["look", str(pipe), "--label", "bad"]) == 2
    assert "pipe.csv is a pipe, which can be read once only" in capsys.readouterr().err


def test_the_word_of_sqlite_for_memory_makes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = at.policy(n_features=2, costs=SHEET)
    with pytest.raises(InputError, match="a store in memory is 'memory'"):
        at.Stream.create(":memory:", "s", policy, audit="0")
    assert list(tmp_path.iterdir()) == []
    at.Stream.create("memory", "s", policy, audit="0").close()
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_use_speaks_of_lost_keys_to_whoever_makes_keys_alone(tmp_path, capsys):
    store, new = str(tmp_path / "shop.db"), tmp_path / "new.csv"
    policy = at.policy(n_features=2, costs=SHEET)
    new.write_text("id,x\na,1\n")
    with at.Stream.create(store, "s", policy, audit="0"):
        for words, lost in (
            (["keys", "create", "ann", "--store", store, "--role", "lead"], True),
            (["decide", store, str(new)], False),
        ):
            assert main(words) == 3
            told = capsys.readouterr().err
            assert "Ask the service" in told
            assert ("the last admin key is lost" in told) is lost


def live_store(folder):
    """Make a store from a history of cases with a time, two numbers and a label."""
    path, store = folder / "past.csv", str(folder / "shop.db")
    rows = (f"C{k},2024-05-{1 + k % 28:02d},{k},{k % 7},{k % 2}\n" for k in range(60))
    path.write_text("case,came,x,y,bad\n" + "".join(rows))
    words = ["--label", "bad", "--id", "case", "--time", "came", "--costs", "miss=5,false_alarm=1,hit=0"]
    assert main(["stream", "create", store, "--history", str(path), *words]) == 0
    return store


def test_a_date_far_ahead_is_refused_before_anything_is_decided(tmp_path, capsys):
    store, new = live_store(tmp_path), tmp_path / "new.csv"
    for date in ("2999-01-01", "2999-01-01T00:00:00+02:00"):
        new.write_text(f"case,came,x,y\nN1,2024-06-01,1,1\nN2,{date},1,1\n")
        capsys.readouterr()
        assert main(["decide", store, str(new)]) == 2
        assert f"new.csv, line 3: {date} is more than a day ahead of the clock" in capsys.readouterr().err
    new.write_text("case,came,x,y\nN1,2024-06-01,1,1\n")
    assert main(["decide", store, str(new)]) == 0
    assert "1 item decided" in capsys.readouterr().out


def commands_in_messages():
    """Return the commands that texts of the package name, with X for what is filled in."""
    found = []
    for path in sorted(Path(at.__file__).parent.rglob("*.py")):
        tree = ast.parse(path.read_text())
        formatted = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        parts = {id(part) for node in formatted for part in node.values}
        texts = ["".join(p.value if isinstance(p, ast.Constant) else "X" for p in node.values) for node in formatted]
        texts += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts
        ]
        found += [
            (path.name, words.split()) for text in texts for words in re.findall(r"'appletaste ([a-z][^']*)'", text)
        ]
    return found


def strange_words(words):
    """Return the verbs and options of a command that there are not, and the words behind that it has no place for."""
    parser, rest = build_parser(), list(words)
    while verbs := [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]:
        if not rest or rest[0] not in verbs[0].choices:
            return rest[:1]
        parser = verbs[0].choices[rest.pop(0)]
    strange, places, words = [], sum(not action.option_strings for action in parser._actions), iter(rest)
    for word in words:
        if word.startswith("--"):
            action = parser._option_string_actions.get(word)
            strange += [] if action else [word]
            if action and action.nargs != 0:
                next(words, None)
        elif word != "...":
            places -= 1
            strange += [word] if places < 0 else []
    return strange


def test_commands_that_messages_name_are_there():
    found = commands_in_messages()
    assert len(found) > 15
    assert [(name, words) for name, words in found if strange_words(words)] == []
    for wrong in ("stream export NAME --store X --out log.parquet", "desk create", "keys list X"):  # the control
        assert strange_words(wrong.split())


def test_a_store_where_a_log_or_a_policy_is_wanted(tmp_path):
    store = live_store(tmp_path)
    for read in (at.load, at.missed, at.DecisionLog.read):
        with pytest.raises(
            DataError, match=r"is a store of streams.*stream export \S+ --stream NAME --out log\.parquet"
        ):
            read(store)


def test_a_column_whose_values_come_again_and_again_is_no_id(tmp_path, capsys):
    path, store = tmp_path / "past.csv", tmp_path / "shop.db"
    path.write_text(
        "case;country;bad\n" + "".join(f"C{k};{'DE' if k % 2 else 'FR'};{k % 3 == 0:d}\n" for k in range(60))
    )
    words = ["--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--separator", ";"]
    assert main(["stream", "create", str(store), "--history", str(path), *words, "--id", "country"]) == 2
    told = "column 'country' has 2 values in 60 rows, and an id is one for each item: name another column with --id"
    assert told in capsys.readouterr().err
    assert not store.exists()
    assert main(["stream", "create", str(store), "--history", str(path), *words, "--id", "case"]) == 0


def test_all_columns_that_are_lacking_are_named_at_once(tmp_path, capsys):
    store, new = live_store(tmp_path), tmp_path / "new.csv"
    new.write_text("case,came\nN1,2024-06-01\n")
    capsys.readouterr()
    assert main(["decide", store, str(new)]) == 2
    assert "new.csv lacks 2 columns that are needed: 'x', 'y'. Its columns: case, came" in capsys.readouterr().err
    new.write_text("case,came,xx,y\nN1,2024-06-01,1,2\n")
    assert main(["decide", store, str(new)]) == 2
    assert "new.csv has no column 'x'" in capsys.readouterr().err


def test_files_where_folders_are_written_and_files_that_are_not_there(tmp_path, capsys):
    store, log, taken = live_store(tmp_path), tmp_path / "log.jsonl", tmp_path / "taken"
    taken.write_text("mine")
    new = tmp_path / "new.csv"
    new.write_text("case,came,x,y\nN1,2024-06-01,1,1\n")
    assert main(["decide", store, str(new)]) == 0
    assert main(["stream", "export", store, "--out", str(log)]) == 0
    capsys.readouterr()
    assert main(["report", str(log), "--out", str(taken)]) == 2
    assert "taken is a file, and a folder is written: name a new folder with --out" in capsys.readouterr().err
    assert taken.read_text() == "mine"
    assert main(["stream", "import", str(tmp_path / "other.db"), str(tmp_path / "nofile.stream")]) == 2
    assert "there is no file" in capsys.readouterr().err
    assert not (tmp_path / "other.db").exists()
    for wrong in ("0", "-5", "nan", "many"):
        with pytest.raises(SystemExit, match="2"):
            main(["missed", str(log), f"--daily={wrong}"])
        assert "a number of decisions above 0 is expected" in capsys.readouterr().err


def test_one_event_verifies_and_several_verify():
    with at.Stream.create("memory", "s", at.policy(n_features=2, costs=SHEET), audit="0") as stream:
        assert str(stream.verify()) == "1 event verifies: 0 decisions, 0 labels, 0 snapshots, bit for bit"
        stream.decide([1.0, 2.0], id="a")
        assert str(stream.verify()).startswith("2 events verify: 1 decision, 0 labels")


@pytest.mark.parametrize(("text", "line"), [("a,b\n1,x\n2,x\0y\n3,z\n", 3), ("a,b\0\n1,x\n", 1)])
def test_a_nul_byte_is_refused_with_its_line(tmp_path, text, line):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"t\.csv, line {line}: a NUL byte"):
        at.read_records(path)


def test_a_json_array_is_said_to_be_one(tmp_path):
    for name in ("t.json", "t.jsonl", "t.csv"):
        path = tmp_path / name
        path.write_text('[{"a": 1, "b": 2},\n {"a": 2, "b": 1}]\n')
        with pytest.raises(DataError, match=r"is a JSON array: write one object a line.*\.jsonl"):
            at.read_records(path)


def test_labels_that_do_not_say_which_is_positive():
    with pytest.raises(DataError, match=r"positive='good' or positive='bad'$"):
        at.read_records({"x": [1, 2], "y": ["good", "bad"]}, label="y")
    countries = ["GB", "DE", "AT", "FR", "IT", "ES", "PL", "NL"] * 5
    with pytest.raises(DataError, match=r"has 8 values, 'GB', .* and 2 more\. A label has two.*label=") as told:
        at.read_records({"x": range(40), "y": countries}, label="y")
    assert "leave out" not in str(told.value)


def test_costs_may_be_a_dict():
    assert at.policy(n_features=2, costs=COSTS).costs == SHEET
    for wrong in ({"miss": 5}, {**COSTS, "mis": 3}, 3, None):
        with pytest.raises(InputError, match="miss, false_alarm, hit and, if not 0, correct_pass"):
            at.policy(n_features=2, costs=wrong)
        with pytest.raises(InputError, match="miss, false_alarm, hit"):
            at.replay(TABLE, "bad", costs=wrong)


def test_words_of_the_command_line_name_no_python_and_count_one_shuffle(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("x,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    given = ["replay", str(path), "--label", "bad", "--jobs", "1", "--policy", "never", "--shuffles", "1"]
    for costs in ("miss=5,false_alarm=1,hit=6", "miss=5,false_alarm=1,hit=0,correct_pass=2"):
        assert main([*given, "--costs", costs]) == 2
        told = capsys.readouterr().err
        assert "never pays: need" in told
        assert "Costs" not in told
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0"]) == 0
    told = capsys.readouterr().out
    assert "1 shuffle," in told or "1 shuffle\n" in told
    assert "1 shuffles" not in told


def test_a_refusal_shows_the_digits_that_matter():
    from appletaste.evaluate.what_if import _above

    assert _above(0.0504, 0.05) == "5.04%"
    assert _above(0.0500001, 0.05) == "5.00001%"
    assert _above(0.31, 0.05) == "31%"


def test_a_full_disk_names_the_file_and_the_table_is_not_lost(tmp_path, capsys, monkeypatch):
    path, log = tmp_path / "t.csv", tmp_path / "log.jsonl"
    path.write_text("x,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("appletaste._files.os.fsync", full)
    given = ["replay", str(path), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--jobs", "1"]
    assert main([*given, "--shuffles", "1", "--log", str(log)]) == 2
    told = capsys.readouterr()
    assert "cost/1000" in told.out
    assert f"cannot read or write {log}: No space left on device" in told.err
    assert "are in" not in told.out
    assert list(tmp_path.iterdir()) == [path]


def test_compiling_is_announced_once_for_all_processes(monkeypatch, capsys):
    from appletaste.kernels import _jit

    monkeypatch.setenv(_jit.ANNOUNCED, "another cache")
    monkeypatch.setattr(_jit, "is_cached", lambda kernel: False)
    for seen in (set(), set()):  # the second: another process, which has looked at nothing and inherits the environment
        monkeypatch.setattr(_jit, "_looked_up", seen)
        for kernel in (test_costs_may_be_a_dict, test_a_json_array_is_said_to_be_one):
            _jit.announce_compilation(kernel)
    assert capsys.readouterr().err.count("compiling its kernels") == 1


# ---- the positive class of a classifier


def test_the_positive_class_is_named_or_warned_about():
    pytest.importorskip("sklearn")
    from appletaste.adapters.sklearn import PosteriorClassifier

    x = np.linspace(-2, 2, 60)[:, None]
    quality = np.where(x[:, 0] > 0.5, "bad", "good")
    costs = at.Costs(miss=9, false_alarm=1, hit=0)
    with pytest.warns(PositiveClassWarning, match="'good' was picked by the alphabet.*pos_label='bad' or"):
        PosteriorClassifier(costs=costs).fit(x, quality)
    with pytest.warns(PositiveClassWarning):
        PosteriorClassifier(costs=costs).partial_fit(x, quality, classes=["bad", "good"])
    bad, good = (PosteriorClassifier(costs=costs, pos_label=name).fit(x, quality) for name in ("bad", "good"))
    flagged = bad.predict(x) == "bad"
    assert flagged.sum() > (quality == "bad").sum() > (good.predict(x) == "bad").sum()  # a miss is dear
    numbers = PosteriorClassifier(costs=costs).fit(x, (quality == "bad").astype(int))
    np.testing.assert_array_equal(flagged, numbers.predict(x) == 1)
    np.testing.assert_allclose(bad.predict_proba(x)[:, 0], numbers.predict_proba(x)[:, 1])
    np.testing.assert_allclose(bad.decision_function(x), -numbers.decision_function(x))
    PosteriorClassifier().fit(x, quality)  # without costs nothing depends on it
    PosteriorClassifier(costs=costs).fit(x, np.where(quality == "bad", "Yes", "No"))  # says it by itself
    with pytest.raises(InputError, match=r"pos_label is one of the classes, \['bad', 'good'\], got 'worse'"):
        PosteriorClassifier(pos_label="worse").fit(x, quality)


def test_missing_labels_of_a_frame_are_not_known():
    pandas = pytest.importorskip("pandas")
    costs = {"miss": [5.0] * 3, "false_alarm": [1.0] * 3, "hit": [0.0] * 3}
    for dtype in ("float64", "Int64", "boolean", object):
        labels = pandas.Series([1, None, 0], dtype=dtype)
        frame = pandas.DataFrame(
            {"id": [1, 2, 3], "act": [1, 1, 1], "probability": [0.5] * 3, "label": labels, **costs}
        )
        assert at.DecisionLog.from_columns(frame).label.tolist() == [1, -1, 0]


def test_always_misses_nothing_whether_labels_have_arrived_or_not():
    table = at.problem("i", rounds=30).draw(at.Key(1))
    log = at.play(at.policy("always", n_features=5, costs=table.costs), table)
    waiting = log.unchecked(label=np.full(30, -1, dtype=np.int8))
    for one in (log, waiting):
        found = at.missed(one)
        for answer in (found.design.missed, found.design.missed_hajek, found.model, found.money.cost):
            assert (answer.value, answer.low, answer.high) == (0.0, 0.0, 0.0)
        assert found.total_bounds == (0.0, 0.0)
        assert "no answer" not in str(found) or one is waiting
    assert at.missed(log).design.recall.value == 1.0
    assert "no positive has been seen" in at.missed(waiting).design.recall.reason


def test_an_audit_plan_leaves_out_what_came_before_the_first_label(tmp_path, capsys):
    table = at.problem("i").draw(at.Key(1))
    settings = {"costs": table.costs, "shuffles": 1, "delay": 50, "capacity": "10%", "audit": "2%"}
    log = at.replay(table.items, table.labels, log="voi", **settings).log
    blank = np.abs(log.chance - 0.5) < 1e-9
    assert (blank & ~log.act).sum() > 10
    plan = at.plan_audit(log)
    assert plan.left_out_early == blank.sum()
    assert sum(plan.items) == (~blank & ~log.act).sum()
    log.write(tmp_path / "log.jsonl")
    assert main(["plan-audit", str(tmp_path / "log.jsonl")]) == 0
    assert f"{blank.sum()} early decisions are excluded: no label had arrived" in capsys.readouterr().out


def test_a_share_may_be_a_number():
    asked = {"costs": COSTS, "shuffles": 1, "policies": ["voi"]}
    as_text = at.replay(TABLE, "bad", audit="10%", capacity="20%", **asked)
    as_number = at.replay(TABLE, "bad", audit=0.1, capacity=0.2, **asked)
    assert (as_text["voi"].costs_per_1000 == as_number["voi"].costs_per_1000).all()
    for wrong in (True, [0.1], 1.5):
        with pytest.raises(OptionError, match=r"audit is (auto, 0 or )?a share such as"):
            at.replay(TABLE, "bad", audit=wrong, **asked)
