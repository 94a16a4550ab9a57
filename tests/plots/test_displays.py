"""Pictures: they show the numbers that they should, where they should."""

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from common import problem
from sklearn.datasets import load_wine
from sklearn.metrics import confusion_matrix

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PathCollection

import steadyboost.plots
from steadyboost import (
    AdaBoostClassifier,
    BaggingClassifier,
    SAMMEClassifier,
    SteadyBoostClassifier,
    Stump,
    WeightBoostClassifier,
)
from steadyboost.bounds import margins
from steadyboost.callbacks import Monitor
from steadyboost.noise import corrupt
from steadyboost.plots import (
    CalibrationDisplay,
    ConfusionMatrixDisplay,
    DecisionRegionsDisplay,
    ImportanceDisplay,
    LearningCurveDisplay,
    MarginDistributionDisplay,
    NoiseCurveDisplay,
    SuspectsDisplay,
    TransitionMatrixDisplay,
    WeightHistoryDisplay,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def noisy_wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    given, noisy = corrupt(y.to_numpy(), 0.2, random_state=0)
    model = SAMMEClassifier(Stump(), n_estimators=15, callbacks=[Monitor()], random_state=0)
    return SimpleNamespace(X=X, y=y, given=given, noisy=noisy, model=model.fit(X, given))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_learning_curves_are_those_of_the_history_and_of_rows(noisy_wine):
    wine = noisy_wine
    display = LearningCurveDisplay.from_estimator(wine.model, wine.X, wine.y, name="clean")
    assert list(display.curves) == ["training", "clean"]
    np.testing.assert_array_equal(display.curves["training"], wine.model.history_["train_error"])
    staged = [np.mean(found != wine.y) for found in wine.model.staged_predict(wine.X)]
    np.testing.assert_allclose(display.curves["clean"], staged)
    drawn = display.ax_.lines[1].get_ydata()
    np.testing.assert_allclose(drawn, 100 * display.curves["clean"])
    assert {"training", "clean"} <= set(texts(display.ax_))


def test_learning_curves_of_sets_of_labels():
    from steadyboost import AdaBoostMHClassifier

    X, y = problem(100, 3)
    several = np.column_stack([y == 0, y > 0]).astype(int)
    model = AdaBoostMHClassifier(n_estimators=3).fit(X, several)
    display = LearningCurveDisplay.from_estimator(model, X, several)
    assert display.curves["test"][-1] == np.mean((model.predict(X) != several).any(axis=1))


def test_margins_are_those_of_the_bounds(noisy_wine):
    wine = noisy_wine
    display = MarginDistributionDisplay.from_estimator(
        wine.model, wine.X, wine.given, noisy=wine.noisy
    )
    expected = margins(wine.model, wine.X, wine.given)
    np.testing.assert_allclose(display.margins["label is wrong"], np.sort(expected[wine.noisy]))


def test_margins_of_two_classes_and_of_probabilities():
    X, y = problem(100, 2)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    for of in ("votes", "probabilities"):
        found = MarginDistributionDisplay.from_estimator(model, X, y, of=of).margins[""]
        assert np.abs(found).max() <= 1
        assert np.mean(found > 0) == model.score(X, y)
    X, y = problem(100, 3)
    with pytest.raises(ValueError, match="pass of='probabilities'"):
        MarginDistributionDisplay.from_estimator(AdaBoostClassifier().fit(X, y), X, y, of="votes")
    with pytest.raises(ValueError, match="of='leads' is not known"):
        MarginDistributionDisplay.from_estimator(AdaBoostClassifier().fit(X, y), X, y, of="leads")


def test_weights_are_those_that_rounds_trained_with(noisy_wine):
    wine = noisy_wine
    display = WeightHistoryDisplay.from_estimator(wine.model, wine.X, wine.given, noisy=wine.noisy)
    np.testing.assert_allclose(display.weights[0], 1)
    np.testing.assert_allclose(display.weights.mean(axis=1), 1)
    assert display.weights[-1, wine.noisy].mean() > 1
    assert display.ax_.get_yscale() == "log"
    assert wine.model.callbacks[0].metrics is None  # the model itself is as it was
    with pytest.raises(ValueError, match=r"noisy has shape \(3,\)"):
        WeightHistoryDisplay(np.ones((2, 5)), [True, False, True])


def test_confusion_and_transition(noisy_wine):
    wine = noisy_wine
    display = ConfusionMatrixDisplay.from_estimator(wine.model, wine.X, wine.y)
    expected = confusion_matrix(wine.y, wine.model.predict(wine.X), normalize="true")
    np.testing.assert_allclose(display.shares, expected)
    assert len(texts(display.ax_)) == np.count_nonzero(expected >= 0.0005)
    display = TransitionMatrixDisplay.from_labels(wine.y, wine.given)
    np.testing.assert_allclose(
        display.shares, confusion_matrix(wine.y, wine.given, normalize="true")
    )
    audit = SimpleNamespace(transition_matrix=np.eye(2), classes=["a", "b"])
    assert TransitionMatrixDisplay.from_audit(audit).classes == ["a", "b"]


def test_many_classes_have_a_bar_in_place_of_numbers():
    display = ConfusionMatrixDisplay(np.eye(20), [f"class {c}" for c in range(20)]).plot()
    assert texts(display.ax_) == []
    assert len(display.figure_.axes) == 2
    with pytest.raises(ValueError, match="pass a square one"):
        ConfusionMatrixDisplay(np.ones((2, 3)))
    with pytest.raises(ValueError, match="1 names for 2 rows"):
        ConfusionMatrixDisplay(np.eye(2), ["a"])


def test_noise_curves_are_of_labels_made_wrong(noisy_wine):
    wine = noisy_wine
    models = {"one": SAMMEClassifier(Stump(), n_estimators=3), "two": BaggingClassifier(Stump())}
    display = NoiseCurveDisplay.from_estimators(
        models, wine.X, wine.y, wine.X, wine.y, noises=[0, 0.3], n_draws=2
    )
    clean = models["one"].fit(wine.X, wine.y)
    np.testing.assert_allclose(display.errors["one"][0], 1 - clean.score(wine.X, wine.y))
    assert texts(display.ax_) == ["one", "two"]
    assert not hasattr(NoiseCurveDisplay({"a": [0.1, 0.2]}, [0, 1]), "ax_")
    with pytest.raises(ValueError, match=r"errors\['a'\] has 1 rows for 2 noises"):
        NoiseCurveDisplay({"a": [0.1]}, [0, 1])


def test_the_expected_calibration_error():
    proba = np.array([[0.9, 0.1]] * 50 + [[0.4, 0.6]] * 50)
    y = np.repeat([0, 1, 0], [40, 30, 30])  # 80 % of the first are right, 40 % of the others
    display = CalibrationDisplay.from_predictions(y, proba, n_bins=10)
    curve = display.curves[""]
    np.testing.assert_allclose(curve.confidence, [0.6, 0.9])
    np.testing.assert_allclose(curve.accuracy, [0.4, 0.8])
    assert curve.error == pytest.approx(0.15)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "ECE 15.0 %"
    with pytest.raises(ValueError, match=r"shape \(100, 2\) do not fit"):
        CalibrationDisplay.from_predictions(y, proba, classes=[0, 1, 2])


def test_calibration_of_several_models(noisy_wine):
    wine = noisy_wine
    display = CalibrationDisplay.from_estimator({"a": wine.model, "b": wine.model}, wine.X, wine.y)
    assert display.curves["a"].error == display.curves["b"].error
    assert len(display.ax_.get_legend().get_texts()) == 2


def test_importances_are_sorted_and_the_rest_summed_up(noisy_wine):
    display = ImportanceDisplay.from_estimator(noisy_wine.model, n_features=3)
    labels = [label.get_text() for label in display.ax_.get_yticklabels()]
    order = np.argsort(-noisy_wine.model.feature_importances_, kind="stable")
    assert labels == [*noisy_wine.X.columns[order[:3]], "10 others"]
    shown = display.ax_.collections[1].get_offsets()[:, 0]
    assert shown.sum() == pytest.approx(100)
    with pytest.raises(ValueError, match="for 1 names"):
        ImportanceDisplay([0.5, 0.5], ["a"])


@pytest.mark.parametrize("k", [2, 3])
def test_regions_are_what_the_model_predicts(k):
    X, y = problem(100, k)
    X, labels = X[:, :2], np.array(["a", "b", "c"])[y]
    model = WeightBoostClassifier(n_estimators=5).fit(X, labels)
    display = DecisionRegionsDisplay.from_estimator(
        model, X, labels, noisy=np.arange(100) < 10, resolution=20
    )
    corner = [[display.xx[3, 5], display.yy[3, 5]]]
    np.testing.assert_allclose(display.proba[3, 5], model.predict_proba(corner)[0])
    dots = [one for one in display.ax_.collections if isinstance(one, PathCollection)]
    assert sum(len(one.get_offsets()) for one in dots) == 100
    with pytest.raises(ValueError, match="regions are drawn of 2 features"):
        DecisionRegionsDisplay.from_estimator(model, np.ones((3, 4)))


def test_regions_of_a_frame(noisy_wine):
    X = noisy_wine.X[["alcohol", "hue"]]
    model = SAMMEClassifier(n_estimators=3).fit(X, noisy_wine.y)
    display = DecisionRegionsDisplay.from_estimator(model, X, resolution=10)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("alcohol", "hue")


def test_suspects_are_sorted_by_score():
    table = {
        "row": np.arange(30),
        "given": np.zeros(30, int),
        "suggested": np.ones(30, int),
        "score": np.linspace(1, 0, 30),
    }
    audit = SimpleNamespace(table=table)
    display = SuspectsDisplay.from_audit(audit, n_suspects=4, noisy=np.arange(30) > 27)
    assert display.table["row"].tolist() == [29, 28, 27, 26]
    assert display.noisy.tolist() == [True, True, False, False]
    assert sum(words.startswith("0 → 1 (") for words in texts(display.ax_)) == 4


def test_a_row_that_is_no_suspect_has_one_label():
    table = {"row": [3, 8], "given": [0, 1], "suggested": [1, 1], "score": [0.2, 0.6]}
    shown = texts(SuspectsDisplay(table).plot().ax_)
    assert {"0 → 1 (20.0 %)", "1 (60.0 %)"} <= set(shown)


def test_what_steadyboost_knows_of_labels(noisy_wine):
    model = SteadyBoostClassifier(n_estimators=10, random_state=0)
    model.fit(noisy_wine.X, noisy_wine.given)
    display = SuspectsDisplay.from_estimator(model, n_suspects=5, noisy=noisy_wine.noisy)
    np.testing.assert_array_equal(display.table["row"], model.labels_.row[:5])
    matrix = TransitionMatrixDisplay.from_estimator(model)
    np.testing.assert_allclose(matrix.shares, model.transition_matrix_)


def test_displays_draw_into_given_axes_and_leave_the_style_alone(noisy_wine):
    before = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    display = ImportanceDisplay.from_estimator(noisy_wine.model, ax=left)
    assert display.ax_ is left
    assert display.figure_ is figure
    assert display.plot(right).ax_ is right
    assert dict(mpl.rcParams) == before


def test_nothing_to_draw_is_said():
    X, y = problem(50, 2)
    with pytest.raises(ValueError, match="holds no errors"):
        LearningCurveDisplay.from_estimator(SAMMEClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(ValueError, match="nothing to draw"):
        LearningCurveDisplay({})
    with pytest.raises(ValueError, match="nothing to draw"):
        MarginDistributionDisplay({})


def test_charts_need_no_matplotlib_and_displays_name_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from steadyboost.pages.svg import error_chart\n"
        "try:\n    from steadyboost.plots import NoiseCurveDisplay\n"
        "except ImportError as error: print(error)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'steadyboost[plots]'" in found.stdout


def test_public_names():
    for name in steadyboost.plots.__all__:
        assert getattr(steadyboost.plots, name) is not None
        assert name in dir(steadyboost.plots)
    with pytest.raises(AttributeError, match="no attribute 'PieDisplay'"):
        _ = steadyboost.plots.PieDisplay


def test_scores_near_zero_have_an_axis_of_their_own_size_and_are_told_apart():
    table = {
        "row": [3, 5],
        "given": ["a", "b"],
        "suggested": ["b", "a"],
        "score": [1e-7, 4e-5],
    }
    ax = SuspectsDisplay(table).plot().ax_
    low, high = ax.get_xlim()
    assert -0.01 < low < 0
    assert 0.1 < high < 0.12
    words = [text.get_text() for text in ax.texts]
    assert words[:2] == ["a → b (0.000010 %)", "b → a (0.0040 %)"]


def test_without_suspects_there_is_a_sentence_in_place_of_axes():
    table = {"row": [], "given": [], "suggested": [], "score": []}
    display = SuspectsDisplay(table).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["no rows to show"]


def test_margins_of_the_flagship_need_no_options():
    X, y = load_wine(return_X_y=True)
    model = SteadyBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
    (found,) = MarginDistributionDisplay.from_estimator(model, X, y).margins.values()
    proba = model.predict_proba(X)
    own = proba[np.arange(len(y)), y]
    rest = np.where(np.arange(3) == y[:, None], -1, proba).max(axis=1)
    np.testing.assert_allclose(found, np.sort(own - rest))
