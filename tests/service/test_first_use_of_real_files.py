"""First use of real files, in the order of their time: bookings of a hotel, and calls of a bank."""

import csv
import gzip
import os
from pathlib import Path

import pytest

from appletaste.service.review.first_use import Played, Prices, look_at, play

DATA = Path(os.environ.get("APPLETASTE_DATA", Path(__file__).parents[3] / "shared" / "data"))
ROWS = 3000


def file_of(name, tmp_path):
    """Return the first rows of a data set as a CSV, or skip the test."""
    source = DATA / f"{name}.csv.gz"
    if not source.exists():
        pytest.skip(f"there is no {source.name}: it is no part of the package")
    with gzip.open(source, "rt", newline="") as given:
        rows = [row for row, _ in zip(csv.reader(given), range(ROWS + 1), strict=False)]
    path = tmp_path / f"{name}.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.data
def test_hotel_bookings_in_the_order_of_their_time(tmp_path):
    path = file_of("hotel_inn", tmp_path)
    told = look_at("f", path)
    columns = {column.name: column for column in told.columns}
    assert (told.suggested.label, told.suggested.time) == ("cancelled", "booked_on")
    assert all(column.samples for column in told.columns)
    assert any(finding.startswith("DATE_AFTER") for finding in columns["settled_on"].findings)
    asked = Played(
        label="cancelled", positive="Canceled", time="booked_on", label_time="settled_on", categories=["arrival_date"],
        costs=Prices(miss=60.0, false_alarm=12.0, hit=4.0),
    )  # fmt: skip
    found = play(path, asked)
    assert "in the order of time" in found.title
    own = next(row for row in found.rows if row.name == "voi")
    constants = {row.name: row.cost_per_1000 for row in found.rows if row.name in ("never", "always")}
    gain = min(constants.values()) - own.cost_per_1000  # what the page puts first: against the better constant
    assert gain == pytest.approx(min(own.saved_against_never, own.saved_against_always), abs=1e-6)


@pytest.mark.data
def test_calls_of_a_bank_without_a_time_are_played_in_several_orders(tmp_path):
    path = file_of("bank_marketing", tmp_path)
    told = look_at("f", path)
    assert (told.suggested.label, told.suggested.time) == ("label", None)
    asked = Played(label="label", costs=Prices(miss=20.0, false_alarm=4.0, hit=-8.0))
    found = play(path, asked)
    assert "in the order of time" not in found.title
    assert {"never", "always", "voi"} <= {row.name for row in found.rows}
