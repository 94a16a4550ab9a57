"""What a cell records."""

import numpy as np
import pytest
import tiny

from steadyboost import SAMMEClassifier, Tree
from steadyboost.interruptions import keeps_rounds
from steadyboost.lab.experiments import work
from steadyboost.lab.experiments.cells import cells_of
from steadyboost.lab.experiments.problems import seed_of
from steadyboost.lab.experiments.work import (
    at_rounds,
    build,
    choices,
    draw,
    run_cell,
    why_unavailable,
)


def config(experiment="figure-1", method="SAMME", noise=0.3, **changes):
    cell = next(
        c
        for c in cells_of(tiny.experiment(experiment))
        if c.condition.method == method and c.condition.noise == noise
    )
    return {**cell.config, **changes}


def drawn(cell):
    return draw(cell["data"], cell["protocol"], cell["noise"], cell["repeat"])


def test_errors_by_round_are_those_of_the_model():
    cell = config()
    result, run = run_cell(cell), drawn(cell)
    seed = seed_of(cell["data"], cell["repeat"], "fit")
    model = SAMMEClassifier(Tree(max_depth=2), n_estimators=6, random_state=seed)
    model.fit(run.train.X, run.train.y)
    expected = [np.mean(labels != run.test.y) for labels in model.staged_predict(run.test.X)]
    assert result["errors"]["test"] == pytest.approx(expected)
    assert result["errors"]["train"][-1] == pytest.approx(1 - model.score(run.train.X, run.train.y))
    assert result["recorded"] == [1, 2, 3, 4, 5, 6]
    assert (result["rounds"], result["n_train"], result["n_test"]) == (6, 90, 60)
    assert len(result["clock"]) == 6
    assert result["clock"] == sorted(result["clock"])


def test_a_cell_gives_the_same_each_time():
    assert run_cell(config())["errors"] == run_cell(config())["errors"]


def test_validation_rows_choose_the_round_and_the_depth():
    folds = {"kind": "folds", "train": None, "folds": 5, "validation": True}
    cell = config(protocol=folds, record=[6])
    cell["method"] = {
        **cell["method"],
        "best_round": True,
        "grid": {"learner.max_depth": [1, 2], "learning_rate": [0.5, 1.0]},
    }
    result = run_cell(cell)
    assert set(result["chosen"]) == {"learner.max_depth", "learning_rate", "round"}
    assert 1 <= result["chosen"]["round"] <= 6
    assert len(result["errors"]["test"]) == 1


def test_without_validation_rows_a_fifth_is_held_out():
    cell = config(record=[6])
    cell["method"] = {**cell["method"], "grid": {"learner.max_depth": [1, 3]}}
    assert run_cell(cell)["chosen"]["learner.max_depth"] in (1, 3)


def test_what_the_estimator_chooses_is_recorded():
    cell = config(record=[6], clock=False)
    cell["method"] = {
        **cell["method"],
        "estimator": "MSmoothBoostClassifier",
        "parameters": {"smoothing": "auto"},
    }
    assert 0 <= run_cell(cell)["chosen"]["smoothing"] <= 1


def test_f1_of_the_second_class():
    toy = {"set": "make_long_servedio", "change": {}}
    cell = config(
        data=toy, protocol={"kind": "generated"}, measure="f1", parts=["test"], record=[6]
    )
    (value,) = run_cell({**cell, "noise": {"kind": "generator", "rate": 0.0}})["errors"]["test"]
    assert 0.5 < value <= 1


def test_warnings_are_kept():
    cell = config("table-1", "M1", noise=0.0)
    cell["method"] = {**cell["method"], "learner": {"name": "Tree", "max_depth": "none"}}
    assert run_cell(cell)["warnings"] == list(dict.fromkeys(run_cell(cell)["warnings"]))


def test_a_model_that_stopped_early_stays_as_it_was():
    assert at_rounds([0.5, 0.4], [1, 2, 3, 10]) == [0.5, 0.4, 0.4, 0.4]


def test_sizes_may_depend_on_the_classes():
    leaves = {"name": "Tree", "max_depth": "none", "max_leaf_nodes": "12 per class but one"}
    method = {**config()["method"], "learner": leaves}
    model = build(method, {}, n_classes=4, seed=0)
    assert (model.estimator.max_leaf_nodes, model.estimator.max_depth) == (36, None)
    assert (model.n_jobs, model.n_estimators) == (1, 6)


def test_grids_and_names():
    assert list(choices({"grid": {}})) == [{}]
    assert len(list(choices({"grid": {"a": [1, 2], "b": [3, 4, 5]}}))) == 6
    assert why_unavailable("SAMMEClassifier") == ""
    assert (
        why_unavailable("NoSuchClassifier") == "NoSuchClassifier is not available in this version"
    )


def test_an_interrupted_fit_is_no_result(monkeypatch):
    """Elsewhere a booster keeps its finished rounds, which a cell must not take for a result."""

    def interrupted(model, X, y):
        assert not keeps_rounds()
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "fit_timed", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_cell(config())
