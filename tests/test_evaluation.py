"""Figures against slow and obvious ones."""

import numpy as np
import pytest

from steadyboost.evaluation import calibration_error, evaluate


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
