"""An adversary who reads the acts: what a rule that never draws pays, and what audits mend of it.

Some of the items are sent by somebody who knows the policy: a positive wherever the policy is nearly sure to
pass (P(act) < 5 %), a negative elsewhere. The others follow a logistic model. Differences from ``voi`` are paired over
streams: all rules meet the same items, and the same draws of those that nobody sent.
"""

from __future__ import annotations

import argparse
import re
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import appletaste as at

from .figures.parts import Figure, table
from .figures.stored import keep_run

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
ROUNDS, FEATURES, SENT, SURE = 3_000, 5, 0.2, 0.05
RIVALS = {
    "voi": ("voi", {}, None),
    "voi, audit auto": ("voi", {}, "auto"),
    "voi, audit 2%": ("voi", {}, "2%"),
    "voi, audit 10%": ("voi", {}, "10%"),
    "voi[randomised]": ("voi", {"randomised": True}, None),
    "ts": ("ts", {}, None),
}


def cost_of(name: str, seed: int) -> float:
    """Return what a policy pays on one stream."""
    rule, options, audit = RIVALS[name]
    rng = np.random.default_rng([seed, 4])
    theta = rng.normal(size=FEATURES)
    items = rng.normal(size=(ROUNDS, FEATURES))
    chances = 1.0 / (1.0 + np.exp(2.0 - items @ theta))
    uniforms, sent = rng.random(ROUNDS), rng.random(ROUNDS) < SENT
    player = at.policy(rule, n_features=FEATURES, costs=COSTS, seed=seed, **options)
    desk = at.Desk(player, audit=at.Audit.of(audit) if audit else None)
    paid = 0.0
    for x, chance, uniform, mine in zip(items, chances, uniforms, sent, strict=True):
        decision = desk.decide(x)
        label = int(decision.probability < SURE) if mine else int(uniform < chance)
        paid += COSTS.incurred(decision.act, label)
        if decision.act:
            desk.learn(decision, label)
    return paid


def _cell(task: tuple[str, int]) -> float:
    return cost_of(*task)


def main() -> None:
    """Print the cost of each rule, and its difference from ``voi``; keep a whole run."""
    parser = argparse.ArgumentParser(prog="python -m bench adversary", description=__doc__)
    parser.add_argument("--streams", type=int, default=12)
    args = parser.parse_args()
    tasks = [(name, seed) for name in RIVALS for seed in range(args.streams)]
    with ProcessPoolExecutor(2) as workers:
        found = np.array(list(workers.map(_cell, tasks))).reshape(len(RIVALS), args.streams)
    rows, numbers = [], dict[str, Figure]()
    for name, costs in zip(RIVALS, found, strict=True):
        away = costs - found[0]
        more = f"{away.mean():+.0f} ± {away.std(ddof=1) / np.sqrt(args.streams):.0f}"
        rows.append((f"`{name}`", f"{costs.mean():,.0f}", "" if name == "voi" else more))
        word = re.sub(r"[^a-z0-9]+", "-", name.removeprefix("voi, ")).strip("-")
        numbers[word] = f"{costs.mean():,.0f}" if name == "voi" else more
    told = table(("policy", "cost of a stream", "more than `voi`"), rows)
    print(told.text())
    if args.streams == parser.get_default("streams"):
        keep_run("adversary", {"table": [told]} | numbers)


if __name__ == "__main__":
    main()
