"""The estimator surface: parameters, tags, attributes, and what users may get wrong."""

import inspect
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from common import BOOSTERS, assert_same_model, assert_usable, make, problem, quiet
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, Real

import steadyboost
from steadyboost import AdaBoostM1Classifier, BoostingClassifier, SAMMEClassifier, Stump, Tree
from steadyboost.ensemble import prediction as fitted_module

X, y = problem()


class Damped(SAMMEClassifier):
    """A booster with a parameter of its own.

    Parameters
    ----------
    damping : float
        Factor on each step.
    {shared_parameters}
    """

    _parameter_constraints: ClassVar = {
        **BoostingClassifier._parameter_constraints,
        "damping": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(self, estimator=None, *, damping=0.5, **shared):
        super().__init__(estimator, **shared)
        self.damping = damping

    def step(self, question, error):
        step = super().step(question, error)
        return None if step is None else self.damping * step


# Parameters


def test_a_booster_has_its_own_parameters_and_the_shared_ones():
    shared = set(SAMMEClassifier().get_params())
    assert {"estimator", "n_estimators", "random_state", "callbacks"} <= shared
    assert set(Damped().get_params()) == shared | {"damping"}


def test_own_parameters_are_cloned_set_and_used():
    model = Damped(damping=0.2, n_estimators=3, random_state=0)
    copy = clone(model).set_params(n_estimators=4)
    assert (copy.damping, copy.n_estimators) == (0.2, 4)
    plain = make(SAMMEClassifier, n_estimators=3, learning_rate=0.2)
    np.testing.assert_allclose(model.fit(X, y).predict_proba(X), plain.fit(X, y).predict_proba(X))


def test_own_parameters_are_checked():
    with pytest.raises(ValueError, match=r"'damping' parameter of Damped .* Got 2 instead"):
        Damped(damping=2).fit(X, y)


def test_an_unknown_parameter_is_refused():
    with pytest.raises(TypeError, match="dampening"):
        Damped(dampening=0.1)
    with pytest.raises(ValueError, match="Invalid parameter 'dampening'"):
        Damped().set_params(dampening=0.1)


def test_only_changed_parameters_are_printed():
    assert repr(SAMMEClassifier(n_estimators=7)) == "SAMMEClassifier(n_estimators=7)"
    assert repr(Damped(damping=0.1)) == "Damped(damping=0.1)"


@pytest.mark.parametrize("booster", [*BOOSTERS, Damped], ids=lambda booster: booster.__name__)
def test_the_signature_names_every_parameter(booster):
    assert set(inspect.signature(booster).parameters) == set(booster().get_params(deep=False))


@pytest.mark.parametrize("booster", [*BOOSTERS, Damped], ids=lambda booster: booster.__name__)
def test_every_parameter_is_documented_and_checked(booster):
    documented = booster.__doc__
    assert "{shared_parameters}" not in documented
    for name in booster().get_params(deep=False):
        assert f"\n{name} : " in documented, name
        assert name in booster._parameter_constraints, name


@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: booster.__name__)
def test_the_documentation_has_attributes_references_and_an_example(booster):
    for heading in ("Parameters", "Attributes", "References", "Examples"):
        assert f"\n{heading}\n---" in booster.__doc__, heading


def test_public_names_load_on_first_use():
    assert set(steadyboost.__all__) <= set(dir(steadyboost))
    with pytest.raises(AttributeError, match="no attribute 'Missing'"):
        steadyboost.Missing  # noqa: B018


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"n_estimators": 1.5}, "n_estimators"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"resample": "yes"}, "resample"),
        ({"class_weight": "even"}, "class_weight"),
        ({"categorical_features": "all"}, "categorical_features"),
        ({"max_bins": 1}, "max_bins"),
        ({"early_stopping": 3}, "early_stopping"),
        ({"validation_fraction": 0}, "validation_fraction"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"tol": -1}, "tol"),
        ({"warm_start": None}, "warm_start"),
        ({"n_jobs": "all"}, "n_jobs"),
        ({"verbose": -1}, "verbose"),
        ({"random_state": "lucky"}, "random_state"),
        ({"estimator": "tree"}, "estimator"),
    ],
)
def test_a_bad_value_is_refused_by_name_and_value(params, name):
    value = next(iter(params.values()))
    with pytest.raises(ValueError, match=rf"The '{name}' parameter of SAMME.* must be") as caught:
        SAMMEClassifier(**params).fit(X, y)
    assert f"Got {value!r} instead" in str(caught.value)


def test_parameters_are_not_checked_before_fit():
    SAMMEClassifier(n_estimators=-5).set_params(tol="none")


# Tags and attributes


def test_tags_say_what_the_learner_can():
    assert is_classifier(SAMMEClassifier())
    assert get_tags(SAMMEClassifier()).input_tags.allow_nan
    assert get_tags(SAMMEClassifier(Stump())).input_tags.allow_nan
    assert get_tags(SAMMEClassifier(DecisionTreeClassifier())).input_tags.allow_nan
    assert not get_tags(SAMMEClassifier(LogisticRegression())).input_tags.allow_nan


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.predict(X),
        lambda model: model.predict_proba(X),
        lambda model: model.decision_function(X),
        lambda model: list(model.staged_predict(X)),
        lambda model: model.feature_importances_,
    ],
)
def test_an_unfitted_model_says_so(use):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        use(SAMMEClassifier())


@pytest.mark.parametrize(
    "name", ["n_iter_", "estimators_", "estimator_weights_", "estimator_errors_", "classes_"]
)
def test_an_unfitted_model_has_no_fitted_attributes(name):
    assert not hasattr(SAMMEClassifier(), name)


def test_fitted_attributes_describe_the_rounds():
    model = make(SAMMEClassifier).fit(X, y)
    assert model.n_iter_ == len(model.estimators_) == len(model.history_) == 5
    assert model.estimator_weights_.shape == model.estimator_errors_.shape == (5,)
    assert model.n_features_in_ == 6
    assert not hasattr(model, "feature_names_in_")


def test_the_estimators_of_scikit_learn_are_given_as_they_are():
    model = make(SAMMEClassifier, estimator=DecisionTreeClassifier(max_depth=1)).fit(X, y)
    assert {type(tree) for tree in model.estimators_} == {DecisionTreeClassifier}
    assert len({tree.random_state for tree in model.estimators_}) == 5
    votes = model.estimators_[0].predict(X)
    np.testing.assert_array_equal(model.classes_[votes], next(iter(model.staged_predict(X))))


def test_the_learner_given_is_not_changed():
    learner = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=1))
    quiet(make(SAMMEClassifier, estimator=learner).fit, X, y)
    assert not hasattr(learner[-1], "tree_")
    assert learner[-1].random_state is None


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=3)], ids=str)
def test_importances_find_the_features_that_matter(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = (X[:, 2] > 0) * 1 + (X[:, 4] > 0.5)
    model = make(SAMMEClassifier, estimator=learner).fit(X, y)
    importances = model.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.argsort(importances)[-2:]) == {2, 4}


def test_importances_are_missing_where_the_learner_has_none():
    model = quiet(make(SAMMEClassifier, estimator=KNeighborsClassifier()).fit, X, y)
    assert not hasattr(model, "feature_importances_")


def test_importances_are_zero_where_nothing_was_split():
    model = make(SAMMEClassifier).fit(np.ones((4, 3)), [0] * 4)
    assert model.feature_importances_.tolist() == [0, 0, 0]


# Prediction


def test_two_classes_have_one_decision():
    X, y = problem(k=2)
    model = make(SAMMEClassifier).fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    np.testing.assert_array_equal(decision > 0, model.predict(X) == 1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_prediction_in_blocks_is_prediction_at_once(n_jobs, monkeypatch):
    model = make(SAMMEClassifier, n_jobs=n_jobs).fit(X, y)
    whole = model.decision_function(X)
    monkeypatch.setattr(fitted_module, "PREDICT_ROWS", 7)
    np.testing.assert_array_equal(model.decision_function(X), whole)


def test_the_stages_do_not_share_memory():
    model = make(SAMMEClassifier).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert not np.array_equal(stages[0], stages[-1])


def test_equal_scores_go_to_the_first_class():
    model = quiet(make(SAMMEClassifier).fit, np.ones((6, 1)), [2, 2, 5, 5, 9, 9])
    assert set(model.predict(np.ones((3, 1)))) == {2}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
def test_the_layout_of_the_array_does_not_matter(order, dtype):
    table = np.asarray(np.round(3 * X), dtype=dtype, order=order)
    plain = make(SAMMEClassifier).fit(np.round(3 * X), y)
    assert_same_model(make(SAMMEClassifier).fit(table, y), plain, table)


# Data


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 4))
def test_any_small_table_gives_a_usable_model(seed, n, n_features):
    rng = np.random.default_rng(seed)
    table = rng.choice([0.0, 1.0, np.nan, -1e300, 1e300, 5e-324], size=(n, n_features))
    labels = rng.integers(3, size=n)
    assert_usable(quiet(make(SAMMEClassifier).fit, table, labels), table)


def test_validation_rows_may_weigh_nothing():
    weights = np.ones(len(y))
    weights[:50] = 0
    options = {"early_stopping": True, "n_estimators": 3}
    model = make(SAMMEClassifier, **options)
    model.fit(X, y, X_val=X, y_val=y, sample_weight_val=weights)
    part = make(SAMMEClassifier, **options).fit(X, y, X_val=X[50:], y_val=y[50:])
    assert model.history_["val_error"] == pytest.approx(part.history_["val_error"])


@pytest.mark.parametrize("seed", range(10))
def test_a_class_of_one_row_is_not_held_out(seed):
    labels = np.where(np.arange(len(y)) % 40 == 0, np.arange(len(y)) + 3, y)
    model = make(SAMMEClassifier, early_stopping=True, random_state=seed).fit(X, labels)
    assert len(model.classes_) == len(np.unique(labels))


def test_a_large_validation_fraction_leaves_rows_to_train_on():
    model = make(SAMMEClassifier, early_stopping=True, validation_fraction=0.99).fit(X, y)
    assert_usable(model, X)


def test_early_stopping_of_one_row_says_what_to_do():
    with pytest.raises(ValueError, match=r"needs at least 2 rows .* early_stopping=False"):
        SAMMEClassifier(early_stopping=True).fit(X[:1], y[:1])


def test_labels_of_another_type_are_unknown_labels():
    names = np.array(["a", "b", "c"], dtype=object)[y]
    with pytest.raises(ValueError, match="y_val has labels that the training rows do not have"):
        make(SAMMEClassifier).fit(X, names, X_val=X, y_val=y)


def test_a_warm_start_with_new_labels_is_refused():
    model = make(SAMMEClassifier, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"y has labels that the training rows do not have: \[3\]"):
        model.set_params(n_estimators=6).fit(X, y + 1)


def test_a_warm_start_with_other_columns_is_refused():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = make(SAMMEClassifier, warm_start=True).fit(frame, y)
    model.set_params(n_estimators=6)
    with pytest.raises(ValueError, match="The feature names should match"):
        model.fit(frame[list("fedcba")], y)


@pytest.mark.parametrize("max_bins", [2, 16, 255])
def test_few_bins_still_learn(max_bins):
    assert make(SAMMEClassifier, max_bins=max_bins, n_estimators=30).fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM1Classifier])
@pytest.mark.parametrize("error", [1e-11, 1e-6, 0.3])
def test_steps_are_accurate_for_small_errors(booster, error):
    model = booster()
    model.n_classes_ = 2
    assert model.step(None, error) == pytest.approx(np.log((1 - error) / error), rel=1e-12)


def test_learners_of_scikit_learn_need_not_be_trees():
    learner = LogisticRegression(max_iter=200)
    assert make(SAMMEClassifier, estimator=learner).fit(X, y).score(X, y) > 0.5


def test_trees_of_many_kinds_can_be_boosted():
    for learner in (
        Tree(max_leaf_nodes=5),
        Tree(criterion="entropy", min_samples_leaf=5),
        Tree(max_features="sqrt", max_samples=0.5),
        Stump(min_weight_leaf=0.1),
    ):
        assert make(SAMMEClassifier, estimator=learner).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("booster", BOOSTERS)
def test_each_parameter_is_described_once(booster):
    for parameter in booster().get_params(deep=False):
        assert booster.__doc__.count(f"\n{parameter} :") == 1
