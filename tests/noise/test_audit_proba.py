"""Audits of probabilities that are given, of sets of labels, with groups, notes and bad input."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from steadyboost import SteadyBoostClassifier
from steadyboost.noise import LabelAudit, LabelSetAudit, audit, audit_proba, corrupt
from steadyboost.noise.label_notes import similar_names

X, TRUTH = load_wine(return_X_y=True)
Y, IS_WRONG = corrupt(TRUTH, 0.15, random_state=0)
PROBA = cross_val_predict(GaussianNB(), X, Y, method="predict_proba")


@pytest.fixture(scope="module", autouse=True)
def _quick():
    """Fewer rounds than by default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SteadyBoostClassifier.__init__.__kwdefaults__, "n_estimators", 15)
        yield


# Probabilities as cleanlab takes them


def test_it_takes_what_cleanlab_takes():
    """``find_label_issues(labels, pred_probs)``: labels 0 to k - 1, a column for each."""
    found = audit_proba(PROBA, Y)
    assert isinstance(found, LabelAudit)
    assert IS_WRONG[found.suspects].mean() > 0.6
    assert found.noise_rate == pytest.approx(IS_WRONG.mean(), abs=0.1)
    low, high = found.noise_rate_interval
    assert low <= found.noise_rate <= high
    assert found.conflicts == []


def test_names_make_no_difference():
    names = np.array(["red", "rosé", "white"])  # in sorted order, as scikit-learn has columns
    plain, named = audit_proba(PROBA, Y), audit_proba(PROBA, names[Y])
    np.testing.assert_array_equal(plain.scores, named.scores)
    np.testing.assert_array_equal(names[plain.suggested], named.suggested)
    assert list(named.class_noise_rates) == names.tolist()


@pytest.mark.parametrize("kind", [list, pd.DataFrame, np.float32])
def test_containers_of_probabilities(kind):
    found = audit_proba(kind(PROBA), pd.Series(Y))
    np.testing.assert_allclose(found.scores, audit_proba(PROBA, Y).scores, atol=1e-3)


def test_a_column_can_be_of_a_class_that_no_row_is_given_as():
    wide = np.column_stack([0.999 * PROBA, np.full(len(Y), 0.001)])
    assert audit_proba(wide, Y).classes.tolist() == [0, 1, 2, 3]
    names = np.array(["a", "b", "c"])[Y]
    found = audit_proba(wide, names, classes=["a", "b", "c", "d"])
    assert found.class_noise_rates["d"] == (0.0, 0.0, 1.0)


def test_it_is_the_audit_of_the_same_probabilities():
    folds = list(GroupKFold(5).split(X, Y, np.arange(len(Y))))
    proba = cross_val_predict(GaussianNB(), X, Y, cv=folds, method="predict_proba")
    one, other = audit_proba(proba, Y), audit(X, Y, GaussianNB(), cv=folds)
    np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9)
    np.testing.assert_allclose(one.noise_rate_interval, other.noise_rate_interval)


def test_rows_without_weight_are_not_judged():
    weights = np.where(np.arange(len(Y)) < 3, 0.0, 1.0)
    found = audit_proba(PROBA, Y, sample_weight=weights)
    assert np.isnan(found.scores[:3]).all()
    np.testing.assert_array_equal(found.scores[3:], audit_proba(PROBA[3:], Y[3:]).scores)


@pytest.mark.parametrize(
    ("proba", "options", "says"),
    [
        (PROBA * 2, {}, "pred_probs sums to 2 in row 0; rows must sum to 1"),
        (np.where(PROBA[5] == PROBA, np.nan, PROBA), {}, "infinite or negative values, first in r"),
        (PROBA - 0.5, {}, "negative values, first in row 0"),
        (PROBA[:, :1], {}, r"pred_probs has shape \(178, 1\)"),
        (PROBA[:, 0], {}, r"pred_probs has shape \(178,\)"),
        (PROBA[:, :2] / PROBA[:, :2].sum(1, keepdims=True), {}, "y has 3 labels and pred_probs 2"),
        (PROBA[:-1], {}, "inconsistent numbers of samples"),
        (PROBA, {"classes": [0, 1]}, "classes has 2 labels for 3 columns"),
        (PROBA, {"classes": [2, 1, 0]}, "in sorted order"),
        (PROBA, {"classes": [0, 1, 1]}, "distinct"),
        (PROBA, {"classes": [0, 1, 5]}, "y"),
        (PROBA, {"flag": "all"}, "flag='all' must be 'auto', a number"),
        (PROBA, {"flag": -1}, "flag=-1 must be"),
        (PROBA, {"flag": 1.5}, "flag=1.5 must be"),
        (PROBA, {"flag": True}, "flag=True must be"),
        (PROBA, {"precision": 0}, "precision=0 must be above 0"),
        (PROBA, {"precision": 1.5}, "precision=1.5 must be above 0"),
        (PROBA, {"sample_weight": np.ones(3)}, "sample_weight"),
    ],
)
def test_bad_input_is_named(proba, options, says):
    with pytest.raises(ValueError, match=says):
        audit_proba(proba, Y, **options)


# How many rows are listed


def test_the_user_chooses_how_many_rows_are_listed():
    ranked = audit_proba(PROBA, Y).table.row
    for flag, n in ((7, 7), (0.1, 18), (0, 0), (10**6, len(Y))):
        found = audit_proba(PROBA, Y, flag=flag)
        assert found.suspects.tolist() == ranked[:n].tolist()
        assert (found.suggested[found.suspects] != Y[found.suspects]).all()


@pytest.mark.parametrize("precision", [0.5, 0.8, 0.95])
def test_a_list_is_as_long_as_its_precision_allows(precision):
    found = audit_proba(PROBA, Y, precision=precision)
    n, table = len(found.suspects), found.table
    assert table.expected_precision[n - 1] >= precision
    assert table.expected_precision[n] < precision


# Folds and groups


def test_groups_stay_together():
    """Copies of a wrong row in other folds would say that its label is right."""
    doubled, labels = np.vstack([X, X]), np.r_[Y, Y]
    groups = np.tile(np.arange(len(Y)), 2)
    forest = RandomForestClassifier(30, random_state=0)
    apart = audit(doubled, labels, forest, random_state=0)
    together = audit(doubled, labels, forest, groups=groups, random_state=0)
    wrong = np.r_[IS_WRONG, IS_WRONG]
    assert together.scores[wrong].mean() < apart.scores[wrong].mean() - 0.2


def test_ours_takes_groups_and_splitters():
    groups = np.arange(len(Y)) // 3
    options = {"groups": groups, "random_state": 0}
    by_group = audit(X, Y, cv=2, **options)
    split = audit(X, Y, cv=GroupKFold(2), **options)
    for found in (by_group, split):
        assert np.isfinite(found.scores).all()
        assert IS_WRONG[found.table.row[: IS_WRONG.sum()]].mean() > 0.6


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"groups": np.ones(3)}, r"groups has shape \(3,\) for 178 rows"),
        ({"groups": [None, *range(177)]}, "groups is missing for 1 rows"),
        ({"groups": np.arange(178) % 3}, "groups has 3 groups for cv=5 folds"),
        ({"cv": "oob"}, "cv='oob' needs an estimator"),
        (
            {"cv": "oob", "groups": np.arange(178), "estimator": RandomForestClassifier()},
            "groups cannot be kept together with cv='oob'",
        ),
        ({"estimator": LinearSVC()}, "has no predict_proba"),
    ],
)
def test_bad_folds_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        audit(X, Y, **options)


# What it does not know


def test_a_model_that_has_learnt_nothing_is_named():
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    found = audit(rng.normal(size=(400, 5)), y, LogisticRegression(), random_state=0)
    assert any("it has learnt nothing" in note for note in found.notes)
    assert "learnt nothing" in repr(found)
    assert len(found.head(5)) == 5  # the most suspicious rows all the same


def test_few_rows_rare_classes_and_a_rate_that_may_be_zero_are_named():
    rows = np.r_[0:20, 60:80, 150:155]
    found = audit_proba(np.eye(3)[TRUTH[rows]] * 0.94 + 0.02, TRUTH[rows])
    notes = " ".join(found.notes)
    assert "There are only 45 rows" in notes
    assert "fewer than 10 rows, too few to judge their labels: 2" in notes
    assert "includes zero" in notes
    assert found.noise_rate_interval[0] == 0


def test_much_disagreement_is_named():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=500)
    proba = np.full((500, 4), 0.2) + 0.2 * np.eye(4)[np.where(rng.random(500) < 0.6, y, 3 - y)]
    assert any("disagrees with 4" in note for note in audit_proba(proba, y).notes)


def test_a_good_audit_has_no_notes():
    proba, y = np.repeat(PROBA, 5, axis=0), np.repeat(Y, 5)
    assert audit_proba(proba, y).notes == []


def test_nearly_equal_names_are_named():
    found = similar_names(np.array(["ON TIME", "late", "on time", "on-time"]))
    (note,) = found
    assert note.startswith("Class names that are nearly the same: 'ON TIME', 'on time', 'on-time';")
    assert similar_names(np.array(["1", "1.0", "2"])) == []
    assert similar_names(np.array(["a", "b"])) == []
    assert similar_names(np.array([1, 2])) == []


def test_conflicting_duplicates_are_named():
    doubled, labels = np.vstack([X, X[:2]]), np.r_[Y, (Y[:2] + 1) % 3]
    notes = audit(doubled, labels, GaussianNB(), random_state=0).notes
    assert "4 rows have the same values as another row and a different label." in notes


@pytest.fixture(scope="module")
def unequal():
    """A table of a rare class, given labels, and which are wrong."""
    rng = np.random.default_rng(0)
    true = (rng.random(600) < 0.2).astype(int)
    return rng.normal(size=(600, 4)) + 2.5 * true[:, None], *corrupt(true, 0.15, random_state=0)


@pytest.mark.parametrize(
    ("kind", "class_weight"),
    [
        (LogisticRegression, "balanced"),
        (LogisticRegression, {0: 1, 1: 9}),
        (SteadyBoostClassifier, {0: 1, 1: 9}),
    ],
)
def test_class_weights_do_not_change_the_count(unequal, kind, class_weight):
    table, given, is_wrong = unequal
    plain, weighed = (
        audit(table, given, kind(class_weight=own), cv=3, random_state=0)
        for own in (None, class_weight)
    )
    assert weighed.noise_rate == pytest.approx(plain.noise_rate, abs=0.05)
    assert weighed.noise_rate == pytest.approx(is_wrong.mean(), abs=0.07)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 9}])
def test_class_weights_do_not_change_the_count_of_the_classifier(unequal, class_weight):
    table, given, is_wrong = unequal
    plain, weighed = (
        SteadyBoostClassifier(class_weight=own, random_state=0).fit(table, given)
        for own in (None, class_weight)
    )
    assert weighed.noise_rate_ == pytest.approx(is_wrong.mean(), abs=0.05)
    np.testing.assert_allclose(weighed.transition_matrix_, plain.transition_matrix_, atol=0.05)
    assert weighed.predict_proba(table)[:, 1].mean() > plain.predict_proba(table)[:, 1].mean()


def test_the_classifier_says_the_same_with_weights():
    weights = 1.0 + np.arange(len(Y)) % 3
    weights[4] = 0
    found = audit(X, Y, sample_weight=weights, random_state=0)
    model = SteadyBoostClassifier(random_state=0).fit(X, Y, sample_weight=weights)
    assert model.noise_rate_ == found.noise_rate
    assert tuple(model.noise_rate_interval_) == found.noise_rate_interval
    np.testing.assert_array_equal(model.label_scores_, found.scores)
    np.testing.assert_array_equal(model.suspects_.row, found.suspects)
    np.testing.assert_array_equal(model.transition_matrix_, found.transition_matrix)


# Sets of labels


def test_sets_of_labels_are_judged_entry_by_entry():
    table, sets = make_multilabel_classification(300, 12, n_classes=3, random_state=0)
    flipped = np.random.default_rng(0).random(sets.shape) < 0.08
    given = np.where(flipped, 1 - sets, sets)
    found = audit(table, given, RandomForestClassifier(40, random_state=0), random_state=0)
    assert isinstance(found, LabelSetAudit)
    assert found.scores.shape == found.probabilities.shape == given.shape
    order = np.argsort(found.scores.ravel())
    own = np.where(given == 1, found.probabilities, 1 - found.probabilities)
    by_own = np.argsort(own.ravel())
    listed, as_many = (flipped.ravel()[some[: flipped.sum()]].mean() for some in (order, by_own))
    assert listed > as_many - 0.05  # all labels by one measure
    alone = audit(table, given[:, 1], RandomForestClassifier(40, random_state=0), random_state=0)
    np.testing.assert_array_equal(found.probabilities[:, 1], alone.probabilities[:, 1])
    np.testing.assert_allclose(found.noise_rate, np.mean([a.noise_rate for a in found.audits]))
    np.testing.assert_allclose(found.row_scores, found.scores.prod(axis=1))
    worst = found.scores[found.suspects[:, 0], found.suspects[:, 1]]
    assert (np.diff(worst) >= 0).all()
    assert len(worst) == sum(len(a.suspects) for a in found.audits)
    assert repr(found).startswith("Sets of 3 labels, 300 rows\nlabel 0: ")


def test_a_label_that_all_rows_have_is_refused_with_its_place():
    table, sets = make_multilabel_classification(60, 5, n_classes=2, random_state=0)
    with pytest.raises(ValueError, match=r"label 1.*at least two"):
        audit(table, np.column_stack([sets[:, 0], np.ones(60, dtype=int)]), GaussianNB())


def test_the_index_of_a_frame_stands_in_the_table():
    names = [f"p{k}" for k in range(len(Y))]
    found = audit_proba(PROBA, pd.Series(Y, pd.Index(names, name="person")))
    assert found.to_frame().index.tolist() == [names[row] for row in found.table.row]
    assert repr(found.head(2)).splitlines()[1].split()[1] == names[found.table.row[0]]
    levels = pd.MultiIndex.from_arrays([np.arange(len(Y)), names])
    assert list(audit_proba(PROBA, pd.Series(Y, levels)).kept) == ["level_0", "level_1"]
    assert not audit_proba(PROBA, pd.Series(Y)).kept
