"""Any scikit-learn transformer in the place of a ``FeatureMap``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError, InputError, SaveFileError, near
from ..tables.files import as_record
from ..tables.records import WARM_UP, Records, listed, read_records
from .feature_map import contributions


class TransformerMap:
    """Gives the vectors of a scikit-learn transformer, under the names of a ``FeatureMap``.

    A transformer that is not fitted yet is copied and fitted on the first ``warm_up`` rows; a fitted one is used as it
    is. It is given a data frame (pandas, else polars) where it was fitted on one, else an array.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> features = TransformerMap(StandardScaler(), {"age": [30, 50], "income": [1, 3]})
    >>> features.names(), features.transform({"age": 60, "income": 2})
    (['age', 'income'], array([2., 0.]))
    """

    def __init__(self, transformer: Any, source: Any, warm_up: int = WARM_UP) -> None:
        if not hasattr(transformer, "transform"):
            raise InputError(f"a transformer has a method transform, {type(transformer).__name__} has none")
        try:
            from sklearn.base import clone
            from sklearn.exceptions import NotFittedError
            from sklearn.utils.validation import check_is_fitted
        except ImportError:
            raise InputError("a transformer needs scikit-learn, which made it: pip install scikit-learn") from None

        first = read_records(source, warm_up=warm_up)[:warm_up]
        self._example = first[:1]
        frame = _frame(first)
        self.transformer = transformer
        try:
            check_is_fitted(transformer)
        except NotFittedError:
            self.transformer = clone(transformer).fit(_array(first) if frame is None else frame)
        #: The columns that it is given, in order.
        self.columns = [str(name) for name in getattr(self.transformer, "feature_names_in_", first.columns)]
        #: The width of the vectors.
        self.n_features = int(self.transform_many(first[:1]).shape[1])

    def __repr__(self) -> str:
        return f"<TransformerMap: {self.n_features} features from {type(self.transformer).__name__}>"

    def names(self) -> list[str]:
        """Return one name for each coefficient, in order."""
        try:
            return [str(name) for name in self.transformer.get_feature_names_out()]
        except (AttributeError, ValueError):  # it does not say
            return [f"feature {place}" for place in range(self.n_features)]

    def transform(self, record: Any, update: bool = True) -> NDArray[np.float64]:
        """Return the vector of one record; scikit-learn takes milliseconds for it (6 with 19 columns)."""
        record = as_record(record)
        for name in record.keys() - {*self._example.columns, *self._example.dropped}:
            told = f"the record has {name!r}, which this map does not know{near(name, self.columns)}. Its columns: "
            raise InputError(f"{told}{listed(self.columns)}")
        row = {name: [record.get(name)] for name in self.columns}
        return self.transform_many(row)[0]  # type: ignore[no-any-return]

    def transform_many(self, source: Any, sparse: bool = False, update: bool = True) -> Any:
        """Return the vectors of a table, [rows, features]; ``sparse`` gives a SciPy CSR array."""
        kinds = {name: self._example.columns[name].dtype == np.float64 for name in self.columns}
        records = read_records(
            source,
            columns=self.columns,
            missing=self._example.missing,
            numbers=[name for name, numeric in kinds.items() if numeric],
            categories=[name for name, numeric in kinds.items() if not numeric],
        )
        given: Any = Records({name: records.columns[name] for name in self.columns})
        if hasattr(self.transformer, "feature_names_in_"):
            given = _frame(given)
            if given is None:
                raise DataError("this transformer was fitted on a data frame: install pandas or polars to give it one")
        else:
            given = _array(given)
        X = self.transformer.transform(given)
        if sparse:
            from scipy.sparse import csr_array

            return csr_array(X)
        return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)

    def explain(self, item: Mapping[str, Any] | ArrayLike, theta: ArrayLike) -> list[tuple[str, float]]:
        """Return what each feature of a vector or record adds to the score x'theta, the largest first."""
        return contributions(self.names(), self.transform(item) if isinstance(item, Mapping) else item, theta)

    def header(self) -> dict[str, Any]:
        """Refuse to be saved: only scikit-learn knows what is inside a transformer."""
        raise SaveFileError(
            "a scikit-learn transformer cannot be saved here, because nothing is pickled: save the policy by itself, "
            "keep the fitted transformer with skops.io.dump, and make TransformerMap(transformer, records) again"
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Refuse to be saved, as ``header`` does."""
        self.header()


def _frame(records: Records) -> Any:
    """Return records as a data frame of whichever library there is, or None."""
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(records.columns)
        except ImportError:
            continue
    return None


def _array(records: Records) -> NDArray[Any]:
    """Return records as an array, of numbers where all of them are."""
    columns = list(records.columns.values())
    numeric = all(column.dtype == np.float64 for column in columns)
    return np.column_stack(columns) if numeric else np.column_stack([column.astype(object) for column in columns])
