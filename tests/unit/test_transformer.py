"""Any scikit-learn transformer in the place of a feature map."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import SaveFileError
from appletaste.features import transformer

sklearn = pytest.importorskip("sklearn")
pandas = pytest.importorskip("pandas")

from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler  # noqa: E402

ROWS = {"age": [30.0, 50.0, 90.0], "job": ["a", "b", "a"]}


def both():
    return ColumnTransformer([("n", StandardScaler(), ["age"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["job"])])


def test_it_is_fitted_on_the_warm_up_alone():
    features = at.TransformerMap(both(), ROWS, warm_up=2)
    assert features.names() == ["n__age", "c__job_a", "c__job_b"]
    assert features.transform_many(ROWS).tolist() == [[-1, 1, 0], [1, 0, 1], [5, 1, 0]]
    assert features.transform({"age": "40", "job": "never seen", "more": 1}).tolist() == [0, 0, 0]
    assert features.transform_many(ROWS, sparse=True).format == "csr"
    assert features.explain({"age": 50, "job": "b"}, [0.5, 1.0, -2.0]) == [("c__job_b", -2.0), ("n__age", 0.5)]
    assert features.n_features == 3
    assert "3 features from ColumnTransformer" in repr(features)


def test_a_fitted_one_is_used_as_it_is():
    frame = pandas.DataFrame(ROWS)
    fitted = both().fit(frame)
    features = at.TransformerMap(fitted, frame)
    assert features.transformer is fitted
    np.testing.assert_array_equal(features.transform_many(frame), fitted.transform(frame))
    scaler = StandardScaler().fit(np.array([[0.0, 1.0], [2.0, 3.0]]))  # of arrays
    features = at.TransformerMap(scaler, {"a": [0, 1], "b": [1, 2]})
    assert features.names() == ["x0", "x1"]
    assert features.transform({"a": 2, "b": 3}).tolist() == [1, 1]
    nameless = at.TransformerMap(FunctionTransformer(np.square), {"a": [0, 1], "b": [1, 2]})
    assert nameless.names() == ["feature 0", "feature 1"]


def test_without_frames_it_is_given_arrays(monkeypatch):
    fitted = both().fit(pandas.DataFrame(ROWS))
    monkeypatch.setattr(transformer, "_frame", lambda records: None)
    features = at.TransformerMap(StandardScaler(), {"a": [0, 2], "b": [1, 3]})
    assert features.transform({"a": 2, "b": 3}).tolist() == [1, 1]
    assert at.TransformerMap(OneHotEncoder(), {"c": ["x", "y"]}).transform({"c": "y"}).tolist() == [0, 1]
    with pytest.raises(at.DataError, match="install pandas or polars"):
        at.TransformerMap(fitted, ROWS)


def test_what_is_refused(tmp_path):
    with pytest.raises(at.InputError, match="int has none"):
        at.TransformerMap(3, ROWS)
    features = at.TransformerMap(both(), ROWS)
    with pytest.raises(at.InputError, match="a record is a dict"):
        features.transform([1, 2])
    policy = at.policy("never", n_features=3, costs=at.Costs(1, 0.4, 0.05))
    with pytest.raises(SaveFileError, match="skops"):
        policy.save(tmp_path / "a", features=features)
