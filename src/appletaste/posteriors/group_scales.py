"""The scales of curves for chains, which have no Gaussian of their own to learn scales from."""

from __future__ import annotations

import numpy as np

from ..kernels.gaussian import COVARIANCE, MEAN, MODE
from ..kernels.logistic import fit, make_work
from .belief import Arrays, Vector
from .groups import Groups
from .labels import Labels
from .laplace_belief import next_renewal


class GroupScales:
    """Moves the prior of a chain to the scales that its labels speak for, whenever there are 6 % more labels.

    The evidence of ``Groups`` is that of a Gaussian, so it is asked of the Gaussian at the mode of all labels under the
    prior in use, found anew each time: what the scales become depends on the labels and their order, and never on where
    the chain has been. Between two such times the chain has a fixed target, the exact posterior given the scales.
    """

    def __init__(self, groups: Groups, n_features: int) -> None:
        self._groups = groups
        self._belief = np.zeros((COVARIANCE + n_features, n_features))
        self._work, self._hessian = make_work(n_features)
        self._due = 1

    def learn(self, labels: Labels, mean: Vector, precision: Vector) -> bool:
        """Move the prior N(mean, precision^-1) if that is due; return whether it was."""
        if labels.n < self._due:
            return False
        mode, d = self._belief[MODE], len(mean)
        fit(labels.features, labels.values, labels.n, mean, precision, mode, self._work, self._hessian)
        root = np.linalg.solve(np.tril(self._hessian), np.eye(d))
        self.move(mode, root.T @ root, precision)
        self._due = next_renewal(labels.n)
        return True

    def move(self, mean: Vector, covariance: Vector, precision: Vector) -> Vector:
        """Move the precision of a prior to what N(mean, covariance), made with it, speaks for; return the new mean."""
        self._belief[MODE] = self._belief[MEAN] = mean
        self._belief[COVARIANCE:] = covariance
        self._groups.learn(self._belief, precision)
        return np.array(self._belief[MODE])

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {"mode": self._belief[MODE].copy(), "due": np.array(self._due)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._belief[MODE] = arrays["mode"]
        self._due = int(arrays["due"])
