"""Whether a constant would have been better: acting on every item, or passing every item."""

from __future__ import annotations

from ..evaluate import Estimate
from .estimates import scarce
from .facts import Facts, minus
from .wording import Writer, count, ends


def better_constant(facts: Facts, money: Writer) -> str:
    """Say that acting on every item, or passing every item, would surely have cost less than what was done.

    Empty where no interval says so; they are so wide that all thresholds asked about hold at once. Where reviews were
    scarce, acting on every item was not to be had.

    Examples
    --------
    >>> import appletaste as at
    >>> from .facts import gather
    >>> from .wording import Currency
    >>> costs = {"miss": 9.0, "false_alarm": 1.0, "hit": 1.0, "probability": 0.5, "chance": 0.5}
    >>> rows = [{"id": k, "act": k % 2 == 0, "label": 1 if k % 2 == 0 else None, **costs} for k in range(400)]
    >>> print(better_constant(gather(at.DecisionLog.from_rows(rows)), Currency()))
    Acting on every item would have cost ..., what was done ...: ... more (... to ...), with 400 acts instead of 200.
    """
    rivals = [("Passing", minus(facts.whole.saved), 0.0)]
    if not scarce(facts.log):
        rivals.append(("Acting on", facts.everything.saving, facts.everything.acts))
    sure = []
    for way, saving, acts in rivals:
        answer = facts.together.widened(saving)
        if isinstance(answer, Estimate) and answer.low > 0.0:
            sure.append((answer.value, way, answer, acts))
    if not sure:
        return ""
    gain, way, answer, acts = max(sure, key=lambda rival: rival[0])
    stake, saved = facts.whole.at_stake, facts.whole.saved
    more = f"{money(gain)} more ({ends(answer, money)})"
    taken = f", with {count(acts)} acts instead of {count(facts.everything.logged_acts)}"
    if isinstance(stake, Estimate) and isinstance(saved, Estimate):
        done = stake.value - saved.value
        return f"{way} every item would have cost {money(done - gain)}, what was done {money(done)}: {more}{taken}."
    return f"What was done cost {more} than {way.lower()} every item would have{taken}."
