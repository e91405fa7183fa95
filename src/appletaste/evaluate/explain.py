"""``explain``: ask a policy, a desk or a stream why.

The explanation of one decision has what adds to the score, what it costs to act and to pass, and the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._files import for_json
from ..costs import SomeCosts
from ..costs_by_item import CostsByItem
from ..decision import Decision
from ..errors import InputError, OptionError
from ..features import FeatureMap, TransformerMap
from ..features.parts import average_item, level_words
from ..pages.page import Table, html_part
from ..policies import Player, Policy
from ..policies.reasons import Reason, parts_for, reason_of, surprising_feature
from ..streams import Ledger, Stream

#: Lines of the printed table; smaller contributions are added up in one line.
LINES = 10
#: Chances that differ by more than this were changed by what was learnt since.
MOVED = 0.0005


class Contribution(NamedTuple):
    """What one column adds to the score of an item, against the average item."""

    column: str
    words: str  #: "job = retired"
    value: float
    sd: float  #: posterior standard deviation of ``value``


@dataclass(frozen=True)
class Explanation:
    """Why an item was, or would be, acted on. ``base`` plus all contributions is ``score``, the posterior mean of z.

    Contributions and ``chance`` are what is believed *now*; a past decision has the chance of its time in
    ``chance_then``, and its reason goes by that. ``print`` it for a table, ``as_dict()`` is for JSON.
    """

    act: bool | None  #: None: not decided yet
    probability: float  #: of acting
    reason: Reason
    contributions: tuple[Contribution, ...]  #: the largest first
    base: float  #: the score of the average item
    base_sd: float
    score: float
    score_sd: float
    chance: float  #: P(positive), now
    chance_then: float | None  #: when it was decided, where that was recorded
    threshold: float  #: acting pays from this chance on
    cost_of_acting: float  #: expected, at ``chance``
    cost_of_passing: float

    def as_dict(self) -> dict[str, Any]:
        """Return everything for JSON; a threshold that no chance reaches is None."""
        found: dict[str, Any] = for_json(vars(self))
        return found

    def __str__(self) -> str:
        lines, table = self._told()
        return "\n".join([*lines, "", table.text()])

    def _repr_html_(self) -> str:
        """Return what ``print`` says, for a notebook."""
        lines, table = self._told()
        return html_part([*lines, table])

    def _told(self) -> tuple[list[str], Table]:
        """Return what is said of the item, and of each column."""
        done = "not decided yet" if self.act is None else "acted" if self.act else "passed"
        then = self.chance_then
        moved = then is not None and abs(then - self.chance) > MOVED
        lines = [
            f"{done}, probability of acting {self.probability:.3g}",
            f"{self.reason}",
            f"chance {self.chance:.3g}" + (f" ({then:.3g} when decided)" if moved else "") + self._from(),
            f"expected cost: act {self.cost_of_acting:.4g}, pass {self.cost_of_passing:.4g}",
        ]
        shown = self.contributions if len(self.contributions) <= LINES else self.contributions[: LINES - 1]
        rows = [("average item", f"{self.base:+.2f}", f"{self.base_sd:.2f}")]
        rows += [(part.words, f"{part.value:+.2f}", f"{part.sd:.2f}") for part in shown]
        rest = self.contributions[len(shown) :]
        if rest:
            rows.append((f"{len(rest)} more", f"{sum(part.value for part in rest):+.2f}", ""))
        rows.append(("score", f"{self.score:+.2f}", f"{self.score_sd:.2f}"))
        return lines, Table("", ("", "adds", "sd"), rows)

    def _from(self) -> str:
        if math.isfinite(self.threshold):
            return f"; acting pays from {self.threshold:.3g} on"
        return "; acting never pays at these costs" if self.threshold > 0 else "; acting always pays at these costs"


Floats = NDArray[np.float64]


def explain(
    policy: Player | Ledger | Stream,
    item: Decision | Mapping[str, Any] | ArrayLike | str,
    features: FeatureMap | TransformerMap | None = None,
    *,
    costs: SomeCosts | CostsByItem | None = None,
    time: Any = None,
    stratum: str | None = None,
    reference: ArrayLike | None = None,
) -> Explanation:
    """Say why an item was acted on or passed, or what would be done with it: contributions, costs and a reason code.

    The score is z = x'theta with theta ~ (m, V), the posterior of now. With r the average item, a column with the
    places J adds m_J'(x - r)_J, with variance (x - r)_J' V_JJ (x - r)_J, and the base is m'r; together they are the
    posterior mean m'x exactly. The levels of a category are one column, and so are a number and its indicator of
    missing values. A level of a column with many levels adds its effect, measured from none (docs/curves.md); its
    labels are counted in its words. This is the Shapley value of a linear model whose columns are taken as independent
    (Štrumbelj & Kononenko 2014). Where trees take part, each column adds its share of their score besides, the
    path-dependent Shapley value (Lundberg et al. 2020), and the base has what all items have in common in that score.

    Parameters
    ----------
    policy
        What decided: a policy, a desk, a stream or a ledger. Its policy must have a posterior with a covariance or
        draws (``voi``, ``ts``, ``pg-ts``, ...).
    item
        A decision, the id of one in a stream or a ledger, or an item not yet decided: a record (with ``features``) or
        a vector.
    features
        The map that makes the vectors, for names.
    costs, time, stratum
        Those of an item that is not decided yet, as ``Desk.decide`` takes them; a desk with a budget per day needs the
        time. Costs by item are worked out for a record. Where no costs are given, they are those of the stream's
        formulas, or else the policy's.
    reference
        Items whose mean is the average item. By default the items of a ledger, or what ``features`` knows of it: the
        means of numbers.

    Examples
    --------
    >>> import appletaste as at
    >>> people = [{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}]
    >>> features = at.Encoder().fit(people)
    >>> policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> decision = policy.decide(features.transform(people[0]))
    >>> policy.learn(decision, 1)
    >>> found = at.explain(policy, decision, features)
    >>> found.reason.code, [part.words for part in found.contributions]
    ('EXPLOIT', ['age = 30', 'job = student'])
    >>> abs(found.base + sum(part.value for part in found.contributions) - found.score) < 1e-12
    True
    """
    record: Mapping[str, Any] | None = None
    player = policy
    if isinstance(policy, Ledger):
        player = policy.player
        if isinstance(item, str):
            item = policy[item].decision
        if reference is None and len(policy):
            reference = np.stack([policy[name].decision.x for name in policy])
    elif isinstance(policy, Stream):
        player, features = policy.player, features or policy.features
        if isinstance(item, str):
            case = policy.find(item)
            if case.erased:
                raise InputError(f"the features of decision {item!r} were erased: nothing can be explained by them")
            item = case.answer.decision
        elif isinstance(item, Mapping) and features is not None and features is policy.features:
            asked = policy.read(item, time=time, stratum=stratum, costs=costs)
            costs, time, stratum = asked.costs, asked.time, asked.stratum
            item = {name: cell for name, cell in (asked.record or {}).items() if name in policy.features.fields}
    if isinstance(item, str):
        raise InputError(f"{item!r} is the id of a decision: give explain the stream that has it")
    if not isinstance(player, Player):
        raise InputError(f"explain takes a policy, a desk or a stream, got {type(policy).__name__}")
    if not isinstance(features, FeatureMap | TransformerMap | None):
        raise InputError(
            f"features are the map that made the vectors, Encoder().fit(records), got {type(features).__name__}"
        )
    if isinstance(item, Mapping):
        if features is None:
            raise InputError("a record needs the map that makes vectors of records: explain(policy, record, features)")
        record, item = item, features.transform(item, update=False)
    if isinstance(costs, CostsByItem):
        if record is None:
            raise InputError("costs by item are formulas over the columns of a record: explain one, or give its costs")
        costs = costs.of_item(record)
    decision = item if isinstance(item, Decision) else None
    owner = player.policy
    if decision is not None:
        prospect = owner.look(decision.x, costs=decision.costs)
    else:
        prospect = player.look(item, costs=costs, time=time, stratum=stratum)  # type: ignore[arg-type]
    x, sheet = prospect.x, prospect.costs
    if features is not None and features.n_features != len(x):
        raise InputError(f"features make vectors of {features.n_features}, the policy takes {len(x)}: not its own map?")
    mean, covariance = _moments(owner)
    average = average_item(features, len(x), reference)
    found = parts_for(owner, features, x, average, record)
    parts = [
        Contribution(
            part.column,
            part.words,
            float(mean[part.places] @ part.values),
            _deviation(covariance[np.ix_(part.places, part.places)], part.values),
        )
        for part in found.columns
    ]
    effects = owner.posterior.effects(x)
    for effect in effects:
        column, words = level_words(features, x, effect.place, record)
        told = f"{words} ({effect.labels} label{'' if effect.labels == 1 else 's'})"
        share = float(found.trees[effect.place])
        sd = math.hypot(math.sqrt(effect.variance), share * math.sqrt(covariance[-1, -1]))
        parts.append(Contribution(column, told, effect.mean + float(mean[-1]) * share, sd))
    wide, average = owner.learner.widened_one(x), found.base
    then = None if decision is None or math.isnan(decision.chance) else decision.chance
    chance = prospect.chance
    act = None if decision is None else decision.act
    probability = prospect.acting if decision is None else decision.probability
    known = prospect if decision is None else decision
    return Explanation(
        act=act,
        probability=probability,
        reason=reason_of(
            probability >= 0.5 if act is None else act,
            probability,
            chance if then is None else then,
            sheet,
            worth=known.worth,
            price=known.price,
            spent=known.spent,
            audit=decision is not None and decision.audit,
            surprising=surprising_feature(known.why, features),
            stranger=known.why.get("stranger", 0.0),
        ),
        contributions=tuple(sorted(parts, key=lambda part: -abs(part.value))),
        base=float(mean @ average),
        base_sd=_deviation(covariance, average),
        score=float(mean @ wide) + sum(effect.mean for effect in effects),
        score_sd=math.hypot(_deviation(covariance, wide), *(math.sqrt(effect.variance) for effect in effects)),
        chance=chance,
        chance_then=then,
        threshold=sheet.threshold,
        cost_of_acting=sheet.expected(True, chance),
        cost_of_passing=sheet.expected(False, chance),
    )


def _moments(policy: Policy) -> tuple[Floats, Floats]:
    """Return the posterior mean and covariance of theta: the one place here that looks into a posterior."""
    found = policy.posterior
    if found.is_point:
        raise OptionError(
            f"{policy.name} believes a single theta and has no posterior with a covariance: no contributions "
            "with their uncertainty; policies such as 'voi', 'ts', 'ucb' and 'pg-ts' have one"
        )
    return found.mean, found.covariance


def _deviation(covariance: Floats, direction: Floats) -> float:
    """Return the posterior standard deviation of theta in a direction."""
    return math.sqrt(max(0.0, float(direction @ covariance @ direction)))
