"""Audits find wrong labels, whoever judges, and say so in every form."""

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.naive_bayes import GaussianNB

from steadyboost import BaggingClassifier, SteadyBoostClassifier
from steadyboost.noise import audit, corrupt
from steadyboost.noise.label_audit import conflicting

X, TRUTH = load_wine(return_X_y=True)
Y, IS_WRONG = corrupt(TRUTH, 0.15, random_state=0)
FEW_ROUNDS = {"n_estimators": 15}


@pytest.fixture(scope="module", autouse=True)
def _quick():
    """Fewer rounds than by default."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in FEW_ROUNDS.items():
            patch.setitem(SteadyBoostClassifier.__init__.__kwdefaults__, name, value)
        yield


@pytest.fixture(scope="module")
def found():
    return audit(X, Y, random_state=0)


def judges():
    forest = RandomForestClassifier(30, random_state=0)
    return {
        "ours": {},
        "folds": {"estimator": GaussianNB()},
        "number of another type": {"estimator": GaussianNB(), "cv": np.int64(3)},
        "splitter": {"estimator": GaussianNB(), "cv": KFold(4, shuffle=True, random_state=0)},
        "list of splits": {"estimator": GaussianNB(), "cv": list(KFold(4).split(X))},
        "oob": {"estimator": forest, "cv": "oob"},
    }


@pytest.mark.parametrize("options", judges().values(), ids=judges().keys())
def test_wrong_labels_are_found(options):
    found = audit(X, Y, random_state=0, **options)
    n_wrong = int(IS_WRONG.sum())
    assert IS_WRONG[found.table.row[:n_wrong]].mean() > 0.6
    assert 0.03 < found.noise_rate < 0.35
    assert found.scores.shape == Y.shape
    assert found.probabilities.shape == (len(Y), 3)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(found.transition_matrix.sum(axis=1), 1)


def test_ours_is_what_the_classifier_says(found):
    model = SteadyBoostClassifier(random_state=0, **FEW_ROUNDS).fit(X, Y)
    np.testing.assert_array_equal(found.scores, model.label_scores_)
    np.testing.assert_array_equal(found.probabilities, model.out_of_sample_proba_)
    np.testing.assert_array_equal(found.suggested[found.table.row], model.labels_.suggested)
    np.testing.assert_array_equal(found.suspects, model.suspects_.row)
    np.testing.assert_array_equal(found.transition_matrix, model.transition_matrix_)


def test_chance_is_fixed_by_the_seed(found):
    again = audit(X, Y, random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.scores, found.scores)
    one, same = (audit(X, Y, GaussianNB(), random_state=3).scores for _ in range(2))
    np.testing.assert_array_equal(one, same)


# What it says


def test_numbers_agree(found):
    wrong = 1 - found.scores
    np.testing.assert_allclose(found.n_wrong, wrong.sum())
    np.testing.assert_allclose(found.noise_rate, wrong.mean())
    per_class = found.n_wrong_per_class
    assert list(per_class) == [0, 1, 2]
    np.testing.assert_allclose(sum(per_class.values()), found.n_wrong)
    np.testing.assert_allclose(per_class[1], wrong[Y == 1].sum())


def test_ranks_are_places_in_the_table(found):
    np.testing.assert_array_equal(np.sort(found.ranks), np.arange(1, len(Y) + 1))
    np.testing.assert_array_equal(found.ranks[found.table.row], found.table.rank)
    assert found.scores[found.ranks == 1] == found.scores.min()
    disputed = np.flatnonzero(found.suggested != found.given)
    np.testing.assert_array_equal(np.sort(found.suspects), disputed)
    assert (np.diff(found.ranks[found.suspects]) > 0).all()


def test_it_is_a_frame_and_text(found, tmp_path):
    frame = found.to_frame()
    assert frame["suspect"].sum() == len(found.suspects)
    assert frame["row"].tolist() == found.table.row.tolist()
    assert found.head(3).row.tolist() == found.table.row[:3].tolist()
    lines = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [int(line["row"]) for line in lines] == found.table.row.tolist()
    assert found.to_csv(tmp_path / "audit.csv") is None
    assert (tmp_path / "audit.csv").read_text(encoding="utf-8") == found.to_csv()
    assert repr(found).startswith(f"{len(found.suspects)} suspects; about ")
    assert f"of {len(Y)} labels are wrong" in repr(found)


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["ours", "other"])
def test_rows_without_weight_are_not_judged(estimator):
    weights = np.ones(len(Y))
    weights[[3, -1]] = 0
    found = audit(X, Y, estimator, sample_weight=weights, random_state=0)
    np.testing.assert_array_equal(np.isnan(found.scores), weights == 0)
    assert found.ranks[[3, -1]].tolist() == [0, 0]
    np.testing.assert_array_equal(found.suggested[[3, -1]], Y[[3, -1]])
    assert len(found.table) == len(Y) - 2
    assert np.isfinite([found.n_wrong, found.noise_rate, *found.n_wrong_per_class.values()]).all()


def test_names_of_classes_are_kept():
    names = np.array(["red", "white", "rosé"])[Y]
    found = audit(X.tolist(), names.tolist(), GaussianNB(), random_state=0)
    assert set(found.suggested.tolist()) <= {"red", "white", "rosé"}
    assert list(found.n_wrong_per_class) == ["red", "rosé", "white"]


def test_our_bagging_judges_out_of_bag():
    found = audit(X, Y, BaggingClassifier(n_estimators=15, random_state=0), cv="oob")
    assert np.isfinite(found.scores).all()


# What it refuses


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (np.zeros(len(Y)), "at least two"),
        (np.r_[7, Y[1:]], "fewer than two rows: 7;"),
        (Y[:-1], "inconsistent numbers of samples"),
        (np.where(IS_WRONG, np.nan, Y), "NaN"),
        (np.where(IS_WRONG, None, Y.astype(object)), "missing labels"),
        (np.linspace(0, 1, len(Y)), "continuous"),
        (None, "None"),
    ],
)
def test_bad_labels_are_refused(y, says):
    with pytest.raises(ValueError, match=says):
        audit(X, y)


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["ours", "other"])
@pytest.mark.parametrize("cv", [1, 0, True, 2.5, None, "folds"])
def test_bad_folds_are_refused(cv, estimator):
    with pytest.raises(ValueError, match=r"cv=.* must be a number of folds, 2 or more"):
        audit(X, Y, estimator, cv=cv)


def test_a_judge_without_bags_cannot_judge_out_of_bag():
    with pytest.raises(ValueError, match="oob_score"):
        audit(X, Y, LogisticRegression(), cv="oob")


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match="weight"):
        audit(X, Y, sample_weight=np.zeros(len(Y)))


# Equal rows with different labels

ROWS = np.array([[1, 0.0], [2, 0], [1, -0.0], [2, 5], [np.nan, 1], [np.nan, 1], [2, 0], [1, 0]])
CODES = np.array([0, 1, 1, 0, 2, 0, 1, 0])
CONFLICTS = [[0, 2, 7], [4, 5]]


def stored_zeros():
    """The rows with zeros that are stored, and entries in two parts."""
    i, j = np.indices(ROWS.shape).reshape(2, -1)
    values = ROWS.ravel() / 2
    return coo_array((np.r_[values, values], (np.r_[i, i], np.r_[j, j])), shape=ROWS.shape)


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        ROWS.tolist(),
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS),
        csr_array(ROWS),
        stored_zeros(),
    ],
    ids=["array", "list", "pandas", "polars", "sparse", "stored zeros"],
)
def test_equal_rows_of_different_labels_are_conflicts(table):
    assert [group.tolist() for group in conflicting(table, CODES)] == CONFLICTS


def test_rows_of_text_are_equal_if_all_of_it_is():
    n = 400  # more categories than a tree can tell apart
    frame = pd.DataFrame({"name": [f"name {i}" for i in range(n)], "size": 1.0})
    assert conflicting(frame, np.arange(n) % 2) == []
    frame.loc[7, "name"] = "name 4"
    assert [g.tolist() for g in conflicting(frame, np.arange(n) % 2)] == [[4, 7]]
    frame.loc[[10, 13], "name"] = None
    assert [g.tolist() for g in conflicting(frame, np.arange(n) % 2)] == [[4, 7], [10, 13]]


def test_an_audit_lists_conflicts():
    doubled, labels = np.vstack([X, X[:2]]), np.r_[Y, (Y[:2] + 1) % 3]
    found = audit(doubled, labels, GaussianNB(), random_state=0)
    assert [group.tolist() for group in found.conflicts] == [[0, len(Y)], [1, len(Y) + 1]]
