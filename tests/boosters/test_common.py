"""What every booster must do. New boosters are found by themselves."""

import io
import pickle
import warnings

import numpy as np
import pytest
from common import (
    BOOSTERS,
    FAMILIES,
    FRAMES,
    LEARNERS,
    assert_prefix,
    assert_same_model,
    assert_usable,
    automatic,
    draws,
    each_booster,
    each_booster_with,
    make,
    needs_final_scores,
    needs_free_rounds,
    needs_weights,
    numeric_columns,
    problem,
    quiet,
    table,
)
from rich.console import Console
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine, make_blobs
from sklearn.ensemble import AdaBoostClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from steadyboost import (
    BoostingClassifier,
    DMCBoostClassifier,
    ECOCClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    Stump,
    Tree,
)
from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.families.labelwise import LabelwiseClassifier
from steadyboost.ensemble import training_state as rows_module
from steadyboost.ensemble.callbacks import Callback, Monitor, Progress, TimeLimit
from steadyboost.ensemble.validation import split_off
from steadyboost.trees.growth import tree as tree_module

X, y = problem()
WEIGHTS = np.random.default_rng(0).integers(1, 5, size=len(y)).astype(float)
KINDS = ("predict", "predict_proba", "decision_function")
FIRST_FRAME = FRAMES["pandas"]


class InterruptAt(Callback):
    def __init__(self, round_):
        self.round_ = round_

    def on_round(self, run):
        if len(run.stages) == self.round_:
            raise KeyboardInterrupt


class StopAt(InterruptAt):
    def on_round(self, run):
        return len(run.stages) == self.round_


# scikit-learn's contract


def expected_failures(_):
    """Checks that scikit-learn's own AdaBoostClassifier fails, or is expected to fail, as well."""
    ties = (
        "many splits of 15 rows are equally good, and sums of other weights break the ties; "
        "rows without ties are tested below"
    )
    return {
        "check_class_weight_classifiers": (
            "boosting weighs up what the class weights weigh down; shown below for AdaBoost"
        ),
        "check_sample_weight_equivalence_on_dense_data": ties,
        "check_sample_weight_equivalence_on_sparse_data": ties,
    }


def checked_estimators():
    """Every booster with its own learner, and one of each family with one of scikit-learn."""
    for booster in BOOSTERS:
        yield booster(n_estimators=5)
    for booster in FAMILIES:
        if "estimator" not in booster.does_without:
            yield booster(LEARNERS["sklearn"], n_estimators=5)


@parametrize_with_checks(
    list(checked_estimators()),
    expected_failed_checks=expected_failures,
)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_adaboost_of_scikit_learn_fails_the_class_weight_check_too():
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.5, random_state=0)
    model = AdaBoostClassifier(n_estimators=5, random_state=0)
    model.fit(X_train, y_train, sample_weight=np.where(y_train == 0, 1000, 0.0001))
    assert np.mean(model.predict(X_test) == 0) < 0.87


def test_there_are_boosters_and_the_base_is_not_one_of_them():
    assert BOOSTERS
    assert BoostingClassifier not in BOOSTERS


@each_booster
def test_it_learns_wine(booster):
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    assert make(booster, n_estimators=30).fit(X_train, y_train).score(X_test, y_test) > 0.85


# Prediction


@each_booster_with(learner=LEARNERS)
def test_the_prediction_is_the_most_probable_class(booster, learner):
    for k in (2, 3, 4):
        X, y = problem(k=k)
        assert_usable(quiet(make(booster, estimator=learner).fit, X, y), X)


@each_booster_with(learner=LEARNERS)
def test_the_last_stage_is_the_whole(booster, learner):
    model = make(booster, estimator=learner).fit(X, y)
    for kind in KINDS:
        *_, last = getattr(model, f"staged_{kind}")(X)
        np.testing.assert_array_equal(last, getattr(model, kind)(X))


@each_booster_with(learner=LEARNERS, k=[3, 2])
def test_a_staged_prefix_is_a_shorter_fit(booster, learner, k):
    needs_free_rounds(booster)
    X, y = problem(k=k)
    model = make(booster, estimator=learner).fit(X, y)
    for kind in KINDS:
        stages = [stage.copy() for stage in getattr(model, f"staged_{kind}")(X)]
        assert len(stages) == model.n_iter_
        for t in (1, 3):
            shorter = make(booster, estimator=learner, n_estimators=t).fit(X, y)
            np.testing.assert_array_equal(stages[t - 1], getattr(shorter, kind)(X))


@each_booster_with(k=[10, 2])
def test_row_by_row_is_the_batch(booster, k):
    X, y = problem(n=400, k=2) if k == 2 else load_digits(return_X_y=True)
    model = quiet(make(booster, estimator=Tree(max_depth=5)).fit, X, y)
    some = X[:40]
    for kind, exactly in (("predict", 0), ("decision_function", 0), ("predict_proba", 1e-14)):
        alone = np.concatenate([getattr(model, kind)(row[None]) for row in some])
        if exactly == 0:
            np.testing.assert_array_equal(alone, getattr(model, kind)(some))
        else:
            np.testing.assert_allclose(alone, getattr(model, kind)(some), rtol=exactly)


@each_booster
def test_log_probabilities_are_logarithms(booster):
    model = make(booster).fit(X, y)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


# Labels and weights


@each_booster_with(
    names={
        "string": np.array(["low", "mid", "high"]),
        "object": np.array(["low", "mid", "high"], dtype=object),
        "int": np.array([7, -3, 40]),
        "float": np.array([0.0, 2.0, 5.0]),
        "bool": np.array([False, True]),
    }
)
def test_labels_of_any_type_give_the_same_model(booster, names):
    X, y = problem(k=len(names))
    labels = np.sort(names)[y]
    model, plain = make(booster).fit(X, labels), make(booster).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.sort(names))
    assert model.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(model.predict(X), np.sort(names)[plain.predict(X)])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


@each_booster_with(class_weight=[{"a": 1.0, "b": 3.0, "c": 0.5}, "balanced"])
def test_class_weights_are_sample_weights(booster, class_weight):
    if booster is SteadyBoostClassifier:
        pytest.skip("its noise model knows the weights of classes, and leaves them out")
    keep = np.flatnonzero((y != 1) | (np.arange(len(y)) % 3 == 0))
    labels = np.array(["a", "b", "c"])[y[keep]]
    if class_weight == "balanced":
        names, counts = np.unique(labels, return_counts=True)
        values = dict(zip(names, len(labels) / (3 * counts), strict=True))
    else:
        values = class_weight
    by_row = np.array([values[label] for label in labels])
    by_class = make(booster, class_weight=class_weight).fit(X[keep], labels)
    assert_same_model(by_class, make(booster).fit(X[keep], labels, sample_weight=by_row), X)


@each_booster_with(learner=LEARNERS, resample=[False, True])
def test_rows_of_weight_zero_change_nothing(booster, learner, resample):
    weights = np.where(np.arange(len(y)) % 4 == 0, 0.0, WEIGHTS)
    kept = weights > 0
    options = {"estimator": learner, "resample": resample}
    whole = make(booster, **options).fit(X, y, sample_weight=weights)
    part = make(booster, **options).fit(X[kept], y[kept], sample_weight=weights[kept])
    assert_same_model(whole, part, X)


@each_booster_with(learner=LEARNERS)
def test_a_class_of_weight_zero_is_not_a_class(booster, learner):
    model = make(booster, estimator=learner).fit(X, y, sample_weight=(y != 1).astype(float))
    assert model.classes_.tolist() == [0, 2]


@each_booster_with(learner=LEARNERS)
def test_a_row_twice_is_a_row_of_weight_two(booster, learner):
    needs_weights(booster)
    X, y = problem(n=320, seed=4)  # where no two splits are equally good
    weights = 1.0 + (np.arange(len(y)) % 3 == 0)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    weighted = make(booster, estimator=learner).fit(X, y, sample_weight=weights)
    repeated = make(booster, estimator=learner).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-8)


@each_booster
def test_a_row_twice_is_a_row_of_weight_two_for_a_perfect_learner(booster):
    needs_weights(booster)
    weights = 1.0 + (np.arange(len(y)) % 3 == 0)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    model = make(booster, estimator=Tree(max_depth=None))
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X[twice], y[twice])
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-8)


@each_booster
def test_the_scale_of_the_weights_does_not_matter(booster):
    alone = {"callbacks": [StopAt(1)]}  # later rounds may break ties by the last bit
    one = make(booster, **alone).fit(X, y, sample_weight=WEIGHTS)
    for scale in (2.0**-40, 2.0**40):
        other = make(booster, **alone).fit(X, y, sample_weight=scale * WEIGHTS)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=1e-8)


@each_booster
def test_the_weights_of_each_question_sum_to_one(booster, monkeypatch):
    sums, ask = [], booster.question

    def asked(self, rows, round_):
        question = ask(self, rows, round_)
        sums.append(question.weights.sum())
        return question

    monkeypatch.setattr(booster, "question", asked)
    make(booster, n_estimators=20).fit(X, y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(sums, 1)


# Working with scikit-learn


@each_booster
def test_a_clone_is_unfitted_and_fits_the_same(booster):
    model = make(booster, learning_rate=0.5, estimator=Stump()).fit(X, y)
    copy = clone(model)
    assert not hasattr(copy, "stages_")
    assert repr(copy) == repr(model)
    assert_same_model(model, copy.fit(X, y), X)


@each_booster_with(learner=LEARNERS)
def test_a_pickle_predicts_the_same(booster, learner):
    model = make(booster, estimator=learner).fit(X, y)
    assert_same_model(model, pickle.loads(pickle.dumps(model)), X)


@each_booster_with(learner={"own": Tree(), "sklearn": DecisionTreeClassifier()})
def test_a_grid_reaches_into_the_learner(booster, learner):
    grid = {"estimator__max_depth": [2, 4], "learning_rate": [0.5]}
    search = GridSearchCV(make(booster, estimator=learner, n_estimators=3), grid, cv=2).fit(X, y)
    assert search.best_estimator_.estimator.max_depth == search.best_params_["estimator__max_depth"]
    assert learner.max_depth in (3, None)


@each_booster
def test_a_pipeline_holds_it(booster):
    pipeline = make_pipeline(StandardScaler(), make(booster)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), make(booster).fit(scaled, y).predict_proba(scaled)
    )


@each_booster
def test_it_can_be_calibrated(booster):
    model = CalibratedClassifierCV(make(booster), cv=2).fit(X, y, WEIGHTS)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@each_booster
def test_weights_and_validation_rows_are_routed_through_a_pipeline(booster):
    with config_context(enable_metadata_routing=True):
        model = make(booster, early_stopping=True)
        model.set_fit_request(sample_weight=True, X_val=True, y_val=True)
        pipeline = make_pipeline(FunctionTransformer(), model)
        routed = pipeline.fit(X, y, sample_weight=WEIGHTS, X_val=X[:50], y_val=y[:50])[-1]
    direct = make(booster, early_stopping=True)
    direct.fit(X, y, sample_weight=WEIGHTS, X_val=X[:50], y_val=y[:50])
    assert_same_model(routed, direct, X)
    assert routed.history_["val_error"] == direct.history_["val_error"]


@each_booster
def test_weights_are_routed_through_cross_validation(booster):
    seen = []

    class Watch(Callback):
        def on_begin(self, run):
            seen.append(run.rows.sample_weight)

    with config_context(enable_metadata_routing=True):
        model = make(booster, callbacks=[Watch()])
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        Watch.__deepcopy__ = lambda self, memo: self
        cross_validate(model, X, y, params={"sample_weight": WEIGHTS}, cv=2, error_score="raise")
    assert len(seen) == 2
    assert sum(weights.sum() for weights in seen) == WEIGHTS.sum()


# Tables


@each_booster_with(frame=FRAMES)
def test_a_numeric_frame_is_an_array(booster, frame):
    columns = frame(numeric_columns(X))
    model, plain = make(booster).fit(columns, y), make(booster).fit(X, y)
    assert model.feature_names_in_.tolist() == [f"x{j}" for j in range(X.shape[1])]
    np.testing.assert_array_equal(model.predict_proba(columns), plain.predict_proba(X))


@each_booster_with(frame=FRAMES)
def test_frames_with_gaps_and_categories_are_read_alike(booster, frame):
    columns, y = table()
    model = make(booster).fit(frame(columns), y)
    first = make(booster).fit(FIRST_FRAME(columns), y)
    np.testing.assert_array_equal(
        model.predict_proba(frame(columns)), first.predict_proba(FIRST_FRAME(columns))
    )
    assert model.score(frame(columns), y) > 0.7


@each_booster_with(frame=FRAMES)
def test_frames_can_be_split_and_weighted(booster, frame):
    columns, y = table()
    weights = (np.arange(len(y)) % 5 > 0).astype(float)
    model = make(booster, early_stopping=True).fit(frame(columns), y, sample_weight=weights)
    assert_usable(model, frame(columns))
    assert len(model.history_["val_error"]) == len(model.history_)


@each_booster_with(frame=FRAMES)
def test_feature_names_are_checked_as_scikit_learn_does(booster, frame):
    columns = numeric_columns(X)
    model = make(booster).fit(frame(columns), y)
    for other in (dict(reversed(columns.items())), {f"z{c}": v for c, v in columns.items()}):
        with pytest.raises(ValueError, match="The feature names should match those that were"):
            model.predict(frame(other))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"X has 2 features, but .* is expecting 6"):
        quiet(model.predict, X[:, :2])


@each_booster
def test_missing_values_are_information(booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    X[rng.random(100) < 0.5, 0] = np.nan
    y = np.isnan(X[:, 0]).astype(int)
    assert make(booster).fit(X, y).score(X, y) >= 0.99


@each_booster
def test_a_gap_that_training_did_not_have_is_accepted(booster):
    assert_usable(make(booster).fit(X, y), np.full((3, X.shape[1]), np.nan))


@each_booster_with(frame=FRAMES)
def test_categories_are_split_by_subsets(booster, frame):
    colour = np.tile(["a", "b", "c", "d", "e"], 20)
    y = np.isin(colour, ["b", "d"]).astype(int)
    model = make(booster, estimator=Stump()).fit(frame({"colour": colour.tolist()}), y)
    assert model.score(frame({"colour": colour.tolist()}), y) == 1
    assert_usable(model, frame({"colour": ["new", None, "a"]}))


@each_booster_with(columns={"index": [0], "mask": [True, False], "negative": [-2]})
def test_categories_of_an_array_are_listed(booster, columns):
    X = np.column_stack([np.tile(np.arange(5), 20), np.zeros(100)])
    y = np.isin(X[:, 0], [1, 3]).astype(int)
    model = make(booster, estimator=Stump(), categorical_features=columns, n_estimators=1)
    assert model.fit(X, y).score(X, y) == 1


@each_booster
def test_a_real_table_of_categories_and_gaps(booster, from_folder):
    X, y = from_folder("audiology", split="train")
    model = quiet(make(booster, n_estimators=20, estimator=Tree(max_depth=6)).fit, X, y)
    assert_usable(model, X)
    assert model.score(X, y) > 0.6


# The same model each time


@each_booster_with(learner=LEARNERS, resample=[False, True])
def test_a_random_state_repeats_the_model(booster, learner, resample):
    options = {**automatic(booster), "estimator": learner, "resample": resample, "random_state": 3}
    one, other = (make(booster, **options).fit(X, y) for _ in range(2))
    assert_same_model(one, other, X)
    generators = (np.random.RandomState(5) for _ in range(2))
    one, other = (
        make(booster, **{**options, "random_state": state}).fit(X, y) for state in generators
    )
    assert_same_model(one, other, X)


@each_booster
def test_another_seed_draws_other_rows(booster):
    one, other = (make(booster, resample=True, random_state=s).fit(X, y) for s in (1, 2))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


@each_booster_with(resample=[False, True])
def test_threads_do_not_change_the_model(booster, resample, monkeypatch):
    monkeypatch.setattr(rows_module, "CHUNK_ROWS", 50)
    monkeypatch.setattr(tree_module, "SHARDING_PAYS", 0)
    options = {**automatic(booster), "resample": resample, "early_stopping": True}
    one, two, three = (
        make(booster, n_jobs=n, **options).fit(X, y, sample_weight=WEIGHTS) for n in (1, 2, 3)
    )
    assert one.history_ == two.history_ == three.history_
    assert_same_model(one, two, X)
    assert_same_model(one, three, X)


@pytest.mark.parametrize("booster", FAMILIES)
def test_threads_do_not_change_the_model_of_many_rows(booster):
    X, y = problem(n=rows_module.CHUNK_ROWS + 5_000, n_features=4)
    one, two = (
        make(booster, n_jobs=n, n_estimators=3, estimator=Tree(max_depth=4)).fit(X, y)
        for n in (1, 2)
    )
    assert_same_model(one, two, X)


@each_booster_with(learner=LEARNERS, resample=[False, True])
def test_a_warm_start_is_one_long_fit(booster, learner, resample):
    needs_free_rounds(booster)
    options = {"estimator": learner, "resample": resample}
    parts = make(booster, n_estimators=2, warm_start=True, **options).fit(X, y)
    parts.set_params(n_estimators=5).fit(X, y)
    whole = make(booster, **options).fit(X, y)
    assert_same_model(parts, whole, X)
    assert parts.history_ == whole.history_


@each_booster
def test_a_warm_start_of_drawn_features_is_one_long_fit(booster):
    needs_free_rounds(booster)
    learner = Tree(max_depth=3, max_features=0.5, max_samples=0.7)
    parts = make(booster, n_estimators=2, warm_start=True, estimator=learner).fit(X, y)
    parts.set_params(n_estimators=5).fit(X, y)
    assert_same_model(parts, make(booster, estimator=learner).fit(X, y), X)


@each_booster
def test_a_warm_start_of_a_finished_model_adds_nothing(booster):
    needs_free_rounds(booster)
    model = make(booster, estimator=Tree(max_depth=None), warm_start=True).fit(X, y)
    whole = make(booster, estimator=Tree(max_depth=None), n_estimators=9).fit(X, y)
    assert_same_model(model.set_params(n_estimators=9).fit(X, y), whole, X)


# Stopping


def stopped(booster, **params):
    return make(booster, n_estimators=40, early_stopping=True, n_iter_no_change=4, **params)


@each_booster_with(learner=LEARNERS)
def test_early_stopping_keeps_the_best_round(booster, learner):
    needs_final_scores(booster)
    X, y = problem(noise=0.4)
    model = stopped(booster, estimator=learner).fit(X[:120], y[:120], X_val=X[120:], y_val=y[120:])
    errors = model.history_["val_error"]
    assert model.n_iter_ == np.argmin(errors) + 1
    assert len(errors) <= model.n_iter_ + 4
    assert_prefix(model, make(booster, estimator=learner, n_estimators=40).fit(X[:120], y[:120]), X)
    assert 1 - model.score(X[120:], y[120:]) == pytest.approx(min(errors))


@each_booster
def test_early_stopping_holds_a_fraction_out(booster):
    X, y = problem(noise=0.4)
    model = stopped(booster, validation_fraction=0.25).fit(X, y, sample_weight=WEIGHTS)
    train, held = split_off(y, 0.25, 0)
    assert len(held) == len(y) // 4
    given = stopped(booster).fit(
        X[train],
        y[train],
        sample_weight=WEIGHTS[train],
        X_val=X[held],
        y_val=y[held],
        sample_weight_val=WEIGHTS[held],
    )
    assert_same_model(model, given, X)
    assert model.history_ == given.history_


@each_booster
def test_validation_rows_are_not_learnt_from(booster):
    watched = make(booster, callbacks=[Monitor()]).fit(X, y, X_val=X[:9], y_val=2 - y[:9])
    assert_same_model(watched, make(booster).fit(X, y), X)
    assert len(watched.history_["val_error"]) == 5


@each_booster
def test_an_interrupt_leaves_a_usable_model(booster):
    model = make(booster, callbacks=[InterruptAt(3)])
    with pytest.warns(UserWarning, match="Interrupted: the model holds the 3 rounds"):
        model.fit(X, y)
    assert model.n_iter_ == len(model.history_) == 3
    assert_prefix(model, make(booster).fit(X, y), X)


@each_booster
def test_an_interrupted_model_can_go_on(booster):
    model = quiet(make(booster, callbacks=[InterruptAt(3)], warm_start=True).fit, X, y)
    model.set_params(callbacks=None).fit(X, y)
    assert_same_model(model, make(booster).fit(X, y), X)


@each_booster
def test_callbacks_watch_limit_and_stop(booster):
    needs_final_scores(booster)
    metrics = {"hits": lambda y, proba: (proba.argmax(axis=1) == y).sum()}
    callbacks = [Monitor(), Monitor(metrics), StopAt(2)]
    model = make(booster, callbacks=callbacks).fit(X, y)
    assert model.n_iter_ == 2
    assert_prefix(model, make(booster).fit(X, y), X)
    hits = [(predicted == y).sum() for predicted in model.staged_predict(X)]
    assert model.history_["train_hits"] == hits
    assert model.history_["train_error"] == pytest.approx(1 - np.array(hits) / len(y))
    assert make(booster, callbacks=[TimeLimit(1e-9)]).fit(X, y).n_iter_ == 1


@each_booster_with(terminal=[False, True])
def test_progress_is_shown(booster, terminal):
    screen = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    make(booster, callbacks=[Progress(console=screen)]).fit(X, y, X_val=X, y_val=y)
    shown = screen.file.getvalue()
    assert booster.__name__ in shown
    assert "5/5" in shown
    assert "train error 0." in shown
    assert "validation error 0." in shown
    assert ("\x1b" in shown) == terminal


# Edges


@each_booster_with(learner=LEARNERS)
def test_one_class_is_always_right(booster, learner):
    model = make(booster, estimator=learner).fit(X, np.full(len(X), "only"))
    assert_usable(model, X)
    assert set(model.predict(X)) == {"only"}


@each_booster_with(learner=LEARNERS)
def test_one_row_is_enough(booster, learner):
    assert_usable(make(booster, estimator=learner).fit(X[:1], ["a"]), X)


@each_booster_with(learner=LEARNERS)
def test_all_weight_on_one_row_is_that_row(booster, learner):
    weights = np.zeros(len(y))
    weights[7] = 0.3
    model = make(booster, estimator=learner).fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == [y[7]]
    assert_usable(model, X)


@each_booster
def test_almost_all_weight_on_one_row_is_not_a_problem(booster):
    weights = np.where(np.arange(len(y)) == 7, 1e300, 1e-5)
    assert_usable(quiet(make(booster).fit, X, y, sample_weight=weights), X)


@each_booster_with(value=[0.0, np.nan, 1e300])
def test_a_column_of_one_value_is_not_a_problem(booster, value):
    widened = np.column_stack([np.full(len(X), value), X])
    model = make(booster).fit(widened, y)
    np.testing.assert_array_equal(
        model.predict_proba(widened), make(booster).fit(X, y).predict_proba(X)
    )
    assert model.feature_importances_[0] == 0


@each_booster_with(learner=LEARNERS, k=[3, 2])
def test_features_that_say_nothing_give_a_usable_model(booster, learner, k):
    X, y = np.ones((40 * k, 2)), np.repeat(np.arange(k), 40)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make(booster, estimator=learner).fit(X, y)
    assert_usable(model, X)
    names_classes = not isinstance(model, (BinaryBoostingClassifier, LabelwiseClassifier))
    if model.n_iter_ == 1 and k > 2 and names_classes:
        assert any(w.category is ConvergenceWarning and "no edge" in str(w.message) for w in caught)


@each_booster_with(resample=[False, True], k=[300, 2])
def test_two_and_three_hundred_classes(booster, resample, k):
    X = np.random.default_rng(0).normal(size=(3 * k, 4))
    y = np.arange(3 * k) % k
    rounds = 25 if k == 2 or booster is ECOCClassifier else 5  # each bit splits all classes
    assert_usable(quiet(make(booster, n_estimators=rounds, resample=resample).fit, X, y), X)


@each_booster_with(learner=LEARNERS)
def test_classes_may_be_absent_from_a_resample(booster, learner):
    X = np.random.default_rng(0).normal(size=(20, 3))
    for seed in range(5):
        model = make(booster, resample=True, random_state=seed, estimator=learner)
        assert_usable(quiet(model.fit, X, np.arange(20) // 2), X)


@each_booster_with(learner=[Tree(max_depth=None), DecisionTreeClassifier()])
def test_a_perfect_learner_gives_a_perfect_model(booster, learner):
    model = make(booster, estimator=learner, n_estimators=20).fit(X, y)
    assert_usable(model, X)
    assert model.score(X, y) == pytest.approx(1, abs=0.05 if draws(model) else 0)


@each_booster
def test_a_learner_without_weights_is_given_samples(booster):
    model = make(booster, estimator=KNeighborsClassifier(3))
    with pytest.warns(UserWarning, match="KNeighborsClassifier does not take sample_weight"):
        model.fit(X, y)
    assert_usable(model, X)
    assert_same_model(model, quiet(clone(model).fit, X, y), X)


@each_booster
def test_many_rounds_stay_finite(booster):
    X, y = problem(n=60, k=2, noise=0.3)
    assert_usable(quiet(make(booster, n_estimators=500, estimator=Stump()).fit, X, y), X)


# Mistakes


each_booster_that_differs = pytest.mark.parametrize(
    "booster", [SAMMEClassifier, DMCBoostClassifier, SteadyBoostClassifier]
)  # in what it does before the first round


@each_booster_that_differs
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter of .* Got 0 instead"),
        ({"learning_rate": 0}, "'learning_rate' parameter of .* Got 0 instead"),
        ({"estimator": 3}, "'estimator' parameter of .* Got 3 instead"),
        ({"estimator": Tree(max_depth=0)}, "'max_depth' parameter of Tree .* Got 0 instead"),
        ({"max_bins": 256}, "'max_bins' parameter of .* Got 256 instead"),
        ({"validation_fraction": 1.0}, "'validation_fraction' parameter of .* Got 1.0 instead"),
        ({"categorical_features": ["size"]}, "names 'size', but X has no column names"),
        ({"categorical_features": [9]}, "has index 9, but X has 6 features; use indices from 0"),
        ({"categorical_features": [True]}, r"mask of shape \(1,\), but X has 6 features"),
        ({"class_weight": {0: -1.0}}, "class_weight.*negative|[Nn]egative.*class_weight"),
        ({"class_weight": {0: 0.0, 1: 0.0, 2: 0.0}}, "class_weight.*zero"),
        ({"n_jobs": 0}, "n_jobs == 0"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_a_bad_parameter_is_named(booster, params, message):
    with pytest.raises(ValueError, match=message):
        make(booster, **params).fit(X, y)


@each_booster_that_differs
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"y": y[:-1]}, r"inconsistent numbers of samples: \[240, 239\]"),
        ({"y": np.where(y == 1, np.nan, y)}, "y contains NaN"),
        ({"y": np.where(y == 1, None, "a")}, "missing labels .* drop those rows"),
        ({"y": None}, "requires y to be passed"),
        ({"y": X[:, 0]}, "Unknown label type"),
        ({"sample_weight": np.ones(3)}, r"sample_weight has shape \(3,\), but there are 240 rows"),
        ({"sample_weight": -WEIGHTS}, "Negative values in data passed to `sample_weight`"),
        ({"sample_weight": 0 * WEIGHTS}, "[Ss]ample.weight.* zero|[Ss]ample weights .* non-zero"),
        ({"sample_weight": np.nan * WEIGHTS}, "sample_weight contains NaN"),
        ({"X_val": X}, "X_val and y_val belong together: pass both or neither"),
        ({"y_val": y}, "X_val and y_val belong together: pass both or neither"),
        ({"X_val": X, "y_val": y + 1}, r"y_val has labels .* \[3\]; known are \[0, 1, 2\]"),
        ({"X_val": X, "y_val": y.astype(str)}, "y_val has labels that the training rows do not"),
        ({"X_val": X, "y_val": y[:3]}, r"inconsistent numbers of samples: \[240, 3\]"),
        ({"X_val": X[:, :2], "y_val": y}, "X has 2 features, but .* expecting 6"),
    ],
)
def test_bad_data_are_named(booster, data, message):
    with pytest.raises(ValueError, match=message):
        quiet(make(booster).fit, **{"X": X, "y": y, **data})


@each_booster
def test_a_warm_start_with_fewer_rounds_is_refused(booster):
    model = make(booster, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=2 is below the 5 rounds .* raise it"):
        model.set_params(n_estimators=2).fit(X, y)
    assert model.n_iter_ == 5


@each_booster
def test_a_text_column_that_is_not_a_category_is_named(booster):
    columns, y = table()
    with pytest.raises(ValueError, match=r"Column 'colour' .* list it in categorical_features"):
        make(booster, categorical_features=None).fit(FIRST_FRAME(columns), y)


@each_booster_with(frame=FRAMES)
def test_an_unknown_category_column_is_named(booster, frame):
    columns, y = table()
    with pytest.raises(ValueError, match=r"'color', but the columns are .*'colour'"):
        make(booster, categorical_features=["color"]).fit(frame(columns), y)
