"""Posterior x rule = policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from .._checks import number
from ..errors import OptionError
from ..keys import Key
from ..posteriors import Laplace, Posterior
from ..rules import InformationDirected, Rule, Traditional, ValueOfInformation
from .bayesian_learner import BayesianLearner
from .items import check_width
from .learner import LATER
from .trees import TreesLearner


@dataclass(frozen=True)
class Bayesian:
    """Ask a posterior for the score of the item and a rule for the probability of acting.

    PG-TS is ``Bayesian(Gibbs(), Thompson())``; PG-IDS is ``Bayesian(Gibbs(), InformationDirected())``.

    Parameters
    ----------
    vigilance
        The chance of a false alarm in a whole stream, if the model is right. Labels are bet on (``kernels.bets``):
        prompt ones before they are learnt, late ones once nearly all of their time have come. When prompt labels
        contradict the model, the older half of all labels is forgotten, and all from before the change if the next
        alarm comes within 150 labels; when late ones do, all from before the change. 0: nothing is watched.
    in_order
        Late labels that come in the order of decisions are bet on one by one before they are learnt, as prompt ones
        are: which have come says nothing of what they are, and a change is noticed earlier.
    trees
        Fit small trees to the labels seen, and take their score as one more feature where the labels speak for it
        (docs/trees.md). Needs the posterior ``Laplace``; with a prior of coefficients that depend on each other there
        are none.
    """

    posterior: Posterior
    rule: Rule
    vigilance: float = field(default=0.0, metadata=LATER)
    trees: bool = field(default=False, metadata=LATER)
    in_order: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        number("vigilance", self.vigilance, least=0.0, most=1.0)
        if self.trees and not isinstance(self.posterior, Laplace):
            raise OptionError(
                f"trees need a posterior that learns all labels again when they join: Laplace, and not "
                f"{type(self.posterior).__name__}"
            )
        self._check_reviewers()

    def _check_reviewers(self) -> None:
        """Refuse what does not know that labels may be wrong beside a posterior that does."""
        posterior, rule = self.posterior, self.rule
        errors = (posterior.sensitivity, posterior.specificity) if isinstance(posterior, Laplace) else (1.0, 1.0)
        told = f"sensitivity={errors[0]:g} and specificity={errors[1]:g}"
        if isinstance(rule, ValueOfInformation) and (rule.sensitivity, rule.specificity) != errors:
            raise OptionError(
                f"the rule must know of the same reviewers as the posterior: ValueOfInformation(sensitivity="
                f"{errors[0]:g}, specificity={errors[1]:g}), got {rule.sensitivity:g} and {rule.specificity:g}"
            )
        if errors == (1.0, 1.0):
            return
        if isinstance(rule, InformationDirected | Traditional):
            raise OptionError(
                f"{type(rule).__name__} pays for labels as if they were true: with {told} take voi, ts or ucb"
            )
        if self.trees:
            raise OptionError(f"trees take labels as true: with {told} leave them out (trees=false)")

    def start(self, n_features: int, key: Key) -> BayesianLearner:
        """Return the learner before the first item."""
        posterior, rule, d = self.posterior, self.rule, check_width(n_features)
        if self.trees and isinstance(posterior, Laplace) and posterior.takes_more(d):
            return TreesLearner(posterior, rule, self.vigilance, self.in_order, d, key)
        return BayesianLearner(partial(posterior.start, d, key), rule.start(d), self.vigilance, self.in_order)
