"""Speed, as ratios measured side by side in one run: ``make bench``.

Each line is the best of several repetitions, ours and theirs taken in turn on one core, so that a busy machine slows
both alike. ``--json FILE`` keeps the numbers.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path

import numpy as np
from polyagamma import random_polyagamma as other_polyagamma

import appletaste as at
from appletaste.policies import POLICIES

from .figures.parts import table
from .figures.stored import keep_run
from .naive import NaivePgTs, TunedPgTs

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)


def best_times(functions, repetitions):
    """Return the least time of each function, all of them run in turn in every repetition."""
    best = [float("inf")] * len(functions)
    for _ in range(repetitions):
        for i, function in enumerate(functions):
            started = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - started)
    return best


def bench_draws():
    """PG(1, z) draws, a million a second."""
    rows = []
    n = 500_000
    rng = np.random.default_rng(0)
    for label, z in (
        ("z ~ N(0, 1.5^2)", rng.normal(0, 1.5, n)),
        ("z = 0", np.zeros(n)),
        ("z ~ N(0, 5^2)", rng.normal(0, 5, n)),
        ("z = 20", np.full(n, 20.0)),
    ):
        out, generator = np.empty(n), np.random.default_rng(1)

        def ours(z=z):
            return at.random_polyagamma(z, seed=1)

        def theirs(z=z, out=out, generator=generator):
            return other_polyagamma(1.0, z, out=out, random_state=generator)

        ours()
        mine, other = best_times([ours, theirs], 9)
        rows.append(
            {"what": f"PG draws, {label}", "ours": n / mine / 1e6, "theirs": n / other / 1e6, "ratio": other / mine}
        )
    print(f"{'PG(1, z), 500,000 draws, one core':<42}{'appletaste':>12}{'polyagamma':>12}{'ratio':>8}")
    for row in rows:
        print(f"  {row['what'][10:]:<40}{row['ours']:>8.0f} M/s{row['theirs']:>8.1f} M/s{row['ratio']:>8.1f}")
    return rows


def replicate_with(policy, items, labels):
    for x, label in zip(items, labels, strict=True):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)


def naive_with(policy, items, labels):
    for x, label in zip(items, labels, strict=True):
        if policy.decide(x):
            policy.learn(x, label)


def bench_replicates():
    """One PG-TS run of T rounds through the public interface, M = 15."""
    rows = []
    heading = ("appletaste", "as written", "ratio", "tuned", "ratio")
    print(f"\n{'PG-TS run, M = 15, decide + learn':<42}" + "".join(f"{word:>12}" for word in heading))
    for d, rounds in ((5, 500), (20, 1000)):
        rng = np.random.default_rng(1)
        items = rng.standard_normal((rounds, d))
        labels = (rng.random(rounds) < 1 / (1 + np.exp(-items @ rng.uniform(-1, 1, d)))).astype(int)
        cut = COSTS.score_threshold
        ours, naive, tuned = best_times(
            [
                lambda d=d, i=items, y=labels: replicate_with(at.policy("pg-ts", n_features=d, costs=COSTS), i, y),
                lambda d=d, i=items, y=labels, c=cut: naive_with(NaivePgTs(d, c), i, y),
                lambda d=d, i=items, y=labels, c=cut: naive_with(TunedPgTs(d, c), i, y),
            ],
            5,
        )
        rows.append(
            {"what": f"PG-TS run, d={d}, T={rounds}", "ours": ours, "naive": naive, "ratio": naive / ours}
            | {"tuned": tuned, "tuned_ratio": tuned / ours}
        )
        print(
            f"  {f'd = {d}, T = {rounds}':<40}{1e3 * ours:>9.1f} ms{1e3 * naive:>9.0f} ms{naive / ours:>12.1f}"
            f"{1e3 * tuned:>9.0f} ms{tuned / ours:>12.1f}"
        )
    print("  as written: covariance by inverse, draw by multivariate_normal; tuned: Cholesky and triangular solves")
    return rows


def bench_policies():
    """Microseconds of decide + learn for every policy, with n labels learnt."""
    rows = []
    print(f"\n{'decide + learn, d = 5, microseconds':<42}{'n = 100':>12}{'n = 1,000':>12}")
    rng = np.random.default_rng(2)
    items = rng.standard_normal((2000, 5))
    labels = (rng.random(2000) < 1 / (1 + np.exp(-items @ rng.uniform(-1, 1, 5)))).astype(int)
    for name in POLICIES:
        options = {"theta": np.ones(5)} if name == "oracle" else {}
        row = {"what": f"decide + learn, {name}"}
        for n in (100, 1000):
            policy = at.policy(name, n_features=5, costs=COSTS, **options)
            for i in range(n):  # every policy has n labels, also those that would have passed
                policy.learn(policy.settle(policy.look(items[i])._replace(floor=1.0)), labels[i])
            times = []
            for i in range(200):
                started = time.perf_counter()
                decision = policy.decide(items[n + i % 500])
                if decision.act:
                    policy.learn(decision, labels[n + i % 500])
                times.append(time.perf_counter() - started)
            row[f"n={n}"] = 1e6 * float(np.median(times))
        rows.append(row)
        print(f"  {name:<40}{row['n=100']:>12.1f}{row['n=1000']:>12.1f}")
    return rows


def play_stream(player, items, labels, late):
    """Return the seconds of every decide and of every label, which arrives ``late`` items after its item was decided.

    Only a ledger knows a decision by its id; a policy by itself gets the decision, and gets each label at once.
    """
    clock, kept, by_id = time.perf_counter, {}, isinstance(player, at.streams.Ledger)
    deciding, learning, ids = [], [], [f"case-{i}" for i in range(len(items))]
    for i, x in enumerate(items):
        if by_id:
            started = clock()
            decision = player.decide(x, id=ids[i])
        else:
            started = clock()
            decision = player.decide(x)
        deciding.append(clock() - started)
        if decision.act:
            kept[i] = decision
        decision = kept.pop(i - late, None)
        if decision is not None and by_id:
            started = clock()
            player.label(ids[i - late], labels[i - late])
            learning.append(clock() - started)
        elif decision is not None:
            started = clock()
            player.learn(decision, labels[i - late])
            learning.append(clock() - started)
    return np.array(deciding), np.array(learning)


def bench_ledger():
    """Microseconds of decide and label through a ledger, a desk and a budget, beside the policy by itself."""
    rows = []
    budget, lane = at.Budget(share=0.2, window=500), at.Audit(rate=0.02)
    players = {
        "the policy by itself": lambda policy: policy,
        "Awaiting(policy)": at.streams.Awaiting,
        "Ledger(policy)": at.streams.Ledger,
        "Ledger(Desk(Awaiting(policy)))": lambda policy: at.streams.Ledger(at.Desk(at.streams.Awaiting(policy))),
        "the same with budget and audits": lambda policy: at.streams.Ledger(
            at.Desk(at.streams.Awaiting(policy), budget, lane)
        ),
    }
    heading = ("decide", "ratio", "label", "ratio")
    for d in (20, 25):
        rng = np.random.default_rng(3)
        items = rng.standard_normal((1500, d))
        chances = 1 / (1 + np.exp(1 - items @ rng.uniform(-1, 1, d)))
        labels = (rng.random(len(items)) < chances).astype(int).tolist()
        best = {}
        for _ in range(12):  # the least time of each call: the same calls every time, whatever else the machine does
            for name, around in players.items():
                late = 0 if name == "the policy by itself" else 50
                found = play_stream(around(at.policy("voi", n_features=d, costs=COSTS)), items, labels, late)
                best[name] = tuple(map(np.minimum, best.get(name, found), found))
        print(f"\n{f'voi, d = {d}, labels 50 items late, us':<42}" + "".join(f"{word:>12}" for word in heading))
        first = None
        for name, found in best.items():
            deciding, learning = (1e6 * float(np.median(times[len(times) // 4 :])) for times in found)
            first = first or (deciding, learning)
            ratios = deciding / first[0], learning / first[1]
            rows.append(
                {"what": f"{name}, d={d}", "decide": deciding, "label": learning}
                | {"decide_ratio": ratios[0], "label_ratio": ratios[1]}
            )
            print(f"  {name:<40}{deciding:>12.2f}{ratios[0]:>12.2f}{learning:>12.2f}{ratios[1]:>12.2f}")
    return rows


def sparse_stream(d, nonzeros, n):
    """Return items with so many non-zeros, an intercept among them, their labels, and groups: half are curves of 6."""
    rng = np.random.default_rng(4)
    items = np.zeros((n, d))
    items[:, 0] = 1.0
    for x in items:
        x[1 + rng.choice(d - 1, size=nonzeros - 1, replace=False)] = rng.standard_normal(nonzeros - 1)
    chances = 1 / (1 + np.exp(-items @ rng.normal(0, 1 / np.sqrt(nonzeros), d)))
    labels = (rng.random(n) < chances).astype(int).tolist()
    return items, labels, [0] * (d - d // 2) + [1 + i // 6 for i in range(d // 2)]


def learn_all(d, items, labels, groups):
    """Return the seconds of every decide + learn of ``voi``, every label learnt."""
    policy, times = at.policy("voi", n_features=d, costs=COSTS, groups=groups), np.empty(len(items))
    for i, x in enumerate(items):
        started = time.perf_counter()
        policy.learn(policy.settle(policy.look(x)._replace(floor=1.0)), labels[i])
        times[i] = time.perf_counter() - started
    return times


def bench_sparse():
    """Microseconds of decide + learn with groups, one entry in five not zero, beside vectors without zeros."""
    rows = []
    heading = ("sparse", "dense", "ratio", "mean", "dense", "ratio")
    print(f"\n{'voi with curves, 2,000 labels, us':<30}" + "".join(f"{word:>10}" for word in heading))
    for d, nonzeros in ((40, 10), (57, 20), (200, 40), (500, 100), (500, 10)):
        streams, best = [sparse_stream(d, k, 2000) for k in (nonzeros, d)], [np.inf, np.inf]
        for _ in range(3):  # the least time of each round
            best = [np.minimum(b, learn_all(d, *stream)) for b, stream in zip(best, streams, strict=True)]
        half, whole = (1e6 * float(np.median(b[1000:])) for b in best), (1e6 * float(np.mean(b)) for b in best)
        (few, all_), (few_mean, all_mean) = half, whole
        rows.append(
            {"what": f"decide + learn, d={d}, {nonzeros} non-zeros", "median": few, "dense_median": all_}
            | {"ratio": few / all_, "mean": few_mean, "dense_mean": all_mean, "mean_ratio": few_mean / all_mean}
        )
        shown = (
            f"{one:>10.1f}{other:>10.1f}{one / other:>10.2f}" for one, other in ((few, all_), (few_mean, all_mean))
        )
        print(f"  {f'd = {d}, {nonzeros} non-zeros':<28}{''.join(shown)}")
    print("  median of the rounds from label 1,000 on, and mean of the whole stream, renewals included")
    return rows


def main():
    parser = argparse.ArgumentParser(
        prog="python -m bench speed", description="Measure appletaste beside its peers, in one run."
    )
    parser.add_argument("--json", type=Path, help="keep the numbers in this file")
    args = parser.parse_args()
    draws, runs, policies, ledger, sparse = (
        measure() for measure in (bench_draws, bench_replicates, bench_policies, bench_ledger, bench_sparse)
    )
    rows = [*draws, *runs, *policies, *ledger, *sparse]
    if args.json:
        args.json.write_text(json.dumps(rows, indent=2) + "\n")
    keep_run("speed", {"beside": beside(draws, runs), "policies": [by_policy(policies)], "sparse": [by_zeros(sparse)]})


def beside(draws, runs):
    """Return the tables of ours beside others in one run."""
    drawn = [(row["what"][10:], f"{row['ours']:.0f}", f"{row['theirs']:.1f}", f"{row['ratio']:.1f}") for row in draws]
    names = ("ours", "naive", "ratio", "tuned", "tuned_ratio")
    played = [
        (row["what"][11:], *(f"{row[name] * (1 if 'ratio' in name else 1e3):.1f}" for name in names)) for row in runs
    ]
    return [
        table(("PG(1, z), millions a second", "appletaste", "polyagamma", "ratio"), drawn),
        table(("PG-TS, M = 15, ms a run", "appletaste", "as written", "ratio", "tuned", "ratio"), played),
        "As written: covariance by inverse, draw by `multivariate_normal`. Tuned: Cholesky and triangular solves.",
    ]


def by_policy(policies):
    """Return microseconds of decide and learn of every policy."""
    rows = [(f"`{row['what'][16:]}`", f"{row['n=100']:.1f}", f"{row['n=1000']:.1f}") for row in policies]
    return table(("decide and learn, 5 features, us", "100 labels", "1,000 labels"), rows)


def by_zeros(sparse):
    """Return microseconds of vectors with many zeros beside those without."""
    rows = []
    for row in sparse:
        features, zeros = re.findall(r"\d+", row["what"])
        values = (row[name] for name in ("median", "dense_median", "mean", "dense_mean"))
        rows.append((features, zeros, *(f"{value:.1f}" for value in values)))
    return table(("features", "non-zeros", "median", "without zeros", "mean", "without zeros"), rows)


if __name__ == "__main__":
    main()
