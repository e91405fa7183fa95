"""Where the paper's text is wrong, each with evidence that the stored runs give or a command that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .figures import Outcomes
from .published import PRECISION_RECALL, TUNING_REGRET, WEIGHTS


@dataclass(frozen=True)
class Erratum:
    """What is printed, what it should be, what shows it (from stored runs), and how to see it oneself."""

    where: str
    printed: str
    corrected: str
    evidence: Callable[[Outcomes], str]
    command: str = ""


def _mean(outcomes: Outcomes, problem: str, policy: str, measure: str) -> float:
    return float(getattr(outcomes[problem, policy], measure).mean())


def _losses(outcomes: Outcomes) -> str:
    run, printed = (_mean(outcomes, p, "always", "precision") for p in ("i", "i as-printed"))
    return f"always acting on (i) has precision {run:.3f} as run and {printed:.3f} as printed; Table 1 has 0.74"


def _classes(outcomes: Outcomes) -> str:
    share = _mean(outcomes, "iii", "always", "precision")
    return (
        f"acting is best on {share:.4f} of the items of (iii), which is the 0.10 of CBP-SIDE in Table 3; nearly half "
        "of all items are of class 1"
    )


def _impossible(outcomes: Outcomes) -> str:
    share = _mean(outcomes, "iii", "always", "precision")
    return f"recall 1.00 where acting is best on {share:.4f} of the items needs a precision of at least that"


def _weight(outcomes: Outcomes) -> str:
    totals = [sum(table[k][0] for table in TUNING_REGRET.values()) for k in range(len(WEIGHTS))]
    best = WEIGHTS[totals.index(min(totals))]
    return f"the published tables themselves have their least sum, {min(totals):.2f}, at {best:g}"


def _dimension(outcomes: Outcomes) -> str:
    small, large = (float(outcomes[f"d={d} printed", "pg-ts"].regret.mean()) for d in (2, 40))
    same_small, same_large = (float(outcomes[f"d={d} constant", "pg-ts"].regret.mean()) for d in (2, 40))
    return (
        f"Var(x'theta*) = d^(1/2) / 3 as printed; the regret of PG-TS rises {large / small:.1f}-fold from d = 2 to 40, "
        f"and {same_large / same_small:.1f}-fold with d^-1 I"
    )


def _never(outcomes: Outcomes) -> str:
    regret = {name: _mean(outcomes, "iii", name, "regret") for name in (*PRECISION_RECALL["iii"], "never")}
    best = min(PRECISION_RECALL["iii"], key=lambda name: regret[name])
    return f"regret {regret['never']:.2f} for never acting against {regret[best]:.2f} for {best}, the best in the table"


def _said(text: str) -> Callable[[Outcomes], str]:
    return lambda outcomes: text


ERRATA = (
    Erratum(
        "losses: model section against experiments",
        "miss = l01, false alarm = 1",
        "miss = l10 = 1, false alarm = l01",
        _losses,
        "appletaste simulate --problem i --policy always --reading as-printed",
    ),
    Erratum(
        "precision and recall",
        "against the true class",
        "against the optimal action A*_t",
        _classes,
        "appletaste simulate --problem iii --policy always",
    ),
    Erratum(
        "Table 3, SupLogistic",
        "precision 0.05 at recall 1.00",
        "impossible",
        _impossible,
        "appletaste simulate --problem iii --policy suplogistic",
    ),
    Erratum(
        "what problem (iii) shows",
        "a comparison of six policies",
        "never acting beats all of them",
        _never,
        "appletaste simulate --problem iii --policy never --policy greedy",
    ),
    Erratum("caption of Figure 1", "lambda = 0.2", "lambda = 0.05, as in the text", _weight),
    Erratum(
        "dimension study",
        "covariance d^-1/2 I keeps the variance of x'theta* constant",
        "d^-1 I does",
        _dimension,
        "appletaste simulate --problem dimension --features 40 --scaling constant",
    ),
    Erratum(
        "information gain I_t(1)",
        "sum_c P(c) KL(pi, pi | c), its estimator weighting posterior draws by the likelihood again",
        "sum_c P(c) KL(pi | c, pi) = H(mean p) - mean H(p)",
        _said("the study of the three estimators above"),
        "appletaste simulate --problem i --policy pg-ids --policy 'pg-ids[estimator=printed]'",
    ),
    Erratum(
        "tunable p_t",
        "undefined at Delta(1) = Delta(0)",
        "1: the objective falls with p",
        _said("brute-force minimisation in the tests"),
    ),
    Erratum(
        "Gibbs conditional",
        "exp(+omega/2 (x'theta - (1 - C)/omega)^2)",
        "exp(-omega/2 (x'theta - (C - 1/2)/omega)^2)",
        _said("draws against quadrature in the tests; the printed sign has no normalisable density"),
    ),
    Erratum(
        "CBP-SIDE width w(t)",
        "2 d (1 + N R^2 / d) under the root",
        "2 d log(1 + N R^2 / d)",
        _said("as printed the width does not shrink as labels arrive"),
    ),
    Erratum(
        "SupLogistic, cost of passing",
        "l01 (1 - sigma)",
        "miss * sigma",
        _said("as printed the two actions cost the same on (iii), whatever sigma is"),
    ),
)
