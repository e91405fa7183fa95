"""What to do about a belief: each rule turns a score and costs into the probability of acting."""

from .greedy import EpsilonGreedy
from .information_directed import InformationDirected, Traditional
from .inverse_gap import InverseGap
from .rule import Judge, Memoryless, Rule, Verdict
from .thompson import Thompson
from .upper_bound import UpperBound
from .value_of_information import ValueOfInformation

__all__ = [
    "EpsilonGreedy",
    "InformationDirected",
    "InverseGap",
    "Judge",
    "Memoryless",
    "Rule",
    "Thompson",
    "Traditional",
    "UpperBound",
    "ValueOfInformation",
    "Verdict",
]
