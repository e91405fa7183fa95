"""Surprises as docs/rules.md writes them, in NumPy: matrices are inverted, and every item is kept."""

import math

import numpy as np

import appletaste as at
from appletaste.kernels import gaussian


def gaussian_of(belief):
    """Return mode, V, and the rows of the slab: prior variances in force, of the pool, the mean, the wide ones."""
    matrix = belief.matrix
    return matrix[gaussian.MODE], matrix[gaussian.COVARIANCE :], belief.doubt.slab[:4]


def log_normal(value, variance):
    return -0.5 * math.log(2 * math.pi * variance) - 0.5 * value**2 / variance


def omega_of(j, belief):
    """Return how probable the wide prior of coefficient j is after the labels."""
    m, V, (in_force, pool, b, wide) = gaussian_of(belief)
    told = 1 / V[j, j] - 1 / in_force[j]
    pi = belief.doubt.share
    if told <= 1e-9:
        return pi
    c = (m[j] - b[j]) / (V[j, j] * told)
    odds = math.log(pi / (1 - pi)) + log_normal(c, 1 / told + wide[j]) - log_normal(c, 1 / told + pool[j])
    return 1 / (1 + math.exp(-odds))


class Reference:
    """The rule, asked item by item beside a policy."""

    def __init__(self, d, rule):
        self.d, self.rule, self.t, self.seen = d, rule, 0, []

    def service(self, t, rate):
        """Return the rounds that a label serves, and the part of them that an item with this rate has."""
        rule, head = self.rule, self.rule.head_start * self.d
        if rule.ahead == "shared":
            return (t + head if rule.horizon is None else (t + head) * (rule.horizon - t) / (rule.horizon + head)), 1.0
        if rule.ahead == "double" or rule.horizon is not None:
            left = 2 * t + 10 * self.d if rule.horizon is None else rule.horizon - t
            return left, 1 / (1 + rate * left)
        r = min(max(rate * (t + head), 0.05), 1.0)
        s = np.linspace(-25, 25, 20001)  # s = exp(u)
        return t + head, float(np.trapezoid(np.exp(s) / ((1 + np.exp(s)) * (1 + r * np.exp(s)) ** 2), s))

    def mean_matrix(self, share_of, newest=None):
        """Return a running mean over the items seen of a number times x x'."""
        total, c = np.zeros((self.d, self.d)), self.rule.forgetting
        for t, entry in enumerate([*self.seen, *([newest] if newest else [])], start=1):
            share = c / (t - 1 + c)
            total = (1 - share) * total + share * share_of(entry) * np.outer(entry["x"], entry["x"])
        return total

    def appraise(self, which, mean, variance, direction, x, costs):
        t = self.t + 1
        outlook = at.posteriors.NormalScore(mean, variance, direction).outlook(costs)
        told = outlook.slope**2 / (outlook.chance * (1 - outlook.chance))
        inflow = self.mean_matrix(lambda e: e["told"] * e["act"])
        horizon, part = self.service(t, direction @ inflow @ direction / variance)
        boundary = min(outlook.regret_pass, outlook.regret_act) / variance * part
        B = self.mean_matrix(lambda e: e[which], {"x": x, which: boundary})
        value = self.rule.eagerness * horizon * told * direction @ B @ direction
        return outlook.regret_act - outlook.regret_pass, value, boundary, told

    def probability(self, price, value):
        if price <= 0:
            return 1.0
        if self.rule.randomised:
            return max(0.0, 1 - price / (2 * value))
        return float(price <= value)

    def judge(self, belief, x, costs):
        m, V, (in_force, _pool, b, wide) = gaussian_of(belief)
        mean, variance, direction = float(x @ belief.mean), float(x @ V @ x), V @ x
        price, value, boundary, told = self.appraise("plain", mean, variance, direction, x, costs)
        self.now = {"x": x, "plain": boundary, "told": told, "open": 0.0}
        found = self.probability(price, value)
        best, added = None, 0.1 * variance
        for j in range(self.d):
            if abs(x[j]) == 1.0 and wide[j] > in_force[j]:
                less = np.zeros(self.d)
                less[j] = 1 / in_force[j] - 1 / wide[j]
                changed = np.linalg.inv(np.linalg.inv(V) - np.diag(less))
                if x @ changed @ x - variance > added:
                    best, added, other = j, float(x @ changed @ x - variance), changed
        if best is None:
            return found, value - price, None
        pull = np.linalg.inv(V) @ (m - b)  # the labels' own part: it stays as the prior is changed
        shifted = mean + float(x @ (b + other @ pull - m))
        other_price, other_value, opened, _ = self.appraise("open", shifted, variance + added, other @ x, x, costs)
        self.now["open"] = opened
        omega, t, head = omega_of(best, belief), self.t + 1, self.rule.head_start * self.d
        if self.rule.horizon is None:
            other_value *= t / (t + (5 * self.d if self.rule.ahead == "double" else head))
        mixed = [(1 - omega) * one + omega * two for one, two in ((price, other_price), (value, other_value))]
        if mixed[1] - mixed[0] <= value - price:
            return found, value - price, None
        return max(found, self.probability(*mixed)), mixed[1] - mixed[0], best

    def commit(self, act):
        self.seen.append({**self.now, "act": act})
        self.t += 1
