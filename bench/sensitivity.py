"""How much the defaults of ``voi`` matter: each constant by itself, lower and higher: ``make bench ARGS=sensitivity``.

On the drawn environments of ``bench.peers`` but the two largest; regret as a ratio to the default's on the same
streams, geometric mean over environments, and the worst environment; all without surprises, which ``bench.blind``
measures. Prints Markdown (docs/decisions/measured/rules.md has it).
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from bench.peers.play import all_environments, table_of

import appletaste as at
from appletaste.cli.console import progress_of
from appletaste.policies import Bayesian

LEFT_OUT = ("d200", "long", "iii")  # time, time, and a problem that giving up solves
RULE, POSTERIOR = at.rules.ValueOfInformation(), at.posteriors.Laplace(skew=True, adaptive=True)
#: What is varied: the default, then other values in words with the method they make.
VARIANTS = {
    "default": Bayesian(POSTERIOR, RULE),
    "eagerness 0.5": Bayesian(POSTERIOR, replace(RULE, eagerness=0.5)),
    "eagerness 2": Bayesian(POSTERIOR, replace(RULE, eagerness=2.0)),
    "forgetting 1.5": Bayesian(POSTERIOR, replace(RULE, forgetting=1.5)),
    "forgetting 6": Bayesian(POSTERIOR, replace(RULE, forgetting=6.0)),
    "randomised": Bayesian(POSTERIOR, replace(RULE, randomised=True)),
    'ahead="lindy"': Bayesian(POSTERIOR, replace(RULE, ahead="lindy")),
    'ahead="shared"': Bayesian(POSTERIOR, replace(RULE, ahead="shared")),
    "no skew correction": Bayesian(replace(POSTERIOR, skew=False), RULE),
    "fixed prior N(0, I)": Bayesian(replace(POSTERIOR, adaptive=False), RULE),
    "neither": Bayesian(at.posteriors.Laplace(), RULE),
    "prior N(0, 4 I), learnt from there": Bayesian(replace(POSTERIOR, prior=at.posteriors.Gaussian(0.0, 4.0)), RULE),
    "prior N(0, I / 4), learnt from there": Bayesian(replace(POSTERIOR, prior=at.posteriors.Gaussian(0.0, 0.25)), RULE),
}


@dataclass(frozen=True)
class Stream:
    """One stream of one environment, played by every variant."""

    environment: str
    replication: int

    def play(self) -> list[float]:
        """Return the regret of each variant."""
        warnings.simplefilter("ignore", at.errors.PoorFitWarning)
        table = table_of(self.environment, 1000 + self.replication, Path())
        found = []
        for method in VARIANTS.values():
            policy = at.Policy(method, n_features=table.n_features, costs=table.costs, seed=self.replication)
            found.append(float(table.regret_of(at.play(policy, table).act).sum()))
        return found


def main() -> None:
    """Play, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench sensitivity", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--replications", type=int, default=40, help="streams of each environment (default 40)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    real = ("german_credit", "spambase", "mushroom", "phishing", "bank_marketing")
    names = [name for name in all_environments(Path()) if name not in (*LEFT_OUT, *real)]
    tasks = [Stream(name, r) for name in names for r in range(args.replications * (4 if name == "random" else 1))]
    regrets: dict[str, list[list[float]]] = {name: [] for name in names}
    with (
        progress_of("playing", [task.environment for task in tasks], args.jobs) as step,
        at.engines.engine("local", jobs=args.jobs) as workers,
    ):
        for index, found in workers.run(Stream.play, tasks):
            regrets[tasks[index].environment].append(found)
            step(tasks[index].environment)
    means = np.array([np.mean(regrets[name], axis=0) for name in names])
    ratios = means / means[:, :1]
    print("| `voi` with | geometric mean | best environment | worst environment |\n|---|---:|---:|---:|")
    for k, variant in enumerate(VARIANTS):
        low, high = ratios[:, k].argmin(), ratios[:, k].argmax()
        mean = float(np.exp(np.log(ratios[:, k]).mean()))
        ends = " | ".join(f"{ratios[e, k]:.2f} {names[e]}" for e in (low, high))
        print(f"| {variant} | {mean:.3f} | {ends} |")


if __name__ == "__main__":
    main()
