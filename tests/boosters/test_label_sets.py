"""Rows with several labels: soft-max boosting and AdaBoost.MH on indicator matrices."""

import numpy as np
import pytest
import scipy.sparse as sp
from common import make, quiet
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

import steadyboost
from steadyboost import AdaBoostMHClassifier, SAMMEClassifier, SoftmaxBoostClassifier, Tree
from steadyboost.callbacks import Checkpoint, Monitor

X, Y = make_multilabel_classification(300, n_classes=4, random_state=0)
MODELS = {
    "softmax": make(SoftmaxBoostClassifier, n_estimators=20),
    "softmax-all": make(SoftmaxBoostClassifier, n_estimators=20, n_samples="all"),
    "separate": make(AdaBoostMHClassifier, n_estimators=20),
    "shared": make(AdaBoostMHClassifier, n_estimators=20, tree="shared"),
    "foreign": make(AdaBoostMHClassifier, estimator=DecisionTreeClassifier(max_depth=3)),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


@each_model
def test_it_predicts_sets_of_labels(model):
    model = clone(model).fit(X[:200], Y[:200])
    proba, predicted = model.predict_proba(X), model.predict(X)
    assert get_tags(model).classifier_tags.multi_label
    assert proba.shape == predicted.shape == model.decision_function(X).shape == Y.shape
    np.testing.assert_array_equal(predicted, (proba > 0.5).astype(int))
    np.testing.assert_array_equal(predicted, model.decision_function(X) > 0)
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    assert model.score(X, Y) == accuracy_score(Y, predicted)
    assert hamming_loss(Y[200:], predicted[200:]) < 0.7 * hamming_loss(Y[200:], 0 * Y[200:])


@each_model
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, np.asfortranarray, list, bool])
def test_indicators_of_any_kind_give_the_same_model(model, kind):
    given = Y.astype(bool) if kind is bool else kind(Y)
    one, other = clone(model).fit(X, Y), clone(model).fit(X, given)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    if kind is not list:
        assert one.score(X, Y) == other.score(X, given)


@each_model
def test_rounds_are_staged_and_repeated(model):
    model = clone(model).fit(X, Y)
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    stages = [stage.copy() for stage in model.staged_predict_proba(X)]
    shorter = clone(model).set_params(n_estimators=3).fit(X, Y)
    np.testing.assert_array_equal(stages[2], shorter.predict_proba(X))
    alone = np.concatenate([model.decision_function(row[None]) for row in X[:20]])
    np.testing.assert_array_equal(alone, model.decision_function(X[:20]))
    warm = clone(model).set_params(n_estimators=2, warm_start=True).fit(X, Y)
    warm.set_params(n_estimators=model.n_estimators).fit(X, Y)
    np.testing.assert_array_equal(warm.predict_proba(X), model.predict_proba(X))


@each_model
def test_it_stops_early_on_sets(model):
    stopped = clone(model).set_params(early_stopping=True, n_iter_no_change=3, n_estimators=60)
    stopped.set_params(callbacks=[Monitor()]).fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    errors = stopped.history_["val_error"]
    assert stopped.n_iter_ == np.argmin(errors) + 1
    assert min(errors) == pytest.approx(1 - stopped.score(X[200:], Y[200:]))
    held_out = clone(stopped).fit(X, Y)
    assert len(held_out.history_["val_error"]) == len(held_out.history_)


@each_model
def test_weights_are_copies_of_sets(model):
    if getattr(model, "n_samples", "all") != "all":
        pytest.skip("it draws pairs")
    if model.estimator is not None and not hasattr(model.estimator, "answer"):
        pytest.skip("scikit-learn's tree chooses between equal splits by the last bit")
    weights = np.arange(len(X)) % 3
    model = clone(model).set_params(n_estimators=3)
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    twice = np.repeat(np.arange(len(X)), weights)
    repeated = clone(model).fit(X[twice], Y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-7)


@each_model
def test_labels_may_be_in_no_row_or_in_all(model):
    wide = np.column_stack([Y, np.zeros(len(Y), dtype=int), np.ones(len(Y), dtype=int)])
    predicted = clone(model).fit(X, wide).predict(X)
    assert predicted[:, 4].max() == 0
    assert predicted[:, 5].min() == 1


def test_scikit_learn_searches_over_sets():
    model = make(AdaBoostMHClassifier, estimator=Tree(2))
    grid = GridSearchCV(model, {"tree": ["separate", "shared"]}, cv=2).fit(X, Y)
    assert grid.best_params_["tree"] in ("separate", "shared")
    assert cross_val_score(model, X, Y, cv=3, scoring="f1_micro").mean() > 0.5


@pytest.mark.parametrize("name", ["softmax", "separate", "shared"])
def test_files_keep_sets(name, tmp_path):
    kept = [Checkpoint(tmp_path / "kept.sb", every=5)]
    model = clone(MODELS[name]).set_params(callbacks=kept).fit(X, Y)
    model.save(tmp_path / "model.sb")
    for file in ("model.sb", "kept.sb"):
        read = steadyboost.load(tmp_path / file)
        np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(read.predict(X), model.predict(X))
    again = clone(model).set_params(n_estimators=25, callbacks=kept).fit(X, Y)
    assert again.n_iter_ == 25
    with pytest.raises(ValueError, match="was kept by another run"):
        clone(model).set_params(callbacks=kept).fit(X, 1 - Y)


# Mistakes


@pytest.mark.parametrize(
    ("params", "data", "message"),
    [
        ({"class_weight": "balanced"}, {}, "class_weight='balanced' .* pass sample_weight instead"),
        ({}, {"X_val": X, "y_val": Y[:, :3]}, r"y_val has shape \(300, 3\), but .* of 4 labels"),
        ({}, {"X_val": X, "y_val": Y[:, 0]}, r"y_val has shape \(300,\), but .* of 4 labels"),
        ({}, {"y": Y[:9]}, "inconsistent numbers of samples"),
    ],
)
def test_mistakes_are_named(params, data, message):
    for name in ("softmax", "separate", "shared"):
        with pytest.raises(ValueError, match=message):
            clone(MODELS[name]).set_params(**params).fit(**{"X": X, "y": Y, **data})


def test_a_warm_start_does_not_mix_sets_and_classes():
    model = clone(MODELS["separate"]).set_params(warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"y has shape \(300,\), but .* indicator matrix of 4"):
        model.fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="cost_matrix is between classes"):
        model.predict(X, cost_matrix=np.ones((4, 4)))


def test_other_boosters_refuse_sets():
    with pytest.raises(ValueError, match="y should be a 1d array"):
        quiet(make(SAMMEClassifier).fit, X, Y)
