"""Figures against slow and obvious ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from steadyboost import SteadyBoostClassifier
from steadyboost.evaluation import calibration_error, clean_error, evaluate
from steadyboost.noise import audit, corrupt


def slow_calibration_error(y, proba, bins):
    """For each bin, how far apart confidence and accuracy are, weighted by its rows."""
    total = 0.0
    for b in range(bins):
        gap = 0.0
        for label, row in zip(y, proba, strict=True):
            sure = max(row)
            last = b == bins - 1 and sure >= 1
            if b <= sure * bins < b + 1 or last:
                gap += float(np.argmax(row) == label) - sure
        total += abs(gap)
    return total / len(y)


@pytest.fixture
def guesses():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), size=60)
    proba[0] = [0, 0, 1, 0]
    return rng.integers(3, size=60), proba  # the last class has no rows


@pytest.mark.parametrize("bins", [1, 7, 15])
def test_calibration_agrees_with_its_twin(guesses, bins):
    y, proba = guesses
    assert calibration_error(y, proba, bins) == pytest.approx(
        slow_calibration_error(y, proba, bins)
    )


def test_classes_without_rows_do_not_count_in_the_balanced_error(guesses):
    y, proba = guesses
    found = evaluate(y, proba)
    errors = [np.mean(proba[y == c].argmax(axis=1) != c) for c in range(3)]
    assert found.balanced_error == pytest.approx(np.mean(errors))
    assert found.per_class()[3]["recall"] is None
    assert np.sum(found.confusion) == found.rows == 60


def test_certainty_that_is_wrong_costs_much_but_not_infinitely_much():
    found = evaluate(np.array([1]), np.array([[1.0, 0.0]]))
    assert 700 < found.log_loss < np.inf
    assert (found.error, found.calibration_error) == (1, 1)


def test_the_baseline_and_the_area_under_the_curve(guesses):
    y, proba = guesses
    found = evaluate(y, proba)
    counts = [np.sum(y == c) for c in range(3)]
    assert found.baseline_error == pytest.approx(1 - max(counts) / 60)
    assert found.most_frequent == int(np.argmax(counts))
    pairs = [np.mean([a > b for a in proba[y == c, c] for b in proba[y != c, c]]) for c in range(3)]
    assert found.auc == pytest.approx(np.mean(pairs))
    assert evaluate(np.zeros(3, dtype=int), proba[:3]).auc is None


def test_it_is_short_in_a_terminal_and_a_table_in_a_notebook(guesses):
    found = evaluate(*guesses)
    assert repr(found).startswith("Evaluation of 60 rows: error ")
    assert "\n" not in repr(found)
    assert found._repr_html_().count("<tr>") == 5


def noisy_test(n=6000, rate=0.2, wrong=0.1, k=3, seed=0):
    """True labels, predictions with a known error, noisy labels, and an audit's attributes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    said = np.where(rng.random(n) < wrong, (y + 1) % k, y)
    noisy, _ = corrupt(y, rate, random_state=seed)
    matrix = (1 - rate) * np.eye(k) + rate / (k - 1) * (1 - np.eye(k))
    noise = SimpleNamespace(
        transition_matrix=matrix,
        classes=np.arange(k),
        noise_rate=rate,
        noise_rate_interval=(0.9 * rate, 1.1 * rate),
    )
    return y, said, noisy, noise


@pytest.mark.parametrize("rate", [0.1, 0.2, 0.3])
def test_the_clean_error_is_estimated_from_noisy_labels(rate):
    y, said, noisy, noise = noisy_test(rate=rate)
    found = clean_error(noisy, said, noise)
    actual = np.mean(said != y)
    assert found
    assert found.error == pytest.approx(actual, abs=0.02)
    assert found.low < actual < found.high
    assert found.given_error == np.mean(said != noisy) > 0.15


def test_clean_labels_need_no_correction():
    y, said, _, noise = noisy_test(rate=0.0)
    found = clean_error(y, said, noise)
    assert found.error == pytest.approx(np.mean(said != y))


def test_checked_rows_give_the_error_without_assumptions():
    y, said, noisy, _ = noisy_test()
    checked = np.arange(0, 6000, 5)
    given = noisy.copy()
    given[checked] = y[checked]
    found = clean_error(given, said, verified=checked)
    assert found.error == np.mean(said[checked] != y[checked])
    assert found.low < found.error < found.high
    assert found.rows == 1200


def test_it_says_when_there_is_no_estimate():
    _, said, noisy, noise = noisy_test(rate=0.65)
    assert "mixes classes up" in clean_error(noisy, said, noise).reason
    _, said, noisy, noise = noisy_test(n=40)
    found = clean_error(noisy, said, noise)
    assert not found
    assert np.isnan(found.error)
    assert "checked" in found.reason
    assert "no row" in clean_error(noisy, said, verified=[]).reason


def test_an_audit_and_a_model_know_the_noise():
    X, y = load_wine(return_X_y=True)
    noisy, _ = corrupt(y, 0.1, random_state=0)
    model = SteadyBoostClassifier(n_estimators=20, random_state=0).fit(X, noisy)
    by_model = clean_error(noisy, model.predict(X), model)
    by_audit = clean_error(noisy, model.predict(X), audit(X, noisy, random_state=0))
    assert by_model.error < 0.1
    assert by_audit.error < 0.1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([0, 1], [0]), "shape"),
        (([0, 1], [0, 1]), "pass an audit"),
        (([0, 1], [0, 1], "much"), "no transition matrix"),
        (([0, 7], [0, 1], noisy_test()[3]), r"labels \[7\]"),
    ],
)
def test_bad_input_of_the_clean_error(args, message):
    with pytest.raises(ValueError, match=message):
        clean_error(*args)
