"""What a belief gains, and risks, if it learns from passes: from those reported later, and from those that are not.

A passed positive is reported with probability r, after a delay with law F; a negative never is. A pass that was
reported is as good as a label of 1, and one of age t that was not has the likelihood 1 - r F(t) sigma(x'theta): that of
a label of 0 of somebody with sensitivity r F(t) and specificity 1 (``kernels.reviewed``). The belief of this bench is
that of ``voi`` with such labels beside its own, each taken in once, when it is ``MATURE`` rounds old. It keeps every
pass, which the package would not. All arms meet the same items, labels, delays and audits; an arm is the regret of the
same belief more than without passes.

The belief is told a rate: the true one, twice and half of it, and the true mean where one segment never reports. Told
0 it learns the reports alone.
"""

from __future__ import annotations

import argparse
import math
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import appletaste as at
from appletaste.kernels import gaussian, surprises
from appletaste.kernels.gaussian import adf_step
from appletaste.policies.bayesian_learner import BayesianLearner
from appletaste.posteriors.groups import Groups
from appletaste.posteriors.label_table import next_renewal
from appletaste.posteriors.laplace_belief import LaplaceBelief

ROUNDS, DELAY, MATURE = 3_000, 200.0, 400
WORLDS = ("rare", "even", "flags", "levels", "dear", "hardly")
RATES = (0.1, 0.3, 0.6, 0.9)
#: What the belief is told of r, and whether the first segment never reports.
ARMS = {
    "true": (1.0, False),
    "twice": (2.0, False),
    "half": (0.5, False),
    "reports alone": (0.0, False),
    "one segment silent": (1.0, True),
}
MOST = 0.95
STEPS, SHORT = 30, 1e-2


def sigma(z):
    """Return the logistic function."""
    return 0.5 * (1.0 + np.tanh(0.5 * z))


class PassesBelief(LaplaceBelief):
    """The belief of ``voi`` with labels of 0 that may be wrong: the sensitivity of each is its own."""

    def __init__(self, settings, n_features, key, groups):
        super().__init__(settings, n_features, key, groups)
        self._errors = []

    def learn(self, x, label, moment=None, error=0.0):
        """Learn a label, or a pass: ``error`` is the chance that a positive has this label of 0."""
        labels = self._labels
        labels.add(x, label)
        self._errors.append(error)
        self._belief[gaussian.VARIED][x != labels.features[0, :, 0]] = 1.0
        f, v = gaussian.score_item(x, self._belief)
        gaussian.move(self._belief, *adf_step(f, v, float(label), 1.0, error, 1.0 - error))
        if labels.n >= self._due:
            self._renew(labels.n)

    def _renew(self, n):
        features, numbers, slab = self._labels.features, self._groups.numbers, self.doubt.slab
        surprises.rescale_with_slab(self._belief, features, numbers, self._precision, self._prior, slab)
        items, labels = self._labels.revised({})
        self._fit_all(items, labels, np.array(self._errors))
        surprises.enforce(self._prior, slab)
        surprises.note_surprises(self._belief, slab, self.doubt.share)
        self._due = next_renewal(n)

    def _fit_all(self, items, labels, errors):
        precision, origin = self._prior[:-1], self._prior[-1]
        theta, span = self._belief[gaussian.MODE].copy(), 1.0 - errors

        def given(t):
            p = sigma(items @ t)
            one = span * p
            return p, one, 1.0 - one

        def height(t):
            _, one, zero = given(t)
            said = np.log(np.maximum(np.where(labels > 0.5, one, zero), 1e-300))
            return said.sum() - 0.5 * (t - origin) @ precision @ (t - origin)

        value = height(theta)
        for _ in range(STEPS):
            p, _, zero = given(theta)
            up, down = (1.0 - p), span * p * (1.0 - p) / np.maximum(zero, 1e-300)
            information = precision + (items.T * (up * down)) @ items
            slope = items.T @ np.where(labels > 0.5, up, -down) - precision @ (theta - origin)
            step = np.linalg.solve(information, slope)
            long, share = math.sqrt(max(slope @ step, 0.0)), 1.0
            while share > 1e-6 and not height(theta + share * step) >= value:
                share *= 0.5
            theta = theta + share * step
            value = height(theta)
            if long < SHORT:
                break
        covariance = np.linalg.inv(information)
        self._belief[gaussian.MODE] = theta
        self._belief[gaussian.COVARIANCE :] = 0.5 * (covariance + covariance.T)
        self._belief[gaussian.MEAN] = theta + self._skewed(items, labels, span, given(theta), covariance)

    @staticmethod
    def _skewed(items, labels, span, chances, covariance):
        """Return the correction of the mean for skew, one posterior deviation at most."""
        p, _, zero = chances
        w = p * (1.0 - p)
        first = np.where(labels > 0.5, 1.0 - p, span * w / np.maximum(zero, 1e-300))
        second = first * np.where(labels > 0.5, 1.0 - 2.0 * p, 2.0 * p - 1.0)
        third = first * (1.0 - 6.0 * w) - 3.0 * first * second + 2.0 * first**3
        forms = np.einsum("ni,ij,nj->n", items, covariance, items)
        shift = 0.5 * covariance @ (items.T @ (np.where(labels > 0.5, third, -third) * forms))
        length = math.sqrt(shift @ np.linalg.solve(covariance, shift))
        return shift / max(length, 1.0)


def world(kind, rng):
    """Return items, their chances of being positive, costs, and which items are of the segment that may be silent."""
    n, numbers = ROUNDS, rng.normal(size=(ROUNDS, 4))
    costs, ones = at.Costs(miss=10.0, false_alarm=1.0, hit=0.0), np.ones(ROUNDS)
    segment = rng.random(n) < 0.15
    if kind == "flags":
        flags = (rng.random((n, 7)) < 0.1).astype(float)
        items, theta = np.column_stack([ones, flags]), np.append(-4.0, rng.choice([0.0, 0.0, 2.0, 4.0], 7))
    elif kind == "levels":
        level = rng.integers(0, 12, n)
        items, theta = (
            np.column_stack([ones, level[:, None] == np.arange(12)]),
            np.append(-3.5, 1.5 * rng.normal(size=12)),
        )
    else:
        base = {"rare": -4.5, "even": -0.5, "dear": -3.0, "hardly": -6.0}[kind]
        items, theta = np.column_stack([ones, numbers]), np.append(base, rng.normal(size=4))
        costs = {"even": at.Costs(1.0, 1.0, 0.0), "dear": at.Costs(3.0, 1.0, 0.0)}.get(kind, costs)
    items, theta = np.column_stack([items, segment]), np.append(theta, 1.5)
    return np.ascontiguousarray(items, dtype=np.float64), sigma(items @ theta), costs, segment


def play(kind, seed, rate, arm, audit=0.0):
    """Return the regret of a stream, in all and in its last third."""
    rng = np.random.default_rng([seed, WORLDS.index(kind), 32])
    items, chances, costs, segment = world(kind, rng)
    truth, luck, delays = rng.random(ROUNDS) < chances, rng.random(ROUNDS), rng.exponential(DELAY, ROUNDS)
    audited = rng.random(ROUNDS) < audit
    times, silent = ARMS[arm] if arm else (0.0, False)
    reported = truth & (luck < rate) & ~(segment & silent)
    told = min(MOST, times * rate * ((~segment).mean() if silent else 1.0))
    unseen = 1.0 - told * (1.0 - math.exp(-MATURE / DELAY))
    policy = at.policy("voi", n_features=items.shape[1], costs=costs, seed=seed, trees=False, vigilance=0.0)
    method = policy.method
    belief = PassesBelief(method.posterior, items.shape[1], at.Key(seed), Groups((0,) * items.shape[1], items.shape[1]))
    policy.learner = learner = BayesianLearner(partial(_none), policy.learner.rule, belief)
    regrets, passed = np.zeros(ROUNDS), np.zeros(ROUNDS, bool)
    for t in range(ROUNDS):
        k = t - MATURE
        if arm and k >= 0 and passed[k]:  # reported or not, at one age: those that come first are all positive
            if reported[k] and delays[k] <= MATURE:
                learner.belief.learn(items[k], 1)
            elif unseen < 1.0:
                learner.belief.learn(items[k], 0, error=unseen)
        decision = policy.decide(items[t])
        act = decision.act or bool(audited[t])
        regrets[t] = costs.regret(act=act, chance=chances[t])
        if act:
            learner.belief.learn(items[t], int(truth[t]))
        passed[t] = not act
    return regrets.sum(), regrets[-ROUNDS // 3 :].sum()


def _none():
    raise RuntimeError("nothing is learnt anew here")


def _cell(task):
    return play(*task)


def main() -> None:
    """Print, for each stream and rate, the regret without passes and what each arm adds."""
    parser = argparse.ArgumentParser(prog="python -m bench reports", description=__doc__)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--rates", type=float, nargs="+", default=list(RATES))
    parser.add_argument("--audit", type=float, default=0.0, help="the share of passes that is audited")
    parser.add_argument("--workers", type=int, default=min(16, os.cpu_count() or 2))
    args = parser.parse_args()
    tasks = [(kind, seed, 0.0, "", args.audit) for kind in WORLDS for seed in range(args.streams)]
    tasks += [
        (kind, seed, rate, arm, args.audit)
        for kind in WORLDS
        for rate in args.rates
        for arm in ARMS
        for seed in range(args.streams)
    ]
    with ProcessPoolExecutor(args.workers) as workers:
        found = dict(zip(tasks, workers.map(_cell, tasks, chunksize=4), strict=True))
    print(
        f"{args.streams} streams of {ROUNDS} items; regret without passes, and what an arm adds (+- a standard error)"
    )
    print("| stream | r | without | " + " | ".join(ARMS) + " |")
    print("|---|---:|---:|" + "---:|" * len(ARMS))
    for kind in WORLDS:
        without = np.array([found[kind, seed, 0.0, "", args.audit] for seed in range(args.streams)])
        for rate in args.rates:
            cells = []
            for arm in ARMS:
                more = np.array([found[kind, seed, rate, arm, args.audit] for seed in range(args.streams)]) - without
                error = more.std(axis=0, ddof=1) / math.sqrt(args.streams)
                cells.append(f"{more[:, 0].mean():+.1f} ± {error[0]:.1f} ({more[:, 1].mean():+.1f})")
            print(
                f"| {kind} | {rate} | {without[:, 0].mean():.1f} ({without[:, 1].mean():.1f}) | {' | '.join(cells)} |"
            )


if __name__ == "__main__":
    main()
