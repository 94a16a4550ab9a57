"""Rows of a run, and the changes that papers made to data sets."""

import numpy as np
import pandas as pd
import pytest

from steadyboost.lab.datasets import DatasetNotFound
from steadyboost.lab.experiments import work
from steadyboost.lab.experiments.problems import (
    CHANGES,
    MissingData,
    Problem,
    load_problem,
    seed_of,
    why_missing,
)
from steadyboost.lab.experiments.work import SplitRows, draw, hold_out, split_rows

WINE = {"set": "wine", "change": {}}
CLEAN = {"kind": "none", "rate": 0.0}
NOISY = {"kind": "symmetric", "rate": 0.25}
SHUFFLE = {"kind": "shuffle", "train": 0.6, "folds": None, "validation": False}
FOLDS = {"kind": "folds", "train": None, "folds": 5, "validation": True}


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, request):
    """Wine as it comes with scikit-learn."""
    if "from_folder" not in request.fixturenames:
        monkeypatch.delenv("STEADYBOOST_DATA", raising=False)


def test_shuffled_runs_differ_and_repeat():
    run, again, other = (draw(WINE, SHUFFLE, CLEAN, repeat) for repeat in (0, 0, 1))
    assert (len(run.train), len(run.test), run.validation) == (107, 71, None)
    np.testing.assert_array_equal(run.train.X, again.train.X)
    assert not np.array_equal(run.train.X, other.train.X)


def test_folds_part_the_rows():
    problem = load_problem(WINE)
    tested = []
    for fold in range(5):
        train, validation, test = split_rows(problem, WINE, FOLDS, fold)
        assert sorted([*train, *validation, *test]) == list(range(178))
        assert len(validation) in (35, 36)
        tested += test.tolist()
    assert sorted(tested) == list(range(178))


def test_validation_folds_take_turns():
    problem = load_problem(WINE)
    firsts = {split_rows(problem, WINE, FOLDS, fold)[1][0] for fold in range(5)}
    assert len(firsts) >= 4


def test_noise_is_in_training_and_validation_labels_alone():
    run, clean = draw(WINE, FOLDS, NOISY, 2), draw(WINE, FOLDS, CLEAN, 2)
    np.testing.assert_array_equal(run.train.X, clean.train.X)
    np.testing.assert_array_equal(run.test.y, clean.test.y)
    learned = np.concatenate([run.train.y, run.validation.y])
    truth = np.concatenate([clean.train.y, clean.validation.y])
    assert (learned != truth).sum() == round(0.25 * len(truth))


def test_splits_and_their_shuffles(monkeypatch):
    problem = Problem(np.arange(10.0)[:, None], np.arange(10) % 2, n_train=7)
    train, _, test = split_rows(problem, WINE, {"kind": "split"}, 0)
    assert (train.tolist(), test.tolist()) == (list(range(7)), [7, 8, 9])
    shuffled, _, _ = split_rows(problem, WINE, {"kind": "reshuffle"}, 0)
    assert len(shuffled) == 7
    assert shuffled.tolist() != train.tolist()
    with pytest.raises(MissingData, match="no pre-specified split"):
        split_rows(load_problem(WINE), WINE, {"kind": "split"}, 0)


def test_generated_problems():
    toy = {"set": "make_long_servedio", "change": {}}
    run = draw(toy, {"kind": "generated"}, {"kind": "generator", "rate": 0.2}, 0)
    votes = run.train.X.sum(axis=1) > 10
    assert (len(run.train), len(run.test)) == (4000, 10_000)
    assert np.mean(votes != run.train.y) == pytest.approx(0.2, abs=0.03)
    assert ((run.test.X.sum(axis=1) > 10) == run.test.y).all()
    madelon = draw({"set": "make_madelon_like"}, {"kind": "generated"}, CLEAN, 1)
    assert len(madelon.test) == 10_000


def test_hold_out_parts_a_fifth_off():
    rows = SplitRows(np.arange(50.0)[:, None], np.arange(50))
    train, held = hold_out(rows, seed=0)
    assert (len(train), len(held)) == (40, 10)
    assert sorted([*train.y, *held.y]) == list(range(50))


def test_seeds_depend_on_all_parts():
    assert seed_of("a", 1) == seed_of("a", 1)
    assert len({seed_of("a", 1), seed_of("a", 2), seed_of("b", 1), seed_of("a", 1, "fit")}) == 4


LABELS = np.array(list("aaabbbc"))
FRAME = pd.DataFrame({"x": pd.Categorical(list("ACGTACN")), "z": pd.Categorical(list("ACGTACG"))})


def test_changes():
    frame, labels, n_train = CHANGES["least_class"](FRAME, LABELS, 5, 2)
    assert (len(frame), "".join(labels), n_train) == (6, "aaabbb", 5)
    frame, labels, n_train = CHANGES["only_values"](FRAME, LABELS, 7, "ACGT")
    assert (len(frame), "".join(labels), n_train) == (6, "aaabbb", 6)
    assert len(CHANGES["sample"](FRAME, LABELS, None, 3)[1]) == 3
    assert CHANGES["train_rows"](FRAME, LABELS, None, 3)[2] == 3
    assert "".join(CHANGES["merge"](FRAME, LABELS, None, {"b": "c"})[1]) == "aaacccc"
    frame, labels, n_train = CHANGES["random_train_rows"](FRAME, LABELS, None, 3)
    assert (sorted(labels), n_train) == (sorted(LABELS), 3)


def test_what_cannot_be_had_says_what_to_do(monkeypatch):
    assert why_missing("wine") == ""
    assert "STEADYBOOST_DATA" in why_missing("wpbc")
    with pytest.raises(MissingData, match="cannot be had"):
        load_problem({"set": "wpbc", "change": {}})
    assert work.GENERATORS == ("make_long_servedio", "make_madelon_like")


def test_a_set_without_its_split_serves_other_protocols(monkeypatch):
    def load(name, split=None):
        if split:
            raise DatasetNotFound(name, ["nowhere"], "none")
        return pd.DataFrame({"x": [1, 2, 3]}), pd.Series(list("aab"))

    monkeypatch.setattr("steadyboost.lab.datasets.load", load)
    problem = load_problem({"set": "letter", "change": {"merge": {"a": "c"}}})
    assert (problem.X.tolist(), problem.n_train) == ([[1], [2], [3]], None)


@pytest.mark.parametrize(
    ("choice", "rows", "classes", "n_train"),
    [
        ({"set": "ecoli", "change": {"least_class": 10}}, 327, 5, None),
        ({"set": "glass", "change": {"least_class": 10}}, 205, 5, None),
        ({"set": "vowel", "change": {}}, 990, 11, 528),
        ({"set": "contraceptive", "change": {"merge": {"2": "u", "3": "u"}}}, 1473, 2, None),
        ({"set": "soybean_large", "change": {}}, 683, 19, 307),
    ],
)
def test_sets_have_the_sizes_of_the_papers(from_folder, choice, rows, classes, n_train):
    problem = load_problem(choice)
    assert (len(problem.y), len(np.unique(problem.y)), problem.n_train) == (rows, classes, n_train)


def test_the_two_class_splice(from_folder):
    merged = {"EI": "junction", "IE": "junction"}
    change = {"merge": merged, "only_values": "ACGT", "random_train_rows": 1000}
    problem = load_problem({"set": "splice", "change": change})
    assert (len(problem.y), np.bincount(problem.y).tolist()) == (3175, [1648, 1527])
