"""Remedies in messages: Python at the library's door, flags at the command line's, and whole after a pickle."""

import copy
import pickle
from datetime import timedelta

import pytest

import appletaste as at
from appletaste._files import check_folder
from appletaste.cli.options import as_flags
from appletaste.errors import DataError, InputError, Message, OptionError, Remedy, worded

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
ODD = "column 'a' is {0}: drop=['b'], time="  # what a user wrote is no remedy, whatever it looks like


@pytest.mark.parametrize(
    ("remedy", "python", "flags"),
    [
        (Remedy("time"), "time=", "--time"),
        (Remedy("positive", "yes"), "positive='yes'", "--positive yes"),
        (Remedy("positive", "not ok"), "positive='not ok'", "--positive 'not ok'"),
        (Remedy("drop", ["age"]), "drop=['age']", "--drop age"),
        (Remedy("categories", ["a", "it's"]), """categories=['a', "it's"]""", """--category a --category 'it'"'"'s'"""),
        (Remedy("shuffles", 0), "shuffles=0", "--shuffles 0"),
        (Remedy("flip_label", True), "flip_label=True", "--flip-label True"),
        (Remedy("order", "as is"), "order='as is'", "--order as-is"),
        (Remedy("folder"), "folder=", "--out"),
    ],
)
def test_one_remedy_two_doors(remedy, python, flags):
    told = Message(f"{ODD}; ", remedy, "; else wait")
    assert told == f"{ODD}; {python}; else wait"
    assert as_flags(told) == f"{ODD}; {flags}; else wait"


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_an_error_keeps_its_remedies_on_the_way_from_a_worker(again):
    error = DataError(Message("leave it out: ", Remedy("drop", ["age"])))
    back = again(error)
    assert type(back) is DataError
    assert str(back) == "leave it out: drop=['age']"
    assert as_flags(back) == "leave it out: --drop age"
    assert as_flags(again(error.args[0])) == "leave it out: --drop age"


def test_what_has_no_remedy_is_said_as_it_is():
    assert as_flags("drop=['age']") == "drop=['age']"
    assert as_flags(InputError("drop=['age']")) == "drop=['age']"
    assert as_flags(at.errors.MissingExtraError("drawing", "plot")) == str(
        at.errors.MissingExtraError("drawing", "plot")
    )
    assert worded(OptionError(), str) == ""


def refused(call, *arguments, **options):
    with pytest.raises(InputError) as caught:
        call(*arguments, **options)
    return str(caught.value), as_flags(caught.value)


def test_the_library_words_python_and_the_same_error_words_flags(tmp_path):
    """Every message with a remedy in it, as the library raises it."""
    (tmp_path / "mine.txt").write_text("keep me")
    numbers = [float(k) for k in range(60)]
    bad = [0, 1] * 30
    timed = {"x": numbers, "day": numbers, "bad": bad}
    cases = [
        (refused(check_folder, tmp_path, "report.json"), "with folder=", "with --out"),
        (refused(at.read_records, {"x": [1, 2, 3], "bad": [0, 1, 2]}, label="bad"), "with label=", "with --label"),
        (refused(at.read_records, {"x": [1, 2], "bad": ["a", "b"]}, label="bad"), "positive='a'", "--positive a"),
        (
            refused(at.read_records, {"x": [1, 2], "bad": ["a", "b"]}, label="bad", positive="c"),
            "is positive='c'; its values",
            "is --positive c; its values",
        ),
        (
            refused(at.read_records, {"x": [*map(str, range(60)), "old"]}),
            "add it with missing=; if the column is a category, categories=['x']; else",
            "add it with --missing; if the column is a category, --category x; else",
        ),
        (
            refused(at.read_records, {"x": ["1", "old"]}, numbers=["x"]),
            "add it with missing=; if the column is a category, categories=['x']; else",
            "add it with --missing; if the column is a category, --category x; else",
        ),
        (refused(at.read_records, {"x": ["30,5", "40"]}), "categories=['x']", "--category x"),
        (refused(at.read_records, {"x": [timedelta(1), timedelta(2)]}), "drop=['x']", "--drop x"),
        (
            refused(at.replay, timed, "bad", costs=COSTS, time="day", shuffles=3),
            "time='day' plays the table in one order; leave out shuffles=3",
            "--time day plays the table in one order; leave out --shuffles 3",
        ),
        (
            refused(at.replay, timed, "bad", costs=COSTS, order="as is", shuffles=3),
            "order='as is' plays",
            "--order as-is plays",
        ),
        (refused(at.replay, timed, "bad", costs=COSTS, capacity="5/day"), "with time=", "with --time"),
    ]
    for (told, typed), python, flags in cases:
        assert python in told
        assert flags in typed
        assert python not in typed


def test_notes_of_a_replay_name_their_remedies():
    table = {"x": [float(k % 7) for k in range(400)], "bad": [int(k >= 200 or k % 9 == 0) for k in range(400)]}
    table["remark"] = [f"call no. {k}" for k in range(400)]
    result = at.replay(table, "bad", costs=COSTS, shuffles=1, policies=["never"])
    assert [python in " ".join(result.notes) for python in ("order='as is'", "drop=['remark']")] == [True, True]
    typed = " ".join(map(as_flags, result.notes))
    assert [flag in typed for flag in ("--order as-is", "--drop remark")] == [True, True]
    assert "note: column 'remark'" in str(result)
