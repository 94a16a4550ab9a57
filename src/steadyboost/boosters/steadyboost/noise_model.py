"""What given labels tell of true ones: probabilities of several models, pooled, and a noise model.

Models that were fitted to noisy labels give, for rows that they have not seen, probabilities p_m.
They are pooled to q ~ exp(sum_m w_m log p_m), the true label's distribution. A true label j is
given as label l with probability T[j, l]: as it is, or drawn anew at a rate. The weights and the
rate are those under which the given labels are likeliest, sum_i log (q_i T)[y_i], less what odd
weights cost. A matrix of another form (a class that is often taken for one other) cannot be found
like this, as the members have learnt it with the labels; it shows in the labels of rows that surely
are of one class, and is then taken out of the pool.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

SMALLEST = 1e-3  # that a probability is taken for: no model knows better
USUAL_WEIGHT = 1.5  # of all members together
HOLD = 10.0  # rows' worth of belief that members weigh the same
LOOSE = 0.5  # rows' worth of belief that they weigh as much as usual
MOST_ROWS = 10_000  # that weights are fitted to
TINY = 1e-12
UNMIX_STEPS = 30
SURE_STEPS = 3
LEAST_SURE = 10  # rows of a class, where it has them
BELIEF = 50.0  # rows' worth of belief, per class, in labels drawn anew
MIXED = 0.15  # share of wrong labels, beyond those drawn anew, that calls for another matrix
STARTS = (0.02, 0.2, 0.5)  # noise rates that the search starts from


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


def unmixed(given: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """The distribution q of true labels for which q T is nearest to that of the given ones.

    Nearest in the sense of Kullback and Leibler, by expectation-maximisation from ``given`` on.
    """
    q = given
    for _ in range(UNMIX_STEPS):
        q = q * mixed(given / np.maximum(mixed(q, transition), TINY), transition.T)
        q = q / q.sum(axis=1, keepdims=True)
    return q


def mixed(q: np.ndarray, transition: np.ndarray) -> np.ndarray:
    """q T, the same for a row whatever rows are beside it, which ``@`` does not promise."""
    return np.einsum("nj,jl->nl", q, transition)


@dataclass
class NoiseModel:
    """Weights of members, the rate of labels drawn anew, and the matrix from true to given labels.

    Where the matrix is not that of labels drawn anew, ``mixes`` is set: the members have learnt the
    mixture, and their pool is freed from it.
    """

    weights: np.ndarray
    rate: float
    transition: np.ndarray
    mixes: bool

    def true_proba(self, proba: np.ndarray) -> np.ndarray:
        """The distribution of the true label by the features alone, of (members, n, k)."""
        q = pool(logs(proba), self.weights).T
        if not self.mixes:
            return q
        return unmixed(mixed(q, symmetric(self.rate, q.shape[1])), self.transition)

    def by_label(self, q: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The distribution of the true label by the features and the label that was given."""
        joint = q * self.transition[:, y].T
        return joint / np.maximum(joint.sum(axis=1, keepdims=True), TINY)


def fit_noise_model(
    proba: np.ndarray, y: np.ndarray, row_weights: np.ndarray, wrong: float | None = None
) -> NoiseModel:
    """The likeliest noise model of given labels; ``wrong`` fixes the share of wrong ones."""
    k = proba.shape[2]
    some = some_rows(len(y))
    fixed = None if wrong is None else min(wrong * k / (k - 1), 1.0)
    weights, rate = fit_weights(logs(proba[:, some]), y[some], row_weights[some], fixed)
    model = NoiseModel(weights, rate, symmetric(rate, k), False)
    q = model.true_proba(proba)
    if k > 2 and wrong is None:
        matrix = sure_matrix(mixed(q, model.transition), y, row_weights)
        share = np.bincount(q.argmax(axis=1), minlength=k) / len(y)
        unexplained = share @ (1 - np.diag(matrix)) - rate * (k - 1) / k
        if unexplained > MIXED:
            return NoiseModel(weights, rate, matrix, True)
    model.transition = _class_wise(model, q, y, row_weights)
    return model


def some_rows(n: int) -> np.ndarray:
    """Rows that are enough to judge by, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, MOST_ROWS)).astype(int))


def sure_matrix(given: np.ndarray, y: np.ndarray, row_weights: np.ndarray) -> np.ndarray:
    """How often rows that surely are of one class were given each label.

    The surer half of the rows of a class, as predicted after what is known of the matrix so far.
    A class of few rows takes the matrix of labels drawn anew at the mean rate.
    """
    k, q = given.shape[1], given
    for _ in range(SURE_STEPS):
        best = q.argmax(axis=1)
        ranked = np.sort(q, axis=1)
        lead = ranked[:, -1] - ranked[:, -2]
        counts = np.zeros((k, k))
        for j in range(k):
            rows = np.flatnonzero(best == j)
            rows = rows[np.argsort(-lead[rows], kind="stable")]
            rows = rows[: max(LEAST_SURE, len(rows) // 2)]
            counts[j] = np.bincount(y[rows], weights=row_weights[rows], minlength=k)
        off = 1 - np.trace(counts) / counts.sum()
        counts += BELIEF * row_weights.mean() * symmetric(min(off * k / (k - 1), 1.0), k)
        matrix = counts / counts.sum(axis=1, keepdims=True)
        q = unmixed(given, matrix)
    return matrix


def _class_wise(
    model: NoiseModel, q: np.ndarray, y: np.ndarray, row_weights: np.ndarray
) -> np.ndarray:
    """The matrix, class by class, as far as the rows tell it from that of labels drawn anew."""
    counts = BELIEF * row_weights.mean() * model.transition.T
    np.add.at(counts, y, model.by_label(q, y) * row_weights[:, None])
    return counts.T / counts.T.sum(axis=1, keepdims=True)


def fit_weights(
    log_proba: np.ndarray, y: np.ndarray, row_weights: np.ndarray, fixed_rate: float | None
) -> tuple[np.ndarray, float]:
    """The likeliest weights and rate of labels that were drawn anew."""
    n_models, share = len(log_proba), row_weights / row_weights.sum()
    starts = STARTS if fixed_rate is None else (0.0,)
    usual = np.full(n_models, np.log(USUAL_WEIGHT / n_models))
    points = [np.append(usual, _logit(start)) for start in starts]
    known = log_proba, y, share, fixed_rate
    tries = (minimize(cost, point, args=known, jac=True) for point in points)
    best = min(tries, key=lambda found: found.fun)
    rate = float(expit(best.x[-1])) if fixed_rate is None else fixed_rate
    return np.exp(best.x[:n_models]), rate


def cost(
    point: np.ndarray,
    log_proba: np.ndarray,
    y: np.ndarray,
    share: np.ndarray,
    fixed_rate: float | None,
) -> tuple[float, np.ndarray]:
    """What is least at the likeliest point, with its slope.

    A point is the logarithms of the weights and the log-odds of the rate; rows have a ``share``.
    """
    n_models, k, n = log_proba.shape
    w, at = np.exp(point[:n_models]), np.arange(n)
    rate = expit(point[-1]) if fixed_rate is None else fixed_rate
    q = pool(log_proba, w)
    own = q[y, at]
    given = (1 - rate) * own + rate / k
    pull = share * (1 - rate) * own / given  # of log q_y on the log-likelihood
    expected = np.einsum("mkn,kn->mn", log_proba, q)
    slope_w = w * ((log_proba[:, y, at] - expected) @ pull)
    slope_rate = (share * (1 / k - own) / given).sum() * rate * (1 - rate)
    mean, usual = point[:n_models].mean(), np.log(USUAL_WEIGHT / n_models)
    off = point[:n_models] - mean
    held = (HOLD * off @ off + LOOSE * (mean - usual) ** 2) / n
    pulled = 2 * (HOLD * off + LOOSE * (mean - usual) / n_models) / n
    slope = np.append(pulled - slope_w, -slope_rate if fixed_rate is None else 0)
    return float(held - share @ np.log(given)), slope


def _logit(rate: float) -> float:
    return float(np.log(max(rate, 1e-9) / (1 - rate)))
