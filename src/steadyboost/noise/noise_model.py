"""What given labels tell of true ones: probabilities of several models, pooled, and a noise model.

Models that were fitted to noisy labels give, for rows that they have not seen, probabilities p_m.
They are pooled to q ~ exp(sum_m w_m log p_m), the true label's distribution. A true label j is
given as label l with probability T[j, l]: as it is, or drawn anew at a rate. The weights and the
rate are those under which the given labels are likeliest, sum_i log (q_i T)[y_i], less what odd
weights cost. A matrix of another form (a class that is often taken for one other) cannot be found
like this, as the members have learnt it with the labels; it shows in the labels of rows that surely
are of one class. Members are then freed from it before they are pooled, with weights of their own.
Labels tell which is right: freed members may be sharpened, and mixed again, only if wrong labels
are as frequent where a class is certain as the matrix says; if the columns do not determine the
class, that makes the given labels less likely.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, gammaln

from steadyboost.ensemble.verified import Checked

SMALLEST = 1e-3  # that a probability is taken for: no model knows better
USUAL_WEIGHT = 1.5  # of all members together
HOLD = 1.0  # rows' worth of belief that members weigh the same
LOOSE = 0.5  # rows' worth of belief that they weigh as much as usual
MOST_ROWS = 10_000  # that weights are fitted to
MOST_CELLS = 2_000_000  # rows times classes that they are fitted to, unless that is too few rows
LEAST_ROWS = 2000  # that they are fitted to, however many classes there are
MOST_WEIGHT = 50.0  # of a member
TINY = 1e-12
UNMIX_STEPS = 10  # with more, what is left of one class is taken for certain
SURE_STEPS = 3
LEAST_SURE = 10  # rows of a class, where it has them
SURE_SHARE = 0.25  # of the rows of a class; of more, too many are between classes
BELIEFS = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 1e5)  # see ``concentration``
STARTS = (0.02, 0.2, 0.5)  # noise rates that the search starts from
READING_ROWS = 250.0  # up to which rows' worth of evidence of a matrix counts; then its square root
MATRIX_COST = 0.7  # log-odds against a matrix, per class: it has been fitted


def logs(proba: np.ndarray) -> np.ndarray:
    """Logarithms of (models, n, k) probabilities, none of which is taken for zero.

    As (models, k, n): sums over few classes are quickest with the rows along the last axis.
    """
    return np.log(np.maximum(np.ascontiguousarray(proba.transpose(0, 2, 1)), SMALLEST))


def pool(log_proba: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """q of (models, k, n) logarithms, as (k, n)."""
    together = sum(w * own for w, own in zip(weights, log_proba, strict=True))  # row by row
    q = np.exp(together - together.max(axis=0))
    return q / q.sum(axis=0)


def symmetric(rate: float, k: int) -> np.ndarray:
    """The transition matrix of labels that are drawn anew, from all k, at a rate."""
    return (1 - rate) * np.eye(k) + rate / k


def mixed(q: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """q T, the same for a row whatever rows are beside it, which ``@`` does not promise."""
    return np.einsum("nj,jl->nl", q, transition)


def unmixed(
    given: np.ndarray, transition: np.ndarray, product: Callable[..., np.ndarray] = mixed
) -> np.ndarray:
    """The distribution q of true labels for which q T is nearest to that of the given ones.

    Nearest in the sense of Kullback and Leibler, by expectation-maximisation from ``given`` on.
    """
    q = given
    for _ in range(UNMIX_STEPS):
        q = q * product(given / np.maximum(product(q, transition), TINY), transition.T)
        q = q / q.sum(axis=1, keepdims=True)
    return q


class Reading(NamedTuple):
    """Distributions of rows' true classes (n, k), and the matrix from true to given labels."""

    proba: np.ndarray
    transition: np.ndarray
    mixes: bool = False  # as of the noise model


@dataclass
class NoiseModel:
    """Weights of members, and the matrix from true to given labels.

    Where the matrix is not that of labels drawn anew, ``mixes`` is set: the members have learnt the
    mixture, and are freed from it before they are pooled.
    """

    weights: np.ndarray
    transition: np.ndarray
    mixes: bool

    def true_proba(self, proba: np.ndarray) -> np.ndarray:
        """The distribution of the true label by the features alone, of (members, n, k)."""
        if not self.mixes:
            return pool(logs(proba), self.weights).T
        counted = self.weights > 0  # the others would take as long
        return pool(logs(freed(proba[counted], self.transition)), self.weights[counted]).T

    def reading(self, proba: np.ndarray) -> Reading:
        """What the members' (members, n, k) say of rows."""
        return Reading(self.true_proba(proba), self.transition, self.mixes)


def freed(
    proba: np.ndarray, transition: np.ndarray, product: Callable[..., np.ndarray] = mixed
) -> np.ndarray:
    """Members' (members, n, k), each freed from a matrix that it has learnt."""
    return np.stack([unmixed(own, transition, product) for own in proba])


def log_evidence(likelihood: float, n_rows: int, matrix_of: int = 0) -> float:
    """What a log-likelihood of so many rows counts for a model, which may have a matrix of k rows.

    Members are not exact, so that their evidence grows more slowly than the rows.
    """
    return min(1.0, (READING_ROWS / n_rows) ** 0.5) * likelihood - MATRIX_COST * matrix_of


def fit_noise_models(
    proba: np.ndarray,
    y: np.ndarray,
    row_weights: np.ndarray,
    wrong: float | None = None,
    checked: Checked | None = None,
) -> list[NoiseModel]:
    """Noise models of given labels, the likelier first; ``wrong`` fixes the share of wrong ones.

    One draws labels anew; the other, if sure rows are evidence of it, has a matrix of its own.
    Labels of ``checked`` rows are right, and count as they were given where that is known.
    """
    k = proba.shape[2]
    some = some_rows(len(y), min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // k)))
    fixed = None if wrong is None else min(wrong * k / (k - 1), 1.0)
    noisy = np.ones(len(y))
    if checked is not None:
        y, noisy = np.where(checked.is_known, checked.given, y), checked.is_known.astype(float)
    proba, y, noisy, mass = proba[:, some], y[some], noisy[some], row_weights[some]
    weights, rate = fit_weights(logs(proba), y, mass, fixed, noisy)
    plain = NoiseModel(weights, symmetric(rate, k), False)
    if wrong is not None or not noisy.any() or len(y) < LEAST_SURE * k:
        return [plain]
    q = plain.true_proba(proba)
    given = (1 - rate) * q + rate / k  # a symmetric matrix needs no product
    matrix, belief = sure_matrix(given, y, mass * noisy)
    if belief >= BELIEFS[-1]:
        return [plain]
    log_proba = logs(freed(proba, matrix, np.matmul))
    seen = noisy * matrix[:, y] + (1 - noisy) * (np.arange(k)[:, None] == y)
    own = fit_weights_of_matrix(log_proba, seen, mass)
    at = np.arange(len(y))
    by_plain = (1 - noisy * rate) * q[at, y] + noisy * rate / k
    by_matrix = (pool(log_proba, own) * seen).sum(axis=0)
    gain = np.log(np.maximum(by_matrix, TINY)) - np.log(np.maximum(by_plain, TINY))
    mixing = NoiseModel(own, matrix, True)
    is_likelier = log_evidence(float(mass / mass.mean() @ gain), len(y), matrix_of=k) > 0
    return [mixing, plain] if is_likelier else [plain, mixing]


def some_rows(n: int, most: int | None = None) -> np.ndarray:
    """Rows that are enough to judge by, evenly spread; ``MOST_ROWS`` at the most, unless told."""
    n_rows = min(n, MOST_ROWS if most is None else most)
    return np.unique(np.linspace(0, n - 1, n_rows).astype(int))


def sure_matrix(
    given: np.ndarray, y: np.ndarray, row_weights: np.ndarray
) -> tuple[np.ndarray, float]:
    """How often rows that surely are of one class were given each label.

    The surest rows of each class are counted, as predicted after what is known of the matrix so
    far, and held towards labels drawn anew by the second result, the ``concentration``.
    """
    k, q = given.shape[1], given
    matrix = np.eye(k)
    for step in range(SURE_STEPS):
        if step > 0:  # many classes take the time of many products
            q = unmixed(given, matrix, np.matmul)
        best = q.argmax(axis=1)
        ranked = np.sort(q, axis=1)
        lead = ranked[:, -1] - ranked[:, -2]
        counts = np.zeros((k, k))
        for j in range(k):
            rows = np.flatnonzero(best == j)
            rows = rows[np.argsort(-lead[rows], kind="stable")]
            rows = rows[: max(LEAST_SURE, int(SURE_SHARE * len(rows)))]
            counts[j] = np.bincount(y[rows], weights=row_weights[rows], minlength=k)
        counts /= row_weights.mean()
        off = 1 - np.trace(counts) / counts.sum()
        form = symmetric(min(max(off, TINY) * k / (k - 1), 1.0), k)
        belief = concentration(counts, form)
        matrix = counts + belief * form
        matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix, belief


def concentration(counts: np.ndarray, form: np.ndarray) -> float:
    """Rows' worth of belief, per class, in a form of the matrix, by the evidence of the counts.

    That of Dirichlet distributions with the form as their mean, one for each true class, under
    which the counts of given labels are likeliest: small if they contradict the form.
    """
    possible = form > 0
    seen, shares, totals = counts[possible], form[possible], counts.sum(axis=1)
    evidence = [
        (gammaln(seen + belief * shares) - gammaln(belief * shares)).sum()
        - (gammaln(totals + belief) - gammaln(belief)).sum()
        for belief in BELIEFS
    ]
    return BELIEFS[int(np.argmax(evidence))]


def fit_weights(
    log_proba: np.ndarray,
    y: np.ndarray,
    row_weights: np.ndarray,
    fixed_rate: float | None,
    noisy: np.ndarray | float = 1.0,
) -> tuple[np.ndarray, float]:
    """The likeliest weights and rate of labels that were drawn anew.

    ``noisy`` is 1 for rows whose label may have been, and 0 for others.
    A weight may be zero: a member that does no good is left out.
    """
    n_models, share = len(log_proba), row_weights / row_weights.sum()
    starts = STARTS if fixed_rate is None else (0.0,)
    usual = np.full(n_models, USUAL_WEIGHT / n_models)
    points = [np.append(usual, _logit(start)) for start in starts]
    known = log_proba, y, share, fixed_rate, noisy
    bounds = [(0.0, MOST_WEIGHT)] * n_models + [(_logit(0), -_logit(0))]
    tries = (minimize(cost, point, args=known, jac=True, bounds=bounds) for point in points)
    best = min(tries, key=lambda found: found.fun)
    rate = float(expit(best.x[-1])) if fixed_rate is None else fixed_rate
    return best.x[:n_models], rate


def cost(
    point: np.ndarray,
    log_proba: np.ndarray,
    y: np.ndarray,
    share: np.ndarray,
    fixed_rate: float | None,
    noisy: np.ndarray | float = 1.0,
) -> tuple[float, np.ndarray]:
    """What is least at the likeliest point, with its slope.

    A point is the weights and the log-odds of the rate; rows have a ``share``.
    """
    n_models, k, n = log_proba.shape
    w, at = point[:n_models], np.arange(n)
    rate = expit(point[-1]) if fixed_rate is None else fixed_rate
    q = pool(log_proba, w)
    own = q[y, at]
    of_row = rate * noisy
    given = (1 - of_row) * own + of_row / k
    pull = share * (1 - of_row) * own / given  # of log q_y on the log-likelihood
    expected = np.einsum("mkn,kn->mn", log_proba, q)
    slope_w = (log_proba[:, y, at] - expected) @ pull
    slope_rate = (share * noisy * (1 / k - own) / given).sum() * rate * (1 - rate)
    held, pulled = _oddness(w)
    slope = np.append(pulled / n - slope_w, -slope_rate if fixed_rate is None else 0)
    return float(held / n - share @ np.log(given)), slope


def fit_weights_of_matrix(
    log_proba: np.ndarray, seen: np.ndarray, row_weights: np.ndarray
) -> np.ndarray:
    """The likeliest weights of members that were freed from a matrix, any of which may be zero.

    ``seen`` (k, n) has the chance of each row's given label by true class.
    """
    n_models = len(log_proba)
    usual = np.full(n_models, USUAL_WEIGHT / n_models)
    known = log_proba, seen, row_weights / row_weights.sum()
    bounds = [(0.0, MOST_WEIGHT)] * n_models
    return minimize(cost_of_matrix, usual, args=known, jac=True, bounds=bounds).x


def cost_of_matrix(
    w: np.ndarray, log_proba: np.ndarray, seen: np.ndarray, share: np.ndarray
) -> tuple[float, np.ndarray]:
    """As ``cost``, where the chance of given labels by true class is known."""
    q = pool(log_proba, w)
    came = q * seen
    given = np.maximum(came.sum(axis=0), TINY)
    # The slope of log given: what members say of the class it came from, less what they expect.
    slope = np.einsum("mkn,kn->mn", log_proba, came / given - q) @ share
    held, pulled = _oddness(w)
    n = log_proba.shape[2]
    return float(held / n - share @ np.log(given)), pulled / n - slope


def _oddness(w: np.ndarray) -> tuple[float, np.ndarray]:
    """What it costs that weights differ, in shares of their mean, and that the mean is unusual."""
    mean = max(float(w.mean()), TINY)
    off, unusual = w / mean - 1, np.log(mean * len(w) / USUAL_WEIGHT)
    by_off = (off - off @ w / (len(w) * mean)) / mean
    by_mean = unusual / (len(w) * mean)
    return HOLD * off @ off + LOOSE * unusual**2, 2 * (HOLD * by_off + LOOSE * by_mean)


def _logit(rate: float) -> float:
    return float(np.log(max(rate, 1e-9) / (1 - rate)))
