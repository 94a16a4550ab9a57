"""Checked rows: never flagged, and what they tell of all others."""

import numpy as np
import pandas as pd
import pytest
from common import problem, redraw_rate
from made_crowds import listed, made_crowd
from scipy.optimize import approx_fprime

from steadyboost import SteadyBoostClassifier
from steadyboost.ensemble.verified import Checked, check_verified, corrected
from steadyboost.evaluation import clean_error
from steadyboost.noise import audit, audit_proba, corrupt
from steadyboost.noise.label_errors import Labels, judge_labels, view_of
from steadyboost.noise.noise_model import Reading, cost, fit_noise_models, logs


def hard_classes(n=4000, sure=0.55, noise=0.2, seed=0):
    """Probabilities of a classifier that is often wrong, the truth, and noisy labels.

    It says neither where: all of its errors look like wrong labels.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    right = rng.random(n) < 0.5 + sure / 2
    said = np.where(right, y, 1 - y)
    proba = np.where(np.eye(2)[said] > 0, 0.9, 0.1) + rng.uniform(-0.05, 0.05, (n, 1)) * [1, -1]
    noisy, is_wrong = corrupt(y, noise, random_state=seed)
    return proba, y, noisy, is_wrong


def test_they_correct_the_rate():
    """A classifier that looks surer than it is: its errors count as wrong labels without them."""
    proba, y, noisy, is_wrong = hard_classes()
    verified = np.arange(0, 4000, 8)
    given = noisy.copy()
    given[verified] = y[verified]
    actual = np.mean(given != y)
    without = audit_proba(proba, given).noise_rate
    known = audit_proba(proba, given, verified=verified).noise_rate
    assert abs(known - actual) < 0.5 * abs(without - actual)
    assert is_wrong.mean() == pytest.approx(0.2)


def test_they_are_never_flagged_and_count_as_right():
    X, y = problem(n=400, noise=0)
    given, is_wrong = corrupt(y, 0.2, random_state=0)
    checked = np.flatnonzero(is_wrong)[:20]  # labels that look wrong, but are said to be right
    free = SteadyBoostClassifier(n_estimators=20, random_state=0).fit(X, given)
    held = SteadyBoostClassifier(n_estimators=20, random_state=0).fit(X, given, verified=checked)
    assert len(np.intersect1d(free.suspects_.row, checked)) > 10
    assert not len(np.intersect1d(held.suspects_.row, checked))
    np.testing.assert_array_equal(held.label_scores_[checked], 1)
    found = audit(X, given, verified=checked, random_state=0, flag=200)
    assert not len(np.intersect1d(found.suspects, checked))


def test_no_verified_row_is_the_ordinary_audit():
    proba, _, noisy, _ = hard_classes(n=500)
    one, other = audit_proba(proba, noisy), audit_proba(proba, noisy, verified=[])
    np.testing.assert_array_equal(one.scores, other.scores)
    np.testing.assert_array_equal(one.transition_matrix, other.transition_matrix)


def test_all_verified_rows_leave_no_doubt():
    proba, _, noisy, _ = hard_classes(n=500)
    all_rows = Checked.of(noisy, np.ones(500, dtype=bool), None)
    found = judge_labels([Reading(proba, np.eye(2))], noisy, checked=all_rows)
    assert found.rate.rate == 0
    assert not found.wrong.any()


def test_derivatives_with_verified_rows():
    proba, _, noisy, _ = hard_classes(n=60)
    verified = np.arange(60) % 3 == 0
    share, args = np.full(60, 1 / 60), (logs(proba[None]), noisy)
    point = np.array([0.1, -1.0])
    rest = share, None, 1.0 - verified
    slope = approx_fprime(point, lambda at: cost(at, *args, *rest)[0], 1e-7)
    np.testing.assert_allclose(cost(point, *args, *rest)[1], slope, atol=1e-5)


def test_the_rate_of_the_noise_model_is_that_of_other_rows():
    """Verified rows whose labels contradict the model do not raise it."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=2000)
    proba = 0.8 * np.eye(2)[y] + 0.1
    noisy, is_wrong = corrupt(y, 0.3, random_state=0)
    free = fit_noise_models(proba[None], noisy, np.ones(2000))[0]
    checked = Checked.of(noisy, is_wrong, None)
    held = fit_noise_models(proba[None], noisy, np.ones(2000), None, checked)[0]
    assert redraw_rate(held) < 0.5 * redraw_rate(free)
    put_right = Checked.of(y, is_wrong, noisy)
    same = fit_noise_models(proba[None], y, np.ones(2000), None, put_right)[0]
    assert redraw_rate(same) == redraw_rate(free)


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("who", ["classifier", "labels"])
def test_verified_rows_tell_who_is_wrong(who, told):
    """Of rows that disagree, in a way that could be either."""
    rng, n = np.random.default_rng(0), 800
    top = np.linspace(0.55, 0.95, n)[:, None]
    proba = np.where(np.eye(2)[rng.integers(2, size=n)] > 0, top, 1 - top)
    best = proba.argmax(axis=1)
    given = np.where(rng.random(n) < 0.35 * np.exp(-1.5 * np.linspace(0, 1, n)), 1 - best, best)
    verified = np.arange(n) % 4 == 0
    y = given if who == "classifier" else np.where(verified, best, given)
    checked = Checked.of(y, verified, given if told else None)
    reading = Reading(proba, np.eye(2))
    free = view_of(reading, Labels.of(given, np.ones(n)))
    held = view_of(reading, Labels.of(y, np.ones(n), checked))
    doubted = ~verified & held.rows.disagrees
    change = held.wrong[doubted].mean() - free.wrong[doubted].mean()
    assert change < -0.05 if who == "classifier" else change > 0.05


def test_rows_that_were_checked_because_they_look_wrong_leave_no_gap():
    """With the labels that they had, the count of the others stays what it was."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=3000)
    said = np.where(rng.random(3000) < 0.95, y, rng.integers(3, size=3000))
    proba = 0.7 * np.eye(3)[said] + 0.1 + rng.uniform(-0.05, 0.05, (3000, 3))
    proba /= proba.sum(axis=1, keepdims=True)
    given, is_wrong = corrupt(y, 0.4, random_state=0)
    first = audit_proba(proba, given)
    reviewed = first.table.row[:600]
    truth = dict(zip(reviewed.tolist(), y[reviewed].tolist(), strict=True))
    rest = np.setdiff1d(np.arange(3000), reviewed)
    actual = is_wrong[rest].sum() / 3000
    told = audit_proba(proba, given, verified=truth)
    assert told.noise_rate == pytest.approx(actual, abs=0.02)
    assert not len(np.intersect1d(told.suspects, reviewed))
    np.testing.assert_array_equal(told.given[reviewed], y[reviewed])
    untold = audit_proba(proba, np.where(np.isin(np.arange(3000), reviewed), y, given),
                         verified=reviewed)  # fmt: skip
    assert abs(untold.noise_rate - actual) > 2 * abs(told.noise_rate - actual)


def test_they_judge_annotators():
    """Most annotators take the first class for the second: only checked rows can tell."""
    X, y = problem(n=300, k=2, noise=0)
    answers, made, _ = made_crowd(n=300, k=2, n_annotators=6, per_item=3, low=0.05, high=0.15)
    frame = pd.DataFrame(listed(answers), columns=["item", "annotator", "label"])
    frame["label"] = (frame.label + made[frame.item] + y[frame.item]) % 2
    model = SteadyBoostClassifier(n_estimators=20, random_state=0)
    model.fit(X, y, annotations=frame, verified=np.arange(60))
    np.testing.assert_array_equal(model.consensus_.label[:60], y[:60])
    assert np.mean(model.consensus_.label == y) > 0.9
    assert (model.annotators_.accuracy < 0.4).all()
    assert model.annotators_.n_checked.sum() == 180


def test_a_dictionary_puts_labels_right():
    X, y = problem(n=300, noise=0)
    given, is_wrong = corrupt(y, 0.2, random_state=0)
    truth = {int(row): int(y[row]) for row in np.flatnonzero(is_wrong)[:20]}
    found = audit(X, given, verified=truth, random_state=0)
    np.testing.assert_array_equal(found.given[list(truth)], y[list(truth)])
    assert not np.intersect1d(found.suspects, list(truth)).size
    rest = np.setdiff1d(np.arange(300), list(truth))
    np.testing.assert_array_equal(found.given[rest], given[rest])
    model = SteadyBoostClassifier(n_estimators=5, random_state=0)
    right = model.fit(X, given, verified=truth).labels_.given
    np.testing.assert_array_equal(right[np.argsort(model.labels_.row)], found.given)
    assert clean_error(given, y, verified=truth).error == 0


def test_a_dictionary_of_golden_questions_needs_no_labels():
    X, _ = problem(n=60, k=2, noise=0)
    answers = [["a", "b"], ["b", "b"]] * 30
    model = SteadyBoostClassifier(n_estimators=3, random_state=0)
    model.fit(X, annotations=answers, verified={0: "b", 7: "c"})
    assert model.consensus_.label[[0, 7]].tolist() == ["b", "c"]
    assert model.annotators_.n_checked_right.tolist() == [0, 1]


def test_forms():
    mask = np.array([True, False, True])
    np.testing.assert_array_equal(check_verified(mask, 3), mask)
    np.testing.assert_array_equal(check_verified([0, 2], 3), mask)
    assert check_verified(None, 3) is None
    assert not check_verified([], 3).any()
    y, verified, given = corrected({1: 0}, np.array([0, 1, 1]))
    assert (y.tolist(), verified.tolist(), given.tolist()) == (
        [0, 0, 1], [False, True, False], [0, 1, 1],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verified", "message"),
    [
        ([0, 3], "row 3"),
        ([-1], "row -1"),
        ([0, 1, 0], "row 0 2 times"),
        ([True, False], "shape"),
        ([0.5], "mask of True and False"),
        ({3: 0}, "row 3"),
        ({"a": 0}, "dictionary from"),
    ],
)
def test_bad_ones(verified, message):
    with pytest.raises(ValueError, match=message):
        check_verified(verified, 3)


def test_labels_of_a_dictionary_are_known():
    with pytest.raises(ValueError, match="'c' for row 1, which no row of y has"):
        corrected({1: "c"}, np.array(["a", "b"]))


def test_with_annotations_they_need_labels():
    with pytest.raises(ValueError, match="pass y"):
        SteadyBoostClassifier().fit(np.zeros((2, 1)), annotations=[["a", "b"]] * 2, verified=[0])
