"""Cross-validation of methods on the same rows."""

import json
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_info

from steadyboost import SAMMEClassifier
from steadyboost.lab.comparison import compare

X, Y = load_iris(return_X_y=True)
CONSTANT = DummyClassifier(strategy="constant", constant=1)
TREES = {"tree": DecisionTreeClassifier(random_state=0), "none": CONSTANT}


class Memory(ClassifierMixin, BaseEstimator):
    """Keeps what it was shown, and answers with the most frequent label."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.answer_ = self.classes_[counts.argmax()]
        self.seen.append((X, np.asarray(y)))
        return self

    def predict(self, X):
        self.seen.append((X, None))
        return np.full(len(X), self.answer_)


class Broken(Memory):
    def fit(self, X, y):
        raise RuntimeError("cannot\n  go on")


@pytest.fixture
def shown():
    """The training rows, their labels, and the test rows of a fold."""
    Memory.seen.clear()

    def of_fold(k):
        (X_train, y), (X_test, _) = Memory.seen[2 * k : 2 * k + 2]
        return X_train, y, X_test

    return of_fold


def test_errors_are_counted_on_the_labels_as_given():
    found = compare(X, Y, TREES, folds=3)
    tree, none = found.standings
    assert (tree.name, tree.is_best, tree.p_value) == ("tree", True, None)
    assert none.error == pytest.approx(2 / 3, abs=0.02)
    assert none.balanced_error == pytest.approx(2 / 3)
    assert none.p_value < 0.001
    assert (tree.rank, none.rank) == (1, 2)
    assert [run.confusion.sum() for run in found.finished[0].runs] == [50, 50, 50]
    assert not none.is_close
    assert "All differences to other methods are significant" in found.conclusions()[1]


@pytest.mark.parametrize(("kind", "rate"), [("symmetric", 0.3), ("feature_dependent", 0.1)])
def test_noise_is_in_training_labels_alone(shown, kind, rate):
    compare(X, Y, {"memory": Memory(), **TREES}, noise=rate, kind=kind, folds=3)
    lookup = {tuple(row): label for row, label in zip(X, Y, strict=True)}
    X_train, y, X_test = shown(0)
    wrong = [lookup[tuple(row)] != label for row, label in zip(X_train, y, strict=True)]
    assert np.mean(wrong) == pytest.approx(rate, abs=0.02)
    assert not {map(tuple, X_train)} & {map(tuple, X_test)}


def test_results_do_not_depend_on_the_other_methods():
    alone = compare(X, Y, TREES, noise=0.2, folds=3, random_state=5)
    beside = compare(X, Y, {"memory": Memory(), **TREES}, noise=0.2, folds=3, random_state=5)
    errors = {result.name: result.errors.tolist() for result in beside.results}
    assert all(errors[result.name] == result.errors.tolist() for result in alone.results)


def test_failures_and_warnings_are_kept_and_the_others_go_on():
    class Warner(Memory):
        def fit(self, X, y):
            warnings.warn("rows  are few", stacklevel=1)
            return super().fit(X, y)

    found = compare(X, Y, {"broken": Broken(), "warner": Warner(), **TREES}, folds=3)
    assert found.standings[0].name == "tree"
    assert len(found.standings) == 3
    assert found.remarks() == ["broken failed: RuntimeError: cannot go on", "warner: rows are few"]
    assert found.to_dict()["failures"] == {"broken": "RuntimeError: cannot go on"}


def test_methods_without_probabilities_have_no_log_loss():
    found = compare(X, Y, {"memory": Memory(), **TREES}, folds=3)
    losses = {s.name: s.log_loss for s in found.standings}
    assert losses["memory"] is None
    # The constant answer gives the right class the probability 0 in two thirds of the rows.
    assert losses["none"] == pytest.approx(2 / 3 * -np.log(np.finfo(float).eps), rel=0.02)


def test_small_classes_are_told_and_do_no_harm():
    y = np.where(np.arange(150) == 0, "rare", Y.astype(str))
    found = compare(X, y, {**TREES, "ours": SAMMEClassifier(n_estimators=3)}, folds=3)
    assert len(found.standings) == 3
    assert "Class rare has 1 rows, fewer than the 3 folds" in found.remarks()[0]


def test_repeats_have_other_folds_and_tell_is_told():
    told = []
    found = compare(X, Y, TREES, folds=3, repeats=2, tell=lambda *args: told.append(args))
    assert len(found.finished[0].runs) == 6
    assert told[0] == ("tree, fold 1", 0, 12)
    assert told[-1] == ("done", 12, 12)


def test_results_are_written(tmp_path):
    import pandas as pd

    found = compare(X, Y, TREES, folds=3)
    found.to_csv(tmp_path / "table.csv")
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["name"].tolist() == found.to_frame()["name"].tolist() == ["tree", "none"]
    assert table["error"].tolist() == pytest.approx([s.error for s in found.standings])
    document = json.loads(json.dumps(found.to_dict()))
    assert document["setting"]["classes"] == [0, 1, 2]
    assert len(document["methods"][0]["errors"]) == 3
    found.to_html(tmp_path / "page.html", "iris")
    assert "Which method for iris?" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": 1.0}, "noise=1.0 must be a fraction"),
        ({"folds": 1}, "folds=1 must be between 2"),
        ({"folds": 151}, "folds=151 must be between 2 and the number of rows, 150"),
        ({"repeats": 0}, "repeats=0"),
        ({"noise": 0.1, "kind": "nosy"}, "kind='nosy' is unknown"),
    ],
)
def test_bad_numbers_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        compare(X, Y, TREES, **options)


def test_bad_data_are_refused():
    with pytest.raises(ValueError, match="one class '1'"):
        compare(X, np.ones(150, dtype=int), TREES)
    with pytest.raises(ValueError, match="50 classes, and none has the 5 rows"):
        compare(X, np.arange(150) // 3, TREES)
    with pytest.raises(ValueError, match=r"X has shape \(150,\)"):
        compare(X[:, 0], Y, TREES)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare(X, Y[:10], TREES)


def test_openmp_does_not_spin_over_small_tables():
    class Threads(Memory):
        def fit(self, X, y):
            limits.update(pool["num_threads"] for pool in openmp())
            return super().fit(X, y)

    def openmp():
        return [pool for pool in threadpool_info() if pool["user_api"] == "openmp"]

    limits = set()
    before = openmp()
    compare(X, Y, {"threads": Threads(), "none": CONSTANT}, folds=2, n_jobs=-1)
    assert limits == {1}
    assert openmp() == before
