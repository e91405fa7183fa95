"""The label column: two values, one of them positive; anything else is said, with its line and a remedy."""

import warnings

import pytest

import appletaste as at


def read(values, **options):
    return at.read_records({"x": list(range(len(values))), "label": values}, label="label", **options)


@pytest.mark.parametrize(
    "values",
    [
        *([0, 1, 1], ["0", "1", "1"], [0.0, 1.0, 1.0], ["0.0", "1.0", "1.0"]),
        *([False, True, True], ["f", "t", "T"], ["No", "yes", "YES"], ["n", "y", "y"]),
    ],
)
def test_values_that_say_which_is_which(values):
    records = read(values)
    assert records.labels.tolist() == [0, 1, 1]
    assert list(records.columns) == ["x"]


def test_two_values_of_ones_own_need_the_positive_one():
    assert read(["bad", "good", "good"], positive="good").labels.tolist() == [0, 1, 1]
    assert read([2, 1, 2], positive=2).labels.tolist() == [1, 0, 1]
    assert read([0, 1], positive=0).labels.tolist() == [1, 0]  # said aloud, it may be the other way round
    with pytest.raises(at.errors.DataError, match=r"holds 'bad' and 'good'.*positive='bad'"):
        read(["bad", "good"])
    with pytest.raises(
        at.errors.DataError, match=r"no label in column 'label' is positive='Good'; its values are 'bad' and 'good'"
    ):
        read(["bad", "good"], positive="Good")
    with pytest.raises(at.errors.DataError, match=r"positive='Bad'"):
        read(["Bad", "Good"])  # what it proposes can be typed
    with pytest.raises(at.errors.DataError, match=r"holds '0' and 'yes'"):
        read(["0", "yes"])


def test_a_third_value_is_named_with_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n1,0\n2,2\n3,1\n4,1\n")
    with pytest.raises(
        at.errors.DataError, match=r"a\.csv, line 3: label '2' in column 'label', besides '0', '1'.*1 row\(s\)"
    ):
        at.read_records(path, label="label")
    with pytest.raises(at.errors.DataError, match=r"row 1: label 'Maybe'"):
        read(["Yes", "Maybe", "No"])
    with pytest.raises(at.errors.DataError, match=r"row 2: label 'C'"):
        read(["A", "B", "C", "B", "A"], positive="A")
    with pytest.raises(at.errors.DataError, match=r"row 3: label 'maybe'"):
        read(["good", "bad", "bad", "maybe", "good"], positive="good")


def test_a_missing_label_is_never_filled_in(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,label\n1,0\n2,\n3,1\n")
    with pytest.raises(at.errors.DataError, match=r"line 3: no label in column 'label' \(got ''\)"):
        at.read_records(path, label="label")


def test_one_class_warns():
    with pytest.warns(at.errors.OneClassWarning, match="every label of the table is '0'"):
        read([0, 0])
    with pytest.warns(at.errors.OneClassWarning, match="every label of the table is 'no'"):
        assert read(["no", "no"], positive="fraud").labels.tolist() == [0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read([0, 1])
