"""Dates in tables: models, model files, exports and comparisons take their parts."""

import datetime
import json
import zipfile

import numpy as np
import pytest

import steadyboost
from steadyboost import C45, MartiBoostClassifier, SAMMEClassifier, SteadyBoostClassifier
from steadyboost.exports import encode, export_text
from steadyboost.lab.comparison import compare

pd, pl = map(pytest.importorskip, ("pandas", "polars"))


@pytest.fixture(scope="module")
def summers():
    """Rows whose class is whether a date is in summer; the date is the second of three columns."""
    rng = np.random.default_rng(0)
    days = rng.integers(0, 1500, 300)
    when = pd.Series(pd.Timestamp("2018-01-01") + pd.to_timedelta(days, unit="D"))
    y = when.dt.month.isin([6, 7, 8]).to_numpy().astype(int)
    when[::20] = pd.NaT
    X = pd.DataFrame({"x": rng.normal(size=300), "when": when, "z": rng.choice(["a", "b"], 300)})
    return X, y


MODELS = [
    SAMMEClassifier(n_estimators=5),
    SAMMEClassifier(C45(), n_estimators=3),
    MartiBoostClassifier(n_estimators=3, random_state=0),
    SteadyBoostClassifier(n_estimators=8, random_state=0),
]


@pytest.mark.parametrize("booster", MODELS, ids=lambda model: repr(model)[:24])
def test_a_model_learns_from_them_and_keeps_them(booster, summers, tmp_path):
    X, y = summers
    model = booster.fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.feature_importances_.shape == (3,)
    assert model.feature_importances_[1] > 0.4
    model.save(tmp_path / "m.sb")
    loaded = steadyboost.load(tmp_path / "m.sb")
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(loaded.predict_proba(X), expected)
    np.testing.assert_array_equal(loaded.predict_proba(pl.from_pandas(X)), expected)


def test_only_files_with_dates_need_a_new_release(summers, tmp_path):
    X, y = summers
    for columns, version in ((["x", "when"], 2), (["x", "z"], 1)):
        SAMMEClassifier(n_estimators=1).fit(X[columns], y).save(tmp_path / "m.sb")
        with zipfile.ZipFile(tmp_path / "m.sb") as file:
            name = next(name for name in file.namelist() if name.endswith(".json"))
            assert json.loads(file.read(name))["version"] == version


def test_exports_name_their_parts(summers):
    X, y = summers
    model = SAMMEClassifier(n_estimators=5).fit(X, y)
    assert "when.month <= 5.5" in export_text(model)
    assert encode(model, X).shape == (300, 6)


def test_onnx_and_shap_take_the_encoded_columns(summers):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("shap")
    from steadyboost.exports import onnx_inputs, shap_explainer, to_onnx

    X, y = summers
    model = SAMMEClassifier(n_estimators=5).fit(X, y)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString())
    inputs = onnx_inputs(model, X)
    assert [one.name for one in session.get_inputs()] == list(inputs)
    assert "when.weekday" in inputs
    np.testing.assert_allclose(session.run(None, inputs)[1], model.predict_proba(X), atol=1e-12)
    found = shap_explainer(model)(encode(model, X))
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)


def test_all_methods_of_a_comparison_get_them(summers):
    X, y = summers
    found = compare(X, y, ["SAMME", "RandomForest"], folds=2)
    assert all(standing.error < 0.1 for standing in found.standings)


def test_partitions_find_the_parts_together(summers):
    from steadyboost.distributed.preprocessing import (
        learn_encoder_and_binner,
        merge_summaries,
        summarize_columns,
    )
    from steadyboost.ensemble.validation import Sample
    from steadyboost.preprocessing.encoder import Encoder, categorical_mask

    X, y = summers
    X = X.assign(other=[datetime.datetime(2020, 1, 1 + n % 5) for n in range(300)])
    mask = categorical_mask(X, "from_dtype")
    parts = [Sample(X[a : a + 100], y[a : a + 100], None) for a in (0, 100, 200)]
    columns = merge_summaries([summarize_columns(part, mask) for part in parts])
    encoder, binner = learn_encoder_and_binner(columns, 255)
    whole = Encoder.learn(X, mask)
    assert (encoder.categories, encoder.dates) == (whole.categories, whole.dates)
    assert len(binner.cuts) == whole.n_columns == 8
