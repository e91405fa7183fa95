"""What a notebook shows is what ``print`` says: the same numbers, and nothing of a file is taken for HTML."""

import html
import re

import numpy as np
import pytest

import appletaste as at

EVIL = '<img src=x onerror="alert(1)">'
NUMBER = re.compile(r"\d[\d,.]*")


def plain(shown):
    """Return a piece of HTML as a reader sees it."""
    return html.unescape(re.sub(r"<[^>]+>", " ", shown))


@pytest.fixture(scope="module")
def rows():
    chance = np.random.default_rng(4)
    values = chance.normal(size=300)
    return [
        {EVIL: float(value), "kind": "</p><script>alert(2)</script>" if value > 0 else "a&b", "bad": int(bad)}
        for value, bad in zip(values, chance.random(300) < 1 / (1 + np.exp(1 - values)), strict=True)
    ]


@pytest.fixture(scope="module")
def shown(rows):
    costs = at.Costs(miss=5, false_alarm=1, hit=0)
    encoder = at.Encoder().fit([{name: row[name] for name in (EVIL, "kind")} for row in rows])
    policy = at.policy(n_features=encoder.n_features, costs=costs, groups=encoder.groups)
    for row in rows[:60]:
        policy.teach(encoder.transform({name: row[name] for name in (EVIL, "kind")}), row["bad"])
    replay = at.replay(rows, "bad", costs=costs, policies=["voi"], shuffles=1, audit="5%")
    explanation = at.explain(policy, encoder.transform({EVIL: 1.5, "kind": rows[0]["kind"]}), features=encoder)
    table = at.problem("i", rounds=300).draw(at.Key(1))
    log = at.play(at.policy("pg-ts", n_features=5, costs=table.costs, seed=1), table)
    return {"replay": replay, "missed": at.missed(log), "explanation": explanation}


@pytest.mark.parametrize("name", ["replay", "missed", "explanation"])
def test_the_same_words_and_numbers(shown, name):
    thing = shown[name]
    page = thing._repr_html_()
    assert NUMBER.findall(plain(page)) == NUMBER.findall(str(thing))
    assert plain(page).split() == str(thing).split()
    assert set(re.findall(r"<(\w+)", page)) <= {"div", "p", "table", "caption", "tr", "th", "td"}


def test_names_and_levels_are_escaped(shown):
    page = shown["explanation"]._repr_html_()
    assert EVIL in str(shown["explanation"])
    assert html.escape(EVIL) in page
    assert EVIL not in page
    assert "<script" not in page
