"""A model of a stream is the model of the same rows in memory, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression
from streaming.streamed_tables import (
    FEATURES,
    SOURCES,
    arrow_table,
    frame,
    lazy_frame,
    parquet_file,
    reader,
)

import steadyboost as sb
from steadyboost.preprocessing import binner, running
from steadyboost.streaming import source

BOOSTERS = {
    "SAMME": lambda **p: sb.SAMMEClassifier(**p),
    "AdaBoost.M2": lambda **p: sb.AdaBoostM2Classifier(**p),
    "AdaBoost.MH": lambda **p: sb.AdaBoostMHClassifier(**p),
    "AdaBoost.OC": lambda **p: sb.AdaBoostOCClassifier(**p),
    "AdaBoost, per class": lambda **p: sb.AdaBoostClassifier(strategy="ovr", **p),
    "MSmoothBoost": lambda **p: sb.MSmoothBoostClassifier(**p),
    "soft-max boosting": lambda **p: sb.SoftmaxBoostClassifier(**p),
    "GD-MCBoost": lambda **p: sb.GDMCBoostClassifier(**p),
    "WeightBoost, auto": lambda **p: sb.WeightBoostClassifier(beta="auto", **p),
    "attribute tests": lambda **p: sb.SAMMEClassifier(sb.AttributeTest(), **p),
    "decision rules": lambda **p: sb.SAMMEClassifier(sb.DecisionRule(), **p),
    "bagging": lambda **p: sb.BaggingClassifier(**p),
    "DMCBoost": lambda **p: sb.DMCBoostClassifier(**p),
    "SteadyBoost": lambda **p: sb.SteadyBoostClassifier(**p),
}


def make(name="SAMME", **params):
    return BOOSTERS[name](n_estimators=3, random_state=0, **params)


def assert_identical(model, twin, X):
    np.testing.assert_array_equal(model.classes_, twin.classes_)
    assert len(model.stages_) == len(twin.stages_)
    for own, other in zip(model._binner.cuts, twin._binner.cuts, strict=True):
        np.testing.assert_array_equal(own, other)
    assert model._encoder == twin._encoder
    np.testing.assert_array_equal(model.feature_names_in_, twin.feature_names_in_)
    np.testing.assert_array_equal(model.predict_proba(X), twin.predict_proba(X))


@pytest.mark.parametrize("name", BOOSTERS)
def test_every_booster_fits_a_stream_as_it_fits_rows_in_memory(name, tmp_path):
    table = frame()
    X = table[FEATURES]
    local = make(name).fit(X, table.y.to_numpy())
    streamed = make(name).fit(parquet_file(table.drop(columns="w"), tmp_path), "y")
    assert_identical(streamed, local, X)


@pytest.mark.parametrize("form", SOURCES)
def test_every_form_of_a_table_gives_the_same_model(form, tmp_path):
    table = frame()
    X = table[FEATURES]
    local = make().fit(X, table.y.to_numpy(), table.w.to_numpy())
    assert_identical(make().fit(form(table, tmp_path), "y", "w"), local, X)


def test_a_duckdb_relation_is_streamed(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    table = frame()
    path = parquet_file(table, tmp_path)
    relation = duckdb.sql(f"select a, b, c, y from '{path}'")
    local = make().fit(table[FEATURES], table.y.to_numpy())
    assert_identical(make().fit(relation, "y"), local, table[FEATURES])


@pytest.mark.parametrize(
    "params",
    [
        {"early_stopping": True},
        {"class_weight": "balanced"},
        {"class_weight": {"no": 0.0, "yes": 2.0, "perhaps": 1.0}},
        {"early_stopping": True, "class_weight": "balanced", "n_jobs": 2},
        {"max_bins": 7, "resample": True},
    ],
    ids=str,
)
def test_parameters_that_depend_on_the_labels(params, tmp_path):
    table = frame()
    X = table[FEATURES]
    local = make(**params).fit(X, table.y.to_numpy(), table.w.to_numpy())
    streamed = make(**params).fit(parquet_file(table, tmp_path), "y", "w")
    assert_identical(streamed, local, X)
    assert list(streamed.history_) == list(local.history_)


def test_costs_of_classes(tmp_path):
    table = frame()
    X, costs = table[FEATURES], np.array([[0, 1, 5], [1, 0, 1], [2, 1, 0]])
    local = make().fit(X, table.y.to_numpy(), table.w.to_numpy(), cost_matrix=costs)
    path = parquet_file(table, tmp_path)
    streamed = make().fit(path, "y", "w", cost_matrix=costs)
    assert_identical(streamed, local, X)
    np.testing.assert_array_equal(streamed.predict(path), local.predict(X))


def test_more_rows_than_the_sample_give_the_bins_of_the_table_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(binner, "SAMPLE_ROWS", 90)
    monkeypatch.setattr(running, "SAMPLE_ROWS", 90)
    table = frame()
    X = table[FEATURES]
    local = make(max_bins=16).fit(X, table.y.to_numpy(), table.w.to_numpy())
    streamed = make(max_bins=16).fit(parquet_file(table, tmp_path), "y", "w")
    assert_identical(streamed, local, X)
    assert len(local._binner.cuts[1]) == 8  # few values have a bin each, whatever the sample


@pytest.mark.parametrize("stream", [True, False])
def test_validation_rows_of_a_stream_and_of_memory(stream, tmp_path):
    table, held = frame(), frame(seed=1)
    X = table[FEATURES]
    in_memory = {"X_val": held[FEATURES], "y_val": held.y.to_numpy()}
    path = parquet_file(held, tmp_path, "held.parquet")
    passed = {"X_val": path, "y_val": "y"} if stream else in_memory
    local = make(early_stopping=True).fit(X, table.y.to_numpy(), **in_memory)
    rows = parquet_file(table.drop(columns="w"), tmp_path)
    streamed = make(early_stopping=True).fit(rows, "y", **passed)
    assert_identical(streamed, local, X)
    assert list(streamed.history_) == list(local.history_)


def test_a_warm_start_goes_on_with_a_stream(tmp_path):
    table = frame()
    path = parquet_file(table.drop(columns="w"), tmp_path)
    whole = make().fit(path, "y")
    model = make(warm_start=True).set_params(n_estimators=1).fit(path, "y")
    assert_identical(model.set_params(n_estimators=3).fit(path, "y"), whole, table[FEATURES])


def test_suspects_have_the_numbers_of_the_rows_in_the_stream(tmp_path):
    table = frame()
    local = make("SteadyBoost").fit(table[FEATURES], table.y.to_numpy(), table.w.to_numpy())
    streamed = make("SteadyBoost").fit(parquet_file(table, tmp_path), "y", "w")
    np.testing.assert_array_equal(streamed.label_scores_, local.label_scores_)
    np.testing.assert_array_equal(streamed.labels_.row, local.labels_.row)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [(np.arange(400) % 3, "i"), (np.arange(400) % 2 == 0, "b"), (np.arange(400) % 2 * 1.0, "f")],
)
def test_labels_of_any_type(labels, kind, tmp_path):
    table = frame().assign(y=labels)
    streamed = make().fit(parquet_file(table, tmp_path), "y", "w")
    assert streamed.classes_.dtype.kind == kind
    local = make().fit(table[FEATURES], labels, table.w.to_numpy())
    assert_identical(streamed, local, table[FEATURES])


def test_categories_of_arrow_are_those_of_text(tmp_path):
    table = frame().drop(columns="w")
    coded = table.assign(c=table.c.astype("category"), y=table.y.astype("category"))
    local = make().fit(table[FEATURES], table.y.to_numpy())
    assert_identical(make().fit(arrow_table(coded, None), "y"), local, table[FEATURES])


def test_predictions_of_a_stream_are_those_of_its_rows(tmp_path):
    table = frame()
    X = table[FEATURES]
    model = make().fit(X, table.y.to_numpy())
    path = parquet_file(table, tmp_path)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, method)(path), getattr(model, method)(X))
    np.testing.assert_array_equal(model.predict(lazy_frame(table, tmp_path)), model.predict(X))
    np.testing.assert_array_equal(model.predict(reader(table, tmp_path)), model.predict(X))
    costs = 1 - np.eye(3)
    costs[:, 0] = 0.1
    np.testing.assert_array_equal(model.predict(path, costs), model.predict(X, costs))
    assert model.score(path, "y", "w") == pytest.approx(model.score(X, table.y, table.w))
    assert model.score(arrow_table(table, None), "y") == pytest.approx(model.score(X, table.y))


def test_a_reader_is_copied_for_a_fit_only(tmp_path, monkeypatch):
    table = frame()
    model = make().fit(reader(table, tmp_path), "y", "w")
    monkeypatch.setattr(source, "copied", None)
    model.predict(reader(table, tmp_path))
    assert model.score(reader(table, tmp_path), "y") > 0.5
    with pytest.raises(TypeError):
        make().fit(reader(table, tmp_path), "y", "w")


def test_a_model_without_names_takes_the_columns_in_order(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    model = make().fit(X, y)
    stream = pa.RecordBatchReader.from_stream(pa.table(dict(zip("abc", X.T, strict=True))))
    np.testing.assert_array_equal(model.predict(stream), model.predict(X))


# What cannot be read


def refused(match, X, y="y", weights=None, **params):
    with pytest.raises(ValueError, match=match):
        make(**params).fit(X, y, weights)


def test_errors_name_the_argument_and_the_remedy(tmp_path):
    table = frame()
    path = parquet_file(table, tmp_path)
    refused("does not exist", tmp_path / "nowhere.parquet")
    refused("not a Parquet file by its name", __file__)
    refused("y 'z' is not a column", path, "z")
    refused("sample_weight 'z' is not a column", path, weights="z")
    refused("y is of type ndarray", path, table.y.to_numpy())
    refused("sample_weight is of type ndarray", path, weights=table.w.to_numpy())
    refused("cannot be read as a stream", table[FEATURES].to_numpy(dtype=object))
    refused("missing labels", arrow_table(table.assign(y=table.c), None))
    refused("pass a learner that works on bins", path, estimator=LogisticRegression())
    refused("Negative values", arrow_table(table.assign(w=-1.0), None), weights="w")
    refused("is zero for every row", arrow_table(table.assign(w=0.0), None), weights="w")
    refused("0 rows", arrow_table(table[:0], None))
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not really")
    refused("cannot be read as Parquet", tmp_path / "broken.parquet")


def test_a_target_of_numbers_is_refused(tmp_path):
    table = frame().assign(y=np.linspace(0, 1, 400))
    refused("Unknown label type: continuous", parquet_file(table, tmp_path))


def test_methods_that_need_rows_in_memory_say_so(tmp_path):
    table = frame()
    model = make().fit(table[FEATURES], table.y.to_numpy())
    path = parquet_file(table, tmp_path)
    with pytest.raises(ValueError, match="pass rows in memory"):
        next(model.staged_predict(path))
    with pytest.raises(ValueError, match="The feature 'a' is not a column"):
        model.predict(arrow_table(table[["b", "c"]], None).to_reader())


class Restless:
    """A stream that gives its rows in another order each time, such as a query without order."""

    def __init__(self, table, shuffles):
        self.table, self.shuffles, self.n_read = table, shuffles, 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.n_read += 1
        rows = np.arange(len(self.table))
        if self.n_read > 2:  # after the schema and the first pass
            rows = rows[::-1] if self.shuffles else rows[:-1]
        return self.table.take(rows).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(("shuffles", "match"), [(True, "gave other rows"), (False, "399 when")])
def test_a_stream_must_give_the_same_rows_twice(shuffles, match):
    table = arrow_table(frame().drop(columns="w"), None)
    refused(match, Restless(table, shuffles))


def test_batches_do_not_depend_on_the_chunks_of_the_source():
    table = arrow_table(frame(), None)
    chunked = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))
    for form in (table, chunked):
        sizes = [len(batch) for batch in source.Source(form).batches(["a"])]
        assert sizes == [64] * 6 + [16]
