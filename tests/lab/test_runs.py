"""The corrected t-test against values worked out by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from steadyboost.lab.runs import corrected_t_test, estimate


def test_t_test_by_hand():
    # Mean 2; squares of the deviations 4 + 1 + 0 + 1 + 4, over 4: variance 2.5.
    differences = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    t, p = corrected_t_test(differences, test_share=2 / 3)
    assert t == pytest.approx(2 / math.sqrt((1 / 5 + 2 / 3) * 2.5))
    assert p == pytest.approx(2 * stats.t.sf(t, 4))
    assert t == pytest.approx(1.358732, abs=1e-6)


def test_without_overlap_it_is_the_usual_test():
    differences = np.random.default_rng(0).normal(0.3, 1.0, size=20)
    usual = stats.ttest_1samp(differences, 0.0)
    t, p = corrected_t_test(differences, test_share=0.0)
    assert (t, p) == (pytest.approx(usual.statistic), pytest.approx(usual.pvalue))


def test_differences_that_are_all_alike():
    assert corrected_t_test(np.zeros(4), 0.1) == (0.0, 1.0)
    assert corrected_t_test(np.full(4, -2.0), 0.1) == (-math.inf, 0.0)


def test_estimates_leave_out_what_is_missing():
    found = estimate(np.array([1.0, np.nan, 3.0]))
    assert (found.mean, found.sd, found.n) == (2.0, pytest.approx(math.sqrt(2)), 2)
    assert estimate(np.array([1.0])).sd is None
    assert estimate(np.array([np.nan])) is None
