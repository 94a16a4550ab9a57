"""Fitting from files, as a user would."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import steadyboost
from steadyboost import SAMMEClassifier
from steadyboost.cli.boosters import booster_names, complete_booster, find_booster
from steadyboost.cli.inputs import load_model

QUICK = ("--booster", "samme", "--rounds", "3", "--output", "m.sb")


def test_it_says_what_it_found_and_where_the_model_is(train, works):
    told = works("fit", train, "--target", "kind", *QUICK).splitlines()
    assert told[0] == f"{train}: 200 rows, 3 features"
    assert told[1] == "categorical: soil (2 values)"
    assert told[2].startswith("missing values: ")
    assert told[3] == "classes: tree (101), herb (69), shrub (30)"
    assert told[4].startswith("SAMMEClassifier: 3 rounds in ")
    assert re.fullmatch(r"cross-fitted error \d+\.\d%; always answering 'tree': 49.5%", told[5])
    assert told[6:] == ["Model: m.sb"]
    assert [path.name for path in Path().iterdir()] == ["m.sb"]


def test_the_error_is_that_of_models_that_have_not_seen_the_rows(train, works):
    import polars

    told = works("fit", train, "-t", "kind", *QUICK, "--folds", "4", "--json")["errors"]
    frame = polars.read_csv(train, null_values="?")
    X, y = frame.drop("kind"), frame["kind"].to_numpy()
    model = SAMMEClassifier(n_estimators=3, random_state=0)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    assert told["cross_fitted"] == pytest.approx(
        np.mean(cross_val_predict(model, X, y, cv=folds) != y)
    )
    assert told["baseline"] == pytest.approx(np.mean(y != "tree"))
    assert (
        works("fit", train, "-t", "kind", *QUICK, "--folds", "0", "--json", "--force")["errors"]
        == {}
    )


def test_a_model_that_has_learnt_nothing_is_told(works):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal():.3f},{rng.choice(['a', 'b'])}" for _ in range(80)]
    Path("noise.csv").write_text("x,y\n" + "\n".join(rows))
    told = works("fit", "noise.csv", "-t", "y", *QUICK)
    assert "warning: the model is not clearly better than always answering " in told


def test_two_rows_get_no_estimates(works):
    Path("two.csv").write_text("x,y\n1,a\n2,b\n")
    told = works("fit", "two.csv", "-t", "y", "--rounds", "2")
    assert "note: 2 rows are too few to estimate errors or wrong labels" in told
    assert "%" not in told


MESSY = """;id;born;price;note;city;y
0;p-01;31.12.2020;1.234,50;;Bonn;yes
1;p-02;01.02.2021;12,00;;Ulm;no
2;p-03;15.07.2021;7,25;;Ulm;Yes
"""


def test_a_table_as_people_have_it(works):
    """German numbers and dates, an index, an identifier, an empty column, a class twice."""
    head, *rows = MESSY.splitlines()
    changed = [re.sub(r"^\d+;p-\d+", f"{n};p-{n:02}", row) for n, row in enumerate(rows * 10)]
    Path("messy.csv").write_bytes(
        "\r\n".join([head, *changed, "30;p-30;1.1.2022;1,0;;Köln;"]).encode("latin-1")
    )
    told = works("fit", "messy.csv", "-t", "y", *QUICK, "--drop-unlabelled")
    lines = told.splitlines()
    assert lines[0] == "messy.csv: 30 rows, 3 features"
    assert "dates: born (2020-12-31 to 2021-07-15, written day.month.year)" in lines
    assert "decimal commas: price" in lines
    assert "left out: 1 row without a value of 'y'" in lines
    assert any("column 'id', which identifies the rows; pass --use id" in line for line in lines)
    assert "left out: column 'note', which is empty" in lines
    assert any("read as cp1252" in line for line in lines)
    assert any("it looks like an index" in line for line in lines)
    assert "classes: Yes (10), no (10), yes (10)" in lines
    assert any("note: class names that are nearly the same: 'Yes', 'yes'" in line for line in lines)


def test_new_rows_are_read_as_the_training_rows_were(works, complains):
    rows = [f"{1 + n % 12}/{1 + n % 9}/2020;{n},500;{'ab'[n % 2]}" for n in range(40)]
    Path("t.csv").write_text("d;x;y\n" + "\n".join(rows))
    works("fit", "t.csv", "-t", "y", *QUICK)
    assert works("evaluate", "m.sb", "t.csv", "--json")["rows"] == 40
    Path("new.csv").write_text("d;x\n13/1/2020;1,5\n")
    assert "'13/1/2020', not a date written as month/day/year" in complains(
        1, "predict", "m.sb", "new.csv"
    )
    Path("new.csv").write_text("d;x\n1/1/2020;1.5\n")
    assert "not a number with a decimal comma" in complains(1, "predict", "m.sb", "new.csv")
    plain = works("predict", "m.sb", "new.csv", "--decimal", ".", "--proba")
    Path("new.csv").write_text("d;x\n1/1/2020;1,5\n")
    assert works("predict", "m.sb", "new.csv", "--proba") == plain


def test_the_model_is_that_of_the_library(train, works):
    import polars

    works("fit", train, "--target", "kind", *QUICK, "--seed", "7", "-p", "learning_rate=0.5")
    frame = polars.read_csv(train, null_values="?")
    ours = SAMMEClassifier(n_estimators=3, learning_rate=0.5, random_state=7)
    X = frame.drop("kind")
    ours.fit(X, frame["kind"])
    theirs = steadyboost.load("m.sb")
    np.testing.assert_array_equal(theirs.predict_proba(X), ours.predict_proba(X))
    assert theirs.learning_rate == 0.5


def test_the_file_remembers_target_names_and_kinds(model):
    loaded = load_model(model)
    assert loaded.target == "kind"
    assert loaded.kinds == {"height": "number", "soil": "text", "plot": "text"}


def test_learners_and_their_parameters(train, works):
    works("fit", train, "-t", "kind", *QUICK, "-p", "estimator__max_depth=1")
    assert steadyboost.load("m.sb").estimator.max_depth == 1
    works("fit", train, "-t", "kind", *QUICK, "--learner", "stump", "--force")
    assert type(steadyboost.load("m.sb").estimator).__name__ == "Stump"


def test_validation_rows_are_watched_and_stop_it(train, test_rows, works):
    options = ("--validation", test_rows, "--early-stopping", "-p", "n_iter_no_change=2", "--json")
    told = works("fit", train, "-t", "kind", "-b", "samme", "--rounds", "60", *options)
    assert told["rounds"] < 60
    best = min(load_model(Path("model.sb")).booster.history_["val_error"])
    assert told["errors"]["validation"] == pytest.approx(best)
    assert told["data"]["rows"] == 200
    assert told["classes"] == ["herb", "shrub", "tree"]


def test_weights_and_columns_left_out(works):
    rows = [f"{i},{2 * i},{int(i < 50)},{'a' if i < 50 or i % 2 else 'b'}" for i in range(100)]
    Path("t.csv").write_text("id,x,w,y\n" + "\n".join(rows))
    told = works("fit", "t.csv", "-t", "y", "--ignore", "id", *QUICK, "--json")
    assert told["data"]["ignored"] == ["id"]
    assert steadyboost.load("m.sb").feature_names_in_.tolist() == ["x", "w"]
    works("fit", "t.csv", "-t", "y", "--weights", "w", "--ignore", "id", *QUICK, "--force")
    assert steadyboost.load("m.sb").classes_.tolist() == ["a"]


def test_libsvm_needs_no_target(works):
    X = np.random.default_rng(0).normal(size=(60, 4))
    dump_svmlight_file(X, X[:, 0] > 0, "t.libsvm", zero_based=False)
    works("fit", "t.libsvm", *QUICK)
    assert works("evaluate", "m.sb", "t.libsvm", "--json")["error"] == 0
    assert works("predict", "m.sb", "t.libsvm").splitlines()[0] == "prediction"


@pytest.mark.parametrize("name", booster_names())
def test_every_booster_has_a_short_name(name):
    short = name.removesuffix("Classifier")
    assert find_booster(short.lower()).__name__ == find_booster(name).__name__ == name
    assert short in complete_booster(short[:2])
    assert short.lower() in complete_booster(short[:2].lower())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--booster", "smame"], "did you mean SAMMEClassifier?"),
        (["--booster", "xyz"], "there are AdaBoost, "),
        (["--learner", "tre"], "did you mean Tree?"),
        (
            ["--booster", "steady", "--learner", "stump"],
            "'--learner': SteadyBoostClassifier has its",
        ),
        (
            ["--booster", "steady", "-p", "estimator__max_depth=2"],
            "'--param': SteadyBoostClassifier",
        ),
        (["-p", "learning_rte=1"], "did you mean learning_rate?"),
        (["-p", "learning_rate"], "not of the form name=value"),
        (["-p", "learning_rate=fast"], "'learning_rate' parameter of SAMMEClassifier must be"),
        (["-p", "estimator__max_depth=0"], "'max_depth' parameter of Tree must be"),
        (["-p", "random_state=1"], "random_state is set by --seed"),
        (["-b", "bagging", "-p", "learning_rate=1"], "learning_rate has no effect on Bagging"),
        (["--output", "m.pkl"], "does not end in .sb"),
        (["--output", "nowhere/m.sb"], "the folder nowhere does not exist"),
        (["--rounds", "0"], "--rounds"),
    ],
)
def test_bad_usage(train, complains, options, words):
    told = complains(2, "fit", train, "-t", "kind", "--booster", "samme", *options)
    assert words in told
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "knid"], "has no column 'knid'; did you mean 'kind'?"),
        (["--target", "height"], "row "),
        (["--target", "kind", "--weights", "soil"], "row 1 of column 'soil' is "),
        (["--target", "kind", "--ignore", "kind"], "'kind' cannot be both the target and ignored"),
        (["--target", "kind", "--validation", "nowhere.csv"], "nowhere.csv: there is no such file"),
    ],
)
def test_bad_data(train, complains, options, words):
    assert words in complains(1, "fit", train, *options)
    assert list(Path().iterdir()) == []


def test_a_name_of_a_page_is_not_told_in_full(complains, call):
    Path("long.csv").write_text(f"y,{'n' * 100_000}\n" + "a,1\nb,2\n" * 5)
    assert len(complains(1, "fit", "long.csv", "-t", "z", "-o", "m.sb")) < 1000
    lines = [json.dumps({"y": "uv"[k % 2], "n" * 100_000: f"t{k}"}) for k in range(20)]
    Path("long.jsonl").write_text("\n".join(lines))
    assert len(call("fit", "long.jsonl", "-t", "y", "-o", "m.sb", "-b", "samme").output) < 5000


def test_one_class_is_nothing_to_learn(complains):
    Path("one.csv").write_text("a,kind\n1,x\n2,x\n")
    told = complains(1, "fit", "one.csv", "-t", "kind")
    assert (
        told
        == "steadyboost: one.csv: column 'kind' is x in all rows; training needs two classes.\n"
    )


def test_a_folder_that_cannot_be_written_to(train, complains, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    assert "the folder . is not writable" in complains(2, "fit", train, "-t", "kind")


def test_the_target_must_be_named(train, complains):
    assert "'--target': name the column" in complains(2, "fit", train)


def test_a_validation_label_that_training_lacks(train, complains):
    Path("v.csv").write_text("height,soil,plot,kind\n1,clay,1,moss\n")
    told = complains(1, "fit", train, "-t", "kind", "--validation", "v.csv")
    assert "v.csv: row 1 of column 'kind' is 'moss'" in told


def test_nothing_is_replaced_without_force(train, works, complains):
    Path("m.sb").write_text("precious")
    assert "--force" in complains(2, "fit", train, "-t", "kind", *QUICK)
    assert Path("m.sb").read_text() == "precious"
    works("fit", train, "-t", "kind", *QUICK, "--force")
    assert steadyboost.load("m.sb").n_iter_ == 3


def test_a_failed_write_leaves_nothing(train, complains, monkeypatch):
    def disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", disk_full)
    assert "No space left" in complains(1, "fit", train, "-t", "kind", *QUICK)
    assert list(Path().iterdir()) == []


def test_as_a_program_of_its_own(train):
    program = [sys.executable, "-c", "from steadyboost.cli import main; main()"]
    done = subprocess.run(
        [*program, "fit", str(train), "-t", "kind", *QUICK], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Model: m.sb\n")


@pytest.mark.parametrize("command", ["fit", "audit"])
def test_an_interrupt_in_a_round_ends_the_command_and_leaves_nothing(
    command, train, call, monkeypatch
):
    """A fit in Python would keep the rounds before it, and go on to the next fold."""
    calls = []

    def interrupted(*_):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return 0.5

    monkeypatch.setattr(SAMMEClassifier, "step", interrupted)
    options = ["--rounds", "5"] if command == "fit" else ["--jobs", "1", "-o", "found.csv"]
    assert call(command, train, "-t", "kind", "--booster", "samme", *options).exit_code == 130
    assert len(calls) == 2
    assert list(Path().iterdir()) == []


def test_the_default_tells_how_many_labels_look_wrong(train, test_rows, works):
    told = works("fit", train, "-t", "kind", "--rounds", "5")
    assert "SteadyBoostClassifier: " in told
    assert "estimated share of wrong labels: " in told
    assert works("evaluate", "model.sb", test_rows, "--json")["error"] < 0.5
    assert works("explain", "model.sb").startswith("SteadyBoostClassifier")
