"""Row-wise arithmetic on class scores.

Scores are (n, k) arrays in column order: most rounds touch one class per row, and whole columns
at a time otherwise.
"""

from math import log, log1p

import numpy as np

from steadyboost.trees.crew import Crew, shared_loop
from steadyboost.trees.jit import kernel, standing

ROUNDING = 1e-12  # an edge below this is none
PERFECT = 1e-12  # an error below this is rounding
PART = 16_384  # rows that a thread takes at a time
STRETCH = 512  # rows that are looked at before they are added up; a multiple of four


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


@shared_loop
def _follow_parts(part, who, args):
    right, wrong, votes, y, weights = args
    at = slice(part * PART, part * PART + PART)
    named, own, values = votes[at], y[at], weights[at]
    for i in range(len(named)):
        values[i] *= right if named[i] == own[i] else wrong


@standing
def _follow_votes(right, wrong, votes, y, weights, board):
    n_parts = (len(votes) + PART - 1) // PART
    _follow_parts(board, n_parts, (right, wrong, votes, y, weights))


def follow_votes(
    factors: tuple[float, float],
    votes: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    crew: Crew | None = None,
) -> None:
    """Multiply weights by two factors: of rows whose label was named, and of others."""
    _follow_votes(*factors, votes, y, weights, None if crew is None else crew.board)


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


@shared_loop
def _add_errors(block, who, args):
    """Weight of a block's rows whose vote is not the target.

    Wrong weights are written down before they are added up: that takes no branch, which would often
    be taken in vain, as it cannot be foreseen which rows are wrong. Four sums, so that none waits
    for the last.
    """
    weights, votes, targets, bounds, beside, out = args
    wrong = beside[who]
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    end = bounds[block + 1]
    for start in range(bounds[block], end, STRETCH):
        at = slice(start, start + STRETCH if start + STRETCH < end else end)
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
    out[block] = first + second + third + fourth


@standing
def _weighted_errors(weights, votes, targets, bounds, beside, out, board):
    _add_errors(board, len(out), (weights, votes, targets, bounds, beside, out))


def weighted_errors(
    weights: np.ndarray,
    votes: np.ndarray,
    targets: np.ndarray,
    bounds: np.ndarray,
    crew: Crew | None = None,
) -> list[float]:
    """Weight of the rows whose vote is not the target, from each of the bounds to the next."""
    board, n_threads = (None, 1) if crew is None else (crew.board, crew.n_threads)
    out, beside = np.empty(len(bounds) - 1), np.empty((n_threads, STRETCH))
    _weighted_errors(weights, votes, targets, bounds, beside, out, board)
    return out.tolist()


@kernel
def _worth_of_answers(edges, votes, code):
    worth = 0.0
    for i in range(len(votes)):
        for c in range(code.shape[1]):
            worth += edges[i, c] * code[votes[i], c]
    return worth


def worth(edges: np.ndarray, votes: np.ndarray, code: np.ndarray) -> float:
    """Total of edges times votes: what sets of labels are worth."""
    if votes.ndim == 2:
        return float((edges[:, :-1] * votes).sum())
    return float(_worth_of_answers(edges, votes, code))


def log_odds(p: float) -> float:
    """ln(p / (1 - p))."""
    return log(p) - log1p(-p)


def log_one_plus_exp(x: np.ndarray) -> np.ndarray:
    """ln(1 + e**x), for x of any size, to an absolute 1e-16 (log1p would take thrice as long)."""
    small = np.exp(-np.abs(x))
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
    with np.errstate(over="ignore"):
        proba = np.exp(top - 2 * scores)
    proba += np.exp(top)
    np.divide(1, proba, out=proba)
    proba /= proba.sum(axis=1, keepdims=True)
    tied = np.flatnonzero(proba.argmax(axis=1) != best)
    proba[tied, best[tied]] = np.nextafter(proba[tied].max(axis=1), 2)
    return proba
