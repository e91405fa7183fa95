"""What to do about a belief: each rule turns a score and costs into the probability of acting."""

from .base import Rule, Verdict
from .greedy import EpsilonGreedy
from .information_directed import InformationDirected, Traditional
from .thompson import Thompson

__all__ = ["EpsilonGreedy", "InformationDirected", "Rule", "Thompson", "Traditional", "Verdict"]
