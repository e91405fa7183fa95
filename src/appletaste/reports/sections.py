"""The sections of a report: a question, the answer in sentences, tables, and what to draw.

Periods and strata as a table, and what it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..drift import Alarm
from ..drift.alarms import LABELS
from ..drift.segments import Segment, segment_of
from ..evaluate import Estimate, Refusal
from ..evaluate.answers import Answer, known_truth, minus
from ..evaluate.reporting import WithReports
from ..evaluate.support import excluded
from ..logs import DecisionLog
from ..logs.coded import Coded, counts_of
from ..logs.lazy import each_batch
from ..pages.page import Table
from ..words import Currency, Words
from . import pictures as pictures
from .facts import Facts, Slice
from .phrases import HEADINGS, Writer, cell, count, in_words, labels_awaited, percent, short


def slice_table(slices: Sequence[Slice], what: str, money: Writer, known: bool) -> Table:
    """Return slices as a table, with the truth where the log knows it, and how many items count where not all do."""
    some = any(one.settled != one.decisions for one in slices)
    truth = HEADINGS[1:] * known
    numbers = ("items", *["counted"] * some, "acted", "audits", "labels", "positives", "precision")
    rows = []
    for one in slices:
        counts = (one.decisions, *[one.settled] * some, one.acts, one.audits, one.labels, one.positives)
        answers = ((one.saved, money), (one.missed, money), (one.recall, percent))
        told = [part for answer, write in answers for part in (short(answer, write), *cell(answer, write, known)[2:])]
        rows.append((one.name, *map(count, counts), cell(one.precision, percent)[0], *told))
    return Table("", (what, *numbers, "saved", *truth, "missed", *truth, "recall", *truth), rows)


def by_loss(slices: Sequence[Slice]) -> list[Slice]:
    """Return slices by what was missed in them, the largest loss first; those that cannot be said come last."""
    return sorted(
        slices, key=lambda one: (0, -one.missed.value) if isinstance(one.missed, Estimate) else (1, -one.decisions)
    )


def left_out(slices: Sequence[Slice], whole: Slice, which: str) -> list[str]:
    """Return a sentence on the decisions that are in none of the slices, if there are any."""
    rest = whole.decisions - sum(one.decisions for one in slices)
    return [f"Shown are {which}; {count(rest)} decisions are in others."] if rest else []


#: Amounts without a currency.
PLAIN = Currency()
#: Alarms that are shown.
MOST_ALARMS = 12


@dataclass(frozen=True)
class Section:
    """One section; ``draw`` writes its picture to a file."""

    name: str
    title: str
    question: str
    sentences: Sequence[str]
    tables: Sequence[Table] = ()
    draw: Callable[[Path, Words], None] | None = None

    worded: bool = False  #: whether cells of its tables are sentences
    folded: bool = False  #: whether cells of its tables may take two lines, since there are many of them

    def told(self, words: Words) -> Section:
        """Return the section in the user's words; cells that hold names and numbers stay."""
        tables = [
            Table(
                words.told(table.title),
                [words.told(name) for name in table.header],
                [[words.told(part) for part in row] for row in table.rows] if self.worded else table.rows,
            )
            for table in self.tables
        ]
        said = [words.told(sentence) for sentence in self.sentences]
        return replace(
            self, title=words.told(self.title), question=words.told(self.question), sentences=said, tables=tables
        )


def in_short(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say the page in a few sentences."""
    whole, (missed, recall, cost) = facts.whole, facts.missed.best
    acted = f"{count(whole.acts)} were acted on ({percent(whole.acts / whole.decisions)})"
    audits = f", {count(whole.audits)} of them for the audit lane alone" if whole.audits else ""
    recent = f"{count(facts.unsettled)} recent items: most of their labels have not arrived yet"
    unsettled = f", not counting {recent}" if facts.unsettled else ""
    passes = facts.missed.unsupported_passes
    unknown = f", not counting {count(passes)} about which the log says nothing" if passes else ""
    sentences = [
        f"{count(whole.decisions)} items were decided{_span(facts)}; {acted}{audits}.",
        f"{count(whole.labels)} labels have arrived, {count(whole.positives)} of them positives"
        + (f": a precision of {in_words(whole.precision, percent)}." if whole.precision else "."),
        f"Saved against passing everything: {in_words(whole.saved, money)}{unsettled}.",
        f"Saved against acting on everything: {in_words(minus(facts.everything.saving), money)}.",
        f"Positives among the items that were passed: {in_words(missed, count)}{unknown if missed else ''}.",
        f"Money missed, what those positives cost: {in_words(cost, money)}." if missed else "",
        f"Recall: {in_words(recall, percent)}." if recall else "",
        f"{labels_awaited(facts.states['pending'])}.",
    ]
    return Section("in-short", "The evidence, in short", "", [s for s in sentences if s])


def _span(facts: Facts) -> str:
    time = facts.log.time
    if time is None or time.dtype.kind != "U":
        return ""
    ends = list(each_batch(time, _ends, what="reading times"))
    first, last = min(end[0] for end in ends), max(end[1] for end in ends)
    return f" on {first}" if first == last else f" from {first} to {last}"


def _ends(times: NDArray[np.str_]) -> tuple[str, str]:
    """Return the first and the last day: of times in a batch there are many, of days few."""
    days = Coded.of(times.astype("U10")).levels
    return str(days[0]), str(days[-1])


def decided(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say what was decided, period by period."""
    return Section(
        "decided",
        "What was decided, and what it saved",
        f"How many items came, how many were acted on, and how many positives were found, by {facts.period}?",
        [f"By {facts.period}: precision is the share of those acted on whose label was positive; saved is "
         "against passing everything, whose own cost nobody can know, without recent items, most of whose labels "
         "have not arrived; missed is what the positives that were passed cost, from the logged probabilities alone. "
         f"Intervals are in brackets.{_counted(facts)}",
         *left_out(facts.periods, facts.whole, f"the last {len(facts.periods)}"), *_handfuls(facts)],
        [slice_table(facts.shown, facts.period, money, facts.known)],
        lambda target, words: pictures.draw_periods(facts, target, money, words),
        folded=True,
    )  # fmt: skip


def _handfuls(facts: Facts) -> list[str]:
    """Say which periods have too few items for a row of their own."""
    few = [one for one in facts.periods if one not in facts.shown]
    names, items = ", ".join(one.name for one in few), sum(one.decisions for one in few)
    return [f"Without a row, for a handful of items says nothing: {names}, with {count(items)} in all."] if few else []


def _counted(facts: Facts) -> str:
    """Say which of the items what was saved is about, where these are not all of them."""
    if not facts.unsettled:
        return ""
    return " The column *counted* has the items that what was saved is about, those of the first page."


def by_stratum(facts: Facts, money: Writer = PLAIN) -> Section | None:
    """Say the same by stratum, where the log has strata."""
    if not facts.strata:
        return None
    return Section(
        "strata",
        "By stratum",
        "Where is the money, and where is it lost?",
        ["The same numbers for each stratum by itself, the largest loss first.",
         *left_out(facts.strata, facts.whole, "the largest")],
        [slice_table(by_loss(facts.strata), "stratum", money, facts.known)],
        folded=True,
    )  # fmt: skip


def missing(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say what is being missed, three ways."""
    found = facts.missed
    design = found.design
    rows = [
        (way, *cell(passed, count, facts.known), *cell(caught, percent, facts.known))
        for way, passed, caught in (
            ("from the probabilities", design.missed, design.recall),
            ("the same, scaled to the whole", design.missed_hajek, design.recall_hajek),
        )
    ]
    told = found.with_reports
    if told is not None and told.missed:
        rows.insert(
            0, ("audits and reports", *cell(told.missed, count, facts.known), *cell(told.recall, percent, facts.known))
        )
    beside = HEADINGS[: 1 + facts.known]
    rows.append(("by the model", *cell(found.model, count, facts.known), *["-"] * (2 + facts.known)))
    sentences = [
        f"From the logged probabilities alone: {in_words(design.missed, count)} positives were passed"
        + (f"; recall is {in_words(design.recall, percent)}." if design.recall else "."),
        f"The positives that were passed cost {in_words(found.money.cost, money)}; acting on them would have saved "
        f"{in_words(found.money.saving, money)}."
        if design.missed
        else "",
        f"By a model of the labels: {in_words(found.model, count)}"
        + (" positives were passed, scaled by labels of items that might have been passed." if found.model else "."),
        f"The log says nothing about {percent(found.unsupported_share)} of the traffic"
        + (f", of which {count(found.unsupported_passes)} items were passed." if found.unsupported_passes else "."),
    ]
    if told is not None:
        sentences[:0] = _of_reports(told, money)
    if found.total_bounds is not None and found.unsupported_passes:
        low, high = map(count, found.total_bounds)
        truth = "" if found.truth is None else f"; {known_truth(count(found.truth))}"
        sentences.append(
            f"Counting the part the log cannot see, between {low} and {high} positives were passed{truth}."
        )
    if abs(found.model_surprise) > 3:
        which = "more" if found.model_surprise > 0 else "fewer"
        sentences.append(
            f"Mistrust the model: {which} positives were seen than the model expected, by "
            f"{abs(found.model_surprise):.1f} standard errors; more than 3 is not chance."
        )
    return Section(
        "missed",
        "What is being missed",
        "How many positives were passed, and what share was caught?",
        [sentence for sentence in sentences if sentence],
        [Table("", ("way", "missed", *beside, "recall", *beside), rows)],
        lambda target, words: pictures.draw_missed(facts, target, words),
    )


def _of_reports(told: WithReports, money: Writer) -> list[str]:
    """Say what labels of passed items tell, and which share of the answer they carry."""
    rate = told.reporting.rate
    sentences = [f"{count(told.reporting.reports)} passed positives were reported; {in_words(rate, percent)} ever are."]
    if isinstance(rate, Refusal):
        sentences = [f"{count(told.reporting.reports)} passed positives were reported: {rate.reason}."]
    elif told.missed:
        sentences.append(
            f"By audits and reports together: {in_words(told.missed, count)} positives were passed, which cost "
            f"{in_words(told.money, money)}; {told.carried}."
        )
        sentences += [f"{told.doubt[0].upper()}{told.doubt[1:]}"] if told.doubt else []
    elif isinstance(told.missed, Refusal):
        sentences.append(f"Reports are not used: {told.missed.reason}.")
    return sentences


def thresholds(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say what another threshold on the model's chance would have saved."""
    title, question = "Another threshold", "What would acting from another chance on have saved?"
    answered = [(t, w.saving) for t, w in facts.thresholds if isinstance(w.saving, Estimate)]
    refused = [(t, w.saving) for t, w in facts.thresholds if isinstance(w.saving, Refusal)]
    sentences = []
    if facts.thresholds and facts.unsettled:
        asked = facts.thresholds[0][1].decisions
        sentences.append(f"Asked of {count(asked)} items; {excluded(facts.unsettled)}.")
    if answered:
        sentences += _told_together(facts, answered, money)
    if refused:
        places = ", ".join(f"{t:.3g}" for t, _ in refused)
        why = f"{refused[0][1].reason}; {refused[0][1].remedy}"
        sentences.append(f"No answer at {places}. The reason for the first of these thresholds: {why}.")
    if not facts.thresholds:
        sentences.append("The log cannot say: acting never, or always, pays at the logged costs.")
    rows = [
        (
            f"{threshold:.3g}",
            count(found.acts),
            *cell(found.saving, money, facts.known),
            cell(facts.together.widened(found.saving), money)[1],
        )
        for threshold, found in facts.thresholds
    ]
    asked_about = "times own threshold" if facts.by_item else "act from chance"
    header = (asked_about, "acted on", "saved against what was done", *HEADINGS[: 1 + facts.known], "all at once")
    return Section(
        "thresholds",
        title,
        question,
        sentences,
        [Table("", header, rows)] if answered else [],
        (lambda target, words: pictures.draw_thresholds(facts, target, money, words)) if answered else None,
        folded=True,
    )


def _told_together(facts: Facts, answered: Sequence[tuple[float, Estimate]], money: Writer) -> list[str]:
    """Say what thresholds of one log say together: each alone may be lucky, and the luckiest is looked at first."""
    best, saving = max(answered, key=lambda pair: pair[1].value)
    better = [t for t, one in answered if _sure(facts.together.widened(one)) > 0]
    worse = [t for t, one in answered if _sure(facts.together.widened(one)) < 0]
    others = [t for t, _ in answered if t not in (*better, *worse)]
    times = " times the own threshold" if facts.by_item else ""
    sentences = [
        "Each item has costs, and so a threshold, of its own; half of these thresholds are below "
        f"{facts.threshold:.3g}. Asked about are multiples of each item's own threshold."
        if facts.by_item
        else f"By the logged costs, acting pays from a chance of {facts.threshold:.3g}.",
        f"All {len(answered)} answers share the same items and the same luck. So that all of them hold at once, "
        f"intervals are {facts.together.factor:.2f} times as wide: the column *all at once*.",
    ]
    for which, told in ((better, "saved more than what was done"), (worse, "saved less")):
        if which:
            sentences.append(f"By those, acting from {_listed(which)}{times} would have {told}.")
    if others:
        sentences.append(f"The log cannot tell {_listed(others)}{times} from what was done.")
    if answered[0][0] == 0.0:
        sentences.append(f"Acting from 0{times} is acting on every item.")
    if abs(best - (1.0 if facts.by_item else facts.threshold)) <= 1e-9:
        sentences.append(
            f"The best estimate is that of {best:.3g}, the threshold that the costs imply, so it is no finding that "
            "another threshold is better. Where it differs from what was done, that is because of a capacity, audits, "
            "items acted on to learn, or chance."
        )
    else:
        sentences.append(
            f"The best estimate is that of {best:.3g}: {in_words(saving, money)}. The best of several estimates is "
            "too good to be true."
        )
    return [*sentences, "A threshold knows of no capacity: see how many items each one acts on."]


def _sure(answer: Answer) -> int:
    """Return 1 if an interval lies above 0, -1 if below, 0 if it contains 0."""
    return int(answer.low > 0) - int(answer.high < 0) if isinstance(answer, Estimate) else 0


def _listed(thresholds: Sequence[float]) -> str:
    return ", ".join(f"{t:.3g}" for t in thresholds)


def changed(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say whether labels and features are what they were."""
    found = facts.drift
    alarms = "no alarm" if not found.alarms else f"{len(found)} alarm{'' if len(found) == 1 else 's'}"
    looked = f"{alarms} in {count(found.items)} items and {count(found.labels)} labels with a chance beside them."
    groups: dict[tuple[str, str], list[Alarm]] = {}
    for alarm in found.alarms:
        groups.setdefault(alarm.about, []).append(alarm)
    shown = list(groups.values())[:MOST_ALARMS]
    sentences = [f"{looked[0].upper()}{looked[1:]}", *(_alarmed(facts, group) for group in shown)]
    if len(groups) > MOST_ALARMS:
        sentences.append(f"The first {MOST_ALARMS} of {len(groups)} are shown; report.json has all of them.")
    sentences += [f"{note[0].upper()}{note[1:]}." for note in found.notes]
    return Section(
        "changed",
        "Has the stream changed?",
        "Are labels what the model expects, and are features distributed as they were at the start of the log?",
        sentences,
    )


def _alarmed(facts: Facts, group: Sequence[Alarm]) -> str:
    """Say alarms of the same thing together, with their days; the appendix says by which measure."""
    alarm, last = group[0], group[-1]
    since = "" if alarm.since >= alarm.item else f", since about {facts.when(alarm.since)}"
    more = "" if len(group) == 1 else f" {count(len(group))} alarms in all, the last of {facts.when(last.item)}."
    where = "" if (part := segment_in(facts.log, alarm)) is None else f" It is {part}."
    change = f"{alarm.change[0].upper()}{alarm.change[1:]}"
    return f"{change}{since}; seen on {facts.when(alarm.item)}.{where}{more} {alarm.advice}."


def segment_in(log: DecisionLog, alarm: Alarm) -> Segment | None:
    """Return the stratum of a log that an alarm of labels is mostly about."""
    if alarm.kind != LABELS or log.stratum is None or log.chance is None:
        return None
    rows = slice(max(0, alarm.since - 1), alarm.until)
    label, chance = log.label[rows], log.chance[rows]
    known = (label >= 0) & ~np.isnan(chance)
    return segment_of(log.stratum[rows][known], label[known], chance[known], alarm.more)


def outstanding(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say what is awaited."""
    meaning = {
        "pending": "acted on, the label is awaited",
        "observed": "acted on, the label has arrived",
        "corrected": "acted on, the label was replaced by another one",
        "expired": "acted on, the label did not arrive in time, and counts as neither",
        "never_due": "passed: nobody will see the label",
    }
    since = "" if facts.oldest is None else f", the oldest since {_since(facts)}"
    sentences = [f"{labels_awaited(facts.states['pending'])}{since}."]
    bounds = facts.missed.label_bounds
    if bounds is not None and facts.states["pending"] + facts.states["expired"]:
        sentences.append(
            f"If none of the missing labels were positives, or all of them, {count(bounds[0])} to {count(bounds[1])} "
            "positives would have been missed."
        )
    rows = [(state, count(number), meaning[state]) for state, number in facts.states.items()]
    return Section(
        "outstanding",
        "What is outstanding",
        "Which labels have arrived, and which have not?",
        sentences,
        [Table("", ("state", "decisions", "meaning"), rows)],
        worded=True,
    )


def _since(facts: Facts) -> str:
    time = facts.log.time
    if time is None:
        return f"round {facts.oldest}"
    return str(facts.oldest)[:16] if time.dtype.kind == "U" else f"time {facts.oldest}"


def explained(facts: Facts, money: Writer = PLAIN) -> Section:
    """Say what the numbers rest on, with the names of methods."""
    policies = ", ".join(sorted(counts_of(facts.log.policy).keys() - {""})) or "not recorded"
    rows = [
        ("policies", policies),
        ("intervals", f"{100 * facts.level:.0f} %; appletaste {version('appletaste')}"),
        ("saved", "logged costs against passing everything, labels that have not arrived weighted by the share that "
         "has; labels are missing at random within a block of rounds, unless the log tells which are"),
        ("missed", "each item that was seen stands for 1 / p of its like (Horvitz-Thompson), or is scaled so that all "
         "items come to their number (Hájek); each action was drawn with its logged probability p; docs/missed.md"),
        ("at stake", "caught and missed together; the interval adds those of both, end by end"),
        ("by the model", "a logistic model of the labels, calibrated on labels of items that might have been passed"),
        ("another threshold", "doubly robust, or by inverse probabilities where no chance is logged"),
        ("one more review", "the median over each day of the shadow price that the capacity had, by the model's "
         "chances"),
        ("alarms", "labels by the test of Page and Hinkley, columns by the population stability index; docs/drift.md"),
        ("precision", "the share of labelled items acted on that were right, with Wilson's interval"),
    ]  # fmt: skip
    return Section("settings", "Appendix: methods and assumptions", "", [], [Table("", ("", ""), rows)], worded=True)


#: The sections in order; one that has nothing to say returns None.
SECTIONS: tuple[Callable[[Facts, Writer], Section | None], ...] = (
    in_short,
    decided,
    missing,
    by_stratum,
    thresholds,
    changed,
    outstanding,
    explained,
)
