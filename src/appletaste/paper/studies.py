"""The paper's evidence as data: which policy plays which problem for which figure or table.

A study is a list of pairings; pairings that several studies share are played once. Nothing here runs anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import OptionError
from ..policies import PolicySpec
from ..problems import READINGS, Problem, problem
from .published import WEIGHTS

#: The order of the paper's tables.
POLICIES = ("pg-ts", "pg-ids", "pg-ids-traditional", "greedy", "cbp-side", "suplogistic")
SAMPLERS = POLICIES[:3]
#: Parts of Figure 1 that can be had by themselves: a table of the paper, and its problem.
TABLES = {"table-1": "i", "table-2": "ii", "table-3": "iii"}
DIMENSIONS = (2, 5, 10, 20, 30, 40)
SWEEPS = (10, 15, 25, 50, 100)
ESTIMATORS = ("mutual-information", "corrected", "printed")


@dataclass(frozen=True)
class Pairing:
    """One policy on one problem: the unit that is played, stored and reused."""

    problem: Problem
    entry: PolicySpec

    def identity(self, seed: int) -> str:
        """Return a file name that stands for these settings and no others."""
        options = sorted((name, value) for name, value in self.entry.options.items())
        exact = repr((self.problem, self.entry.name, options, seed))
        words = re.sub(r"[^a-z0-9.]+", "-", f"{self.problem.name}-{self.entry.label}".lower()).strip("-")
        return f"{words}-{hashlib.blake2b(exact.encode(), digest_size=6).hexdigest()}"


@dataclass(frozen=True)
class Study:
    """A figure or table of the paper, or a question about it."""

    name: str
    title: str
    question: str
    pairings: tuple[Pairing, ...]


def pair(problem_: Problem, names: Sequence[str], **options: object) -> list[Pairing]:
    """Return each policy, with the same options, on one problem."""
    return [Pairing(problem_, PolicySpec(name, options)) for name in names]


def tuned(problem_: Problem) -> list[Pairing]:
    """Return the ten weights of the tuning study, and what they are compared with."""
    weighted = [Pairing(problem_, PolicySpec("pg-ids", {} if w == 0.05 else {"weight": w})) for w in WEIGHTS]
    return [*weighted, *pair(problem_, ("pg-ids-traditional", "pg-ts"))]


def swept(problem_: Problem) -> list[Pairing]:
    """Return the samplers with more and fewer Gibbs sweeps."""
    return [p for m in SWEEPS for p in pair(problem_, SAMPLERS, **({} if m == 15 else {"sweeps": m}))]


def all_studies(reading: str = "as-run") -> list[Study]:
    """Return every study, in the order of the report; the one on readings always has both."""
    main = [problem(name, reading=reading) for name in ("i", "ii", "iii")]
    both = [problem(name, reading=r) for r in READINGS for name in ("i", "ii")]
    dimension = [
        problem("dimension", features=d, scaling=s, reading=reading)
        for s in ("printed", "constant")
        for d in DIMENSIONS
    ]
    tuning = [problem("tuning", rounds=rounds, reading=reading) for rounds in (250, 750)]
    estimated = [
        Pairing(p, PolicySpec("pg-ids", {} if e == ESTIMATORS[0] else {"estimator": e}))
        for p in (main[0], main[2])
        for e in ESTIMATORS
    ]
    return [
        Study(
            "figure-1",
            "Figure 1 and Tables 1-3: the six policies on three problems",
            "Which policy has the least regret, and which errors does it make?",
            tuple(p for problem_ in main for p in pair(problem_, (*POLICIES, "always", "never"))),
        ),
        Study(
            "figure-2a",
            "Figure 2a: regret and dimension",
            "Does regret grow as the square root of the dimension?",
            tuple(p for problem_ in dimension for p in pair(problem_, (*SAMPLERS, "greedy"))),
        ),
        Study(
            "figure-2b",
            "Figure 2b: regret and the number of Gibbs sweeps",
            "Does it matter how long the sampler runs before each decision?",
            tuple(p for problem_ in (main[0], main[2]) for p in swept(problem_)),
        ),
        Study(
            "figure-3",
            "Figure 3 and Tables 4-6: the weight of information",
            "How should the weight lambda of tunable IDS be set?",
            tuple(p for problem_ in (*tuning, main[2]) for p in tuned(problem_)),
        ),
        Study(
            "readings",
            "Two readings of the losses",
            "Were the experiments run with the losses that the model section prints?",
            tuple(p for problem_ in both for p in pair(problem_, (*POLICIES, "always"))),
        ),
        Study(
            "estimators",
            "Three estimators of the information gain",
            "Does it matter that the printed estimator weights the posterior draws by the likelihood again?",
            tuple(estimated),
        ),
    ]


def table_study(name: str, reading: str = "as-run") -> Study:
    """Return one of Tables 1-3 by itself: the part of Figure 1 that is its problem."""
    problem_ = problem(TABLES[name], reading=reading)
    title = f"{name.capitalize().replace('-', ' ')}: the six policies on problem ({problem_.name})"
    question = "Which policy has the least regret, and which errors does it make?"
    return Study(name, title, question, tuple(pair(problem_, (*POLICIES, "always", "never"))))


def find_studies(names: Sequence[str], reading: str = "as-run") -> list[Study]:
    """Return the studies of these names; without names all, which have Tables 1-3 in Figure 1."""
    whole = all_studies(reading)
    if not names:
        return whole
    known = {study.name: study for study in (*(table_study(name, reading) for name in TABLES), *whole)}
    for name in names:
        if name not in known:
            raise OptionError(f"there is no study {name!r}; there are {', '.join(known)}")
    return [study for study in known.values() if study.name in names]
