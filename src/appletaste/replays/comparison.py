"""``replay``: any labelled table as a one-sided stream, by any policies, beside what they are measured against."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from .. import engines
from .._checks import whole
from ..costs import Costs
from ..costs_by_item import CostColumns, CostsByItem
from ..errors import Message, OptionError, Remedy, after
from ..features import Encoder
from ..features.defaults import chosen_encoder, default_encoder, with_dates, with_score
from ..history.findings import known_labels
from ..history.labelled import BLOCKS, cost_notes, edges, read_labelled
from ..history.leaks import ONLINE, Seen, infinite_cells, moving_ranges, rare_at_first, replay_notes
from ..logs import DecisionLog
from ..policies import PolicySpec, find
from ..streams.audit import AUTO
from ..streams.staffing import Share, Staffing, Wrapper, awaiting, check_forgetting
from . import booster
from .comparators import BOOSTER, COMPARATORS, TODAY, make
from .delays import Delay
from .history import read_history
from .notes import (
    column_notes,
    delay_notes,
    feature_notes,
    stopped_notes,
    unlearnable_notes,
)
from .passes import Pass, Plan, forget
from .result import PolicyReplay, ReplayResult

SHUFFLES = 10
#: The base rates of the tenths differ this many standard deviations of a chi-squared more than chance would make them.
DRIFT = 6.0
DESK = (
    "all rows sit at the same desk: always acts as long as there are reviews, and oracle is what a perfect ranking "
    "could have done with so many reviews"
)
AUDITED = "some of what is passed is audited, 1 % at most and as much as pays, as in a live stream; to leave that out: "
_names = itertools.count()


def replay(
    source: Any,
    label: Any = None,
    *,
    costs: Costs | CostsByItem | Mapping[str, Any],
    policies: Sequence[str | PolicySpec] = ("voi",),
    shuffles: int | None = None,
    order: str = "shuffled",
    delay: Delay | float | str | None = None,
    time: str | None = None,
    time_unit: str | None = None,
    seed: int = 0,
    encoder: Any = None,
    flip_label: bool = False,
    drop: Sequence[str] = (),
    label_time: str | None = None,
    report_time: str | None = None,
    history: Any = None,
    today: str | None = None,
    dates: Mapping[str, tuple[str, str]] | None = None,
    time_features: bool = False,
    score: str | None = None,
    capacity: Share | None = None,
    audit: Share | None = None,
    time_zone: str | None = None,
    wrap: Wrapper | None = None,
    log: str | None = None,
    stratum: str | None = None,
    jobs: int = 1,
    engine: engines.Engine | None = None,
    progress: Callable[[str], None] | None = None,
    started: Callable[[list[str]], None] | None = None,
    **reading: Any,
) -> ReplayResult:
    """Play a fully labelled table as a stream in which a label is seen only where a policy acts.

    Beside the policies come ``never``, ``always``, the ``oracle`` of hindsight and ``full-information``, the posterior
    of ``voi`` taught every label as it comes. Cost is counted against the labels, from the first item on.

    Parameters
    ----------
    source, label
        A file, data frame, dict of columns or iterable of dicts, and its label column (see ``read_records``, which
        takes ``positive``, ``missing``, ``numbers``, ``categories`` and how a file is written from here). Or a
        matrix of vectors, a NumPy array or SciPy's CSR, and an array of labels, 0 and 1.
    costs
        What outcomes cost: the same for every item, or formulas over its columns, ``{"miss": "amount*0.9+15",
        "false_alarm": 6, "hit": 4}`` (``CostsByItem``). A column of a formula may be a feature as well, or dropped.
    policies
        Names, ``PolicySpec`` objects where options are set.
    shuffles, order
        The table is played in so many random orders (10), the same for every policy; ``order="as is"`` plays it once
        as it comes. With ``time`` it is played once in the order of time.
    delay, time, time_unit
        How late labels arrive: a number, ``"exponential:200"``, ``"lognormal:200,1.0"`` or a ``Delay``; in items, or in
        the units of the column ``time`` (days, where that holds dates). Dates are texts
        in ISO 8601, numbers such as 20240531, or counts since 1970, known by their range. For other numbers
        ``time_unit`` says what one unit is: ``"day"``, ``"hour"``, ``"minute"``, ``"s"`` or ``"ms"``.
    encoder
        An ``Encoder`` or a scikit-learn transformer, fitted on the first rows of each order, in the place of
        ``default_encoder``; or settings that change the default one, ``{"online": True}``. By default scores may bend
        in numbers and columns with many levels stay open (docs/curves.md); policies that cannot learn that meet
        straight lines, and the frequent levels of the first rows.
    flip_label, drop
        Act on the other class; columns that are no features.
    label_time
        The column that says when each label arrives, in the place of ``delay``; empty: never. It is no feature.
    report_time
        The column that says when an item is reported if it is passed (a chargeback); empty: never. It goes into the
        log, and nothing is learnt of it.
    history
        A labelled past, with the columns of the table (some rows may have no label): the encoder is fitted on it and
        every policy starts from what it says. It must be over before the first item.
    today
        What is done today: a column of past decisions (0 and 1, no and yes), or a score and when it acts, such as
        ``"risk >= 0.7"``. It becomes a row of the table. A column of decisions is no feature, a score is.
    dates, time_features
        Days between two dates, by name, in the place of those from every date to ``time`` (see ``Encoder``); and
        whether the hour, weekday and month of ``time`` are features, too.
    score
        The column with another model's score, which may bend and has a scale of its own (see ``Encoder``).
    capacity, audit, time_zone
        Limited reviewers, ``"120/day"`` or ``"Mon-Fri 120, Sat 40"`` (with ``time``), or ``"5%"`` of any 1,000 items in
        a row, never exceeded; and the share of passed items to audit, ``"2%"``. Each policy then sits at a ``Desk``
        (docs/streams.md). Days begin at midnight in ``time_zone``, such as ``"Europe/Berlin"``; without one, in UTC.
        What they are measured against sits there too: the oracle says what a perfect ranking does with so many reviews.
        With ``audit="auto"`` audits cost at most 1 % of what the better of always and never acting costs, and are at
        most 1 % of the passes: the default in the order of time, as in a live stream. ``0``: no audits, the default in
        random orders.
    wrap
        What else goes around each policy, a review budget for example; see ``replays.players``. By default
        ``Awaiting``, where labels arrive late: what has been bought and is on its way is not bought again.
    log, stratum
        The name of a policy whose first pass is kept as ``result.log``, a ``DecisionLog``; and a column whose values
        are the strata of the items, for the log and for audit floors.
    started, progress
        Called once with the policy of every task, before the first one; and with the policy of each task that is done.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(1).normal(size=600)
    >>> table = {"x": x, "bad": (x > 0.5).astype(int)}
    >>> result = replay(table, "bad", costs={"miss": 5, "false_alarm": 1, "hit": 0}, shuffles=2)
    >>> result["voi"].cost_per_1000.mean < min(result[name].cost_per_1000.mean for name in ("never", "always"))
    True
    >>> result["oracle"].cost_per_1000.mean
    0.0
    """
    passes, shuffled = _orders(shuffles, order, time)
    entries = _entries(policies, today is not None)
    sheet = CostsByItem.of(costs)
    by_item = sheet if isinstance(sheet, CostsByItem) else None
    law = Delay.of(delay)
    if label_time is not None and delay is not None:
        told = " says when labels arrive, and so does "
        raise OptionError(Message(Remedy("label_time", label_time), told, Remedy("delay", delay), ": give one of them"))
    usual_audit = None if shuffled or wrap is not None else AUTO
    if report_time is not None and log is None:
        told = " is for the decision log: say with "
        raise OptionError(Message(Remedy("report_time", report_time), told, Remedy("log"), " which policy's is kept"))
    staffing = Staffing.of(capacity, usual_audit if audit is None else audit, time_zone)
    if staffing is not None and wrap is not None:
        raise OptionError("capacity and audit put a desk around each policy: give them or wrap=, not both")
    dressed: Wrapper = staffing or wrap or awaiting
    if staffing is not None:
        staffing.check(time is not None)
    columns: dict[str, Any] = {"flip_label": flip_label, "drop": drop, "time_unit": time_unit, **reading}
    stream = read_labelled(
        source,
        label,
        time=time,
        label_time=label_time,
        report_time=report_time,
        today=today,
        costs=by_item,
        **columns,
    )
    past = None if history is None else read_history(history, stream, label, **columns)
    usual = sheet if isinstance(sheet, Costs) else cast(CostColumns, stream.costs).average()
    if staffing is not None:
        staffing.check(time is not None, stream.day, stream.dated)
    encoder = with_dates(chosen_encoder(encoder, default_encoder(stream.records, shuffled, curves=True)), dates)
    encoder = with_score(encoder, score)
    if log is not None and log not in [entry.label for entry in entries if entry.name not in COMPARATORS]:
        raise OptionError(f"log names the policy of this replay whose decisions are kept, got {log!r}")
    strata = None if stratum is None else stream.strata(stratum)
    if time_features and (stream.moments is None or not isinstance(encoder, Encoder)):
        told = " needs a column of dates that is not dropped, and an Encoder: name the column with "
        raise OptionError(Message(Remedy("time_features"), told, Remedy("time")))
    name = f"replay {next(_names)}"
    plan = Plan(stream, usual, encoder, law, seed, shuffled, dressed, name, log, strata, past, time_features)
    for entry in entries:  # a wrong setting is found here, not in a worker
        if entry.name not in COMPARATORS:
            X, _, groups, *_ = plan.met_by(entry, 0)
            player = make(entry, X.shape[1], len(stream), usual, 0, groups)
            check_forgetting(entry.label, player, stream.clock, stream.day)
    tasks = [Pass(plan, entry, number) for number in range(passes) for entry in entries]
    tallies: list[Any] = [None] * len(tasks)
    kept: DecisionLog | None = None
    if started is not None:
        started([task.entry.label for task in tasks])
    with engines.engine("local", jobs=jobs) if engine is None else nullcontext(engine) as workers:
        for index, (found, record) in workers.run(Pass.play, tasks):
            tallies[index] = found
            kept = record or kept
            if progress is not None:
                progress(tasks[index].entry.label)
    forget()
    played = {entry.label: PolicyReplay(entry, tuple(tallies[k :: len(entries)])) for k, entry in enumerate(entries)}
    return ReplayResult(plan, played, _notes(plan, played), kept)


def _orders(shuffles: int | None, order: str, time: str | None) -> tuple[int, bool]:
    """Return how many passes there are, and whether they are shuffled."""
    kind = order.replace("-", " ").replace("_", " ") if isinstance(order, str) else order
    if kind not in ("shuffled", "as is"):
        shuffled, as_is = Remedy("order", "shuffled"), Remedy("order", "as is")
        raise OptionError(Message("there are ", shuffled, " and ", as_is, f", got {order!r}"))
    if shuffles is not None:
        if shuffles == 0 and not isinstance(shuffles, bool):
            told = "a table is played in one random order or more; to play it once as it comes, say "
            raise OptionError(Message(told, Remedy("order", "as is")))
        whole("shuffles", shuffles, least=1)
        if time is not None or kind == "as is":
            one = Remedy("order", "as is") if time is None else Remedy("time", time)
            left = Remedy("shuffles", shuffles)
            raise OptionError(
                Message(one, " plays the table in one order; leave out ", left, ", or shuffle without it")
            )
    if kind == "as is" or time is not None:
        return 1, False
    return SHUFFLES if shuffles is None else shuffles, True


def _entries(policies: Sequence[str | PolicySpec], today: bool) -> list[PolicySpec]:
    """Return the policies, and behind them the comparators that are not among them."""
    if isinstance(policies, str):
        raise OptionError(f"policies is a list, got the text {policies!r}: policies=[{policies!r}]")
    chosen = [one if isinstance(one, PolicySpec) else PolicySpec(one, {}) for one in policies]
    for entry in chosen:
        if entry.name not in COMPARATORS:
            find(entry.name)
        elif entry.options:
            raise OptionError(f"{entry.name} has no options in a replay, got {dict(entry.options)}")
    named = [entry.name for entry in chosen]
    if TODAY in named and not today:
        raise OptionError(Message("what is done today is said by a column of the table: ", Remedy("today")))
    left_out = {*named, *(() if today else (TODAY,)), *(() if booster.is_there() else (BOOSTER,))}
    chosen += [PolicySpec(name, {}) for name in COMPARATORS if name not in left_out]
    labels = [entry.label for entry in chosen]
    for one in labels:
        if labels.count(one) > 1:
            raise OptionError(f"{one} is listed twice")
    return chosen


def _notes(plan: Plan, played: Mapping[str, PolicyReplay]) -> tuple[str, ...]:
    """Return what the reader of the table should know."""
    stream, shuffled = plan.stream, plan.shuffled
    notes = [*stream.notes, *delay_notes(stream, plan.delay), *feature_notes(plan.encoder, plan.table(0), plan.time)]
    notes += cost_notes(stream)
    if plan.history is not None:
        notes += [plan.history.note, *plan.history.notes]
        past = Seen(plan.history.records, plan.history.labels)
        notes += [
            after("in the history, ", finding.message)
            for check in (known_labels, infinite_cells)
            for finding in check(past)
        ]
    if plan.budget is not None:
        notes.append(DESK)
    starts = edges(len(stream), BLOCKS)
    rates = np.add.reduceat(stream.labels.astype(float), starts[:-1]) / np.diff(starts)
    base = float(stream.labels.mean())
    spread = float((np.diff(starts) * (rates - base) ** 2).sum()) / (base * (1 - base))
    freedom = len(rates) - 1
    shown = " ".join(f"{rate:.2f}" for rate in rates)
    changes = int(np.count_nonzero(np.diff(stream.labels)))
    if changes == 1:
        if not shuffled:
            notes.append("the file is sorted by its label, so its order says nothing about time: shuffle it")
    elif shuffled and spread > freedom + DRIFT * np.sqrt(2 * freedom):
        told = f"the share of positives changes along the file ({shown} by tenths). If the rows are in the order of "
        notes.append(Message(told, "time, play the file as it is: ", Remedy("order", "as is")))
    seen = Seen.of(stream)
    ordered = None if shuffled or seen is None else seen.in_order(plan.encoder)
    moved = [] if ordered is None else list(moving_ranges(ordered))
    rare = [] if ordered is None or plan.history is not None else list(rare_at_first(ordered))
    for label, one in played.items():
        found = list(dict.fromkeys(note for tally in one.tallies for note in tally.notes))[:2]
        if not shuffled and one.entry.name not in COMPARATORS:
            found += stopped_notes(one.tallies[0], [finding.column for finding in moved])
        notes += [f"{label}: {note}" for note in found]
    notes += unlearnable_notes(stream)
    if not shuffled:
        notes += column_notes(stream)
    if isinstance(plan.wrap, Staffing) and plan.wrap.audit is not None and plan.wrap.audit.spend:
        notes.append(Message(AUDITED, Remedy("audit", 0)))
    if isinstance(plan.encoder, Encoder) and plan.encoder.online:  # the remedy has been taken
        moved, rare = [], [finding for finding in rare if finding.remedy != ONLINE]
    return tuple(notes if seen is None else [*notes, *replay_notes(ordered or seen, moved, rare)])
