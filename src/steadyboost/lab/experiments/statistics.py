"""Mean, deviation and the corrected resampled t-test."""

import math
from dataclasses import dataclass

import numpy as np

LEVEL = 0.05


@dataclass(frozen=True)
class Estimate:
    """Mean over the runs, their standard deviation (None for one run) and their number."""

    mean: float
    sd: float | None
    n: int


def estimate(values: np.ndarray) -> Estimate | None:
    """Of the values that are there; None where there are none."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    sd = float(known.std(ddof=1)) if len(known) > 1 else None
    return Estimate(float(known.mean()), sd, len(known))


def corrected_t_test(differences: np.ndarray, test_share: float) -> tuple[float, float]:
    """The t statistic and two-sided p-value of paired differences of resampled runs.

    Training sets of resampled runs overlap, so their differences vary less than those of
    independent ones would. Nadeau and Bengio (2003) raise the variance of the mean from 1/J to
    1/J + test rows / training rows.

    Parameters
    ----------
    differences : ndarray of shape (n_runs,)
        Differences of two methods in the same runs, at least two.
    test_share : float
        Test rows over training rows of a run.

    Examples
    --------
    >>> import numpy as np
    >>> t, p = corrected_t_test(np.array([1.0, 2.0, 3.0]), test_share=0.5)
    >>> round(t, 3), round(p, 3)
    (2.191, 0.16)
    """
    from scipy.stats import t as student

    n, mean = len(differences), float(differences.mean())
    variance = float(differences.var(ddof=1)) * (1 / n + test_share)
    if variance <= 0:  # all alike: either no difference at all, or one without doubt
        return (0.0, 1.0) if mean == 0 else (math.copysign(math.inf, mean), 0.0)
    statistic = mean / math.sqrt(variance)
    return statistic, float(2 * student.sf(abs(statistic), n - 1))
