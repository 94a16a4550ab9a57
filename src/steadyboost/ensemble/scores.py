"""Row-wise arithmetic on class scores.

Scores are (n, k) arrays in column order: most rounds touch one class per row, and whole columns
at a time otherwise.
"""

from math import log, log1p

import numpy as np

from steadyboost.trees.jit import kernel

ROUNDING = 1e-12  # an edge below this is none
PERFECT = 1e-12  # an error below this is rounding
ERROR_ROWS = 512  # rows that are looked at before they are added up; a multiple of four


@kernel
def _take_own(scores, y, out):
    for i in range(len(y)):
        out[i] = scores[np.uint64(i), np.uint64(y[i])]


def own_score(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score of each row's own label."""
    out = np.empty(len(y))
    _take_own(scores, y, out)
    return out


@kernel
def _add_to_own(points, votes, columns):
    for i in range(len(votes)):
        vote = np.uint64(votes[i])
        columns[vote, np.uint64(i)] += points[vote]


@kernel
def multiply_weights(right, wrong, votes, y, weights):
    """Multiply weights by two factors: of rows whose label was voted for, and of others."""
    for i in range(len(votes)):
        weights[i] *= right if votes[i] == y[i] else wrong


@kernel
def _add_either(table, votes, columns):
    """As _add_table with two answers, for which a choice is quicker than a look-up."""
    for c in range(len(columns)):
        zero, one = table[0, c], table[1, c]
        for i in range(len(votes)):
            columns[c, i] += one if votes[i] else zero


@kernel
def _add_table(table, votes, columns):
    for c in range(len(columns)):
        for i in range(len(votes)):
            columns[np.uint64(c), np.uint64(i)] += table[np.uint64(votes[i]), np.uint64(c)]


def add_votes(scores: np.ndarray, votes: np.ndarray, code: np.ndarray, step: float) -> None:
    """Add ``step * code[vote]`` to each row's scores, or ``step * vote`` where votes are vectors.

    A code is (answers, classes), or (classes,) where an answer counts for its own class only.
    Kernels get the columns of the scores as rows: one column and many are of one kind then.
    """
    table = step * code
    if votes.ndim == 2:
        scores += step * votes
    elif table.ndim == 1:
        _add_to_own(table, votes, scores.T)
    else:
        (_add_either if len(table) == 2 else _add_table)(table, votes, scores.T)


@kernel
def weighted_error(weights, votes, targets):
    """Weight of the rows whose vote is not the target.

    Weights are selected first and summed afterwards: a branch on each row would be mispredicted
    often. Four partial sums, as an addition would have to wait for the one before.
    """
    wrong = np.empty(ERROR_ROWS)
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    for start in range(0, len(votes), ERROR_ROWS):
        at = slice(start, start + ERROR_ROWS)
        own, said, asked = weights[at], votes[at], targets[at]
        for i in range(len(said)):
            wrong[i] = own[i] if said[i] != asked[i] else 0.0
        whole = len(said) - len(said) % 4
        for i in range(0, whole, 4):
            first += wrong[i]
            second += wrong[i + 1]
            third += wrong[i + 2]
            fourth += wrong[i + 3]
        for i in range(whole, len(said)):
            first += wrong[i]
    return first + second + third + fourth


@kernel
def _worth_of_answers(edges, votes, code):
    worth = 0.0
    for i in range(len(votes)):
        for c in range(code.shape[1]):
            worth += edges[i, c] * code[votes[i], c]
    return worth


def worth(edges: np.ndarray, votes: np.ndarray, code: np.ndarray) -> float:
    """Sum of edges times votes, over all rows and labels."""
    if votes.ndim == 2:
        return float((edges[:, :-1] * votes).sum())
    return float(_worth_of_answers(edges, votes, code))


def log_odds(p: float) -> float:
    """ln(p / (1 - p))."""
    return log(p) - log1p(-p)


def log_one_plus_exp(x: np.ndarray) -> np.ndarray:
    """ln(1 + e**x), for x of any size, to an absolute 1e-16 (log1p takes three times as long)."""
    small = np.exp(-np.abs(x))  # at most 1: no overflow
    small += 1
    np.log(small, out=small)
    small += np.maximum(x, 0)
    return small


def softmax(scores: np.ndarray) -> np.ndarray:
    """Rows of exp(scores), normalised; safe for scores of any size."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    np.exp(shifted, out=shifted)
    shifted /= shifted.sum(axis=1, keepdims=True)
    return shifted


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e**-x), for x of any size."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1 + small)


def one_against_all(scores: np.ndarray) -> np.ndarray:
    """Probabilities from scores that are half the log-odds of each class against all others.

    Normalised; where rounding makes classes equal, the one with the best score gets more.
    """
    best = scores.argmax(axis=1)
    top = np.minimum(2 * scores[np.arange(len(scores)), best, None], 0)  # low scores stay in range
    with np.errstate(over="ignore"):  # exp(...) = inf becomes the probability 1 / inf = 0
        proba = np.exp(top - 2 * scores)
    proba += np.exp(top)
    np.divide(1, proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    # Rounding may make a class with a lower score as probable: argmax must agree with the scores.
    tied = np.flatnonzero(proba.argmax(axis=1) != best)
    proba[tied, best[tied]] = np.nextafter(proba[tied].max(axis=1), 2)
    return proba
