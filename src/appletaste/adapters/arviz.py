"""Draws from the posterior as ArviZ has them: several chains, R-hat, effective sample sizes, features by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._checks import whole
from ..errors import InputError, MissingExtraError, OptionError
from ..features import FeatureMap, TransformerMap
from ..keys import Key
from ..policies import Policy
from ..policies.items import check_dense
from ..policies.recipes import Prior, as_prior
from ..posteriors import Gaussian, Gibbs, Vector


def to_arviz(
    source: Policy | tuple[ArrayLike, ArrayLike],
    *,
    chains: int = 4,
    draws: int = 1000,
    tune: int = 500,
    names: Sequence[str] | Any = None,
    prior: Prior = None,
    seed: int = 0,
) -> Any:
    """Return draws of theta from the exact posterior of the labels that a policy has learnt, or of (items, labels).

    Each chain runs Pólya-Gamma Gibbs sweeps (Polson, Scott & Windle 2013) from a draw of the prior of its own, so that
    R-hat can tell whether they have met. The prior is the policy's, with the scale it has learnt if it learns one; it
    does not matter which posterior the policy itself believes, as long as it keeps its labels. So this is also a check
    of an approximation: compare ``policy.learner.belief.mean`` with the mean of the draws.

    Parameters
    ----------
    tune
        Sweeps of each chain that are run first and thrown away.
    names
        One for each feature, or the ``FeatureMap`` that made the vectors.
    prior
        Of (items, labels): ``appletaste.posteriors.Gaussian``, or a variance; None: N(0, I).

    Returns
    -------
    InferenceData of ArviZ 0.x or the DataTree of 1.x: ``posterior["theta"]`` by chain, draw and feature, and
    ``observed_data["label"]``.

    Examples
    --------
    >>> data = to_arviz(([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [0, 0, 1]), draws=200, names=["intercept", "dose"])
    >>> dict(data.posterior["theta"].sizes)
    {'chain': 4, 'draw': 200, 'feature': 2}
    >>> bool(data.posterior["theta"].sel(feature="dose").mean() > 0)
    True
    """
    try:
        import arviz
    except ImportError:
        raise MissingExtraError("an export to ArviZ", "arviz") from None
    for name, value, least in (("chains", chains, 1), ("draws", draws, 1), ("tune", tune, 0)):
        whole(name, value, least, most=10**6)
    items, labels, believed = _labels_of(source, prior)
    sampler = Gibbs(sweeps=draws, burn_in=tune, prior=believed)
    key = Key(seed).at("arviz")
    theta = np.stack([_run(sampler, items, labels, key.at("chain", c)) for c in range(chains)])
    groups = {"posterior": {"theta": theta}, "observed_data": {"label": labels.astype(np.int8)}}
    trees = isinstance(source, Policy) and source.learner.forest is not None
    coords = {"feature": _names(names, items.shape[1] - trees) + ["trees"] * trees}
    dims = {"theta": ["feature"], "label": ["item"]}
    if int(arviz.__version__.partition(".")[0]) >= 1:
        return arviz.from_dict(groups, coords=coords, dims=dims)
    return arviz.from_dict(**groups, coords=coords, dims=dims)


def _run(sampler: Gibbs, items: Vector, labels: Vector, key: Key) -> Vector:
    chain = sampler.start(items.shape[1], key)
    for x, label in zip(items, labels, strict=True):
        chain.learn(x, int(label))
    return chain.draws(1)


def _labels_of(source: Any, prior: Prior) -> tuple[Vector, Vector, Gaussian]:
    """Return items, labels and prior."""
    if isinstance(source, Policy):
        if prior is not None:
            raise OptionError("a policy has its own prior: leave out prior=, which is for (items, labels)")
        return _labels_of_policy(source)
    try:
        items, labels = source
    except (TypeError, ValueError):
        raise InputError(f"give a Policy or a pair (items, labels), got {type(source).__name__}") from None
    labels = np.asarray(labels)
    if labels.ndim != 1 or not np.isin(labels, (0, 1)).all():
        raise InputError("labels are 0 (negative) or 1 (positive), one for each item")
    items = np.asarray(items)
    items = check_dense(items, items.shape[1] if items.ndim == 2 else 1)
    if len(items) != len(labels):
        raise InputError(f"there must be as many items as labels, got {len(items)} and {len(labels)}")
    return items, labels.astype(np.float64), as_prior(prior)


def _labels_of_policy(policy: Policy) -> tuple[Vector, Vector, Gaussian]:
    """Return what a policy has learnt, and the prior it has by now: all that is asked of its posterior."""
    belief = policy.learner.belief
    if belief is None or belief.labels is None:
        raise OptionError(f"{policy.name} has no posterior that keeps its labels; 'voi' and 'pg-ts' have one")
    carried: dict[str, Any] = dict(belief.arrays())
    if policy.posterior.has_levels:
        raise OptionError(
            f"{policy.name} keeps an effect for each level, which these draws of theta do not have: encode with "
            "Encoder(many=False), or give (items, labels) without the places of levels"
        )
    if belief.clock is not None:
        raise OptionError(
            f"{policy.name} forgets: it weighs each label by its age, but these draws weigh all labels alike. "
            "Give (items, labels) with the labels that still count"
        )
    prior = policy.method.posterior.prior  # type: ignore[attr-defined]
    if "prior" in carried:  # Laplace: its precision, rescaled, and its mean
        covariance = np.linalg.inv(carried["prior"][:-1])
        prior = Gaussian(carried["prior"][-1], 0.5 * (covariance + covariance.T))
    return carried["items"].astype(np.float64), carried["labels"].astype(np.float64), prior


def _names(names: Any, width: int) -> list[str]:
    """Return one name for each feature."""
    if names is None:
        return [f"feature {place}" for place in range(width)]
    found = [str(name) for name in (names.names() if isinstance(names, FeatureMap | TransformerMap) else names)]
    if len(found) != width or len(set(found)) < width:
        raise InputError(f"names must be {width} different names, one for each feature, got {len(found)}")
    return found
