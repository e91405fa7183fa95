"""The posterior of a policy, column by column: what each adds to the score, and how sure that is."""

from __future__ import annotations

from ..errors import InputError
from ..features import FeatureMap
from ..features.column_curves import ModelCurves, curves_of
from .posterior import CurrentPosterior


def model_curves(posterior: CurrentPosterior, features: FeatureMap) -> ModelCurves:
    """Return the curves of the columns of a map.

    Bands come from the joint Gaussian of the coefficients of a column; of a chain (``Gibbs``, ``Exact``) it has the
    moments of its draws. A posterior that is a point has curves without bands. Labels are counted where they are kept.
    """
    width = posterior.n_features
    if not isinstance(features, FeatureMap):
        raise InputError(
            f"curves are drawn for the columns of a map that Encoder().fit(records) made, got {type(features).__name__}"
        )
    if features.n_features != width:
        raise InputError(
            f"features make vectors of {features.n_features}, the policy takes {width}: give the map that makes the "
            "vectors of this policy, such as ledger.features"
        )
    labels = posterior.belief.labels
    items = None if labels is None else labels.revised({})[0]
    mean, covariance = posterior.moments()
    return curves_of(features, mean, covariance, items)
