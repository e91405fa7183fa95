"""What to do about a belief: each rule turns a score and costs into the probability of acting."""

from .base import Judge, Memoryless, Rule, Verdict
from .greedy import EpsilonGreedy
from .information_directed import InformationDirected, Traditional
from .thompson import Thompson

__all__ = ["EpsilonGreedy", "InformationDirected", "Judge", "Memoryless", "Rule", "Thompson", "Traditional", "Verdict"]
