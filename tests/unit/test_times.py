"""Dates are read in one place: one by one and a column at once give the same numbers, and the same refusals."""

import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from appletaste import times
from appletaste.errors import InputError
from appletaste.times import instant, instants, span, written

#: How the time of a date may be written; each makes a column of one form.
FORMS = (
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S+05:30",
    "%Y-%m-%d %H:%M:%S.%f-11:45",
    "%Y%m%d",
    "%Y-%m-%dT%H",
    "%Y-%m-%dx%H:%M:%S",
)
#: What looks like a date and is one for nobody, for NumPy alone or for Python alone.
ODD = (
    "2024-04-31", "2023-02-29", "0000-05-31", "2024-13-01", "NaT", "now", "", "2024", "2024-05", "2024-W22-5",
    "2024-05-31T24:00", "2024-05-31T23:60", "2024-05-31T12:00:60", "2024-05-31T12:00+24:00", "2024-05-31T12:00+02:60",
    "2024-05-31T12:00:00.1234567", "2024-05-31T12:00:00,5", "2024-05-31\n2024-05-31", "２０２４-05-31", " 2024-05-31",
    "2024-05-31T12:00:00+02:00:30", "2024-05-3", "12024-05-31", "9999-12-31T23:59:59.999999", "0001-01-01T00:00+02:00",
    "2024-05-3\u0131",  # a letter whose last byte is that of a digit
)  # fmt: skip


def one_by_one(texts, wall_clock=False):
    found = []
    for text in texts:
        try:
            moment = datetime.fromisoformat(text)
        except (TypeError, ValueError):
            found.append(math.nan)
            continue
        found.append((moment if moment.tzinfo and not wall_clock else moment.replace(tzinfo=UTC)).timestamp())
    return found


def both(texts, wall_clock=False):
    """A column of objects and one of NumPy's own text, where the texts are all text."""
    columns = [np.array([*texts, None], dtype=object)[:-1]]
    if texts and all(isinstance(text, str) for text in texts):
        columns.append(np.array(texts))
    return [instants(column, wall_clock=wall_clock) for column in columns]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wall_clock", [False, True])
@given(moments=st.lists(st.datetimes(min_value=datetime(1000, 1, 1)), min_size=1, max_size=8))
@example(moments=[datetime(2024, 2, 29, 23, 59, 59, 999999), datetime(1969, 12, 31, 23, 59, 59, 1)])
def test_a_column_of_one_form_is_read_as_its_dates_are(form, wall_clock, moments):
    texts = [moment.strftime(form) for moment in moments]
    for found in both(texts, wall_clock):
        np.testing.assert_array_equal(found, one_by_one(texts, wall_clock))


@given(st.lists(st.sampled_from(ODD) | st.text("0123456789-T:+Z. ", max_size=12), max_size=4))
@example(["2024-05-3", "12024-05-31"])  # in a row they are as long as two dates
@example(["2024-05-31", "2024-05-31\n2024-05-31", ""])
def test_what_is_no_date_is_no_date_in_a_column(texts):
    for found in both(texts):
        np.testing.assert_array_equal(found, one_by_one(texts))


@pytest.mark.parametrize("odd", [*ODD, None, 7.0])
def test_one_odd_text_among_dates_is_told_from_them(odd):
    texts = ["2024-05-31", "2024-06-01", odd, "2024-06-02"]
    for found in both(texts):
        np.testing.assert_array_equal(found, one_by_one(texts))
        np.testing.assert_array_equal(found[[0, 1, 3]], [1717113600.0, 1717200000.0, 1717286400.0])
    for alone in both([odd]):
        np.testing.assert_array_equal(alone, one_by_one([odd]))


@pytest.mark.parametrize("form", FORMS[:7])
def test_a_column_of_one_form_is_read_at_once(form, monkeypatch):
    """Reading date by date is refused here, so that these columns can only be read whole."""
    texts = [datetime(2024, 5, 31, 12, k, 59, 250000).strftime(form) for k in range(60)]
    right = one_by_one(texts)

    class Refusing:
        def fromisoformat(self, text):
            raise AssertionError(f"{text} was read by itself")

    monkeypatch.setattr(times, "datetime", Refusing())
    for found in both(texts):
        np.testing.assert_array_equal(found, right)
    with pytest.raises(AssertionError, match="by itself"):
        both([*texts, "2024"])


def test_an_empty_column_has_no_times():
    assert instants(np.array([], dtype=object)).dtype == np.float64
    assert len(instants(np.array([], dtype=np.str_))) == 0


def test_columns_in_other_bytes_are_read_too():
    texts = np.array(["2024-05-31T12:00", "2024-06-01T12:00", "2024-06-02T12:00"])
    right = one_by_one(texts.tolist())
    np.testing.assert_array_equal(instants(texts.astype(">U16")), right)
    np.testing.assert_array_equal(instants(texts.astype("U40")), right)
    np.testing.assert_array_equal(instants(texts[::2]), right[::2])


def test_an_instant_is_a_number_or_a_date():
    zone = timezone(timedelta(hours=2))
    assert instant("2024-05-31T14:00:00+02:00") == instant(datetime(2024, 5, 31, 14, tzinfo=zone)) == 1717156800.0
    assert instant(date(2024, 5, 31)) == instant("2024-05-31") == 1717113600.0
    assert instant(np.float32(2.5)) == 2.5
    assert instant(None) is None
    for wrong in ("soon", math.inf, True, [1]):
        with pytest.raises(InputError, match=r"a time is a .*number or a date"):
            instant(wrong)


def test_times_are_written_as_they_can_be_read():
    moment = datetime(2024, 5, 31, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=-3)))
    assert instant(written(moment)) == instant(moment)
    assert (written("2024-05-31"), written(3), written(None)) == ("2024-05-31", 3.0, None)


def test_a_span_is_longer_than_nothing():
    assert span("half_life", timedelta(minutes=2)) == 120.0
    for wrong in (0, -1.0, math.nan, True, "1 day", timedelta(0)):
        with pytest.raises(InputError, match="half_life must be a length of time > 0"):
            span("half_life", wrong)
