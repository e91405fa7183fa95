"""The first page: amounts, cost sheet, strata by loss, words, and report.json."""

import json
import re

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate import Refusal
from appletaste.evaluate.answers import minus
from appletaste.reports import gather, write_report
from appletaste.reports.first_page import NOTHING, first_page
from appletaste.reports.money import cost_sheet
from appletaste.reports.sections import by_loss
from appletaste.words import Currency, Words


@pytest.fixture(scope="module")
def log():
    """Two months; large orders by card are lost, small ones by bank; 2 % of labels have not arrived."""
    rng = np.random.default_rng(9)
    n = 4000
    truth, card = rng.random(n) < 0.1, rng.random(n) < 0.5
    p = np.where(rng.random(n) < 0.2, 1.0, 0.2)
    act = rng.random(n) < p
    known = act & (rng.random(n) < 0.98)
    return at.DecisionLog.from_columns(
        {
            "id": np.arange(n),
            "act": act,
            "probability": p,
            "label": [int(y) if k else None for y, k in zip(truth, known, strict=True)],
            "miss": np.where(card, 200.0, 20.0),
            "false_alarm": np.full(n, 6.0),
            "hit": np.full(n, 4.0),
            "chance": np.full(n, 0.1),
            "stratum": np.where(card, "card", "bank"),
            "time": [f"2024-{5 + k // 2000:02d}-{1 + k % 2000 // 70:02d}T12:00:00" for k in range(n)],
        }
    )


@pytest.fixture(scope="module")
def facts(log):
    return gather(log)


def test_the_cost_sheet_adds_up(log, facts):
    sheet = {one.name: one for one in cost_sheet(facts)}
    assert list(sheet) == ["hit", "false_alarm", "awaited", "miss", "correct_pass"]
    known = sum(sheet[name].decisions.value for name in ("hit", "false_alarm", "awaited"))
    assert known == log.act.sum()
    assert sheet["miss"].decisions.value + sheet["correct_pass"].decisions.value == pytest.approx((~log.act).sum())
    assert sheet["hit"].cost.value == 4.0 * (log.label == 1).sum()
    assert sheet["hit"].saved.value == (log.miss[log.label == 1] - 4.0).sum()
    assert sheet["false_alarm"].saved.value == -6.0 * (log.label == 0).sum()
    waiting = log.act & (log.label < 0)
    assert sheet["awaited"].cost.value == pytest.approx(waiting.sum() * (0.1 * 4 + 0.9 * 6))
    assert sheet["miss"].cost == facts.missed.money.cost
    assert sheet["miss"].cost.low < sheet["miss"].cost.value < sheet["miss"].cost.high


def test_what_was_at_stake_is_what_was_caught_and_what_was_missed(log, facts):
    whole = facts.whole
    assert whole.caught.value == pytest.approx(log.miss[log.label == 1].sum(), rel=0.05)  # and 2 % not arrived
    assert whole.at_stake.value == whole.caught.value + whole.missed.value
    assert whole.at_stake.low <= whole.at_stake.value <= whole.at_stake.high


def test_the_largest_loss_comes_first_and_what_cannot_be_said_last(facts):
    assert [one.name for one in by_loss(facts.strata)] == ["card", "bank"]
    assert [one.name for one in facts.strata] == ["bank", "card"]
    card, bank = by_loss(facts.strata)
    unknown = type(card)(**{**vars(card), "name": "new", "missed": Refusal("no label has arrived yet")})
    assert [one.name for one in by_loss([unknown, bank, card])] == ["card", "bank", "new"]


def test_months_are_compared_by_thousand_and_a_difference_that_may_be_chance_is_called_so(log, facts):
    page = first_page(facts, Words(), Currency())
    said = page.headlines[0].beside[-1]
    assert re.fullmatch(
        r"Per 1,000 items: [\d,.]+ in 2024-06, [\d,.]+ in 2024-05; the difference may be chance\.", said
    )
    dearer = log.unchecked(miss=np.where(np.arange(4000) < 2000, log.miss, 10.0 * log.miss))
    assert first_page(gather(dearer), Words(), Currency()).headlines[0].beside[-1].endswith("clearly more.")
    alone = first_page(gather(log, last_day="2024-05-31"), Words(), Currency())
    assert alone.compared is None
    assert alone.notes[-1].startswith("The log has no decision from")


def test_the_page_speaks_in_euros_and_orders_and_names_no_method_before_its_appendix(log, tmp_path):
    report = write_report(
        log, tmp_path, currency="EUR", words="order,fraud", first_day="2024-06-01", last_day="2024-06-30"
    )
    page = (tmp_path / "index.html").read_text()
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)
    first, _ = page.split("</section>")
    for said in ("What we saved", "What we are missing", "What was at stake", "What to change", "Cost sheet", "€"):
        assert said in first
    assert first.index("What to change") < first.index("Cost sheet") < first.index("card") < first.index("bank")
    assert "break-after: page" in page
    body, appendix = text.split("Appendix")
    for method in ("Horvitz", "Hájek", "Hinkley"):
        assert method not in body
        assert method in appendix
    markdown = (tmp_path / "report.md").read_text()
    for told in (text, markdown):
        assert not re.search(r"\b(items?|positives?)\b", told, re.IGNORECASE)
    drawn = "".join(path.read_text() for path in (tmp_path / "figures").glob("*.svg"))
    assert "frauds let through" in drawn
    assert not re.search(r">[^<]*\b(items?|positives?)\b[^<]*<", drawn)
    facts = json.loads((tmp_path / "report.json").read_text())["first_page"]
    assert facts["saved"]["value"] == report.facts.whole.saved.value
    assert facts["compared"]["before"]["decisions"] == int((log.time < "2024-06").sum())
    assert facts["days"] == "2024-06"
    assert [one["name"] for one in facts["strata"]] == ["card", "bank"]
    assert {one["name"] for one in facts["cost_sheet"]} >= {"hit", "false_alarm", "miss"}
    assert all({"sentence", "money", "sure"} <= set(one) for one in facts["what_to_change"])
    assert report.first.sentences()[0].startswith("2024-06: 2,000 orders")


def constant(miss, share, act_share=0.25, n=2000, **more):
    """Return a log that acts by lot, and the first page of its report in the words of a hotel."""
    rng = np.random.default_rng(4)
    act, truth = rng.random(n) < act_share, rng.random(n) < share
    columns = {"miss": miss, "false_alarm": 12.0, "hit": 4.0, "probability": act_share, "chance": share, **more}
    log = at.DecisionLog.from_columns(
        {"id": np.arange(n), "act": act, "label": [int(y) if a else None for a, y in zip(act, truth, strict=True)]}
        | {name: np.full(n, value) for name, value in columns.items()}
    )
    own = Words.of("booking,cancellation")
    return log, first_page(gather(log), own, Currency()), truth


def test_where_a_constant_wins_the_first_line_says_so(tmp_path):
    log, page, truth = constant(100.0, 0.4)
    everything = np.where(truth, 4.0, 12.0).sum()
    done = np.where(log.act, np.where(truth, 4.0, 12.0), np.where(truth, 100.0, 0.0)).sum()
    first = page.sentences()[0]
    told = re.fullmatch(
        r"Acting on every booking would have cost ([\d,]+), what was done ([\d,]+): "
        rf"([\d,]+) more \(([\d,]+) to ([\d,]+)\), with 2,000 bookings acted on instead of {log.act.sum()}\.",
        first,
    )
    cost, was, more, low, high = (float(part.replace(",", "")) for part in told.groups())
    assert was - cost == pytest.approx(more, abs=1.5)
    assert low < done - everything < high
    assert cost == pytest.approx(everything, rel=0.3)
    write_report(log, tmp_path, words="booking,cancellation")
    for name in ("index.html", "report.md"):
        text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", (tmp_path / name).read_text(), flags=re.S)
        assert text.index("Acting on every booking would have cost") < text.index("What we saved")
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["first_page"]["constant"].startswith("Acting on every item would have cost")
    saved = page.headlines[0]  # against the better of the two constants, which comes first
    assert saved.answer == minus(page.facts.everything.saving)
    assert saved.answer.value < 0 < page.facts.whole.saved.value
    assert saved.beside[0].startswith("Against acting on everything")
    assert re.fullmatch(r"Against passing everything: [\d,]+ \(exact\)\.", saved.beside[1])
    _, page, _ = constant(100.0, 0.01)
    assert re.match(
        r"Letting through every booking would have cost [\d,.]+, what was done [\d,.]+: ", page.sentences()[0]
    )


def test_where_no_interval_says_so_no_constant_wins():
    _, page, _ = constant(24.0, 0.375)  # acting pays from a chance of 0.375 on: a draw
    assert page.constant == ""
    assert page.sentences()[0].startswith("2,000 bookings")
    _, scarce, _ = constant(100.0, 0.4, price=3.0)  # nobody was there to act on every booking
    assert scarce.constant == ""
    certain, _, _ = constant(100.0, 0.4)
    silent = certain.unchecked(probability=np.where(certain.act, 1.0, 0.0))  # the log says nothing of what was passed
    page = first_page(gather(silent), Words(), Currency())
    assert page.constant == ""
    assert not any("acting on everything" in said for line in page.headlines for said in line.beside)


def test_an_amount_says_how_many_items_it_is_about(log):
    late = log.unchecked(
        label=np.where(np.arange(4000) < 3000, log.label, -1).astype(np.int8),
        state=np.where((np.arange(4000) < 3000) | (log.state != "observed"), log.state, "pending"),
    )
    page = first_page(gather(late), Words(), Currency())
    counted = page.facts.whole.settled
    assert 2950 < counted < 3100
    said = f"That is about {counted:,} of 4,000 items; most labels of the others have not arrived yet."
    assert said in page.headlines[0].beside
    counted = page.facts.whole.supported
    said = f"That is about {counted:,} of 4,000 items; of the others the log is silent."
    assert said in page.headlines[1].beside
    whole = first_page(gather(log), Words(), Currency())
    assert not any("That is about" in said for line in whole.headlines[:1] for said in line.beside)


def test_what_these_days_cannot_say_those_before_may(log):
    """In June no label of an item that might have been passed has arrived."""
    hidden = (np.arange(4000) >= 2000) & (log.probability < 1)
    june = log.unchecked(
        label=np.where(hidden, -1, log.label).astype(np.int8),
        state=np.where(hidden & (log.state == "observed"), "pending", log.state),
    )
    page = first_page(gather(june, first_day="2024-06-01", last_day="2024-06-30"), Words(), Currency())
    assert not page.headlines[1].answer
    (said,) = [one for one in page.headlines[1].beside if one.startswith("Together")]
    assert re.match(
        r"Together with the days before, 2024-05-01 to 2024-06-30, that can be said: [\d,]+ \([\d,]+ to", said
    )
    both = gather(june, first_day="2024-05-01", last_day="2024-06-30").whole
    assert f"{Currency()(both.missed.value)} (" in said
    assert gather(log, first_day="2024-06-01", last_day="2024-06-30").both is None


def test_nothing_is_worth_changing_is_said():
    costs = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0, "chance": 0.9}
    rows = [{"id": str(k), "act": True, "probability": 1.0, "label": 1, **costs} for k in range(100)]
    page = first_page(gather(at.DecisionLog.from_rows(rows)), Words(), Currency())
    assert page.changes() == [NOTHING]
    missing = page.headlines[1].answer
    assert (missing.value, missing.low, missing.high) == (0.0, 0.0, 0.0)  # nothing was passed
