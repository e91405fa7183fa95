"""A table before it is played: each finding where it should be, and not where nothing is wrong."""

import json
import math
import re

import numpy as np
import pytest

import appletaste as at
from appletaste.decision import UNKNOWN
from appletaste.errors import Remedy
from appletaste.history import look
from appletaste.history.leaks import ONLINE, Seen, codes, leaks, moving_ranges, rare_at_first
from appletaste.history.separation import disorder, rising, told_apart
from appletaste.streams.requests import read_items
from appletaste.tables import Records

ROWS = 2000
COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def table(seed=1, rows=ROWS, **more):
    """A table with nothing wrong with it: numbers, a category, a label that depends on both."""
    rng = np.random.default_rng(seed)
    age, job = rng.normal(40, 9, rows), rng.choice(["chef", "clerk", "pilot"], rows)
    bad = rng.random(rows) < 1 / (1 + np.exp(-(age - 40) / 9 - (job == "chef")))
    made = {"age": age, "job": job.tolist(), "bad": bad.astype(int)}
    return made | {name: make(rng, made) for name, make in more.items()}


def test_a_table_with_nothing_wrong_with_it():
    found = look(table(), "bad")
    assert found.codes == {}
    assert str(found).endswith("nothing to remark on")
    age, job = found.columns
    assert (age.kind, job.kind, age.distinct, job.distinct, age.missing) == ("number", "category", ROWS, 3, 0)
    assert 0.7 < age.tells < 0.85
    assert 0.5 < job.tells < 0.6
    assert sum(bar.share for bar in age.bars) == pytest.approx(1)
    rates = [bar.rate for bar in age.bars]
    assert rates[0] < 0.3 < 0.7 < rates[-1]
    assert {bar.name for bar in job.bars} == {"chef", "clerk", "pilot"}


@pytest.mark.parametrize(
    ("code", "make"),
    [
        ("LEAK", lambda rng, made: 3 * made["bad"] + 1),
        ("LEAK", lambda rng, made: np.abs(rng.normal(size=ROWS)) * np.where(made["bad"], 1, -1)),  # a threshold
        ("LEAK", lambda rng, made: np.where(made["bad"], rng.choice([-3.0, 3.0], ROWS), 0.0)),  # a two-sided split
        ("LEAK", lambda rng, made: np.where(made["bad"], "settled", "open").tolist()),
        ("LEAK", lambda rng, made: np.where(made["bad"], 1.0, np.nan)),  # there only where it is known
        ("CODE", lambda rng, made: np.where(made["bad"], rng.choice([1, 3, 5], ROWS), rng.choice([2, 4, 5], ROWS))),
        ("CODE", lambda rng, made: [f"{rng.integers(1, 60) * 150:05}" for _ in range(ROWS)]),  # a postcode
        ("CALENDAR", lambda rng, made: 2015 + np.arange(ROWS) // 300),
        ("MOVING_RANGE", lambda rng, made: np.arange(ROWS) + rng.normal(size=ROWS)),
        ("MOVING_RANGE", lambda rng, made: (np.arange(ROWS) > 900).astype(int)),  # constant at first
        ("CONSTANT", lambda rng, made: ["north"] * ROWS),
        ("CONSTANT", lambda rng, made: [None] * ROWS),
        ("NEAR_CONSTANT", lambda rng, made: (np.arange(ROWS) % 400 == 0).astype(int)),
        ("DATE_FORMAT", lambda rng, made: [f"{day}.05.2024" for day in rng.integers(1, 32, ROWS)]),
        ("DATE_FORMAT", lambda rng, made: [f"5/{k % 31 + 1}/2024 {k // 60 % 24}:{k % 60:02}" for k in range(ROWS)]),
        ("IDENTIFIER", lambda rng, made: [f"A{k}" for k in range(ROWS)]),
        ("IDENTIFIER", lambda rng, made: rng.permutation(ROWS) + 10_000),
        ("DUPLICATE", lambda rng, made: 3.0 * made["age"] - 7.0),
        ("DUPLICATE", lambda rng, made: [{"chef": "C", "clerk": "K", "pilot": "P"}[job] for job in made["job"]]),
        ("MISSING", lambda rng, made: np.where(rng.random(ROWS) < 0.7, np.nan, rng.normal(size=ROWS))),
    ],
)
def test_findings(code, make):
    found = look(table(x=make), "bad")
    assert code in found.codes.get("x", [])
    assert set(found.codes) <= {"x"}
    finding = next(one for one in found.findings if one.code == code)
    assert "'x'" in finding.message
    if code != "MISSING":
        named = next(part for part in finding.message.parts if isinstance(part, Remedy) and part != ONLINE)
        first = {"CODE": Remedy("categories", ["x"]), "DATE_FORMAT": Remedy("date_format", "%d.%m.%Y")}
        assert named == first.get(code, Remedy("drop", ["x"]))
        assert (finding.remedy == ONLINE) == (code == "MOVING_RANGE")


def test_cells_that_are_infinite_are_counted(tmp_path):
    made = table(x=lambda rng, made: rng.normal(size=ROWS))
    made["x"][[3, 700, 1100]], made["x"][5] = [np.inf, -np.inf, 1e100], np.nan
    said = r"column 'x' has 3 cells that are infinite or of 1e100 or more, and are read as missing"
    path = tmp_path / "t.csv"
    lines = zip(*(map(str, np.asarray(column).tolist()) for column in made.values()), strict=True)
    path.write_text("\n".join(",".join(row) for row in ([*made], *lines)))
    for source in (made, path, {**made, "x": [10**400 if np.isinf(one) else one for one in made["x"].tolist()]}):
        found = look(source, "bad")
        assert found.codes == {"x": ["INFINITE"]}
        assert re.match(said, found.findings[0].message)
    settings = {"costs": COSTS, "policies": ["never"], "shuffles": 1}
    assert any(re.match(said, note) for note in at.replay(path, "bad", **settings).notes)
    assert not any("infinite" in note for note in at.replay(path, "bad", drop=["x"], **settings).notes)
    plain = {**made, "x": np.nan_to_num(made["x"], posinf=1.0, neginf=2.0) % 7.0}
    notes = at.replay(plain, "bad", history={**made, "bad": 1 - made["bad"]}, **settings).notes
    assert any(re.match(f"in the history, {said}", note) for note in notes)
    begun = at.streams.from_history(path, "bad", costs=COSTS)
    assert any(re.match(said, note) for note in begun.notes)
    items = {**{name: column[:8] for name, column in made.items() if name != "bad"}, "case": range(8)}
    (note,) = read_items(items, begun.create("memory", "items"), id="case").notes
    assert re.match("column 'x' has 1 cell that is infinite", note)


def test_times_with_and_without_a_zone_in_one_column_are_told():
    days = [f"2024-05-{1 + k // 80:02}T{k % 24:02}:00:00{'+02:00' if k % 3 else ''}" for k in range(ROWS)]
    made = table(x=lambda rng, made: days)
    said = r"column 'x' has 1333 times with a zone, .*'2024-05-01T01:00:00\+02:00', and 667 without"
    for time in (None, "x"):
        found = look(made, "bad", time=time)
        assert "TIME_ZONES" in found.codes["x"]
        notes = at.replay(made, "bad", costs=COSTS, policies=["never"], time=time).notes
        for told in (notes, [finding.message for finding in found.findings]):
            assert sum(re.match(said, note) is not None for note in told) == 1
    plain = [day[:19] + "Z" for day in days]
    assert "TIME_ZONES" not in str(look({**made, "x": plain}, "bad").codes)
    late = {**made, "x": plain, "told": [day.replace("2024-05", "2024-06") for day in days]}
    notes = at.replay(late, "bad", costs=COSTS, policies=["never"], time="x", label_time="told").notes
    assert any(note.startswith("column 'told' has 1333 times with a zone") for note in notes)


def test_numbers_that_are_as_long_as_one_another_are_no_codes():
    assert look(table(x=lambda rng, made: [f"{k}" for k in rng.integers(100, 1000, ROWS)]), "bad").codes == {}
    padded = table(x=lambda rng, made: [f"{k:03}" for k in rng.integers(0, 900, ROWS)])
    assert look(padded, "bad").codes == {"x": ["CODE"]}
    assert look(padded, "bad", numbers=["x"]).codes == {}  # somebody has said so


def test_a_date_after_the_time_is_known_only_afterwards():
    day = np.datetime64("2024-05-01") + np.arange(ROWS) // 40
    later = {"t": lambda *_: day.astype(str).tolist(), "settled": lambda *_: (day + 9).astype(str).tolist()}
    found = look(table(**later, born=lambda *_: (day - 9000).astype(str).tolist()), "bad", time="t")
    assert found.codes["settled"] == ["DATE_AFTER"]
    assert "DATE_AFTER" not in found.codes.get("born", [])
    assert {column.name: column.kind for column in found.columns}["settled"] == "date"
    assert "DATE_AFTER" not in str(look(table(**later), "bad"))  # without a time nothing is later


WARM_UP = "encoder={'warm_up': 1000}"
RISING = np.where(np.arange(ROWS) > 900, 1.0, 0.0)
RISING[:500:25] = 1.0  # 4 % of the first 500 rows


@pytest.mark.parametrize(
    ("values", "remedy", "words"),
    [
        (
            RISING,
            "encoder={'online': True}",
            "'x' is 1 in 4 % of the first 500 rows in the order of 't', and in",
        ),
        (np.where(RISING, "web", "shop").tolist(), WARM_UP, "'x' is 'web' in 4 % of the first 500 rows"),
        (np.where(np.arange(ROWS) > 900, "app", "shop").tolist(), WARM_UP, "'x' is 'app' in 0 % of the first 500"),
    ],
)
def test_a_value_that_is_rare_at_first_and_usual_later(values, remedy, words):
    rows = table(x=lambda *_: values, t=lambda *_: np.arange(ROWS))
    found = look(rows, "bad", time="t")
    assert found.codes == {"x": ["RARE_AT_FIRST"]}
    assert words in found.findings[0].message
    assert "100 % of rows 1001 to 1200. What a policy learns" in found.findings[0].message
    assert str(found.findings[0].remedy) == remedy
    assert "RARE_AT_FIRST" not in str(look(rows, "bad", drop=["t"]))  # an order that says nothing


def test_what_is_not_rare_at_first():
    """A number beyond the first range, one of many values, a value that stays below a half, and one that was usual."""
    rng = np.random.default_rng(3)
    late = np.arange(ROWS) > 900
    columns = {
        "beyond": late.astype(float),
        "amounts": np.where(late & (rng.random(ROWS) < 0.8), 0.0, rng.normal(size=ROWS)),
        "third": np.where(rng.random(ROWS) < np.where(late, 0.35, 0.02), "a", rng.choice(["b", "c"], ROWS)).tolist(),
        "tenth": np.where(rng.random(ROWS) < np.where(late, 0.9, 0.2), "a", "b").tolist(),
    }
    found = look(table(t=lambda *_: np.arange(ROWS)) | columns, "bad", time="t")
    assert found.codes == {"beyond": ["MOVING_RANGE"]}


def test_rows_and_labels():
    rows = table(note=lambda rng, made: rng.integers(0, 50, ROWS).tolist())
    again = {name: [*column, *column[:40]] for name, column in rows.items()}
    found = look(again, "bad")
    assert found.codes == {None: ["DUPLICATE"]}
    assert "40 rows are copies" in found.findings[0].message
    rows["bad"] = [None if k % 4 == 0 else int(bad) for k, bad in enumerate(rows["bad"])]
    found = look(rows, "bad")
    assert found.codes == {None: ["LABEL_MISSING"]}
    assert "missing in 500 of 2000 rows (25.0 %)" in found.findings[0].message
    assert found.unlabelled == 0.25
    rare = table() | {"bad": (np.arange(ROWS) % 100 == 0).astype(int)}
    assert look(rare, "bad").codes == {None: ["FEW_POSITIVES"]}
    assert "20 positives for 6 features" in look(rare, "bad").findings[0].message
    assert look(table() | {"bad": [0] * ROWS}, "bad").codes == {None: ["FEW_POSITIVES"]}


def test_a_column_that_tells_where_the_label_is_known():
    rows = table()
    looked = np.arange(ROWS) % 4 == 0
    rows["bad"] = [int(bad) if seen else None for bad, seen in zip(rows["bad"], looked, strict=True)]
    told = {
        "looked": np.where(looked, "yes", "no").tolist(),
        "by": [f"{k % 3}" if looked[k] else None for k in range(ROWS)],
    }
    nearly = ["yes" if seen or k == 1 else "no" for k, seen in enumerate(looked)]
    found = look({**rows, **told, "nearly": nearly}, "bad")
    assert {name for name, codes in found.codes.items() if "LABEL_KNOWN" in codes} == {"looked", "by"}
    one = next(finding for finding in found.findings if finding.column == "looked")
    assert f"'looked' is 'yes' in all {looked.sum()} rows with a label, and in none of the others" in one.message
    assert one.message.endswith(
        "drop=['looked']; if it says on which items somebody acts today, for a replay: today='looked'"
    )
    now = {**table(seed=2, rows=200), "looked": ["yes", "no"] * 100}
    past = {**rows, "looked": told["looked"]}
    notes = at.replay(now, "bad", costs=COSTS, policies=["greedy"], shuffles=1, history=past).notes
    assert any(note.startswith("in the history, column 'looked' is 'yes' in all") for note in notes)
    notes = at.replay(now, "bad", costs=COSTS, policies=["greedy"], shuffles=1, history=past, drop=["looked"]).notes
    assert not any("in the history" in note for note in notes)


def test_without_a_label():
    found = look(table(order=lambda *_: list(range(ROWS))))
    assert found.codes == {"order": ["MOVING_RANGE", "IDENTIFIER"]}
    assert all(math.isnan(column.tells) for column in found.columns)
    assert "no label" in found.title
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_cannot_be_looked_at():
    with pytest.raises(at.errors.OptionError, match="a matrix have no names"):
        look(np.ones((3, 2)), [0, 1, 0])
    with pytest.raises(at.errors.OptionError, match="is the label: take it out of drop="):
        look(table(), "bad", drop=["bad"])
    with pytest.raises(at.errors.OptionError, match="both the label and the time"):
        look(table(), "bad", time="bad")
    with pytest.raises(at.errors.DataError, match=r"no column 'agee' \(did you mean 'age'\?\)"):
        look(table(), "bad", time="agee")


def noise(rng, rows, columns):
    makers = (
        lambda: rng.normal(size=rows),
        lambda: rng.integers(0, 2, rows).astype(float),
        lambda: rng.integers(0, 8, rows).astype(float),
        lambda: rng.integers(0, 60, rows).astype(float),
        lambda: np.where(rng.random(rows) < 0.7, np.nan, rng.lognormal(size=rows)),
        lambda: rng.integers(0, 12, rows).astype(str).astype(object),
        lambda: rng.integers(0, rows // 4, rows).astype(str).astype(object),  # many levels, few rows each
    )
    return {f"x{k}": makers[k % len(makers)]() for k in range(columns)}


def test_noise_raises_no_alarm():
    """Fewer than 1 of 1000 columns of noise: none of 2800, with 15 to 1500 positives, is a leak, a code or moves."""
    rng, found = np.random.default_rng(3), []
    for rows, base in ((150, 0.1), (1000, 0.015), (1000, 0.5), (3000, 0.1)):
        for _ in range(10):
            seen = Seen(Records(noise(rng, rows, 70)), (rng.random(rows) < base).astype(np.int8), ordered=True)
            found += [one for check in (leaks, codes, moving_ranges, rare_at_first) for one in check(seen)]
            assert max((told for told in seen.telling.values() if told == told), default=0) < 0.95
    assert found == []


def test_rows_that_were_learnt_from_would_raise_an_alarm():
    """The negative control: told on the same rows, many levels fake a leak."""
    rng = np.random.default_rng(3)
    labels = (rng.random(1000) < 0.5).astype(np.int8)
    column = rng.integers(0, 900, 1000).astype(str).astype(object)
    rates = {level: labels[column == level].mean() for level in set(column)}
    score = np.array([rates[level] for level in column])
    pairs = (score[labels == 1][:, None] > score[labels == 0]).mean()
    assert pairs > 0.8 > 0.6 > told_apart(column, labels)


def test_codes_are_told_from_an_order():
    rng, rows = np.random.default_rng(4), 6000
    ordered, coded = [], []
    for _ in range(40):
        levels = int(rng.choice([4, 9, 40]))
        value = rng.integers(0, levels, rows).astype(float)
        for found, effect in ((ordered, np.sort(rng.normal(size=levels))), (coded, rng.normal(size=levels))):
            labels = (rng.random(rows) < 1 / (1 + np.exp(1 - effect[value.astype(int)]))).astype(np.int8)
            found += codes(Seen(Records({"x": value}), labels))
    assert ordered == []
    assert len(coded) > 20
    age = rng.integers(20, 70, rows).astype(float)  # a smooth turn is no code
    labels = (rng.random(rows) < 0.1 + 0.8 * ((age - 45) / 25) ** 2).astype(np.int8)
    assert list(codes(Seen(Records({"age": age}), labels))) == []


def test_disorder_by_hand():
    assert rising(np.array([0.3, 0.1, 0.2]), np.array([1, 1, 2])).tolist() == pytest.approx([0.2, 0.2, 0.2])
    values = np.repeat([1.0, 2.0, 3.0], 200)
    up = np.concatenate([np.arange(200) < k for k in (20, 100, 180)]).astype(np.int8)
    assert disorder(values, up) == (0.0, pytest.approx(1.0, abs=0.02))
    share, chance = disorder(values, np.concatenate([np.arange(200) < k for k in (20, 180, 20)]).astype(np.int8))
    assert share == pytest.approx(0.75)  # rates 0.1, 0.9, 0.1 are nearest to 0.1, 0.5, 0.5: 0.32 of 0.4267 is left
    assert chance < 1e-9
    assert math.isnan(told_apart(np.arange(12.0), np.array([0] * 8 + [1] * 4, np.int8)))
    assert UNKNOWN == -1


def test_a_page(tmp_path):
    found = look(table(x=lambda rng, made: 3 * made["bad"] + 1, **{"<b>": lambda *_: ["<i>"] * ROWS}), "bad")
    found.write(tmp_path / "out")
    page = (tmp_path / "out" / "index.html").read_text()
    assert page.count("<svg") == len(found.columns) == 4
    assert page.count("<circle") >= 8
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert not re.search(r"(src|href)=\"?http|url\(", page)
    assert json.loads((tmp_path / "out" / "look.json").read_text()) == found.as_dict()
    assert "LEAK: column 'x' alone tells the label" in (tmp_path / "out" / "look.md").read_text()
    found.write(tmp_path / "out")  # again, over itself
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(at.errors.AppleTasteError):
        found.write(tmp_path / "other")
