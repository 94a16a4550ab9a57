"""GD-MCBoost as its paper has it: points in k - 1 dimensions, sums written out."""

import math
from dataclasses import dataclass

import numpy as np


def codewords(k):
    """Corners of the unit simplex: one dimension at a time, each corner from the last."""
    corners = np.zeros((k, k - 1))
    for d in range(k - 1):
        corners[d, d] = math.sqrt(1 - sum(v * v for v in corners[d, :d]))
        for other in range(d + 1, k):
            inner = sum(corners[d, j] * corners[other, j] for j in range(d))
            corners[other, d] = (-1 / (k - 1) - inner) / corners[d, d]
    return corners


def pairs(F, y, corners, prior):
    """exp(-<F_i, Y_y - Y_l> / 2) of each row and wrong label, 0 for its own."""
    out = np.zeros((len(y), len(corners)))
    for l, corner in enumerate(corners):
        margins = ((corners[y] - corner) * F).sum(axis=1)
        out[:, l] = np.where(y == l, 0, prior * np.exp(-0.5 * margins))
    return out


def risk(F, y, corners, prior):
    return float(pairs(F, y, corners, prior).sum())


def gradients(F, y, corners, prior):
    """w_i, the direction of steepest descent at each row."""
    raised = pairs(F, y, corners, prior)
    return sum(0.5 * (corners[y] - corner) * raised[:, l, None] for l, corner in enumerate(corners))


def slope(F, h, y, corners, prior):
    """d risk / d step along h, at F."""
    return -float((gradients(F, y, corners, prior) * h).sum())


def line_search(F, h, y, corners, prior):
    """Bisection of the slope, which rises; half a row is wrong where it stays below zero.

    In units in which a codeword adds one to its class, the minimum is sought up to a step that
    divides pairs by 1e5.
    """
    unit = 2 - 2 / len(corners)
    low, high = 0.0, unit * math.log(1e5)
    if slope(F + high * h, h, y, corners, prior) < 0:
        return unit * math.log(2 * max(len(y), prior.sum()) - 1) / 2
    for _ in range(200):
        middle = (low + high) / 2
        if slope(F + middle * h, h, y, corners, prior) < 0:
            low = middle
        else:
            high = middle
    return low


def unit_vectors(leaves, w):
    """Of each row: the sum of its leaf's gradients, scaled to length one."""
    out = np.zeros_like(w)
    for leaf in set(leaves):
        total = sum(w[i] for i in range(len(w)) if leaves[i] == leaf)
        out[[i for i in range(len(w)) if leaves[i] == leaf]] = total / np.linalg.norm(total)
    return out


@dataclass
class Round:
    weights: np.ndarray  # of the rows
    gradients: np.ndarray
    error: float
    step: float  # of codewords and vectors of length one
    F: np.ndarray  # after the round
    log_risk: float  # before it


def gdmcboost(said, y, k, *, leaves="codeword", prior=None, rate=1.0):
    """All rounds, given which label each row's leaf named, or in which leaf it is."""
    prior = np.ones(len(y)) if prior is None else np.asarray(prior, dtype=float)
    corners, F, rounds = codewords(k), np.zeros((len(y), k - 1)), []
    for votes in said:
        before = risk(F, y, corners, prior)
        weights = pairs(F, y, corners, prior).sum(axis=1) / before
        w = gradients(F, y, corners, prior)
        h = corners[votes] if leaves == "codeword" else unit_vectors(votes, w)
        wrong = (h @ corners.T).argmax(axis=1) != y
        step = rate * line_search(F, h, y, corners, prior)
        F = F + step * h
        log_risk = math.log(before / prior.sum())
        rounds.append(Round(weights, w, float(weights[wrong].sum()), step, F, log_risk))
    return rounds
