"""Theory as a service: what the papers prove of a booster, computed for your model and data.

Functions of ``(model, X, y)`` want the rows that the model was trained on, and the weights that
they had. All results have one entry per round of the model. Where a theorem supposes the paper's
step and the model took another (a learning rate other than 1, a clipped error), the factor of the
round is the one that holds for the step that was taken, if that is larger.

References
----------
.. [1] R. E. Schapire (1997). Using output codes to boost multiclass learning problems. ICML.
.. [2] R. Jin, J. Zhang (2007). Multi-class learning by smoothed boosting. Machine Learning 67,
   207-227.
.. [3] Y. Freund, R. E. Schapire (1997). A decision-theoretic generalization of on-line learning
   and an application to boosting. Journal of Computer and System Sciences 55, 119-139.
.. [4] R. E. Schapire, Y. Freund, P. Bartlett, W. S. Lee (1998). Boosting the margin. Annals of
   Statistics 26, 1651-1686.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.adaboost_m2 import AdaBoostM2Classifier
from steadyboost.boosters.adaboost_oc import AdaBoostOCClassifier
from steadyboost.boosters.msmooth import MSmoothBoostClassifier
from steadyboost.core.estimator import BoostingClassifier
from steadyboost.core.hooks import Hooks


class ProductBound(NamedTuple):
    """A bound on the training error after each round, and its simpler, weaker form."""

    product: np.ndarray
    exponential: np.ndarray


class SmoothedBound(NamedTuple):
    """``tau`` bounds the training error, ``product`` bounds tau, and ``weaker`` the product."""

    tau: np.ndarray
    product: np.ndarray
    weaker: np.ndarray


def training_error(model: Any, X: Any, y: Any, sample_weight: Any = None) -> np.ndarray:
    """Share of wrong rows after each round, where a tie with another label is wrong.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(Stump(), n_estimators=30, random_state=0).fit(X, y)
    >>> bounds.training_error(model, X, y)[[0, -1]].round(3)
    array([1., 0.])
    """
    own = _own_labels(model, y)
    wrong = [_lead(scores, own) <= 0 for scores in model._staged_scores(X)]
    return np.average(wrong, axis=1, weights=sample_weight)


def oc_bound(model: AdaBoostOCClassifier) -> ProductBound:
    """Bound the training error of AdaBoost.OC; Theorem 1 of [1]_, for either ``alpha``.

    With ``gamma = 1/2 - error``, ``product`` is (k - 1) times that of sqrt(1 - 4 (gamma U)^2), and
    ``exponential`` is (k - 1) exp(-2 sum (gamma U)^2). A step a makes the mean of
    sum exp(S(l) - S(y)) over the wrong labels l grow by 1 - U + U ((1 - error) e^-a + error e^a),
    which is at most the theorem's factor for both of the steps that ``alpha`` offers.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostOCClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostOCClassifier(Stump(), n_estimators=30, random_state=0).fit(X, y)
    >>> bool((bounds.training_error(model, X, y) <= bounds.oc_bound(model).product).all())
    True
    """
    _require(model, AdaBoostOCClassifier, "oc_bound")
    by_round = {record["round"]: record["U"] for record in model.history_}
    U = np.array([by_round[t + 1] for t in range(model.n_iter_)])
    error, step = model.estimator_errors_, model.estimator_weights_
    taken = 1 - U * (1 - _exponential_loss(error, step))
    return _product_bound((0.5 - error) * U, taken, model.n_classes_)


def m2_bound(model: AdaBoostM2Classifier) -> ProductBound:
    """Bound the training error of AdaBoost.M2; Theorem 11 of [3]_, as eq. (2) of [1]_ has it.

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
    _require(model, AdaBoostM2Classifier, "m2_bound")
    error, step = model.estimator_errors_, model.estimator_weights_
    return _product_bound(0.5 - error, _exponential_loss(error, step), model.n_classes_)


def msmooth_bound(
    model: MSmoothBoostClassifier,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    printed: bool = False,
) -> SmoothedBound:
    """Bound the training error of MSmoothBoost; Theorem 1 of [2]_, corrected.

    ``tau`` is the loss that the algorithm works on, eq. (16). With v of eq. (14) and a step a,
    ``product`` is tau_0 times that of 1 - v (1 - (1 - error) e^-2a - error e^2a), for the paper's
    step 1 - v (1 - 2 sqrt(error (1 - error))); without smoothing it equals tau. ``weaker`` is
    tau_0 times the product of 1 - v (1 - 2 error)^2 / 2.

    Parameters
    ----------
    model, X, y, sample_weight
        A fitted MSmoothBoostClassifier and its training rows.
    printed : bool, default=False
        Give the two products as the paper prints them, which is **wrong**: they lack the starting
        value tau_0 = (1 + lambda) (k - 1) / (1 + lambda (k - 1)). ``product`` is then that of
        appendix 1, half of the true decrease; ``weaker`` is that of the theorem, 1 - v g^2, whose
        g is 1 - 2 error in the statement but 1/2 - error in the proof. Training errors exceed it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import MSmoothBoostClassifier, Stump, bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MSmoothBoostClassifier(Stump(), smoothing=0.5, n_estimators=9, random_state=0)
    >>> tau, product, weaker = bounds.msmooth_bound(model.fit(X, y), X, y)
    >>> bool((bounds.training_error(model, X, y) <= tau).all() and (tau <= product).all())
    True
    >>> wrong = bounds.msmooth_bound(model, X, y, printed=True)
    >>> bool((bounds.training_error(model, X, y) <= wrong.weaker).all())
    False
    """
    _require(model, MSmoothBoostClassifier, "msmooth_bound")
    error, step = model.estimator_errors_, model.estimator_weights_
    tau, v = _tau_and_v(model, X, _own_labels(model, y), sample_weight)
    decrease = 1 - 2 * np.sqrt(error * (1 - error))
    if printed:
        stated = np.cumprod(1 - v * (1 - 2 * error) ** 2)
        return SmoothedBound(tau[1:], np.cumprod(1 - v / 2 * decrease), stated)
    taken = 1 - v * (1 - _exponential_loss(error, 2 * step))
    factors = np.maximum([1 - v * decrease, 1 - v * (1 - 2 * error) ** 2 / 2], taken)
    return SmoothedBound(tau[1:], *(tau[0] * np.cumprod(factors, axis=1)))


def msmooth_margin_bound(
    model: MSmoothBoostClassifier,
    X: Any,
    y: Any,
    theta: float,
    sample_weight: Any = None,
    *,
    printed: bool = False,
) -> np.ndarray:
    """Bound the margin error of MSmoothBoost; Theorem 2 of [2]_, corrected.

    That is (lambda (2 + lambda) + exp(theta sum a)) tau / (1 + lambda)^2 + lambda / (1 + lambda)
    after steps with a sum above 0, and NaN otherwise; see :func:`margin_error`.

    Parameters
    ----------
    model, X, y, sample_weight
        A fitted MSmoothBoostClassifier and its training rows.
    theta : float
        The margin, from 0 to 1.
    printed : bool, default=False
        Give the bound as the paper prints it, which is **wrong**: it has the printed product of
        Theorem 1 in place of tau, and ((1 + g) / (1 - g))^(4 theta) in place of ^(theta / 4).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import MSmoothBoostClassifier, Stump, bounds
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MSmoothBoostClassifier(Stump(), smoothing=0.1, n_estimators=9, random_state=0)
    >>> bound = bounds.msmooth_margin_bound(model.fit(X, y), X, y, theta=0.1)
    >>> bool((bounds.margin_error(model, X, y, theta=0.1) <= bound).all())
    True
    """
    tau, _, stated = msmooth_bound(model, X, y, sample_weight, printed=printed)
    total = model.estimator_weights_.cumsum()
    smoothing = model.smoothing_
    with np.errstate(over="ignore"):
        rise = np.exp(theta * total) ** (16 if printed else 1)
    loss = stated if printed else tau
    bound = (smoothing * (2 + smoothing) + rise) * loss / (1 + smoothing) ** 2
    return np.where(total > 0, bound + smoothing / (1 + smoothing), np.nan)


def margin_error(model: Any, X: Any, y: Any, theta: float, sample_weight: Any = None) -> np.ndarray:
    """Share of rows that lead by no more than ``theta`` times the sum of the steps, per round.

    This is what Theorem 2 of [2]_ bounds; at theta = 0 it is :func:`training_error`. The lead is a
    difference of scores, so in MSmoothBoost's code of -1 and +1 it can be twice the sum.
    """
    own = _own_labels(model, y)
    goals = theta * model.estimator_weights_.cumsum()
    staged = zip(model._staged_scores(X), goals, strict=True)
    short = [_lead(scores, own) <= goal for scores, goal in staged]
    return np.average(short, axis=1, weights=sample_weight)


def normalized_scores(model: Any, X: Any) -> np.ndarray:
    """Scores divided by the most by which two of a row could differ, (n, k)."""
    _require_votes(model)
    reach = sum(abs(stage.step) * _code_range(stage.code) for stage in model.stages_)
    return model._scores(X) / (reach or 1.0)


def margins(model: Any, X: Any, y: Any) -> np.ndarray:
    """How far each row's own label leads, from -1 (all votes against it) to 1 (all for it) [4]_.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Stump, bounds
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(Stump(), n_estimators=50, random_state=0).fit(X, y)
    >>> bool((bounds.margins(model, X, y) > 0).all()), model.score(X, y)
    (True, 1.0)
    """
    return _lead(normalized_scores(model, X), _own_labels(model, y))


def margin_distribution(
    model: Any, X: Any, y: Any, theta: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Margins in rising order, or those in ``theta``, and the share of rows with no larger one."""
    ordered = np.sort(margins(model, X, y))
    theta = ordered if theta is None else np.asarray(theta, dtype=float)
    return theta, np.searchsorted(ordered, theta, side="right") / len(ordered)


def _own_labels(model: Any, y: Any) -> np.ndarray:
    """Class indices of the rows; there must be wrong labels to lead over."""
    _require(model, BoostingClassifier, "this function")
    if model.n_classes_ < 2:
        raise ValueError("The model knows one class only, so no label of it can be wrong.")
    return model._class_indices(np.asarray(y), "y")


def _require(model: Any, kind: type, name: str) -> None:
    if not isinstance(model, kind):
        raise TypeError(f"{name} needs a fitted {kind.__name__}; got {type(model).__name__}.")
    check_is_fitted(model, "stages_")


def _require_votes(model: Any) -> None:
    _require(model, BoostingClassifier, "margins")
    if type(model).add is not Hooks.add:
        raise TypeError(f"{type(model).__name__} is no weighted vote, so it has no margins.")


def _lead(scores: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Each row's own score less the best of the others."""
    is_own = np.arange(scores.shape[1]) == own[:, None]
    return scores[is_own] - np.where(is_own, -np.inf, scores).max(axis=1)


def _code_range(code: np.ndarray) -> float:
    """The most by which one answer can set two labels apart, at a step of 1."""
    if code.ndim == 1:
        return float(np.abs(code).max())
    return float(np.ptp(code, axis=1).max()) or 1.0


def _exponential_loss(error: np.ndarray, step: np.ndarray) -> np.ndarray:
    """(1 - error) e^-step + error e^step, least at 2 sqrt(error (1 - error))."""
    return (1 - error) * np.exp(-step) + error * np.exp(step)


def _product_bound(edge: np.ndarray, taken: np.ndarray, n_classes: int) -> ProductBound:
    theorem = np.sqrt(np.maximum(1 - 4 * edge**2, 0)), np.exp(-2 * edge**2)
    return ProductBound(*((n_classes - 1) * np.cumprod(np.maximum(theorem, taken), axis=1)))


def _tau_and_v(
    model: MSmoothBoostClassifier, X: Any, own: np.ndarray, sample_weight: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Eq. (16), before the first round and after each; eq. (14) with mu as each round found it."""
    weights = np.ones(len(own)) if sample_weight is None else np.asarray(sample_weight, float)
    tau, v = [], []
    for scores, colors in _scores_and_colors(model, X):
        against, apart = _log_odds_against(scores, own, colors)
        damping = 0.0
        if model.smoothing_ > 0:
            damping = np.logaddexp(0, against + np.log(model.smoothing_))
        top = (against - damping).max()
        mass = weights * np.exp(against - damping - top)
        with np.errstate(over="ignore"):
            tau.append((1 + model.smoothing_) * mass.sum() / weights.sum() * np.exp(top))
        v.append((weights * np.exp(apart - 2 * damping - top)).sum() / mass.sum())
    return np.array(tau), np.array(v[:-1])


def _scores_and_colors(model: Any, X: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Scores before each round with its colouring, and after the last with any."""
    colors = [stage.code[1] > 0 for stage in model.stages_]
    first = np.zeros_like(next(model._staged_scores(X)))
    yield first, colors[0]
    yield from zip(model._staged_scores(X), [*colors[1:], colors[0]], strict=True)


def _log_odds_against(
    scores: np.ndarray, own: np.ndarray, colors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """ln of the sum of exp(S(l) - S(y)) over the wrong labels, and over those of other colour."""
    is_own = np.arange(scores.shape[1]) == own[:, None]
    lead = np.where(is_own, -np.inf, scores - scores[is_own][:, None])
    is_apart = colors != colors[own][:, None]
    total = np.logaddexp.reduce(lead, axis=1)
    return total, np.logaddexp.reduce(np.where(is_apart, lead, -np.inf), axis=1)
