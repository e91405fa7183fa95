"""What costs by item are worth, and whether the money missed is covered: ``make bench ARGS=item-costs``.

The stream is made: amounts are lognormal and vary a hundredfold between the 5th and the 95th in a hundred, and a missed
positive costs 90 % of its amount and 15. Three features say how likely a positive is; the amount says a little too.
First ``voi`` plays each stream twice, by the costs of each item and by their average, and both are charged
what each item really cost. Then ``voi`` with an audit lane plays more streams, and the interval of ``missed`` for the
money is held against the hidden labels. Seeds are fixed.
"""

from __future__ import annotations

import argparse

import numpy as np

import appletaste as at
from appletaste.evaluate.support import support_of
from appletaste.replays.tally import costs_of

SHEET = at.CostsByItem(miss="amount*0.9 + 15", false_alarm=30, hit=30)
SIGMA = 1.4  # of log amounts: the 95th in a hundred is 100 times the 5th


def made(items: int, seed: int) -> dict[str, np.ndarray]:
    """Return a table whose amounts vary a hundredfold."""
    rng = np.random.default_rng([seed, items])
    amount = np.exp(rng.normal(4.5, SIGMA, items))
    x = rng.normal(size=(items, 3))
    score = -2.6 + x @ [1.2, -0.8, 0.5] + 0.2 * (np.log(amount) - 4.5)
    positive = rng.random(items) < 1.0 / (1.0 + np.exp(-score))
    columns = {"amount": amount, "a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}
    return {**columns, "positive": positive.astype(int)}


def realised(table: dict[str, np.ndarray], costs: object, seed: int) -> tuple[float, float]:
    """Return what ``voi`` cost when it decided by these costs, charged by item, and its share of acts."""
    found = at.replay(table, "positive", costs=costs, order="as is", seed=seed, log="voi")
    sheet, labels = SHEET.of_table(table), table["positive"].astype(np.int8)
    return float(costs_of(found.log.act, labels, sheet).sum()), float(found.log.act.mean())


def compare(items: int, streams: int) -> np.ndarray:
    """Return the realised cost of each stream: by item, and by the average."""
    rows = []
    for seed in range(streams):
        table = made(items, seed)
        sheet = SHEET.of_table(table)
        average = at.Costs(**{name: float(np.mean(getattr(sheet, name))) for name in ("miss", "false_alarm", "hit")})
        rows.append((realised(table, SHEET, seed)[0], realised(table, average, seed)[0]))
    return np.array(rows)


def covered(items: int, streams: int, audit: str = "5%", level: float = 0.9) -> np.ndarray:
    """Return for each stream whether the intervals for what was missed hold the truth: count, cost and saving."""
    rows = []
    for seed in range(streams):
        table = made(items, 10_000 + seed)
        log = at.replay(table, "positive", costs=SHEET, order="as is", seed=seed, audit=audit, log="voi").log
        passed = support_of(log, 1e-3).usable & ~log.act & (table["positive"] == 1)
        answer = at.missed(log, level)
        truths = passed.sum(), log.miss[passed].sum(), np.maximum(log.catch_gain, 0.0)[passed].sum()
        rows.append(
            [
                a.covers(t)
                for a, t in zip((answer.design.missed, answer.money.cost, answer.money.saving), truths, strict=True)
            ]
        )
    return np.array(rows)


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(prog="python -m bench item-costs", description=__doc__)
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--streams", type=int, default=20, help="of the comparison")
    parser.add_argument("--checks", type=int, default=400, help="streams whose intervals are checked")
    args = parser.parse_args()
    found = compare(args.items, args.streams)
    own, average = found.sum(axis=0)
    lower = 100.0 * (1.0 - found[:, 0] / found[:, 1])
    error = lower.std(ddof=1) / np.sqrt(len(lower))
    print(f"realised cost on {args.streams} streams: by item {own:,.0f}, by the average {average:,.0f}: "
          f"{100 * (1 - own / average):.1f} % lower (by stream {lower.mean():.1f} +- {error:.1f} %)")  # fmt: skip
    shares = covered(args.items, args.checks)
    told = ", ".join(
        f"{name} {100 * share:.1f} %"
        for name, share in zip(("count", "cost", "saving"), shares.mean(axis=0), strict=True)
    )
    print(f"intervals at 90 % for what was missed, on {args.checks} streams, cover: {told}")


if __name__ == "__main__":
    main()
