"""Bounds on the training error of a fitted model, by the theorems of its paper.

References
----------
.. [1] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.
.. [2] R. Jin, J. Zhang (2007). Multi-class learning by smoothed boosting. Machine Learning 67,
   207-227.
.. [3] Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line learning
   and an application to boosting. Journal of Computer and System Sciences 55, 119-139.
.. [4] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
   Statistics 26, 1651-1686.
.. [5] R. E. Schapire, Y. Singer (1999). Improved boosting algorithms using confidence-rated
   predictions. Machine Learning 37, 297-336.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from steadyboost.boosters.adaboost_m2 import AdaBoostM2Classifier
from steadyboost.boosters.adaboost_mh import AdaBoostMHClassifier
from steadyboost.boosters.adaboost_oc import AdaBoostOCClassifier
from steadyboost.boosters.families.labelwise import indicator
from steadyboost.boosters.msmooth import MSmoothBoostClassifier
from steadyboost.bounds.margin import lead, own_labels, require


class ProductBound(NamedTuple):
    """A bound on the training error after each round, and its simpler, weaker form."""

    product: np.ndarray
    exponential: np.ndarray


class SmoothedBound(NamedTuple):
    """``tau`` bounds the training error, ``product`` bounds tau, and ``weaker`` the product."""

    tau: np.ndarray
    product: np.ndarray
    weaker: np.ndarray


def training_error(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, theta: float = 0.0
) -> np.ndarray:
    """Training error after each round; a tie with another label counts as an error.

    The margin of a row must exceed ``theta`` times the sum of the steps; above 0 this is the
    marginal training error of [2]_.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=30).fit(X, y)
    >>> bounds.training_error(model, X, y)[[0, -1]].round(2)
    array([0.3, 0. ])
    """
    own = own_labels(model, y)
    goals = theta * model.estimator_weights_.cumsum()
    staged = zip(model._staged_scores(X), goals, strict=True)
    wrong = [lead(scores, own) <= goal for scores, goal in staged]
    return np.average(wrong, axis=1, weights=sample_weight)


def oc_bound(model: AdaBoostOCClassifier) -> ProductBound:
    """Bound the training error of AdaBoost.OC: Theorem 1 of [1]_, for either ``alpha``.

    With ``gamma = 1/2 - error``, ``product`` is (k - 1) times that of sqrt(1 - 4 (gamma U)^2), and
    ``exponential`` is (k - 1) exp(-2 sum (gamma U)^2). A step a multiplies the mean of the sums of
    exp(S(l) - S(y)) over wrong labels l by 1 - U + U ((1 - error) e^-a + error e^a), which is no
    more than the theorem's factor for either ``alpha``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(Stump(), n_estimators=30, random_state=0).fit(X, y)
    >>> bool((bounds.training_error(model, X, y) <= bounds.oc_bound(model).product).all())
    True
    """
    require(model, AdaBoostOCClassifier, "oc_bound")
    return _product_bound(*_edges_and_factors(model), model.n_classes_ - 1)


def m2_bound(model: AdaBoostM2Classifier) -> ProductBound:
    """Bound the training error of AdaBoost.M2: Theorem 11 of [3]_, as eq. (2) of [1]_ has it.

    With the pseudoloss e, ``product`` is (k - 1) times that of 2 sqrt(e (1 - e)), and
    ``exponential`` is (k - 1) exp(-2 sum (1/2 - e)^2).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostM2Classifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostM2Classifier(Stump(), n_estimators=30, random_state=0).fit(X, y)
    >>> bool((bounds.training_error(model, X, y) <= bounds.m2_bound(model).product).all())
    True
    """
    require(model, AdaBoostM2Classifier, "m2_bound")
    return _product_bound(*_edges_and_factors(model), model.n_classes_ - 1)


def margin_bound(model: AdaBoostOCClassifier | AdaBoostM2Classifier, theta: float) -> np.ndarray:
    """Bound ``training_error`` at a ``theta`` of AdaBoost.OC or AdaBoost.M2.

    Each factor of Theorem 1 of [1]_ rises by e^(theta a), a being the step. At the papers' steps
    that is, with g = 2 gamma U (or 1 - 2 pseudoloss), (k - 1) times the product of
    (1 - g)^((1 - theta) / 2) (1 + g)^((1 + theta) / 2), as in [4]_: the margin is the lead over any
    other label as a share of the largest possible one, from -1 to 1. Where a margin is half of
    that, from -1/2 to 1/2, the exponents are 1/2 - theta and 1/2 + theta.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(Stump(), n_estimators=30, random_state=0).fit(X, y)
    >>> small = bounds.training_error(model, X, y, theta=0.1)
    >>> bool((small <= bounds.margin_bound(model, theta=0.1)).all())
    True
    """
    kind = AdaBoostM2Classifier if isinstance(model, AdaBoostM2Classifier) else AdaBoostOCClassifier
    require(model, kind, "margin_bound")
    edge, taken = _edges_and_factors(model)
    factors = np.maximum(_theorem(edge)[0], taken) * np.exp(theta * model.estimator_weights_)
    return (model.n_classes_ - 1) * np.cumprod(factors)


def mh_bound(model: AdaBoostMHClassifier) -> ProductBound:
    """Bound the Hamming loss of AdaBoost.MH on its training rows: Theorem 1 of [5]_.

    With the weighted error e of a round's answers to the questions of all labels, ``product`` is
    that of 2 sqrt(e (1 - e)), and ``exponential`` is exp(-2 sum (1/2 - e)^2).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostMHClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(Stump(), n_estimators=30).fit(X, y)
    >>> bool((bounds.hamming_loss(model, X, y) <= bounds.mh_bound(model).product).all())
    True
    """
    require(model, AdaBoostMHClassifier, "mh_bound")
    error, step = model.estimator_errors_, model.estimator_weights_
    return _product_bound(0.5 - error, _exponential_loss(error, step), 1)


def hamming_loss(
    model: AdaBoostMHClassifier, X: Any, y: Any, sample_weight: Any = None
) -> np.ndarray:
    """Share of wrong answers to the questions of all labels, after each round.

    ``y`` is as it was passed to ``fit``, labels or an indicator matrix; a score of 0 is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostMHClassifier, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostMHClassifier(n_estimators=10).fit(X, y)
    >>> round(float(bounds.hamming_loss(model, X, y)[-1]), 3)
    0.0
    """
    require(model, AdaBoostMHClassifier, "hamming_loss")
    own = model._class_indices(np.asarray(y), "y")
    signs = 2.0 * indicator(own, model.n_classes_).T - 1
    wrong = [(signs * scores <= 0).mean(axis=1) for scores in model._staged_scores(X)]
    return np.average(wrong, axis=1, weights=sample_weight)


def msmooth_bound(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, printed: bool = False
) -> SmoothedBound:
    """Bound the training error of MSmoothBoost: Theorem 1 of [2]_, corrected.

    ``tau`` is the loss that the algorithm works on, eq. (16). With v of eq. (14) and a step a,
    ``product`` is tau_0 times that of 1 - v (1 - (1 - error) e^-2a - error e^2a), for the paper's
    step 1 - v (1 - 2 sqrt(error (1 - error))); without smoothing it equals tau. ``weaker`` is
    tau_0 times the product of 1 - v (1 - 2 error)^2 / 2.

    Parameters
    ----------
    model, X, y, sample_weight
        A fitted MSmoothBoostClassifier and its training rows.
    printed : bool, default=False
        Give the products as the paper prints them, which is **wrong**: training errors exceed
        them. They lack tau_0 = (1 + lambda) (k - 1) / (1 + lambda (k - 1)). ``product`` is then
        appendix 1's, of half the true decrease; ``weaker`` is the theorem's, of 1 - v g^2, where g
        is 1 - 2 error in the statement (and here) but 1/2 - error in the proof.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import MSmoothBoostClassifier, Stump, bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MSmoothBoostClassifier(Stump(), smoothing=0.1, n_estimators=9, random_state=0)
    >>> tau, product, weaker = bounds.msmooth_bound(model.fit(X, y), X, y)
    >>> bool((bounds.training_error(model, X, y) <= tau).all() and (tau <= product).all())
    True
    >>> wrong = bounds.msmooth_bound(model, X, y, printed=True)
    >>> bool((bounds.training_error(model, X, y) <= wrong.weaker).all())
    False
    """
    require(model, MSmoothBoostClassifier, "msmooth_bound")
    error, step = model.estimator_errors_, model.estimator_weights_
    tau, v = _tau_and_v(model, X, own_labels(model, y), sample_weight)
    decrease = 1 - 2 * np.sqrt(error * (1 - error))
    if printed:
        stated = np.cumprod(1 - v * (1 - 2 * error) ** 2)
        return SmoothedBound(tau[1:], np.cumprod(1 - v / 2 * decrease), stated)
    taken = 1 - v * (1 - _exponential_loss(error, 2 * step))
    factors = np.maximum([1 - v * decrease, 1 - v * (1 - 2 * error) ** 2 / 2], taken)
    return SmoothedBound(tau[1:], *(tau[0] * np.cumprod(factors, axis=1)))


def msmooth_margin_bound(
    model: Any, X: Any, y: Any, theta: float, sample_weight: Any = None, *, printed: bool = False
) -> np.ndarray:
    """Bound ``training_error`` at a ``theta`` from 0 to 1: Theorem 2 of [2]_, corrected.

    That is (lambda (2 + lambda) + exp(theta sum a)) tau / (1 + lambda)^2 + lambda / (1 + lambda),
    and NaN where the steps have no positive sum. With ``printed`` it is as the paper prints it,
    which is **wrong**: with Theorem 1's wrong product in place of tau, and the exponent 4 theta,
    which should be theta / 4, on the product of (1 - error) / error.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import MSmoothBoostClassifier, Stump, bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MSmoothBoostClassifier(Stump(), smoothing=0.1, n_estimators=9, random_state=0)
    >>> bound = bounds.msmooth_margin_bound(model.fit(X, y), X, y, theta=0.1)
    >>> bool((bounds.training_error(model, X, y, theta=0.1) <= bound).all())
    True
    """
    tau, _, stated = msmooth_bound(model, X, y, sample_weight, printed=printed)
    total, smoothing = model.estimator_weights_.cumsum(), model.smoothing_
    with np.errstate(over="ignore"):
        rise = np.exp(theta * total * (16 if printed else 1))
    bound = (smoothing * (2 + smoothing) + rise) * (stated if printed else tau)
    bound = bound / (1 + smoothing) ** 2 + smoothing / (1 + smoothing)
    return np.where(total > 0, bound, np.nan)


def _exponential_loss(error: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(1 - error) e^-step + error e^step, at least 2 sqrt(error (1 - error))."""
    return (1 - error) * np.exp(-step) + error * np.exp(step)


def _edges_and_factors(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """gamma U of each round, and by how much the step taken shrinks the exponential loss."""
    error, step = model.estimator_errors_, model.estimator_weights_
    if isinstance(model, AdaBoostM2Classifier):
        return 0.5 - error, _exponential_loss(error, step)
    by_round = {record["round"]: record["U"] for record in model.history_}
    U = np.array([by_round[t + 1] for t in range(model.n_iter_)])
    return (0.5 - error) * U, 1 - U * (1 - _exponential_loss(error, step))


def _theorem(edge: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The factors of a round, and simpler ones that are no smaller."""
    return np.sqrt(np.maximum(1 - 4 * edge**2, 0)), np.exp(-2 * edge**2)


def _product_bound(edge: np.ndarray, taken: np.ndarray, first: float) -> ProductBound:
    """Products of the factors, from ``first`` on."""
    return ProductBound(*(first * np.cumprod(np.maximum(_theorem(edge), taken), axis=1)))


def _tau_and_v(model: Any, X: Any, own: np.ndarray, sample_weight: Any) -> tuple:
    """Eq. (16), before the first round and after each; eq. (14), with mu as the round finds it."""
    weights = np.ones(len(own)) if sample_weight is None else np.asarray(sample_weight, float)
    smoothing, tau, v = model.smoothing_, [], []
    for against, apart in _log_odds_against(model, X, own):
        damping = np.logaddexp(0, against + np.log(smoothing)) if smoothing > 0 else 0.0
        top = (against - damping).max()
        mass = weights * np.exp(against - damping - top)
        with np.errstate(over="ignore"):
            tau.append((1 + smoothing) * mass.sum() / weights.sum() * np.exp(top))
        v.append((weights * np.exp(apart - 2 * damping - top)).sum() / mass.sum())
    return np.array(tau), np.array(v[:-1])


def _log_odds_against(
    model: Any, X: Any, own: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """ln of sums of exp(S(l) - S(y)): over wrong labels, and over those of the next other colour.

    Before each round, and after the last, where any colouring will do.
    """
    codes = [stage.code[1] for stage in model.stages_]
    is_own = np.arange(len(codes[0])) == own[:, None]
    staged = chain([np.zeros(is_own.shape)], model._staged_scores(X))
    for scores, colors in zip(staged, [*codes, codes[0]], strict=True):
        lead = np.where(is_own, -np.inf, scores - scores[is_own][:, None])
        apart = np.where(colors != colors[own][:, None], lead, -np.inf)
        yield np.logaddexp.reduce(lead, axis=1), np.logaddexp.reduce(apart, axis=1)
