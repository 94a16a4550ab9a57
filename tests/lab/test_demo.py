"""The demo, its picture, and the code that README and CONTRIBUTING show."""

import re
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from common import BOOSTERS
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_wine

import steadyboost
from steadyboost import BoostingClassifier
from steadyboost.lab import demo
from steadyboost.pages.svg import Line, error_chart, spread

ROOT = Path(__file__).parents[2]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def told():
    """How many rounds each method has told of."""
    return dict.fromkeys(names_of(demo.methods()), 0)


@pytest.fixture(scope="module")
def results(told):
    def tell(method, doing, newly_done):
        told[method] += newly_done

    return list(demo.run(demo.methods(), 10, 0.2, 0, tell))


def result(name, errors, wrong, **options):
    return demo.Result(name, list(errors), np.array(wrong, dtype=bool), **{"seconds": 1, **options})


def names_of(methods):
    return [method.name for method in methods]


def test_a_first_look_is_at_five_or_six_methods(results):
    assert 5 <= len(results) <= 6
    assert names_of(results) == names_of(demo.methods())
    assert {"scikit-learn AdaBoost", "random forest"} < set(names_of(results))
    assert next(r.name for r in results if r.is_ours) == "SteadyBoost"


def test_every_public_booster_takes_part_on_request():
    names = names_of(method for method in demo.methods(all_boosters=True) if method.is_ours)
    assert sorted(names) == sorted(demo.boosters())
    assert (
        names_of(demo.methods())
        == names_of(demo.methods(all_boosters=True))[: -len(names) + len(demo.FIRST)]
    )
    assert set(demo.boosters().values()) == set(BOOSTERS)


def test_it_runs_without_lightgbm(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # so that it cannot be imported
    assert names_of(demo.methods())[:3] == ["scikit-learn AdaBoost", "random forest", "SteadyBoost"]


def test_the_last_stage_of_a_forest_is_the_forest():
    digits = demo.Digits.load(0.2, 0)
    forest = demo.random_forest(5, 0).fit(digits.X, digits.y)
    stages = list(demo.forest_stages(forest, digits.X_test))
    assert len(stages) == 5
    np.testing.assert_array_equal(stages[0], forest.estimators_[0].predict(digits.X_test))
    np.testing.assert_array_equal(stages[-1], forest.predict(digits.X_test))


def test_the_last_stage_of_lightgbm_is_its_model():
    pytest.importorskip("lightgbm")
    digits = demo.Digits.load(0.2, 0)
    model = demo.lightgbm(3, 0).fit(digits.X, digits.y)
    stages = list(demo.lightgbm_stages(model, digits.X_test))
    assert len(stages) == 3
    shares = model.booster_.predict(digits.X_test)
    np.testing.assert_array_equal(stages[-1], shares.argmax(axis=1))


def test_unknown_boosters_take_part(monkeypatch):
    class NewfangledClassifier(BoostingClassifier):
        pass

    monkeypatch.setattr(steadyboost, "NewfangledClassifier", NewfangledClassifier, raising=False)
    monkeypatch.setattr(steadyboost, "__all__", [*steadyboost.__all__, "NewfangledClassifier"])
    assert demo.boosters()["Newfangled"] is NewfangledClassifier


def test_names_are_those_of_the_papers():
    names = demo.boosters()
    assert {"SAMME", "AdaBoost.M1", "AdaBoost.OC", "Arc-x4", "MSmoothBoost"} <= set(names)


def test_a_booster_learns_as_it_does_outside_the_demo(results):
    digits = demo.Digits.load(0.2, 0)
    learner, options = steadyboost.Tree(max_depth=3), {"n_estimators": 10, "random_state": 0}
    model = steadyboost.SoftmaxBoostClassifier(learner, **options)
    model.fit(digits.X, digits.y)
    errors = [100 * np.mean(p != digits.y_test) for p in model.staged_predict(digits.X_test)]
    (mine,) = (r for r in results if r.name == "SoftmaxBoost")
    assert mine.errors == pytest.approx(errors)


def test_only_training_labels_are_wrong():
    noisy, clean = demo.Digits.load(0.2, 0), demo.Digits.load(0.0, 0)
    assert np.mean(noisy.y != clean.y) == pytest.approx(0.2, abs=1e-3)
    np.testing.assert_array_equal(noisy.y_test, clean.y_test)
    np.testing.assert_array_equal(noisy.X, clean.X)


def test_progress_ends_at_the_total(results, told):
    assert told == dict.fromkeys(names_of(results), 10)


def test_table_marks_the_lowest_error():
    rows = [result("theirs", [30.0, 20.0], [1, 0]), result("ours", [40.0, 10.0], [0, 0])]
    methods, rounds, errors, _, speed = demo.table(rows).columns
    assert list(methods.cells) == ["theirs", "ours *"]
    assert list(rounds.cells) == ["2", "2"]
    assert list(errors.cells) == ["20.0 %", "10.0 %"]
    assert list(speed.cells) == ["1.0x", "1.0x"]


def test_speed_is_per_round():
    theirs = result("theirs", [0.0] * 10, [0], seconds=10.0)
    assert result("ours", [0.0], [0], seconds=0.5).speed_against(theirs) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("theirs", "ours", "words"),
    [
        (40, 10, "-30.0 percentage points (95 % confidence interval -39.0 to -21.0)"),
        (10, 40, "+30.0 percentage points (95 % confidence interval +21.0 to +39.0)"),
        (11, 10, "-1.0 percentage points (95 % confidence interval -3.0 to +1.0)"),
    ],
)
def test_the_interval_is_that_of_the_paired_difference(theirs, ours, words):
    their_result = result("theirs", [float(theirs)], np.arange(100) < theirs, is_ours=False)
    our_result = result("ours", [float(ours)], np.arange(100) < ours)
    said = demo.conclusions([their_result, our_result], 1)
    assert said[0] == f"Test error, ours minus theirs: {words}."


def test_our_first_booster_is_compared_with_each_of_the_others():
    others = [result(name, [2.0], [1, 0], is_ours=False) for name in ("one", "two")]
    ours = [result(name, [1.0], [0, 0]) for name in ("first", "second")]
    said = demo.conclusions([*others, *ours], 1)
    assert [words.partition(":")[0] for words in said[:-1]] == [
        "Test error, first minus one",
        "Test error, first minus two",
    ]


def test_early_stops_and_warnings_are_told():
    theirs = result("theirs", [1.0, 1.0], [0, 0], is_ours=False)
    ours = result("ours", [1.0], [0, 0], messages=["No edge."])
    said = demo.conclusions([theirs, ours], 2)
    assert said[1:-1] == ["ours: stopped at round 1.", "ours: No edge."]


def lines_of(svg):
    return ElementTree.fromstring(svg).iter(f"{SVG}polyline")


def test_picture_has_one_line_per_method_and_a_point_per_round(results):
    svg = demo.picture(results, 10, 0.2, 0)
    n_points = [len(line.get("points").split()) for line in lines_of(svg)]
    assert sorted(n_points) == sorted(r.rounds for r in results)
    words = " ".join(ElementTree.fromstring(svg).itertext())
    assert all(r.name in words for r in results)
    assert "20 % of the training labels" in words


def test_each_line_of_a_first_look_has_a_colour_of_its_own(results):
    colors = [line.get("stroke") for line in lines_of(demo.picture(results, 10, 0.2, 0))]
    assert len(set(colors)) == len(results)


def test_picture_names_the_command_that_makes_it():
    rows = [result(str(i), [1.0, 1.0], [0, 1]) for i in range(6)]
    assert "steadyboost demo --rounds 2 --noise 0.1 --seed 3" in demo.picture(rows[:3], 2, 0.1, 3)
    assert "steadyboost demo --all --rounds 2" in demo.picture(rows, 2, 0.1, 3)


def test_the_readme_shows_the_demo_as_it_is():
    svg = (ROOT / "docs/images/demo.svg").read_text(encoding="utf-8")
    words = " ".join(ElementTree.fromstring(svg).itertext())
    shown = {*names_of(demo.methods()), "LightGBM"}
    assert sum(1 for _ in lines_of(svg)) == len(shown)
    assert all(name in words for name in shown)


def test_chart_takes_any_name_many_lines_and_extreme_errors():
    names = ["<&\"'>", *(f"method {i}" for i in range(40))]
    svg = error_chart([Line(name, [100.0, 0.0]) for name in names], "a < b", "c & d")
    assert len(list(lines_of(svg))) == 41
    assert names[0] in " ".join(ElementTree.fromstring(svg).itertext())


@pytest.mark.parametrize("n_rounds", [1, 2, 7, 100, 1000])
def test_chart_points_are_inside_where_the_axis_reaches(n_rounds):
    values = np.linspace(50, 20, n_rounds).tolist()
    (line,) = lines_of(error_chart([Line("one", values)], "title", "subtitle"))
    points = np.array([p.split(",") for p in line.get("points").split()], dtype=float)
    assert (np.diff(points[:, 0]) > 0).all()
    assert points[-1, 0] == 630
    assert (points[:, 0] >= 62).all()


@given(st.lists(st.floats(0, 500), max_size=15))
def test_labels_keep_order_and_distance(wanted):
    places = spread(wanted, 21, 0, 500)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(np.array(places)[order]) >= 21 - 1e-9).all()
    assert all(-1e-9 <= place <= 500 for place in places)


def python_blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def test_readme_code_runs(capsys):
    (block,) = python_blocks("README.md")
    exec(compile(block, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("error on clean test rows: ")
    assert printed[1].startswith("estimated share of wrong labels: ")


@pytest.mark.parametrize(
    "command", ["pip install . && steadyboost demo", 'pip install -e ".[test]" && pytest']
)
def test_readme_has_the_commands(command):
    assert f"\n{command}\n" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_readme_lists_every_booster():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [b.__name__ for b in BOOSTERS if f"| `{b.__name__}` |" not in text] == []


@pytest.fixture(scope="module")
def shown_in_contributing():
    names = {"__name__": "contributing"}
    for block in python_blocks("CONTRIBUTING.md"):
        exec(compile(block, "CONTRIBUTING.md", "exec"), names)
    return names


def test_contributing_twin_agrees(shown_in_contributing):
    shown_in_contributing["test_capped_boost_agrees_with_its_twin"]()


def test_contributing_booster_is_an_estimator(shown_in_contributing):
    booster = shown_in_contributing["CappedBoostClassifier"]
    X, y = load_wine(return_X_y=True)
    model = clone(booster(cap=1.0, n_estimators=5, random_state=0)).fit(X, y)
    assert model.get_params()["cap"] == 1.0
    assert model.score(X, y) > 0.9
    assert "n_estimators : int" in booster.__doc__
    with pytest.raises(ValueError, match="cap"):
        booster(cap=-1.0).fit(X, y)


def test_contributing_cap_bounds_the_weights(shown_in_contributing):
    model = shown_in_contributing["CappedBoostClassifier"](cap=0.5)
    scores, y = np.array([[9.0, 0.0], [0.0, 9.0], [5.0, 5.0]], order="F"), np.array([0, 0, 1])
    np.testing.assert_array_equal(model.log_weights(scores, y), [0.0, 0.5, 0.5])


def test_warnings_of_a_method_do_not_spoil_the_table():
    digits = demo.Digits.load(0.2, 0)
    weak = steadyboost.AdaBoostM1Classifier(steadyboost.Stump(), n_estimators=2)
    method = demo.our_method("weak", steadyboost.AdaBoostM1Classifier)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = demo.measure(method, weak, digits)
    assert "no edge" in shown.messages[0]


def test_the_second_process_begins_where_the_first_ends(monkeypatch):
    warmed = []
    monkeypatch.setattr(demo, "compile_kernels", lambda model, X, y: warmed.append(type(model)))
    demo.warm_all(False, 0.2, 0)
    assert [demo.display_name(cls) for cls in warmed] == [*reversed(demo.FIRST)]


def test_the_second_process_ends_with_the_first(monkeypatch):
    started = []
    popen = demo.subprocess.Popen
    monkeypatch.setattr(
        demo.subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[0]
    )
    with demo.compiling_ahead(False, 0.2, 0):
        assert started[0].poll() is None
    assert started[0].returncode != 0
