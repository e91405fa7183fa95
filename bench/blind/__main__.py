"""Whether ``voi`` goes blind to a rare segment that pays, and what ordinary streams pay for eyes that stay open.

Plays ``voi`` with and without surprises on the same streams: six worlds with a rare segment that pays, the same without
one, six ordinary worlds, four with curves and the random environments of ``bench.peers``: ``make bench ARGS=blind``,
twenty minutes. Prints Markdown (docs/decisions/measured/rules.md has it). *Blind*: acts on less than 2 % of the items
that pay.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass

import numpy as np
from bench.peers.random_environments import draw_random

import appletaste as at
from appletaste.cli.console import progress_of

from .bends import BENT
from .streams import BLIND, NULL, ORDINARY

SEED = 20270
WORLDS = {**BLIND, **ORDINARY, **NULL, "random": draw_random}
#: Below this share of the items that pay a stream is blind to them.
SEEN = 0.02


@dataclass(frozen=True)
class Stream:
    """One stream of one world, played once for each share of surprises."""

    world: str
    replication: int
    shares: tuple[float, ...]

    def play(self) -> list[tuple[float, bool]]:
        """Return the regret for each share, and whether it was blind."""
        warnings.simplefilter("ignore", at.errors.PoorFitWarning)
        key = at.Key(SEED).at("bench-blind", self.world, self.replication)
        table, groups = BENT[self.world](key) if self.world in BENT else (WORLDS[self.world](key), None)
        found, paying = [], table.best_actions
        options = {"n_features": table.n_features, "costs": table.costs, "seed": self.replication, "groups": groups}
        for share in self.shares:
            acts = np.asarray(at.play(at.policy(surprises=share, **options), table).act)
            blind = bool(paying.any() and acts[paying].mean() < SEEN)
            found.append((float(table.regret_of(acts).sum()), blind))
        return found


def ratio(regrets: dict[str, np.ndarray], worlds: dict[str, object], k: int) -> float:
    """Return the geometric mean over worlds of mean regret relative to that without surprises."""
    return float(np.exp(np.mean([np.log(regrets[w][:, k].mean() / regrets[w][:, 0].mean()) for w in worlds])))


def in_random(regrets: np.ndarray, k: int) -> str:
    """Return the geometric mean over random environments, with its standard error, where both have some regret."""
    some = (regrets[:, 0] > 1e-9) & (regrets[:, k] > 1e-9)
    logs = np.log(regrets[some, k] / regrets[some, 0])
    error = logs.std() / np.sqrt(max(some.sum(), 1))
    return f"{np.exp(logs.mean()):.3f} ± {error:.3f} | {regrets[:, k].sum() / regrets[:, 0].sum():.3f}"


def main() -> None:
    """Play, and print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m bench blind", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=40, help="streams of each world (default 40)")
    parser.add_argument("--random", type=int, default=900, help="random environments (default 900)")
    parser.add_argument("--shares", default="0.2", help="shares of surprises to try beside none (default 0.2)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    shares = (0.0, *(float(share) for share in args.shares.split(",")))
    counts = {world: args.random if world == "random" else args.streams for world in (*WORLDS, *BENT)}
    tasks = [Stream(world, r, shares) for world, n in counts.items() for r in range(n)]
    regrets = {world: np.zeros((n, len(shares))) for world, n in counts.items()}
    blind = {world: np.zeros(len(shares), dtype=int) for world in counts}
    kinds = [task.world for task in tasks]
    with progress_of("playing", kinds, args.jobs) as step, at.engines.engine("local", jobs=args.jobs) as workers:
        for index, found in workers.run(Stream.play, tasks):
            task = tasks[index]
            regrets[task.world][task.replication] = [regret for regret, _ in found]
            blind[task.world] += [is_blind for _, is_blind in found]
            step(task.world)
    with_blind = "regret / blind streams"
    for worlds, head in ((BLIND, with_blind), (ORDINARY, "regret"), (NULL, "regret"), (BENT, with_blind)):
        print(f"\n| {head} | " + " | ".join(worlds) + " |\n|---|" + "---:|" * len(worlds))
        for k, share in enumerate(shares):
            cells = [f"{regrets[w][:, k].mean():.1f}" + (f" / {blind[w][k]}" * (head is with_blind)) for w in worlds]
            print(f"| surprises {share:g} | " + " | ".join(cells) + " |")
    print(
        "\n| | blind worlds | blind streams | A to F | random | random, total | no segment pays |\n|---|" + "---:|" * 6
    )
    for k, share in enumerate(shares):
        more = sum(regrets[w][:, k].mean() - regrets[w][:, 0].mean() for w in NULL)
        cells = (
            f"{ratio(regrets, BLIND, k):.3f} | {sum(blind[w][k] for w in BLIND)} | {ratio(regrets, ORDINARY, k):.3f}"
        )
        print(f"| surprises {share:g} | {cells} | {in_random(regrets['random'], k)} | {more:+.0f} |")


if __name__ == "__main__":
    main()
