"""Sparse X: every booster, with every learner, does what it does with the same rows in full."""

import pickle

import numpy as np
import pytest
from common import (
    assert_same_model,
    each_booster,
    each_booster_with,
    make,
    needs_free_rounds,
    quiet,
)
from reference.sparse_cases import FORMS, labels, table
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from steadyboost import (
    C45,
    AdaBoostM2Classifier,
    AttributeTest,
    DecisionRule,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
    load,
)
from steadyboost.callbacks import Checkpoint
from steadyboost.ensemble import prediction as fitted
from steadyboost.trees.growth import tree as tree_module

FULL = table(np.random.default_rng(0), n=240, gaps=0.02)
Y = labels(np.random.default_rng(1), FULL)
CSR, CSC = sparse.csr_array(FULL), sparse.csc_matrix(FULL)
WEIGHTS = np.random.default_rng(2).exponential(size=len(Y))
LEARNERS = {
    "stump": Stump(),
    "entropy": Tree(criterion="entropy"),
    "error": Tree(criterion="error", max_depth=None, min_weight_leaf=0.02),
    "best first": Tree(max_depth=None, max_leaf_nodes=6),
    "samples": Tree(max_depth=5, min_samples_leaf=9),
    "drawn": Tree(max_depth=4, max_features=0.4, max_samples=0.6),
    "test": AttributeTest(),
    "rule": DecisionRule(),
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


def pair(booster, X=CSR, full=FULL, y=Y, **params):
    """The model of the sparse rows and that of the full ones."""
    return tuple(quiet(make(booster, **params).fit, rows, y) for rows in (X, full))


def trees_of(answers):
    """The trees of all rounds, and of all questions where a round has several."""
    for answer in answers:
        if isinstance(answer, list):
            yield from trees_of(answer)
        elif answer is not None:
            yield answer.tree


def assert_same_trees(one, other, *names):
    for trees in zip(trees_of(one.estimators_), trees_of(other.estimators_), strict=True):
        for name in names:
            np.testing.assert_array_equal(*(getattr(tree, name) for tree in trees))


def assert_same(one, other):
    """The same model, whatever rows it gets."""
    assert_same_trees(one, other, "feature", "children", "left_bitset", "value", "gain")
    assert_same_model(one, other, FULL)
    for rows in (CSR, CSC):
        assert_same_model(one, other, rows)
        np.testing.assert_array_equal(one.decision_function(rows), other.decision_function(FULL))


@each_booster_with(learner=LEARNERS)
def test_it_learns_what_the_full_rows_teach(booster, learner):
    assert_same(*pair(booster, estimator=learner))


@each_booster
def test_it_learns_the_same_by_resampling(booster):
    assert_same(*pair(booster, estimator=Tree(max_depth=4), resample=True))


@each_form
def test_it_learns_the_same_from_every_form(form):
    X = form(FULL)
    model, expected = pair(SAMMEClassifier, X, X.toarray())
    assert_same_model(model, expected, FULL)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(X.toarray()))


@each_booster
def test_it_learns_the_same_from_few_bins_and_weighted_rows(booster):
    rng = np.random.default_rng(3)
    full = table(rng, n=240, decimals=12, density=0.6)
    weights = np.where(rng.random(240) < 0.1, 0.0, WEIGHTS)
    options = {"max_bins": 11, "class_weight": {0: 1.0, 1: 2.0, 2: 0.5}}
    models = [
        quiet(make(booster, **options).fit, X, Y, sample_weight=weights)
        for X in (sparse.csr_matrix(full), full)
    ]
    assert_same(*models)


@pytest.mark.parametrize("learner", [Tree(), AttributeTest(), DecisionRule(), C45()])
@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM2Classifier])
def test_threads_change_nothing(booster, learner, monkeypatch):
    monkeypatch.setattr(tree_module, "SHARDING_PAYS", 0)
    monkeypatch.setattr("steadyboost.trees.rules.attribute_test.SHARDING_PAYS", 0)
    monkeypatch.setattr(fitted, "PREDICT_ROWS", 50)
    one, two = (
        quiet(make(booster, estimator=learner, n_jobs=n_jobs).fit, CSR, Y) for n_jobs in (1, 2)
    )
    for rows in (CSR, CSC, FULL):
        assert_same_model(one, two, rows)


@each_booster
def test_c45_learns_the_same_up_to_rounding(booster):
    full = table(np.random.default_rng(4), n=150, decimals=0, gaps=0.02)
    y = labels(np.random.default_rng(5), full)
    model, expected = pair(booster, sparse.csr_array(full), full, y, estimator=C45())
    assert_same_trees(model, expected, "attribute", "threshold")
    for rows in (full, sparse.csr_array(full), sparse.csc_array(full)):
        scores = (m.decision_function(rows) for m in (model, expected))
        np.testing.assert_allclose(*scores, rtol=1e-9)


@each_booster_with(learner=[None, C45()])
def test_held_out_rows_may_be_sparse(booster, learner):
    options = {"estimator": learner, "n_estimators": 8, "early_stopping": True}
    model, expected = pair(booster, n_iter_no_change=3, **options)
    given = quiet(make(booster, **options).fit, CSR, Y, X_val=CSC[:50], y_val=Y[:50])
    mixed = quiet(make(booster, **options).fit, FULL, Y, X_val=CSR[:50], y_val=Y[:50])
    for one, other in ((model, expected), (given, mixed)):
        errors = [[record["val_error"] for record in m.history_] for m in (one, other)]
        np.testing.assert_array_equal(*errors)
        np.testing.assert_allclose(one.decision_function(CSR), other.decision_function(FULL))


@each_booster
def test_stages_are_those_of_full_rows(booster):
    model, _ = pair(booster)
    stages = zip(model.staged_decision_function(CSC), model.staged_predict_proba(CSR), strict=True)
    expected = zip(
        model.staged_decision_function(FULL), model.staged_predict_proba(FULL), strict=True
    )
    for given, full in zip(stages, expected, strict=True):
        np.testing.assert_array_equal(given[0], full[0])
        np.testing.assert_array_equal(given[1], full[1])


@each_booster
def test_warm_start_goes_on_from_either(booster):
    needs_free_rounds(booster)
    whole = quiet(make(booster, n_estimators=6).fit, FULL, Y)
    for first, then in ((CSR, CSR), (FULL, CSC), (CSR, FULL)):
        model = quiet(make(booster, n_estimators=3, warm_start=True).fit, first, Y)
        quiet(model.set_params(n_estimators=6).fit, then, Y)
        assert_same_model(model, whole, FULL)


def test_parameters_are_chosen_on_sparse_rows():
    model, expected = (
        MSmoothBoostClassifier(n_estimators=8, random_state=0).fit(rows, Y) for rows in (CSR, FULL)
    )
    assert model.smoothing_ == expected.smoothing_
    assert_same(model, expected)


@each_booster_with(learner=[None, C45()])
def test_model_files_hold_it(booster, learner, tmp_path):
    model = quiet(make(booster, estimator=learner).fit, CSR, Y)
    model.save(tmp_path / "model.sb")
    for again in (load(tmp_path / "model.sb"), pickle.loads(pickle.dumps(model))):
        for rows in (CSR, FULL):
            assert_same_model(again, model, rows)


@pytest.mark.parametrize("learner", [Stump(), C45()])
def test_checkpoints_go_on(learner, tmp_path):
    def fit(X, n_estimators):
        kept = [Checkpoint(tmp_path / "kept.sb", every=2)]
        return make(
            SAMMEClassifier, estimator=learner, n_estimators=n_estimators, callbacks=kept
        ).fit(X, Y)

    whole = make(SAMMEClassifier, estimator=learner, n_estimators=6).fit(CSR, Y)
    fit(CSR, 3)
    assert_same_model(fit(CSR, 6), whole, CSR)
    other = CSR.copy()
    other.data = -other.data
    with pytest.raises(ValueError, match="the training rows"):
        fit(other, 7)


def test_learners_of_scikit_learn_get_the_rows_as_they_are():
    known = sparse.csr_matrix(abs(np.nan_to_num(FULL)))
    for learner in (MultinomialNB(), LogisticRegression(), DecisionTreeClassifier(max_depth=2)):
        model = quiet(make(SAMMEClassifier, estimator=learner).fit, known, Y)
        expected = quiet(make(SAMMEClassifier, estimator=learner).fit, known.toarray(), Y)
        np.testing.assert_allclose(
            model.predict_proba(known), expected.predict_proba(known.toarray()), rtol=1e-6
        )
        quiet(make(AdaBoostM2Classifier, estimator=learner).fit, known, Y).predict(known)
        drawn = quiet(make(SAMMEClassifier, estimator=learner, resample=True).fit, known, Y)
        assert drawn.predict(known.tocsc()).shape == Y.shape


def test_learners_that_need_full_rows_say_so():
    message = r"X is sparse, but GaussianNB does not take sparse input; pass X\.toarray\(\)"
    known = np.nan_to_num(FULL)
    with pytest.raises(ValueError, match=message):
        SAMMEClassifier(GaussianNB()).fit(sparse.csr_array(known), Y)
    model = quiet(make(SAMMEClassifier, estimator=GaussianNB()).fit, known, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(sparse.csr_array(known))


def test_categories_are_refused():
    with pytest.raises(ValueError, match=r"Columns \[2\] are categorical .* X is sparse"):
        SAMMEClassifier(categorical_features=[2]).fit(CSR, Y)
    model = make(SAMMEClassifier, categorical_features=[10]).fit(FULL, Y)
    with pytest.raises(ValueError, match=r"Columns \[10\] are categorical .* X is sparse"):
        model.predict(CSR)


def test_infinity_is_refused():
    X = CSR.copy()
    X.data[3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SAMMEClassifier().fit(X, Y)


def test_a_table_without_entries_is_learnt():
    empty = sparse.csr_array((20, 4))
    model = quiet(SAMMEClassifier(n_estimators=3).fit, empty, np.arange(20) % 2)
    assert model.predict(empty).shape == (20,)


def test_texts_are_learnt_in_a_pipeline():
    texts = ["good film", "bad film", "good good play", "bad plot", "fine play", "bad bad end"]
    model = make_pipeline(TfidfVectorizer(), SAMMEClassifier(Stump(), n_estimators=10))
    assert model.fit(texts, [1, 0, 1, 0, 1, 0]).score(texts, [1, 0, 1, 0, 1, 0]) == 1
