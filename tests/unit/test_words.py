"""Words and currencies of the user's own."""

import pytest

from appletaste.errors import OptionError
from appletaste.evaluate import Estimate, Refusal
from appletaste.reports.phrases import cell, count, in_words
from appletaste.words import Currency, Words, plural


@pytest.mark.parametrize(
    ("one", "many"),
    [("order", "orders"), ("delivery", "deliveries"), ("day", "days"), ("loss", "losses"), ("batch", "batches")],
)
def test_plurals(one, many):
    assert plural(one) == many


def test_words_replace_nouns_with_their_articles_and_capitals_and_leave_names_alone():
    words = Words.of("invoice,fraud")
    assert words.told("An item is a positive. Items: 3") == "An invoice is a fraud. Invoices: 3"
    assert words.told("'item' has changed in 2 items; the item's own") == (
        "'item' has changed in 2 invoices; the invoice's own"
    )
    assert words.told("itemised positively") == "itemised positively"
    assert Words.of(None).told("An item's positives") == "An item's matches"
    own = Words.of(" person / people , case ")
    assert (own.item, own.items, own.positive, own.positives) == ("person", "people", "case", "cases")


def test_words_say_actions_too_and_leave_what_is_no_action():
    words = Words.of("order,fraud,fine,look at,wave through")
    assert words.told("Acted on or passed? Acting pays; act on every item, pass a negative.") == (
        "Looked at or waved through? Looking pays; look at every order, wave through a fine."
    )
    assert words.told("an act, a pass, the action, a policy that acts by lot, inactive, 'act on'") == (
        "an act, a pass, the action, a policy that acts by lot, inactive, 'act on'"
    )
    assert words.told("Every passed item was passed; 3 acted items") == (
        "Every order waved through was waved through; 3 orders looked at"
    )
    assert words.told("It acts on items. Acts: 3, passes: 4") == (
        "It looks at orders. Orders looked at: 3, orders waved through: 4"
    )
    assert Words.of("order,fraud,,hold/held/holding up").acting == "holding up"
    assert Words.of("order,,,,,EUR").own == {"item": "order", "items": "orders", "currency": "EUR"}
    assert Words.of(words.as_dict()) == words
    assert Words.of(words.own) == words


@pytest.mark.parametrize("text", ["", ",", "a,b,c,d,e,EUR,more", "a/b/c,d", "order,fraud/", "a,b,c/d"])
def test_words_that_are_none_are_refused_with_an_example(text):
    with pytest.raises(OptionError, match="words='order,fraud,fine,hold,let through,EUR'"):
        Words.of(text)


@pytest.mark.parametrize("word", ["=1+1", "@x", "x\ny", "a\u202eb", "x" * 41, "", 7, "-fraud"])
def test_a_word_that_no_page_or_spreadsheet_should_hold_is_refused(word):
    with pytest.raises(OptionError, match="begins with a letter"):
        Words.of({"positive": word})
    with pytest.raises(OptionError, match="currency"):
        Words.of({"currency": "12 %"})
    with pytest.raises(OptionError, match="no word 'colour'"):
        Words.of({"colour": "red"})


def test_amounts_are_written_behind_their_sign_or_code():
    assert [Currency(code)(1234.5) for code in ("EUR", "usd", "GBP", "CHF", "€", "")] == [
        "€1,234",
        "$1,234",
        "£1,234",
        "CHF 1,234",
        "€1,234",
        "1,234",
    ]
    assert [Currency("EUR")(value) for value in (-12.5, -0.001, 0.0, 99.996)] == ["-€12.50", "€0.00", "€0", "€100"]
    with pytest.raises(OptionError, match="currency='EUR'"):
        Currency("12 %")


def test_an_estimate_that_is_refused_says_what_would_give_it():
    refused = Refusal("no label has arrived yet", "wait for labels")
    assert in_words(refused, count) == "cannot be said yet (no label has arrived yet; wait for labels)"
    assert cell(refused, count) == ("-", "cannot be said yet")
    euros = Currency("EUR")
    assert in_words(Estimate(200.0, 100.0, 300.0, 0.9, ""), euros) == "€200 (90 % interval €100 to €300)"
