"""PG-TS in NumPy and polyagamma, twice: as the paper's pseudocode reads, and with the linear algebra tuned."""

from __future__ import annotations

import numpy as np
from polyagamma import random_polyagamma


class NaivePgTs:
    """Algorithms PG-TS and GIBBS line by line: M sweeps a round, act on the last draw."""

    def __init__(self, n_features: int, score_threshold: float, sweeps: int = 15, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.prior_precision = np.eye(n_features)
        self.features = np.empty((0, n_features))
        self.kappa = np.empty(0)
        self.sweeps = sweeps
        self.score_threshold = score_threshold
        self.theta = self.rng.standard_normal(n_features)

    def sweep(self) -> None:
        omega = random_polyagamma(1.0, self.features @ self.theta, random_state=self.rng)
        covariance = np.linalg.inv(self.features.T @ (omega[:, None] * self.features) + self.prior_precision)
        mean = covariance @ (self.features.T @ self.kappa)
        self.theta = self.rng.multivariate_normal(mean, covariance)

    def decide(self, x: np.ndarray) -> bool:
        for _ in range(self.sweeps):
            self.sweep()
        return bool(x @ self.theta >= self.score_threshold)

    def learn(self, x: np.ndarray, label: int) -> None:
        self.features = np.vstack((self.features, x))
        self.kappa = np.append(self.kappa, label - 0.5)


class TunedPgTs(NaivePgTs):
    """The same sampler by someone who knows NumPy: no diagonal matrix, one Cholesky factor, no inverse."""

    def sweep(self) -> None:
        precision = self.prior_precision
        if len(self.kappa):
            omega = random_polyagamma(1.0, self.features @ self.theta, random_state=self.rng)
            precision = precision + (self.features.T * omega) @ self.features
        factor = np.linalg.cholesky(precision)
        whitened = np.linalg.solve(factor, self.features.T @ self.kappa) + self.rng.standard_normal(len(self.theta))
        self.theta = np.linalg.solve(factor.T, whitened)
