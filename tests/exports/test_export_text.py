"""Trees and rules in words and as graphs."""

import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from common import each_booster, make, problem, quiet
from mixed_rows import mixed_frame
from sklearn.tree import DecisionTreeClassifier

import steadyboost.exports
from steadyboost import (
    C45,
    AdaBoostClassifier,
    AdaBoostM2Classifier,
    AttributeTest,
    DecisionRule,
    GDMCBoostClassifier,
    SAMMEClassifier,
    Stump,
    Tree,
)
from steadyboost.exports import export_graphviz, export_text

ANIMALS = np.array(["ant", "bee", "cat"])


@each_booster
def test_every_booster_has_words(booster):
    X, y = mixed_frame(200)
    model = quiet(make(booster, n_estimators=3).fit, X, ANIMALS[y])
    text = export_text(model, round=None)
    assert text.count(f" of {model.n_iter_}") == text.count("Round ")
    assert re.search("left|right|ant|bee|cat", text)
    assert export_text(model, -1).startswith(f"Round {model.n_iter_} of")
    export_graphviz(model)


def animals(learner, booster=SAMMEClassifier, **options):
    rng = np.random.default_rng(0)
    legs, colour = rng.integers(2, 7, size=300), rng.choice(["red", "green", "blue"], size=300)
    y = np.where(legs > 4, np.where(colour == "red", 0, 1), 2)
    frame = pd.DataFrame({"legs": legs.astype(float), "colour": colour})
    frame.loc[::40, "legs"] = np.nan
    return booster(learner, n_estimators=2, random_state=0, **options).fit(frame, ANIMALS[y])


def test_a_tree_has_a_line_per_branch():
    lines = export_text(animals(Tree(max_depth=2))).splitlines()
    assert lines[0].startswith("Round 1 of 2: step ")
    assert lines[1:] == [
        "legs <= 4.5 or missing",
        "|   legs <= 4.5: cat",
        "|   legs > 4.5 or missing: cat",
        "legs > 4.5",
        "|   colour != red: bee",
        "|   colour = red: ant",
    ]


def test_a_test_with_gaps_has_three_answers():
    lines = export_text(animals(AttributeTest())).splitlines()
    assert lines[1] == "legs is missing: cat"
    assert lines[2:] == ["legs is known", "|   legs <= 4.5: cat", "|   legs > 4.5: bee"]


def test_rules_and_stumps_are_one_line():
    assert export_text(animals(Stump())).splitlines()[1] in (
        "if legs <= 4.5 or missing: cat, otherwise: bee",
        "if legs <= 4.5: cat, otherwise: bee",
    )
    rule = export_text(animals(DecisionRule()), round=None)
    assert re.search("if .*legs.*: .*, otherwise: .*", rule)


def test_c45_is_printed_as_c45_does_with_names_of_values():
    text = export_text(animals(C45()))
    assert "legs <= 4 : cat" in text
    assert "colour = red: ant" in text


def test_answers_are_classes_sets_or_numbers():
    assert ": not " in export_text(animals(Tree(max_depth=2), AdaBoostClassifier), part=0)
    vectors = export_text(animals(Tree(max_depth=2), GDMCBoostClassifier, leaves="vector"))
    assert re.search(r": ant [+-][\d.e-]+, bee [+-][\d.e-]+, cat", vectors)
    assert "cat" in export_text(animals(Tree(max_depth=2), AdaBoostM2Classifier))


def test_graphs_are_trees_with_quoted_names():
    X, y = problem(100, 2)
    X = pd.DataFrame(X).rename(columns=lambda f: f'a "{f}" \\')
    X.columns = X.columns.astype(str)
    model = SAMMEClassifier(Tree(max_depth=2), n_estimators=1).fit(X, y)
    dot = export_graphviz(model)
    assert dot.startswith("digraph tree {")
    assert dot.endswith("}")
    assert '\\"' in dot
    assert dot.count("->") == len(model.estimators_[0].tree.feature) - 1


def test_what_is_not_there_is_named():
    model = animals(Stump(), AdaBoostClassifier)
    with pytest.raises(ValueError, match="round=2 does not exist; the model has rounds 0 to 1"):
        export_text(model, 2)
    with pytest.raises(ValueError, match="part=3 does not exist"):
        export_text(model, part=3)
    with pytest.raises(ValueError, match="Stump is not a booster"):
        export_text(Stump())
    with pytest.raises(ValueError, match="not a binary tree"):
        export_graphviz(animals(C45()))
    X, y = problem(50, 2)
    foreign = SAMMEClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=1).fit(X, y)
    with pytest.raises(ValueError, match=r"see sklearn\.tree\.export_text"):
        export_text(foreign)


@pytest.mark.parametrize(
    ("name", "library", "extra"),
    [
        ("to_onnx", "onnx", "onnx"),
        ("shap_explainer", "shap", "shap"),
        ("to_treelite", "treelite", "treelite"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(name, library, extra):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        f"try:\n    from steadyboost.exports import {name}\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install 'steadyboost[{extra}]'" in found.stdout


def test_names_load_on_first_use():
    assert set(steadyboost.exports.__all__) <= set(dir(steadyboost.exports))
    with pytest.raises(AttributeError, match="no attribute 'to_pmml'"):
        _ = steadyboost.exports.to_pmml


def test_large_thresholds_keep_their_whole_digits():
    years = np.array([1990, 2013, 2014, 2030])
    model = SAMMEClassifier(Stump(), n_estimators=1).fit(years[:, None], years > 2013)
    assert "<= 2013.5" in export_text(model)
    many = SAMMEClassifier(Stump(), n_estimators=1).fit(1000 * years[:, None], years > 2013)
    assert "<= 2013500" in export_text(many)


def test_a_class_has_one_colour_in_all_trees():
    model = animals(Tree(max_depth=2))
    colours = {}
    for round_ in range(model.n_iter_):
        for name, colour in re.findall(
            r'label="(\w+)" fillcolor="(#\w+)"', export_graphviz(model, round_)
        ):
            colours.setdefault(name, set()).add(colour)
    assert sorted(colours) == ANIMALS.tolist()
    assert all(len(own) == 1 for own in colours.values())
    assert len(set.union(*colours.values())) == 3
