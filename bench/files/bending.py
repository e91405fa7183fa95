"""How far a score may bend, and what that is worth on real files: ``make bench ARGS=bending``.

On each order of each file play ``voi`` on straight lines, on curves, and on what is added to curves; beside them
boosting that sees every label, and boosting as a user would write it in an afternoon: one-sided, refitted as labels
arrive, with a few per cent of all items tried at random. Results are kept in out/bench-files/bending.json as they come,
and the table is written into docs/curves.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

import appletaste as at
from appletaste._files import write_aside
from appletaste.adapters.sklearn import StackedScore
from appletaste.cli.console import progress_of
from appletaste.engines import engine
from appletaste.features.defaults import default_encoder
from appletaste.features.interactions import Unit

from ..peers.summary import mean_and_error
from ..peers.tables import with_error
from ..scale.page import END, START, table
from .streams import SEED, STREAMS, read

DOCS = Path(__file__).parents[2] / "docs" / "curves.md"
#: Rows of a file that are played.
MOST = 12_000
#: A booster is refitted when it has this many times the labels of its last fit.
GROWTH = 1.2
#: A booster acts on everything until it has so many labels, of both classes.
FIRST = 50
#: Shares of items that one-sided boosting tries at random; the better one counts, which is generous.
TRIED = (0.02, 0.1)


@dataclass(frozen=True)
class Order:
    """One order of a file: what there is to decide on."""

    x: np.ndarray
    labels: np.ndarray
    costs: at.Costs
    groups: tuple[int, ...] | None
    units: tuple[Unit, ...]
    seed: int


def order_of(name: str, number: int, folder: Path, curves: bool) -> Order:
    """Return the vectors of one order, encoded as ``replay`` does it, with straight lines or with curves."""
    chosen = STREAMS[name]
    stream = read(folder / chosen.file)
    if chosen.shuffled:
        order = at.Key(SEED).at("bench-files", name, number).generator().permutation(len(stream))[:MOST]
    else:
        order = np.arange(len(stream))
    records = stream.records[order]
    features, x = default_encoder(records, chosen.shuffled, curves).fit_transform(records)
    seed = int(at.Key(SEED).at("bending", name, number).word()) % 2**31
    return Order(x, stream.labels[order], chosen.costs, features.groups if curves else None, features.units, seed)


def learnt(order: Order, pairs: bool = False, stacked: bool = False) -> np.ndarray:
    """Return on which items ``voi`` acts; with pairs of columns, or a booster's score as a feature."""
    options = {"groups": order.groups, "pairs": order.units if pairs else None}
    policy = at.policy(n_features=order.x.shape[1], costs=order.costs, seed=order.seed, **options)
    policy = StackedScore()(policy) if stacked else policy
    acts = np.zeros(len(order.x), dtype=bool)
    for t, x in enumerate(order.x):
        decision = policy.decide(x)
        acts[t] = decision.act
        if decision.act:
            policy.learn(decision, int(order.labels[t]))
    return acts


def boosted(order: Order, tried: float | None) -> np.ndarray:
    """Return on which items a booster acts: with every label (None), or one-sided with a share tried at random."""
    random = np.random.default_rng(order.seed).random(len(order.x))
    acts, seen = np.zeros(len(order.x), dtype=bool), np.zeros(len(order.x), dtype=bool)
    chances, fitted, count, threshold = np.ones(len(order.x)), 0, 0, order.costs.threshold
    for t in range(len(order.x)):
        acts[t] = chances[t] >= threshold
        seen[t] = tried is None or acts[t] or random[t] < tried
        acts[t] |= tried is not None and bool(seen[t])
        count += int(seen[t])
        if count >= max(FIRST, GROWTH * fitted) and len(set(order.labels[: t + 1][seen[: t + 1]])) == 2:
            there, fitted = np.flatnonzero(seen[: t + 1]), count
            model = HistGradientBoostingClassifier(max_iter=60, min_samples_leaf=10, random_state=0)
            model.fit(order.x[there], order.labels[there])
            chances[t + 1 :] = model.predict_proba(order.x[t + 1 :])[:, 1] if t + 1 < len(order.x) else 0.0
    return acts


def cost(order: Order, acts: np.ndarray) -> float:
    """Return the cost of 1,000 items."""
    incurred = {(act, label): order.costs.incurred(act, label) for act in (False, True) for label in (0, 1)}
    return 1000.0 * float(np.mean([incurred[bool(a), int(y)] for a, y in zip(acts, order.labels, strict=True)]))


PLAYERS: dict[str, Callable[[Order], np.ndarray]] = {
    "lines": learnt,
    "curves": learnt,
    "curves, pairs": lambda order: learnt(order, pairs=True),
    "curves, stacked score": lambda order: learnt(order, stacked=True),
    "boosting, all labels": lambda order: boosted(order, None),
    **{f"boosting, {share:.0%} at random": lambda order, share=share: boosted(order, share) for share in TRIED},
}
#: Who meets curves in the vector.
CURVED = ("curves", "curves, pairs", "curves, stacked score")


@dataclass(frozen=True)
class Run:
    """A player and an order of a file."""

    stream: str
    number: int
    player: str
    data: Path

    def play(self) -> float:
        """Return the cost of 1,000 items."""
        warnings.simplefilter("ignore")
        order = order_of(self.stream, self.number, self.data, self.player in CURVED)
        return cost(order, PLAYERS[self.player](order))


def rows(found: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the table: cost of 1,000 items, and the difference from curves with its standard error."""
    lines = []
    for stream, players in found.items():
        curves = players.get("curves", {})
        cells = [stream]
        for player in PLAYERS:
            costs = players.get(player, {})
            both = sorted(costs.keys() & curves.keys())
            if not both:
                cells.append("-")
            elif player == "curves":
                cells.append(with_error(*mean_and_error(list(costs.values()))))
            else:
                cells.append(with_error(*mean_and_error([costs[k] - curves[k] for k in both])))
        lines.append((*cells, str(len(curves))))
    return table(("file", *PLAYERS, "orders"), lines)


def main() -> None:
    """Play what is missing, keep it, write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench bending", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="STREAM", default=list(STREAMS), help="these streams")
    parser.add_argument("--players", nargs="+", metavar="PLAYER", default=list(PLAYERS), help="these players")
    parser.add_argument("--orders", type=int, default=3, help="orders of each file (default 3)")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="where the files are")
    parser.add_argument("--out", type=Path, default=Path("out/bench-files/bending.json"), help="where results are kept")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    args = parser.parse_args()
    found = json.loads(args.out.read_text()) if args.out.exists() else {}
    runs = [
        Run(stream, number, player, args.data)
        for stream in args.only
        if (args.data / STREAMS[stream].file).exists()
        for number in range(args.orders if STREAMS[stream].shuffled else 1)
        for player in args.players
        if str(number) not in found.get(stream, {}).get(player, {})
    ]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    kinds = [f"{run.stream}, {run.player}" for run in runs]
    with progress_of("playing", kinds, args.jobs) as step, engine("local", jobs=args.jobs) as workers:
        for index, spent in workers.run(Run.play, runs):
            run = runs[index]
            found.setdefault(run.stream, {}).setdefault(run.player, {})[str(run.number)] = spent
            write_aside(args.out, json.dumps(found, indent=1, sort_keys=True).encode())
            step(kinds[index])
    text = rows({stream: found[stream] for stream in STREAMS if stream in found})
    print(text)
    if args.only == list(STREAMS) and args.players == list(PLAYERS) and START in DOCS.read_text():
        before, _, rest = DOCS.read_text().partition(START)
        write_aside(DOCS, f"{before}{START}\n\n{text}\n\n{END}{rest.partition(END)[2]}".encode())


if __name__ == "__main__":
    sys.exit(main())
