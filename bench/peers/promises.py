"""What we promise of the recommended policy beside other libraries, and whether the results keep it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .summary import Summary

WON_SHARE = 0.75
MOST_ABOVE = 1.15
GEOMETRIC_MEAN = 0.85


@dataclass(frozen=True)
class Promise:
    """One promise, what was found, and whether it is kept."""

    promise: str
    found: str
    kept: bool


def promises(summary: Summary) -> list[Promise]:
    """Return the promises about the reference player; none where nothing can be compared."""
    environments, mine = summary.compared, summary.reference
    if not environments:
        return []
    won, drawn, lost = summary.score(mine)
    above = {name: summary.to_best_peer(name, mine) for name in environments}
    above = {name: ratio for name, ratio in above.items() if ratio > MOST_ABOVE}
    listed = ", ".join(
        f"{name} +{100 * (ratio - 1):.0f} % ({summary.best_peer(name)})" for name, ratio in above.items()
    )
    mean, _ = summary.geometric_mean(mine)
    rest, _ = summary.geometric_mean(mine, without=("iii",))
    # A peer that sat out somewhere has a mean over other environments: only complete ones are compared.
    means = {name: summary.geometric_mean(name) for name in summary.peers}
    whole = {name: value for name, (value, count) in means.items() if count == len(environments)}
    best = min(whole, key=whole.__getitem__) if whole else ""
    limit = GEOMETRIC_MEAN * whole.get(best, math.nan)
    return [
        Promise(
            f"`{mine}` is below the best peer in at least {WON_SHARE:.0%} of the environments, by two standard errors",
            f"{won} won, {drawn} drawn, {lost} lost",
            won >= WON_SHARE * len(environments),
        ),
        Promise(
            f"nowhere is `{mine}` more than {MOST_ABOVE - 1:.0%} above the best peer of that environment",
            listed or "nowhere",
            not above,
        ),
        Promise(
            f"its geometric mean of regret / best peer's is at most {GEOMETRIC_MEAN} times the best single peer's",
            f"{mean:.3f}; {best or 'no peer played everywhere'}: {whole.get(best, math.nan):.3f}, limit {limit:.3f}",
            mean <= limit,
        ),
        Promise(
            f"the same against the best peer of each environment, chosen in hindsight: at most {GEOMETRIC_MEAN:.2f}",
            f"{mean:.3f}"
            + (f"; without iii, where giving up at once is best, {rest:.3f}" if "iii" in environments else ""),
            mean <= GEOMETRIC_MEAN,
        ),
    ]
