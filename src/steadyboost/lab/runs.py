"""Fitting, timing and testing one model on one split, and statistics of several such runs.

The demo, comparisons and the papers' experiments share this runner. They differ in their splits, by
design: a comparison uses stratified folds, an experiment the protocol of its paper.
"""

import math
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from steadyboost.ensemble.callbacks import Callback

LEVEL = 0.05  # of significance, as in the papers


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Collect the messages of warnings, each once, instead of showing them."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield messages
        finally:
            messages += dict.fromkeys(str(warning.message) for warning in caught)


class StopAfterTwo(Callback):
    """Ends a fit after two rounds, which execute all the code that more rounds would."""

    def on_round(self, run: Any) -> bool:
        return len(run.stages) == 2


def compile_kernels(model: Any, X: Any, y: np.ndarray) -> None:
    """Fit a clone of a booster for two rounds, so that later times exclude compilation."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clone(model).set_params(callbacks=[StopAfterTwo()]).fit(X, y)


def fit_timed(model: Any, X: Any, y: np.ndarray) -> float:
    """Fit a model; the time it took in seconds."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def error_rate(predicted: np.ndarray, y: np.ndarray) -> float:
    """Share of wrong predictions."""
    return float(np.mean(predicted != y))


def staged_errors(predictions: Iterable[np.ndarray], y: np.ndarray) -> np.ndarray:
    """Error rate after each round, from the predictions of ``staged_predict``."""
    return np.array([error_rate(predicted, y) for predicted in predictions])


@dataclass(frozen=True)
class Estimate:
    """Mean and standard deviation over runs (None for one run), and their number."""

    mean: float
    sd: float | None
    n: int


def estimate(values: np.ndarray) -> Estimate | None:
    """Estimate from the values that are not NaN; None if there are none."""
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
    if variance <= 0:  # equal differences: either all are zero, or the statistic is infinite
        return (0.0, 1.0) if mean == 0 else (math.copysign(math.inf, mean), 0.0)
    statistic = mean / math.sqrt(variance)
    return statistic, float(2 * student.sf(abs(statistic), n - 1))
