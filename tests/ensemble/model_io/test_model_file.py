"""Model files: what goes in comes out, and what cannot go in says so."""

import dataclasses
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from common import PUBLIC, assert_same_model, each_booster, each_frame, make, problem, quiet, table
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

import steadyboost
from steadyboost import (
    AdaBoostM2Classifier,
    AdaBoostOCClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
)
from steadyboost.ensemble.callbacks import Monitor
from steadyboost.ensemble.model_io import file
from steadyboost.ensemble.model_io.checks import need
from steadyboost.ensemble.model_io.encoding import register_answer
from steadyboost.ensemble.model_io.fields import Numbers, maybe, share, truth
from steadyboost.ensemble.model_io.file import ModelFileError, load, save_model

MODELS = Path(__file__).parent / "models"
OUR_LEARNERS = [item for item in PUBLIC if hasattr(item, "answer")]
LABELS = {
    "texts": np.array(["bc", "ä", "\U0001f600"]),
    "padded": np.array(["a", "b", "c"], dtype="<U9"),
    "objects": np.array(["x", "y", "z"], dtype=object),
    "integers": np.array([-3, 0, 7], dtype=np.int16),
    "naturals": np.array([1, 2, 3], dtype=np.uint8),
    "floats": np.array([-1.0, 0.0, 2.0], dtype=np.float32),
}


def round_trip(model, folder):
    path = folder / "model.sb"
    save_model(model, path)
    return load(path)


def model_text(path):
    return json.loads(zipfile.ZipFile(path).read("model.json"))


def depths(model):
    rounds = [h if isinstance(h, list) else [h] for h in model.estimators_]
    return [answer.tree.depth for answers in rounds for answer in answers if answer]


@each_booster
def test_a_loaded_model_is_the_model(booster, tmp_path):
    X, y = problem()
    model = make(booster, estimator=Tree(max_leaf_nodes=5, max_features=0.7)).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is booster
    assert repr(loaded) == repr(model)
    assert_same_model(loaded, model, X)
    for one, other in zip(
        loaded.staged_predict_proba(X), model.staged_predict_proba(X), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(loaded.estimator_errors_, model.estimator_errors_)
    assert loaded.history_ == model.history_
    assert depths(loaded) == depths(model)


@pytest.mark.parametrize("booster", [SAMMEClassifier, AdaBoostM2Classifier, AdaBoostOCClassifier])
@pytest.mark.parametrize("learner", OUR_LEARNERS, ids=lambda learner: learner.__name__)
def test_every_learner(learner, booster, tmp_path):
    X, y = problem()
    X[:, 1] = np.round(X[:, 1])
    X[::7, 2] = np.nan
    model = quiet(make(booster, estimator=learner(), categorical_features=[1]).fit, X, y)
    loaded = round_trip(model, tmp_path)
    X[::5, 1] = np.nan
    assert_same_model(loaded, model, X)
    assert repr(loaded.estimator) == repr(model.estimator)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


@each_booster
def test_a_loaded_model_trains_on(booster, tmp_path):
    X, y = problem()
    model = make(booster, warm_start=True, random_state=None).fit(X, y)
    loaded = round_trip(model, tmp_path)
    for each in (model, loaded):
        each.set_params(n_estimators=9).fit(X, y)
    assert_same_model(loaded, model, X)
    assert loaded.history_ == model.history_


@each_frame
def test_frames_with_categories_and_gaps(frame, tmp_path):
    columns, y = table()
    X = frame(columns)
    model = make(SAMMEClassifier).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(loaded, model, X)
    assert loaded.feature_names_in_.tolist() == ["size", "colour", "weight"]


def test_categories_of_an_array(tmp_path):
    X, y = problem()
    X[:, 1] = np.round(X[:, 1])
    mask = np.arange(6) == 1
    model = make(SAMMEClassifier, categorical_features=mask).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(loaded.categorical_features, mask)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
def test_labels_of_any_type(labels, tmp_path):
    X, y = problem()
    loaded = round_trip(make(SAMMEClassifier).fit(X, labels[y]), tmp_path)
    assert loaded.classes_.dtype == labels.dtype
    assert loaded.classes_.tolist() == labels.tolist()
    assert loaded.predict(X).dtype == labels.dtype


def test_truth_values_and_a_single_class(tmp_path):
    X, y = problem()
    loaded = round_trip(make(SAMMEClassifier).fit(X, y == 1), tmp_path)
    assert loaded.classes_.tolist() == [False, True]
    assert round_trip(quiet(make(SAMMEClassifier).fit, X, y * 0), tmp_path).predict(X).max() == 0


def test_parameters_of_all_kinds(tmp_path):
    X, y = problem()
    params = {
        "class_weight": {0: 1.0, 1: 2.5, 2: np.float32(0.5)},
        "categorical_features": (0,),
        "coloring": np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1]] * 2, dtype=np.int8),
        "estimator": Stump(min_samples_leaf=np.int64(2)),
        "callbacks": [Monitor()],
    }
    model = make(AdaBoostOCClassifier, **params).fit(np.round(X), y)
    loaded = round_trip(model, tmp_path)
    assert loaded.class_weight == params["class_weight"]
    assert loaded.categorical_features == (0,)
    np.testing.assert_array_equal(loaded.coloring, params["coloring"])
    assert isinstance(loaded.estimator, Stump)
    assert loaded.estimator.min_samples_leaf == 2
    assert loaded.callbacks is None
    assert loaded.history_["train_error"] == model.history_["train_error"]


def test_what_a_booster_tuned_is_kept(tmp_path):
    X, y = problem()
    model = make(MSmoothBoostClassifier, smoothing="auto").fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.smoothing_ == model.smoothing_
    assert loaded.smoothing_path_ == model.smoothing_path_


def test_a_generator_becomes_its_seed(tmp_path):
    X, y = problem()
    model = make(SAMMEClassifier, random_state=np.random.RandomState(3)).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.random_state == model._seed
    assert_same_model(loaded.fit(X, y), model, X)


def test_numbers_that_json_does_not_know(tmp_path):
    X, y = problem()
    model = make(SAMMEClassifier).fit(X, y)
    model.history_[0].update(a=np.nan, b=-np.inf, c={"$x": 1}, d=np.arange(2.0), e=np.int32(3))
    loaded = round_trip(model, tmp_path).history_[0]
    assert np.isnan(loaded["a"])
    assert loaded["b"] == -np.inf
    assert loaded["c"] == {"$x": 1}
    np.testing.assert_array_equal(loaded["d"], [0, 1])
    assert loaded["e"] == 3


@pytest.mark.parametrize(
    "params",
    [
        {"estimator": DecisionTreeClassifier(max_depth=2)},
        {"estimator": SAMMEClassifier(n_estimators=2)},
        {"coloring": lambda affinity, rng: np.array([0, 1, 1])},
    ],
    ids=["scikit-learn", "booster", "function"],
)
def test_what_a_file_cannot_hold(params, tmp_path):
    X, y = problem()
    model = make(AdaBoostOCClassifier, **params).fit(X, y)
    with pytest.raises(ModelFileError, match="skops or joblib"):
        save_model(model, tmp_path / "model.sb")
    assert not list(tmp_path.iterdir())


def test_only_exported_boosters(tmp_path):
    class Mine(SAMMEClassifier):
        pass

    X, y = problem()
    for model in (make(Mine).fit(X, y), Tree(), "model"):
        with pytest.raises(ModelFileError, match="skops or joblib"):
            save_model(model, tmp_path / "model.sb")
    with pytest.raises(NotFittedError):
        save_model(SAMMEClassifier(), tmp_path / "model.sb")


class Constant:
    """A hypothesis that is no tree."""

    def __init__(self, vote):
        self.vote = vote

    def votes(self, data):
        return np.full(len(data), self.vote, dtype=np.int32)

    def importances(self, n_features):
        return np.zeros(n_features)

    @classmethod
    def from_arrays(cls, arrays, room):
        need(0 <= arrays["vote"] < room.n_answers, "a vote is out of range")
        return cls(int(arrays["vote"]))


@pytest.fixture
def other_booster(monkeypatch):
    """A booster with hypotheses, codes and extras that no booster here has."""

    class OtherBooster(SAMMEClassifier):
        def stage_fields(self):
            own = {"b": share(), "v": Numbers(..., 0, 2), "n": maybe(truth), "d": lists}
            return {**super().stage_fields(), **own}

    def lists(value, name, sizes):
        need(all(isinstance(entry, list) for entry in value.values()), f"{name} must hold lists")

    monkeypatch.setattr(steadyboost, "OtherBooster", OtherBooster, raising=False)
    monkeypatch.setattr(steadyboost, "__all__", [*steadyboost.__all__, "OtherBooster"])
    to_arrays = lambda answer: {"vote": np.array(answer.vote)}  # noqa: E731
    register_answer("constant", Constant, to_arrays, Constant.from_arrays)
    X, y = problem()
    model = make(OtherBooster).fit(X, y)
    codes = [np.ones(3), np.eye(3)[:2], np.eye(3)[:2], np.eye(3, dtype=np.int8), np.ones(3)]
    extras = [{}, {"b": 0.5}, {"v": np.arange(3)}, {"v": np.eye(2)}, {"n": None, "d": {"x": [1]}}]
    for t, (stage, code, extra) in enumerate(zip(model.stages_, codes, extras, strict=True)):
        answer = Constant(t % 2) if t in (1, 2) else stage.answer
        model.stages_[t] = dataclasses.replace(stage, answer=answer, code=code, extra=extra)
    return model


def test_boosters_to_come(other_booster, tmp_path):
    X, _ = problem()
    loaded = round_trip(other_booster, tmp_path)
    assert_same_model(loaded, other_booster, X)
    for one, other in zip(loaded.stages_, other_booster.stages_, strict=True):
        assert repr(one.extra) == repr(other.extra)
        assert one.code.dtype == other.code.dtype
    assert loaded.stages_[2].code is loaded.stages_[1].code


def test_a_kind_checks_its_arrays(other_booster, tmp_path):
    other_booster.stages_[1].answer.vote = 2
    with pytest.raises(ModelFileError, match="a vote is out of range"):
        round_trip(other_booster, tmp_path)


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ({"c": 0.5}, "'c'.* cannot be a fitted attribute"),
        ({"b": 1.5}, "b is not from"),
        ({"b": np.ones(3)}, "b has the wrong form"),
        ({"v": np.full(3, np.nan)}, "v is not from 0 to 2"),
        ({"n": 0}, "n must be true or false"),
        ({"d": {"x": 1}}, "d must hold lists"),
    ],
)
def test_values_of_a_stage_are_those_that_the_booster_names(
    other_booster, extra, reason, tmp_path, monkeypatch
):
    other_booster.stages_[1].extra.update(extra)
    with pytest.raises(ModelFileError, match=reason):
        round_trip(other_booster, tmp_path)
    assert not list(tmp_path.iterdir())
    with monkeypatch.context() as unchecked:
        unchecked.setattr(file, "check_stages", lambda stages, model: None)
        other_booster.save(tmp_path / "model.sb")
    with pytest.raises(ModelFileError, match=reason):
        load(tmp_path / "model.sb")


def test_the_name_of_a_kind_is_an_identifier():
    with pytest.raises(ValueError, match="identifier"):
        register_answer("a/b", Constant, dict, Constant.from_arrays)


def test_files_of_version_1_stay_readable():
    model = load(MODELS / "version-1.sb")
    expected = json.loads((MODELS / "version-1.json").read_text())
    assert model_text(MODELS / "version-1.sb")["version"] == 1
    assert model.classes_.tolist() == expected["classes"]
    assert model.smoothing_ == expected["smoothing"]
    proba = model.predict_proba(np.array(expected["X"], dtype=float))
    np.testing.assert_allclose(proba, expected["proba"], rtol=1e-12)


@each_booster
def test_files_of_the_first_version_are_read(booster):
    """Fitted by 0.1.0 to every third row of iris; probabilities of every seventh of them."""
    X = load_iris().data[::3][::7]
    model = load(MODELS / "0.1.0" / f"{booster.__name__}.sb")
    expected = json.loads((MODELS / "0.1.0/proba.json").read_text())[booster.__name__]
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-12)


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.sb")
