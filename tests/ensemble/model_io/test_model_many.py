"""Model files of several problems side by side: what goes in comes out, and edits are found."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from common import assert_same_model, make, problem
from model_files import edited, error_of, pack, sound_file, unpack

from steadyboost import (
    C45,
    AdaBoostClassifier,
    EpsilonBoostClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
    WeightDecayClassifier,
)
from steadyboost.ensemble.model_io.file import load, save_model
from steadyboost.learners.base import Answers

BOOSTERS = [
    AdaBoostClassifier,
    EpsilonBoostClassifier,
    WeightBoostClassifier,
    WeightDecayClassifier,
]
CODE = [[0, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0]]


def round_trip(model, folder):
    save_model(model, folder / "model.sb")
    return load(folder / "model.sb")


@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: booster.__name__)
@pytest.mark.parametrize("strategy", ["ovr", "dense", CODE], ids=["ovr", "dense", "matrix"])
@pytest.mark.parametrize("learner", [Tree(2), C45()], ids=["tree", "C4.5"])
def test_a_loaded_model_is_the_model(booster, strategy, learner, tmp_path):
    X, y = problem(k=4)
    model = make(booster, estimator=learner, strategy=strategy).fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(loaded.bits_, model.bits_)
    np.testing.assert_array_equal(loaded.estimator_errors_, model.estimator_errors_)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("booster", BOOSTERS, ids=lambda booster: booster.__name__)
def test_a_loaded_model_trains_on_where_problems_have_ended(booster, tmp_path):
    X, y = problem(k=3)
    X[y == 2, 0] += 100
    model = make(booster, estimator=Stump(), warm_start=True).fit(X, y)
    loaded = round_trip(model, tmp_path)
    ended = [[part is None for part in stage.parts] for stage in model.stages_]
    assert ended == [[part is None for part in stage.parts] for stage in loaded.stages_]
    assert np.any(ended) == model.stops_when_perfect
    for each in (model, loaded):
        each.set_params(n_estimators=9).fit(X, y)
    assert_same_model(loaded, model, X)
    assert loaded.history_ == model.history_


def test_a_problem_that_ended_has_no_normalizer(tmp_path):
    X, y = problem(k=3)
    X[y == 2, 0] += 100
    model = make(WeightBoostClassifier, strategy="ovr", resample=True, n_estimators=4).fit(X, y)
    ended = replace(
        model.stages_[-1],
        answer=Answers((None, *model.stages_[-1].answer.answers[1:])),
        extra={"normalizer": model.stages_[-1].extra["normalizer"] * [0, 1, 1]},
    )
    model.stages_[-1] = ended
    assert_same_model(round_trip(model, tmp_path), model, X)


def test_what_chose_beta_is_kept(tmp_path):
    X, y = problem(k=3)
    model = make(WeightBoostClassifier, beta="auto").fit(X, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.beta_ == model.beta_
    assert loaded.beta_path_ == model.beta_path_


# Edits


def drop_an_answer(document):
    document["stages"][1]["many"].pop()


def repeat_an_answer(document):
    document["stages"][1]["many"].append(None)


def no_list(document):
    document["stages"][0]["many"] = 3


def one_within(document):
    document["stages"][0]["many"][0] = {"many": [None] * 3}


def a_word_within(document):
    document["stages"][0]["many"][0] = "tree"


def both_kinds(document):
    document["stages"][0].update(document["stages"][0]["many"][0])


def one_answer_among_many(document):
    record = document["stages"][-1]
    record.update(record.pop("many")[0])


def unknown_kind(document):
    document["stages"][0]["many"][1]["kind"] = "os.system"


def other_bits(document):
    document["fitted"]["bits_"] = {"$array": ["|i1", [3, 2], [1, 0, 0, 1, 1, 1]]}


def no_bits(document):
    del document["fitted"]["bits_"]


PARTS = "parts that it should not|answers in a stage|left over|column"
EDITS = {
    "few": (drop_an_answer, "answers in a stage"),
    "more": (repeat_an_answer, "answers in a stage"),
    "number": (no_list, "many must be a list"),
    "nested": (one_within, "an answer must have the keys"),
    "word": (a_word_within, "an answer must be an object"),
    "both": (both_kinds, "a stage must have the keys"),
    "mixed": (
        one_answer_among_many,
        PARTS,
    ),
    "kind": (unknown_kind, "is not a known kind of weak hypothesis"),
    "bits": (other_bits, "bits_ has shape"),
    "none": (no_bits, "bits_|left over|column"),
}
each_many = pytest.mark.parametrize("kind", ["many", "ended"])


@each_many
@pytest.mark.parametrize(("change", "reason"), EDITS.values(), ids=EDITS.keys())
def test_answers_that_do_not_fit_are_refused(kind, change, reason, tmp_path):
    assert re.search(reason, error_of(edited(sound_file(kind), change), tmp_path))


def with_column(data, name, change):
    """The members of a file one of whose columns a function has changed."""
    members = unpack(data)
    member = next(m for m in members if m.startswith(f"{name}."))
    stream = io.BytesIO()
    np.save(stream, change(np.load(io.BytesIO(members[member]))))
    return {**members, member: stream.getvalue()}


@each_many
@pytest.mark.parametrize("name", ["steps", "errors"])
@pytest.mark.parametrize("shape", [[3, 2], [9], [1, 9], [3, 3, 1], [3, 4], [0]], ids=str)
def test_numbers_of_another_shape_are_refused(kind, name, shape, tmp_path):
    members = with_column(sound_file(kind), name, lambda column: np.resize(column, np.prod(shape)))
    document = json.loads(members["model.json"])
    document[name] = ["float64", *shape]
    members["model.json"] = json.dumps(document).encode()
    error_of(pack(members), tmp_path)


@each_many
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e301])
def test_steps_that_overflow_are_refused(kind, value, tmp_path):
    def spoil(column):
        column = column.copy()
        column[-1] = value
        return column

    error_of(pack(with_column(sound_file(kind), "steps", spoil)), tmp_path)


@pytest.mark.parametrize("value", [0.0, np.nan, 1e-320])
def test_normalizers_that_cannot_be_divided_by_are_refused(value, tmp_path):
    spoilt = with_column(sound_file("many"), "extra.normalizer", lambda old: 0 * old + value)
    error_of(pack(spoilt), tmp_path)


@pytest.mark.parametrize("n", [2, 4])
def test_there_is_a_normalizer_per_problem(n, tmp_path):
    members = with_column(sound_file("many"), "extra.normalizer", lambda old: np.resize(old, 3 * n))
    document = json.loads(members["model.json"])
    for stage in document["stages"]:
        stage["extra"]["normalizer"]["$column"] = ["float64", n]
    members["model.json"] = json.dumps(document).encode()
    error_of(pack(members), tmp_path)
