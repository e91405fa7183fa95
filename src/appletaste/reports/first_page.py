"""The first page of a report: what was saved, what is being missed and what to change, in money.

And whether acting on every item, or passing every item, would have been better.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._files import for_json
from ..evaluate import Estimate
from ..evaluate.answers import Answer, known_truth, minus
from ..evaluate.constants import scarce
from ..pages.page import Table, html_picture
from ..words import Words
from .advice import Advice, advise
from .facts import HANDFUL, Facts, Slice
from .money import (
    Outcome,
    cost_sheet,
    not_counted,
    now_and_before,
    per_thousand,
    to_compare,
)
from .phrases import NOT_YET, Writer, count, ends, in_words, percent, short
from .pictures import draw_money
from .sections import by_loss

#: Strata on the first page.
MOST_STRATA = 6
NOTHING = "Nothing: by this log no change is worth its trouble."
#: What the lines of the cost sheet are called.
OUTCOMES = {
    "hit": "positives caught",
    "false_alarm": "false alarms",
    "awaited": "acted on, label missing (by the model)",
    "miss": "positives missed (estimate)",
    "correct_pass": "rightly passed (estimate)",
}


@dataclass(frozen=True)
class Headline:
    """One of the three amounts at the top."""

    name: str
    answer: Answer
    beside: tuple[str, ...]  #: sentences below the amount


@dataclass(frozen=True)
class FirstPage:
    """The page as numbers and in words."""

    facts: Facts
    money: Writer
    words: Words
    headlines: tuple[Headline, ...]
    advice: tuple[Advice, ...]
    sheet: tuple[Outcome, ...]
    compared: tuple[Slice, Slice] | None
    notes: tuple[str, ...]
    constant: str = ""  #: the first line, where acting on every item, or on none, would surely have cost less

    def draw(self, target: Path) -> None:
        """Draw the picture of the page into a file."""
        draw_money(self.facts, target, self.money)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers of the page for JSON."""
        now, before = self.compared or (None, None)
        found: dict[str, Any] = for_json(
            {
                **{line.name: line.answer for line in self.headlines},
                "saved": self.facts.whole.saved,
                "saved_against_acting": minus(self.facts.everything.saving),
                "days": None if self.facts.reported.days is None else str(self.facts.reported.days),
                "constant": self.constant or None,
                "compared": {"now": now, "before": before},
                "what_to_change": self.advice,
                "cost_sheet": self.sheet,
                "strata": [
                    {"name": one.name, "missed": one.missed, "saved": one.saved} for one in by_loss(self.facts.strata)
                ],
                "not_counted": self.notes,
            }
        )
        return found

    def sentences(self) -> list[str]:
        """Return the page in a few sentences, for a terminal."""
        level = f"{100 * self.facts.level:.0f} %"
        said = [*([self.constant] if self.constant else []), f"{self.about()}. Intervals are {level}."]
        said += [
            f"{_named(line)}: {in_words(line.answer, self.money)}. {' '.join(line.beside)}" for line in self.headlines
        ]
        said += ["What to change:", *(f"{k}. {one}" for k, one in enumerate(self.changes(), 1))]
        return [self.words.told(line).strip() for line in said]

    def about(self) -> str:
        """Return what the page is about."""
        whole, days = self.facts.whole, self.facts.reported.days
        when = "" if days is None else f"{days}: "
        acted = f"{count(whole.acts)} ({percent(whole.acts / whole.decisions)}) acted on"
        return f"{when}{count(whole.decisions)} items, {acted}"

    def changes(self) -> list[str]:
        """Return what to change."""
        return [str(one) for one in self.advice] or [NOTHING]

    def tables(self) -> list[Table]:
        """Return the cost sheet and, where the log has strata, the strata by loss."""
        rows = [
            (self.words.told(OUTCOMES[one.name]), short(one.decisions, count), short(one.cost, self.money),
             short(one.saved, self.money))
            for one in self.sheet
        ]  # fmt: skip
        tables = [
            Table("Cost sheet", ("outcome", self.words.items, "cost", self.words.told("saved against passing")), rows)
        ]
        strata = by_loss(self.facts.strata)[:MOST_STRATA]
        if strata:
            rows = [
                (one.name or "(none)", count(one.decisions), short(one.missed, self.money),
                 short(one.saved, self.money))
                for one in strata
            ]  # fmt: skip
            header = ("stratum", self.words.items, "missed", "saved")
            tables.append(Table("Where it is lost: strata, the largest loss first", header, rows))
        return tables

    def html(self, title: str, source: str, figure: Path) -> str:
        """Return the page as the first part of the report."""
        told = self.words.told
        level = f"Intervals are {100 * self.facts.level:.0f} %."
        tiles = "".join(
            f'<div class="tile"><h2>{html.escape(told(_named(line)))}</h2><p class="amount">'
            f"{html.escape(self.money(line.answer.value) if isinstance(line.answer, Estimate) else told(NOT_YET))}</p>"
            + "".join(f"<p>{html.escape(told(one))}</p>" for one in (*self._interval(line.answer), *line.beside))
            + "</div>"
            for line in self.headlines
        )
        changes = "".join(f"<li>{html.escape(told(one))}</li>" for one in self.changes())
        sheets = "".join(table.html() for table in self.tables())
        notes = html.escape(" ".join(told(note) for note in self.notes))
        constant = f'<p class="constant">{html.escape(told(self.constant))}</p>' if self.constant else ""
        return (
            f'<section class="first"><h1>{html.escape(title)}</h1>{constant}'
            f"<p>{html.escape(told(self.about()))}. {level} From {html.escape(source)}.</p>"
            f'<div class="tiles">{tiles}</div><h2>What to change</h2><ol class="changes">{changes}</ol>'
            f'<div class="picture">{html_picture(told(PICTURE), figure)}</div>{sheets}'
            f'<p class="notes">{notes}</p></section>'
        )

    def markdown(self, title: str, source: str) -> str:
        """Return the page as the beginning of the report in Markdown."""
        told = self.words.told
        lines = [
            f"# {title}\n",
            *([f"**{told(self.constant)}**\n"] if self.constant else []),
            f"{told(self.about())}. Intervals are {100 * self.facts.level:.0f} %. From {source}.\n",
        ]
        for line in self.headlines:
            said = f"- **{told(_named(line))}**: {told(in_words(line.answer, self.money))}."
            lines.append(" ".join([said, *map(told, line.beside)]))
        lines += ["\n## What to change\n", *(f"{k}. {told(one)}" for k, one in enumerate(self.changes(), 1)), ""]
        lines += [table.markdown() for table in self.tables()]
        lines += [f"![{told(PICTURE)}](figures/money.svg)\n", " ".join(map(told, self.notes)), ""]
        return "\n".join(lines)

    def _interval(self, answer: Answer) -> tuple[str, ...]:
        if isinstance(answer, Estimate):
            told = () if answer.truth is None else (f"{known_truth(self.money(answer.truth))}.",)
            return (ends(answer, self.money), *(one[0].upper() + one[1:] for one in told))
        return (f"{answer.reason}{f'; {answer.remedy}' if answer.remedy else ''}",)


PICTURE = "Saved and missed in money"
_NAMES = {"saved": "What we saved", "missed": "What we are missing", "at_stake": "What was at stake"}


def _named(line: Headline) -> str:
    return _NAMES[line.name]


def first_page(facts: Facts, words: Words, money: Writer) -> FirstPage:
    """Return the first page of a report."""
    whole, compared = facts.whole, now_and_before(facts)
    stake = whole.at_stake
    left: list[str] = []
    if isinstance(stake, Estimate) and isinstance(whole.saved, Estimate):
        left = [f"Doing nothing would have cost that; what was done cost {money(stake.value - whole.saved.value)}."]
    elif isinstance(whole.caught, Estimate):
        left = [f"At least {money(whole.caught.value)}, which the positives that were caught would have cost."]
    saved = saved_first(facts, money)
    lost = ["Positives among the items that were passed.", *_with_before(facts, money)]
    beside = [
        ("saved", saved.answer, [*saved.beside, *_about(whole, "settled"), *_against(compared, "saved", money)]),
        ("missed", whole.missed, [*lost, *_about(whole, "supported"), *_against(compared, "missed", money)]),
        ("at_stake", stake, [*left, *_against(compared, "at_stake", money)]),
    ]
    notes = not_counted(facts)
    if compared is None:
        notes.append(_alone(facts))
    elif facts.reported.cut and facts.reported.days_before is not None:
        notes.append(f"The log begins within {facts.reported.days_before}.")
    return FirstPage(
        facts=facts,
        money=money,
        words=words,
        headlines=tuple(Headline(name, answer, tuple(said)) for name, answer, said in beside),
        advice=advise(facts, money),
        sheet=cost_sheet(facts),
        compared=compared,
        notes=tuple(notes),
        constant=better_constant(facts, money),
    )


def _about(whole: Slice, counted: str) -> list[str]:
    """Say how many items an amount is about, where these are not all of them."""
    answer, items = {"settled": (whole.saved, whole.settled), "supported": (whole.missed, whole.supported)}[counted]
    if items == whole.decisions or not isinstance(answer, Estimate):
        return []
    why = (
        "most labels of the others have not arrived yet" if counted == "settled" else "of the others the log is silent"
    )
    return [f"That is about {count(items)} of {count(whole.decisions)} items; {why}."]


PASSING, ACTING = "Against passing everything", "Against acting on everything"


def saved_first(facts: Facts, money: Writer) -> Headline:
    """Return what was saved against the better of passing everything and acting on everything, the other beside it.

    Where reviews were scarce, acting on everything was not to be had, and comes second.
    """
    passing, acting = facts.whole.saved, minus(facts.everything.saving)
    if not isinstance(acting, Estimate) or facts.log.act.all():
        return Headline("saved", passing, (f"{PASSING}.",))
    if not isinstance(passing, Estimate) or (acting.value < passing.value and not scarce(facts.log)):
        other = (f"{PASSING}: {_beside(passing, money)}.",) if isinstance(passing, Estimate) else ()
        return Headline("saved", acting, (f"{ACTING}, the better of the two ways that need no policy.", *other))
    return Headline("saved", passing, (f"{PASSING}.", f"{ACTING}: {_beside(acting, money)}."))


def _beside(answer: Estimate, money: Writer) -> str:
    """Return an amount with its interval, whose level is known, and the truth where the log knows it."""
    truth = "" if answer.truth is None else f"; {known_truth(money(answer.truth))}"
    return f"{money(answer.value)} ({ends(answer, money)}{truth})"


def _with_before(facts: Facts, money: Writer) -> list[str]:
    """Say what is missed in these days and those before together, where these alone cannot say."""
    both = facts.both
    if both is None or not isinstance(both.missed, Estimate):
        return []
    recall = f", a recall of {percent(both.recall.value)}" if isinstance(both.recall, Estimate) else ""
    said = f"{_beside(both.missed, money)} in {count(both.supported)} items{recall}"
    return [f"Together with the days before, {both.name}, that can be said: {said}."]


def _alone(facts: Facts) -> str:
    days, few = facts.reported.days_before, [some.name for some in to_compare(facts) if some.decisions < HANDFUL]
    if days is not None and facts.before is None:
        return f"The log has no decision from {days.first} to {days.last} to compare with."
    if few:
        return f"Nothing is compared: fewer than {HANDFUL} items are of {', and of '.join(few)}."
    return "Nothing before to compare with."


def _against(pair: tuple[Slice, Slice] | None, name: str, money: Writer) -> list[str]:
    """Say an amount beside that of the days before, for every 1,000 items: months differ in length."""
    if pair is None:
        return []
    now, then = (per_thousand(one)[name] for one in pair)
    if not (isinstance(now, Estimate) and isinstance(then, Estimate)):
        return []
    clear = "more" if now.low > then.high else "less" if now.high < then.low else ""
    verdict = f"clearly {clear}" if clear else "the difference may be chance"
    return [f"Per 1,000 items: {money(now.value)} in {pair[0].name}, {money(then.value)} in {pair[1].name}; {verdict}."]


def better_constant(facts: Facts, money: Writer) -> str:
    """Say that acting on every item, or passing every item, would surely have cost less than what was done.

    Empty where no interval says so. Where reviews were scarce, acting on every item was not to be had.

    Examples
    --------
    >>> import appletaste as at
    >>> from .facts import gather
    >>> from ..words import Currency
    >>> costs = {"miss": 9.0, "false_alarm": 1.0, "hit": 1.0, "probability": 0.5, "chance": 0.5}
    >>> rows = [{"id": k, "act": k % 2 == 0, "label": 1 if k % 2 == 0 else None, **costs} for k in range(400)]
    >>> print(better_constant(gather(at.DecisionLog.from_rows(rows)), Currency()))
    Acting on every item would have cost ..., what was done ...: ... more (... to ...), with 400 items acted on ...
    """
    best = facts.constant
    if best is None:
        return ""
    way, answer = "Acting on" if best.always else "Passing", best.saving
    gain, stake, saved = answer.value, facts.whole.at_stake, facts.whole.saved
    more = f"{money(gain)} more ({ends(answer, money)})"
    taken = f", with {count(best.acts)} items acted on instead of {count(best.logged_acts)}"
    if isinstance(stake, Estimate) and isinstance(saved, Estimate):
        done = stake.value - saved.value
        return f"{way} every item would have cost {money(done - gain)}, what was done {money(done)}: {more}{taken}."
    return f"What was done cost {more} than {way.lower()} every item would have{taken}."
