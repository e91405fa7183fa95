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
    features = at.features.TransformerMap(both(), ROWS, warm_up=2)
    assert features.names() == ["n__age", "c__job_a", "c__job_b"]
    assert features.transform_many(ROWS).tolist() == [[-1, 1, 0], [1, 0, 1], [5, 1, 0]]
    assert features.transform({"age": "40", "job": "never seen"}).tolist() == [0, 0, 0]
    assert features.transform_many(ROWS, sparse=True).format == "csr"
    assert features.explain({"age": 50, "job": "b"}, [0.5, 1.0, -2.0]) == [("c__job_b", -2.0), ("n__age", 0.5)]
    assert features.n_features == 3
    assert "3 features from ColumnTransformer" in repr(features)


def test_a_fitted_one_is_used_as_it_is():
    frame = pandas.DataFrame(ROWS)
    fitted = both().fit(frame)
    features = at.features.TransformerMap(fitted, frame)
    assert features.transformer is fitted
    np.testing.assert_array_equal(features.transform_many(frame), fitted.transform(frame))
    scaler = StandardScaler().fit(np.array([[0.0, 1.0], [2.0, 3.0]]))  # of arrays
    features = at.features.TransformerMap(scaler, {"a": [0, 1], "b": [1, 2]})
    assert features.names() == ["x0", "x1"]
    assert features.transform({"a": 2, "b": 3}).tolist() == [1, 1]
    nameless = at.features.TransformerMap(FunctionTransformer(np.square), {"a": [0, 1], "b": [1, 2]})
    assert nameless.names() == ["feature 0", "feature 1"]


def test_without_frames_it_is_given_arrays(monkeypatch):
    fitted = both().fit(pandas.DataFrame(ROWS))
    monkeypatch.setattr(transformer, "_frame", lambda records: None)
    features = at.features.TransformerMap(StandardScaler(), {"a": [0, 2], "b": [1, 3]})
    assert features.transform({"a": 2, "b": 3}).tolist() == [1, 1]
    assert at.features.TransformerMap(OneHotEncoder(), {"c": ["x", "y"]}).transform({"c": "y"}).tolist() == [0, 1]
    with pytest.raises(at.errors.DataError, match="install pandas or polars"):
        at.features.TransformerMap(fitted, ROWS)


def test_what_is_refused(tmp_path):
    with pytest.raises(at.errors.InputError, match="int has none"):
        at.features.TransformerMap(3, ROWS)
    features = at.features.TransformerMap(both(), ROWS)
    with pytest.raises(at.errors.InputError, match="a record is a dict"):
        features.transform([1, 2])
    policy = at.policy("never", n_features=3, costs=at.Costs(1, 0.4, 0.05))
    with pytest.raises(SaveFileError, match="skops"):
        policy.save(tmp_path / "a", features=features)


def test_saved_apart_a_policy_and_its_transformer_continue(tmp_path):
    """What the error recommends: the policy in its file, the fitted transformer kept by other means."""
    rng = np.random.default_rng(4)
    table = {"age": rng.normal(40, 10, 60), "income": rng.normal(2, 1, 60)}
    features = at.features.TransformerMap(StandardScaler(), table)
    policy = at.policy(n_features=features.n_features, costs=at.Costs(miss=5, false_alarm=1, hit=0), seed=1)
    for x in features.transform_many(table)[:20]:
        policy.teach(x, int(x[0] > 0))
    with pytest.raises(SaveFileError, match=r"nothing is pickled.*skops\.io\.dump"):
        features.save(tmp_path / "features")
    with pytest.raises(SaveFileError, match="nothing is pickled"):
        policy.save(tmp_path / "both", features=features)
    assert not list(tmp_path.iterdir())
    policy.save(tmp_path / "policy")
    again, fitted = (
        at.load(tmp_path / "policy"),
        at.features.TransformerMap(features.transformer, {"age": [1], "income": [9]}),
    )
    for age in (20.0, 50.0):
        record = {"age": age, "income": 2.5}
        assert (fitted.transform(record) == features.transform(record)).all()
        assert again.probability(fitted.transform(record)) == policy.probability(features.transform(record))
