"""Predicting, evaluating and explaining, as a user would."""

import json
from pathlib import Path

import numpy as np
import pytest

import steadyboost
from steadyboost import SAMMEClassifier


def rows(text):
    return [line.split(",") for line in text.splitlines()]


def test_predictions_go_to_the_standard_output(model, test_rows, works):
    told = rows(works("predict", model, test_rows, "--proba"))
    assert told[0] == ["prediction", "proba_herb", "proba_shrub", "proba_tree"]
    proba = np.array(told[1:])[:, 1:].astype(float)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    best = np.array(["herb", "shrub", "tree"])[proba.argmax(axis=1)]
    assert [row[0] for row in told[1:]] == best.tolist()


def test_predictions_for_machines(model, test_rows, works):
    told = works("predict", model, test_rows, "--proba", "--json")
    assert told["rows"] == 100
    assert list(told["columns"]) == ["prediction", "proba_herb", "proba_shrub", "proba_tree"]
    assert {len(column) for column in told["columns"].values()} == {100}
    written = works("predict", model, test_rows, "-o", "out.csv", "--json")
    assert written == {"rows": 100, "output": "out.csv"}


def test_order_and_number_of_columns_do_not_matter(model, test_rows, works):
    import polars

    frame = polars.read_csv(test_rows, infer_schema=False).drop("kind")
    frame = frame.select("soil", "plot", polars.lit("x").alias("more"), "height")
    frame.write_csv("other.csv")
    frame.write_parquet("other.parquet")
    expected = works("predict", model, test_rows, "--proba")
    assert works("predict", model, "other.csv", "--proba") == expected
    assert works("predict", model, "other.parquet", "--proba") == expected


def test_a_column_of_few_numbers_is_still_text(model, works):
    Path("one.csv").write_text("plot,height,soil\n2,?,marsh\n")
    assert len(works("predict", model, "one.csv").splitlines()) == 2


def test_values_that_the_model_does_not_know_are_told(model, call):
    Path("new.csv").write_text("plot,height,soil\n2,1,marsh\n1,1,clay\n9,1,peat\n")
    told = call("predict", model, "new.csv")
    assert told.stderr.splitlines() == [
        "note: column 'soil' has categories in 2 rows that are not in the training data, such as "
        "'marsh'; they are treated as missing",
        "note: column 'plot' has categories in 1 row that are not in the training data, such as "
        "'9'; they are treated as missing",
    ]
    assert len(told.stdout.splitlines()) == 4


def test_columns_are_handed_through(model, works, complains):
    Path("new.csv").write_text("id,height,soil,plot\n007,1,clay,1\nb,-1,sand,2\n")
    told = rows(works("predict", model, "new.csv", "--keep", "id", "--keep", "soil"))
    assert [row[:2] for row in told] == [["id", "soil"], ["007", "clay"], ["b", "sand"]]
    assert "no column 'name'" in complains(1, "predict", model, "new.csv", "--keep", "name")


def test_a_kept_column_must_not_be_called_like_ours(model, complains):
    Path("new.csv").write_text("prediction,height,soil,plot\nx,1,clay,1\n")
    told = complains(2, "predict", model, "new.csv", "--keep", "prediction")
    assert "'prediction' is also the name" in told


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_output_files(model, test_rows, works, complains, name):
    import polars

    assert works("predict", model, test_rows, "-o", name, "--proba") == f"100 rows: {name}\n"
    frame = polars.read_csv(name) if name.endswith("csv") else polars.read_parquet(name)
    assert frame.shape == (100, 4)
    assert "--force" in complains(2, "predict", model, test_rows, "-o", name)
    works("predict", model, test_rows, "-o", name, "--force")
    assert [path.name for path in Path().iterdir()] == [name]


def test_a_failed_write_leaves_the_old_file(model, test_rows, complains, monkeypatch):
    Path("out.csv").write_text("old")

    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", disk_full)
    told = complains(1, "predict", model, test_rows, "-o", "out.csv", "--force")
    assert told == "steadyboost: out.csv: No space left on device.\n"
    assert [path.read_text() for path in Path().iterdir()] == ["old"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("height,soil\n1,clay\n", "new.csv lacks the column 'plot' of the model"),
        ("hieght,soil,plot\n1,clay,1\n", "did you mean 'hieght'?"),
        ("height\n1\n", "new.csv lacks 2 columns of the model: 'soil', 'plot'."),
        ("height,soil,plot\n1,clay,1\ntall,clay,1\n", "row 2 of column 'height' is 'tall', not a"),
        ("height,soil,plot\n", "new.csv has no rows"),
    ],
)
def test_rows_that_do_not_fit_the_model(model, complains, content, words):
    Path("new.csv").write_text(content)
    assert words in complains(1, "predict", model, "new.csv")


def test_files_that_are_no_models(test_rows, complains):
    Path("bad.sb").write_bytes(b"PK\x03\x04 nonsense")
    assert "bad.sb is not a SteadyBoost model file" in complains(1, "predict", "bad.sb", test_rows)
    assert "there is no such model file" in complains(1, "explain", "nowhere.sb")


def test_models_of_arrays_take_columns_in_order(works, complains):
    X = np.random.default_rng(0).normal(size=(50, 2))
    SAMMEClassifier(n_estimators=2).fit(X, X[:, 0] > 0).save("m.sb")
    Path("new.csv").write_text("a,b\n-1,0\n1,0\n")
    assert works("predict", "m.sb", "new.csv").split() == ["prediction", "false", "true"]
    Path("labelled.csv").write_text("a,b,y\n-1,0,False\n1,0,true\n")
    assert works("evaluate", "m.sb", "labelled.csv", "-t", "y", "--json")["error"] == 0
    assert "'--target': name the column" in complains(2, "evaluate", "m.sb", "labelled.csv")
    told = complains(1, "predict", "m.sb", "labelled.csv")
    assert "has 3 feature columns, but m.sb was fitted to 2" in told


def test_evaluation_agrees_with_scikit_learn(model, test_rows, works):
    import polars
    from sklearn import metrics

    told = works("evaluate", model, test_rows, "--json")
    frame = polars.read_csv(test_rows, null_values="?", schema_overrides={"plot": polars.String})
    X, y = frame.drop("kind"), frame["kind"].to_numpy()
    booster = steadyboost.load(model)
    guess, proba = booster.predict(X), booster.predict_proba(X)
    assert told["error"] == pytest.approx(1 - metrics.accuracy_score(y, guess))
    assert told["balanced_error"] == pytest.approx(1 - metrics.balanced_accuracy_score(y, guess))
    assert told["log_loss"] == pytest.approx(metrics.log_loss(y, proba))
    assert told["confusion"] == metrics.confusion_matrix(y, guess).tolist()
    precision, recall, _, rows = metrics.precision_recall_fscore_support(y, guess)
    for place, one in enumerate(told["classes"].values()):
        assert (one["rows"], one["recall"]) == (rows[place], pytest.approx(recall[place]))
        assert (one["precision"] or 0) == pytest.approx(precision[place])


def test_evaluation_for_people(model, test_rows, works):
    told = works("evaluate", model, test_rows)
    for words in ("100 rows, 3 classes", "balanced error", "log-loss", "precision", "confusion"):
        assert words in told


def test_labels_that_the_model_does_not_know(model, complains):
    Path("t.csv").write_text("height,soil,plot,kind\n1,clay,1,tree\n1,clay,1,moss\n")
    assert "row 2 of column 'kind' is 'moss'" in complains(1, "evaluate", model, "t.csv")
    assert "no column 'sort'" in complains(1, "evaluate", model, "t.csv", "--target", "sort")


def test_explanations(model, works):
    told = works("explain", model, "--top", "2")
    assert told.startswith("SAMMEClassifier, 5 rounds\nclasses of kind: herb, shrub, tree\n")
    assert "n_estimators=5" in told
    assert "┃ round ┃" in told
    assert "\nRound 1 of 5: " in told
    assert "Round 5 of 5: " in works("explain", model, "--round", "5")
    machine = works("explain", model, "--json")
    assert sum(machine["importances"].values()) == pytest.approx(1)
    assert len(machine["history"]) == machine["rounds"] == 5


def test_rounds_that_are_not_there(model, complains):
    assert "6 is not from 1 to 5" in complains(2, "explain", model, "--round", "6")


def test_json_is_one_object(model, test_rows, call):
    for args in (("evaluate", model, test_rows), ("explain", model)):
        assert isinstance(json.loads(call(*args, "--json").stdout), dict)


def test_without_a_library_of_tables_predictions_name_the_extra(works, complains, monkeypatch):
    import importlib.util

    Path("rows.libsvm").write_text("1 1:1\n2 1:2\n1 1:1.5\n2 1:3\n")
    works("fit", "rows.libsvm", "-b", "samme", "--rounds", "2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    told = complains(1, "predict", "model.sb", "rows.libsvm")
    assert "pip install 'steadyboost[tables]'" in told
