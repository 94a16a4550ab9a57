"""Label noise: exact counts, distributions, types, seeds and messages."""

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import chisquare

from steadyboost.noise import corrupt

LABELS = np.repeat(["a", "b", "c", "d"], [400, 300, 200, 100])
RATED = ["symmetric", "redraw", "pair", "feature_dependent"]
MATRIX = np.array([[0.7, 0.3, 0, 0], [0, 1, 0, 0], [0.1, 0.1, 0.1, 0.7], [0.5, 0, 0.5, 0]])


def features(y=LABELS, seed=0):
    """Draw one overlapping cloud per class."""
    rng = np.random.default_rng(seed)
    codes = np.unique(y, return_inverse=True)[1]
    return np.column_stack([codes, codes % 2]) * 2.0 + rng.normal(size=(len(y), 2))


@pytest.mark.parametrize("kind", ["symmetric", "pair", "feature_dependent"])
@pytest.mark.parametrize("rate", [0.0, 0.0004, 0.1, 0.333, 0.999])
def test_exactly_the_asked_number_changes(kind, rate):
    noisy, mask = corrupt(LABELS, rate, kind, X=features(), random_state=0)
    assert mask.sum() == round(rate * 1000)
    np.testing.assert_array_equal(mask, noisy != LABELS)
    assert mask.dtype == bool


def test_symmetric_draws_all_other_classes_alike():
    y = np.zeros(60_000, dtype=int)
    y[:4] = [1, 2, 3, 4]
    noisy, mask = corrupt(y, 0.5, random_state=1)
    counts = np.bincount(noisy[mask & (y == 0)], minlength=5)
    assert counts[0] == 0
    assert chisquare(counts[1:]).pvalue > 0.001


def test_symmetric_spares_no_row():
    flips = sum(
        corrupt(LABELS[:8].tolist() + ["b"] * 2, 0.3, random_state=s)[1] for s in range(3000)
    )
    assert chisquare(flips).pvalue > 0.001


def test_redraw_may_keep_the_label():
    y = np.arange(50_000) % 4
    noisy, mask = corrupt(y, 0.4, "redraw", random_state=0)
    assert abs(mask.mean() - 0.4 * 3 / 4) < 0.01
    np.testing.assert_array_equal(mask, noisy != y)
    assert chisquare(np.bincount(noisy[mask])).pvalue > 0.001


def test_pair_goes_to_the_next_class():
    noisy, mask = corrupt(LABELS, 0.5, "pair", random_state=0)
    following = {"a": "b", "b": "c", "c": "d", "d": "a"}
    changes = set(zip(LABELS[mask].tolist(), noisy[mask].tolist(), strict=True))
    assert changes == set(following.items())


def test_class_conditional_follows_the_matrix():
    y = np.repeat(["a", "b", "c", "d"], 20_000)
    noisy, mask = corrupt(y, None, "class_conditional", transition_matrix=MATRIX, random_state=0)
    table = pd.crosstab(y, noisy, normalize="index").to_numpy()
    np.testing.assert_allclose(table, MATRIX, atol=0.012)
    assert (table[MATRIX == 0] == 0).all()
    np.testing.assert_array_equal(mask, noisy != y)


def test_identity_matrix_changes_nothing():
    _, mask = corrupt(LABELS, None, "class_conditional", transition_matrix=np.eye(4))
    assert not mask.any()


class TestFeatureDependent:
    def test_flips_go_to_the_nearest_other_mean(self):
        X = features()
        noisy, mask = corrupt(LABELS, 0.2, "feature_dependent", X=X, random_state=0)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        classes = np.unique(LABELS)
        means = np.array([Z[k == LABELS].mean(axis=0) for k in classes])
        for row in np.flatnonzero(mask):
            others = [k for k in range(4) if classes[k] != LABELS[row]]
            distance = [np.linalg.norm(Z[row] - means[k]) for k in others]
            assert noisy[row] == classes[others[int(np.argmin(distance))]]

    def test_weights_follow_the_recipe(self):
        # On a line with one class on each side, ambiguity falls with the distance from 0.
        y = np.repeat([0, 1], 500)
        x = np.concatenate([np.linspace(-2, -0.001, 500), np.linspace(0.001, 2, 500)])
        flips = np.zeros(1000)
        for seed in range(2000):
            flips += corrupt(y, 0.001, "feature_dependent", X=x[:, None], random_state=seed)[1]
        ambiguity = np.argsort(np.argsort(np.abs(x), kind="stable"))
        tenths = np.array([flips[ambiguity // 100 == tenth].sum() for tenth in range(10)])
        weights = np.exp(-4 * np.arange(1000) / 999).reshape(10, 100).sum(axis=1)
        assert chisquare(tenths, weights / weights.sum() * tenths.sum()).pvalue > 0.001

    def test_units_do_not_matter(self):
        X = features()
        plain, _ = corrupt(LABELS, 0.2, "feature_dependent", X=X, random_state=0)
        scaled = np.column_stack([X * [1000, 0.01] + [5, -3], np.full(1000, 7.0)])
        moved, _ = corrupt(LABELS, 0.2, "feature_dependent", X=scaled, random_state=0)
        np.testing.assert_array_equal(plain, moved)

    @pytest.mark.parametrize(
        "container", [pd.DataFrame, lambda X: pl.DataFrame(X), np.ndarray.tolist]
    )
    def test_containers_of_features(self, container):
        X = features()
        plain, _ = corrupt(LABELS, 0.2, "feature_dependent", X=X, random_state=0)
        other, _ = corrupt(LABELS, 0.2, "feature_dependent", X=container(X), random_state=0)
        np.testing.assert_array_equal(plain, other)


@pytest.mark.parametrize("kind", RATED)
def test_seed_reproduces_and_matters(kind):
    runs = [corrupt(LABELS, 0.3, kind, X=features(), random_state=seed)[0] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert (runs[0] != runs[2]).any()


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 2] * 10, dtype=np.int16),
        np.array(["x", "yy", "zzz"] * 10),
        np.array([True, False, True] * 10),
        np.array(["x", "y", "z"] * 10, dtype=object),
        np.array([0.5, 1.5, 2.5] * 10),
    ],
)
def test_type_of_labels_is_kept(y):
    before = y.copy()
    noisy, mask = corrupt(y, 0.4, random_state=0)
    assert noisy.dtype == y.dtype
    assert mask.sum() == 12
    assert set(noisy.tolist()) <= set(y.tolist())
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize("container", [list, pd.Series, pl.Series, pd.Categorical, tuple])
def test_containers_of_labels(container):
    y = ["n", "y", "m"] * 20
    noisy, mask = corrupt(container(y), 0.25, random_state=0)
    expected, _ = corrupt(np.array(y), 0.25, random_state=0)
    assert isinstance(noisy, np.ndarray)
    assert noisy.tolist() == expected.tolist()
    assert mask.sum() == 15


def test_classes_are_taken_from_the_labels():
    noisy, _ = corrupt([10, 20, 30] * 100, 0.5, random_state=0)
    assert Counter(noisy.tolist()).keys() == {10, 20, 30}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate": 1.0}, r"rate=1\.0 must be a fraction in \[0, 1\)"),
        ({"rate": -0.1}, r"rate=-0\.1"),
        ({"rate": np.nan}, "rate=nan"),
        ({"rate": None}, "rate=None"),
        ({"kind": "uniform"}, "kind='uniform' is unknown; choose one of symmetric, redraw"),
        ({"y": ["a"] * 10}, r"y has the classes \['a'\]; noise needs at least two"),
        ({"y": []}, r"y has the classes \[\]"),
        ({"y": [1.0, np.nan, 2.0]}, "y has 1 missing labels; drop"),
        ({"y": ["a", None, None, "b"]}, "y has 2 missing labels"),
        ({"y": pd.Series([1, pd.NA, 2], dtype="Int64")}, "y has 1 missing labels"),
        ({"y": pl.Series(["a", None, "b"])}, "y has 1 missing labels"),
        ({"y": [[1, 2], [2, 1]]}, r"y has shape \(2, 2\)"),
        ({"y": np.array([1, "a"], dtype=object)}, "y mixes types"),
        ({"transition_matrix": np.eye(4)}, "transition_matrix is not used by kind='symmetric'"),
        ({"kind": "feature_dependent"}, "X=None"),
        ({"kind": "feature_dependent", "X": np.ones((5, 2))}, r"X has shape \(5, 2\); y has 1000"),
        ({"kind": "feature_dependent", "X": np.ones(1000)}, r"X has shape \(1000,\)"),
        ({"kind": "feature_dependent", "X": [["u"]] * 1000}, "X has values that are not numbers"),
        ({"kind": "feature_dependent", "X": [[np.nan]] * 1000}, "X has missing or infinite"),
    ],
)
def test_wrong_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        corrupt(**{"y": LABELS, "rate": 0.2} | change)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (None, "transition_matrix=None"),
        (np.eye(3), r"shape \(3, 3\); y has 4 classes, so it must be \(4, 4\)"),
        (np.eye(4) * 0.9, "row sums .*must be probabilities that sum to 1"),
        (np.eye(4) * 2 - 0.25, r"smallest entry -0\.25"),
        (np.full((4, 4), np.nan), "must be probabilities"),
    ],
)
def test_wrong_matrix_is_named(matrix, message):
    with pytest.raises(ValueError, match=message):
        corrupt(LABELS, None, "class_conditional", transition_matrix=matrix)
