"""What users pass: tables, labels, weights and seeds."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from common import FRAMES, each_frame, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from steadyboost import SAMMEClassifier
from steadyboost.ensemble.validation import (
    check_labels,
    check_table,
    check_weights,
    seed_from,
    split_off,
    take_rows,
    with_class_weight,
)

X = np.arange(12.0).reshape(6, 2)
COLUMNS = {"a": [1.0, None, 3.0], "b": ["x", None, "y"]}


def test_an_array_becomes_numeric_and_may_have_gaps():
    table = check_table(SAMMEClassifier(), [[1, np.nan], [2, 3]], reset=True)
    np.testing.assert_array_equal(table, [[1, np.nan], [2, 3]])


@each_frame
def test_a_frame_stays_as_it_is(frame):
    model, columns = SAMMEClassifier(), frame(COLUMNS)
    assert check_table(model, columns, reset=True) is columns
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]


@each_frame
def test_a_frame_without_rows_is_refused(frame):
    with pytest.raises(ValueError, match=r"0 rows .* minimum of 1 is required"):
        check_table(SAMMEClassifier(), frame({"a": []}), reset=True)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X[:, 0], "Expected 2D array, got 1D array"),
        (np.full((2, 2), np.inf), "Input X contains infinity"),
        (np.empty((0, 2)), "0 sample"),
        (np.empty((2, 0)), "0 feature"),
        ([["red"], ["blue"]], "[Cc]onvert"),
        (X + 1j, "Complex data not supported"),
    ],
)
def test_a_table_that_is_none_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        check_table(SAMMEClassifier(), table, reset=True)


def test_sparse_rows_are_refused_where_the_learner_refuses_them():
    given = csr_matrix(X)
    assert check_table(SAMMEClassifier(), given, reset=True) is given
    assert check_table(SAMMEClassifier(), given.tocoo(), reset=True).format == "csr"
    with pytest.raises(ValueError, match=r"GaussianNB does not take sparse .* X\.toarray\(\)"):
        check_table(SAMMEClassifier(GaussianNB()), given, reset=True)


@each_frame
def test_infinity_in_a_frame_is_named_by_its_column(frame):
    with pytest.raises(ValueError, match="Column 'b' of X contains infinity"):
        SAMMEClassifier().fit(frame({"a": [1.0, 2.0], "b": [0.0, np.inf]}), [0, 1])


def test_gaps_are_refused_where_the_learner_refuses_them():
    class Strict(DecisionTreeClassifier):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = False
            return tags

    gaps = np.where(X == 3, np.nan, X)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        SAMMEClassifier(Strict()).fit(gaps, [0, 1] * 3)
    SAMMEClassifier(DecisionTreeClassifier(), n_estimators=2).fit(gaps, [0, 1] * 3)


LABELS = {
    "list": list,
    "numpy": np.array,
    "object": lambda labels: np.array(labels, dtype=object),
    "pandas": pd.Series,
    "category": lambda labels: pd.Series(labels, dtype="category"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "chunks": lambda labels: pa.chunked_array([labels[:3], labels[3:]]),
}


WORDS, NUMBERS = ["a", "b", "a", "c", "b", "b"], [1, 0, 1, 5, 0, 0]
READ = [(name, WORDS) for name in LABELS] + [(name, NUMBERS) for name in LABELS if name != "object"]


@pytest.mark.parametrize(("form", "labels"), READ, ids=str)
def test_labels_of_any_container_are_read(form, labels):
    given = LABELS[form](labels)
    assert check_labels(given, X).tolist() == labels
    model = SAMMEClassifier(n_estimators=2).fit(X, given)
    assert model.classes_.tolist() == sorted(set(labels))


def test_a_column_of_labels_is_read_with_a_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert check_labels(np.zeros((6, 1)), X).shape == (6,)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y to be passed"),
        ([0, 1], r"inconsistent numbers of samples: \[6, 2\]"),
        ([0.0, 1.0, np.nan] * 2, "contains NaN"),
        (np.array(["a", None, "b"] * 2, dtype=object), "missing labels .* drop those rows"),
        (np.array(["a", np.nan, "b"] * 2, dtype=object), "missing labels .* drop those rows"),
        (pd.Series(["a", None, "b"] * 2), "missing labels .* drop those rows"),
        (pd.Series([1, None, 0] * 2, dtype="Int64"), "NaN|missing"),
        (pl.Series(["a", None, "b"] * 2), "missing labels .* drop those rows"),
        (pl.Series([1, None, 0] * 2), "NaN|missing"),
        (np.linspace(0, 1, 6), "Unknown label type: continuous"),
        (np.zeros((6, 2)), "y should be a 1d array"),
    ],
)
def test_labels_that_are_none_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        quiet(check_labels, labels, X)


def test_labels_of_several_types_are_refused_with_the_reason():
    with pytest.raises((TypeError, ValueError), match="str"):
        SAMMEClassifier().fit(X, np.array(["a", 1, 2] * 2, dtype=object))


def test_no_weights_stay_none():
    assert check_weights(None, X) is None


@pytest.mark.parametrize("weights", [[1, 2, 0, 1, 1, 1], pd.Series(range(6)), 3])
def test_weights_become_floats(weights):
    checked = check_weights(weights, X)
    assert checked.dtype == float
    np.testing.assert_array_equal(checked, np.broadcast_to(weights, 6))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"sample_weight has shape \(2,\), but there are 6 rows"),
        ([1, 1, 1, 1, 1, -1], "Negative values .*sample_weight"),
        ([0] * 6, "zero"),
        ([np.inf] * 6, "sample_weight contains infinity"),
        ([np.nan] * 6, "sample_weight contains NaN"),
    ],
)
def test_weights_that_are_none_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        check_weights(weights, X)


def test_class_weights_multiply_sample_weights():
    y = np.array([0, 0, 1])
    assert with_class_weight(None, None, y) is None
    assert with_class_weight(None, {0: 2, 1: 3}, y).tolist() == [2, 2, 3]
    assert with_class_weight(np.array([1, 5, 7.0]), {0: 2, 1: 3}, y).tolist() == [2, 10, 21]
    np.testing.assert_allclose(with_class_weight(None, "balanced", y), [0.75, 0.75, 1.5])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_class_weight_must_be_a_weight(value):
    with pytest.raises(ValueError, match="class_weight"):
        quiet(SAMMEClassifier(class_weight={0: 1.0, 1: value}).fit, X, [0, 1] * 3)


@each_frame
def test_rows_are_taken_from_any_table(frame):
    taken, nothing, y = take_rows(np.array([0, 2]), frame(COLUMNS), None, np.arange(3))
    assert nothing is None
    assert y.tolist() == [0, 2]
    assert type(taken) is type(frame(COLUMNS))
    assert list(np.asarray(taken["a"])) == [1, 3]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=60),
    st.floats(0.01, 0.9),
    st.integers(0, 2**31 - 1),
)
def test_a_split_covers_all_rows_and_leaves_every_class_in_training(y, fraction, seed):
    y = np.array(y)
    train, held_out = split_off(y, fraction, seed)
    assert sorted([*train, *held_out]) == list(range(len(y)))
    assert len(train) > 0
    assert set(y[held_out]) <= set(y[train])


def test_where_no_row_can_be_held_out_the_parameter_is_named():
    with pytest.raises(ValueError, match="early_stopping"):
        SAMMEClassifier(early_stopping=True).fit(X[:2], [0, 1])


def test_a_split_is_stratified_where_it_can_be():
    y = np.repeat([0, 1], [90, 10])
    _, held_out = split_off(y, 0.2, 0)
    assert np.bincount(y[held_out]).tolist() == [18, 2]


def test_a_split_is_reproducible():
    y = np.repeat([0, 1], 50)
    np.testing.assert_array_equal(split_off(y, 0.2, 3)[1], split_off(y, 0.2, 3)[1])
    assert not np.array_equal(split_off(y, 0.2, 3)[1], split_off(y, 0.2, 4)[1])


def test_an_integer_is_its_own_seed():
    assert seed_from(7) == 7
    assert seed_from(np.int64(7)) == 7


def test_a_random_state_moves_on():
    state = np.random.RandomState(0)
    assert seed_from(state) == seed_from(np.random.RandomState(0))
    assert seed_from(state) != seed_from(np.random.RandomState(0))


def test_no_random_state_differs_each_time():
    assert len({seed_from(None) for _ in range(5)}) > 1


@pytest.mark.parametrize("dtype", ["int64", "Int64", "boolean", "float32", "bool"])
def test_numeric_columns_of_any_type_are_read(dtype):
    values = pd.Series([0, 1, 1, 0, 1, 0]).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SAMMEClassifier(n_estimators=2).fit(pd.DataFrame({"a": values}), [0, 1, 1, 0, 1, 0])
    assert model.predict(FRAMES["pandas"]({"a": values})).tolist() == [0, 1, 1, 0, 1, 0]


@each_frame
def test_more_categories_than_bins_keep_the_frequent_ones(frame):
    names = [f"c{i}" for i in range(300)] + ["often"] * 300
    y = [int(name == "often") for name in names]
    model = SAMMEClassifier(n_estimators=1).fit(frame({"name": names}), y)
    assert model.predict(frame({"name": ["often", "never seen"]})).tolist() == [1, 0]
