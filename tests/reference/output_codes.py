"""AdaBoost.OC, MSmoothBoost, AdaBoost.M2 and ECOC as their papers print them, errata applied.

D(i, l) and mu(l | x_i) are stored and multiplied round by round, so they underflow after some
hundred rounds. Nothing here is shared with the package.

``hypotheses`` is a list of what each round's hypothesis said of each row, or a function from
(weights, targets) to that. Hypotheses and colourings are 0 and 1; sets of labels are (n, k).
"""

from dataclasses import dataclass
from itertools import repeat

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

CLIP = 1e-10
PACKAGED = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "breast_cancer": load_breast_cancer,
}


@dataclass
class Round:
    """What a round saw and did; the scores are those after it."""

    pairs: np.ndarray
    weights: np.ndarray
    error: float
    step: float
    scores: np.ndarray
    U: float = 1.0
    pseudoloss: float = 0.5
    Z: float = 1.0
    mu: np.ndarray | None = None


def adaboost_oc(hypotheses, colorings, y, k, alpha="pseudoloss", prior=None, rate=1.0):
    """003, Fig. 3; with alpha="error" 000, Fig. 1."""
    D, scores, trace = uniform_pairs(y, k, prior), np.zeros((len(y), k)), []
    for said, mu in rounds(hypotheses, colorings):
        U, weights = separated(D, y, mu)
        h = said(weights, mu[y]) if callable(said) else said
        error = weights[h != mu[y]].sum()
        plausible = (h[:, None] == mu).astype(float)
        pseudoloss = pseudoloss_of(D, plausible, y)
        step = rate * log_odds_of_right(pseudoloss if alpha == "pseudoloss" else error) / 2
        scores = scores + step * plausible
        after, Z = reweigh(D, plausible, y, step)
        trace.append(Round(D, weights, error, step, scores, U, pseudoloss, Z))
        D = after
    return trace


def msmooth_boost(hypotheses, colorings, y, k, smoothing, prior=None, rate=1.0):
    """000, Fig. 2, in its own code of -1 and +1; Z sums over wrong labels only."""
    rows = np.arange(len(y))
    mu = np.full((len(y), k), 1 / (1 + smoothing * (k - 1)))
    prior = np.ones(len(y)) if prior is None else prior
    scores, trace = np.zeros((len(y), k)), []
    for said, coloring in rounds(hypotheses, colorings):
        D = prior[:, None] * mu[rows, y][:, None] * mu
        D[rows, y] = 0
        D = D / D.sum()
        f = 2 * coloring - 1
        U, weights = separated(D, y, f)
        h = 2 * (said(weights, coloring[y]) if callable(said) else said) - 1
        error = weights[h != f[y]].sum()
        step = rate * log_odds_of_right(error) / 4
        scores = scores + step * f * h[:, None]
        trace.append(Round(D, weights, error, step, scores, U, mu=mu))
        raised = mu * np.exp(step * f * h[:, None])
        own = raised[rows, y]
        mu = raised / (own + smoothing * (raised.sum(axis=1) - own))[:, None]
    return trace


def adaboost_m2(hypotheses, y, k, n_rounds=None, prior=None, rate=1.0):
    """003, Fig. 2, with h(x, l) in [0, 1] as Freund & Schapire (1997) have it.

    A function gets the pair weights and returns h.
    """
    D, scores, trace = uniform_pairs(y, k, prior), np.zeros((len(y), k)), []
    for said, _ in rounds(hypotheses, range(n_rounds or len(hypotheses))):
        h = said(D) if callable(said) else said
        loss = pseudoloss_of(D, h, y)
        step = rate * log_odds_of_right(loss) / 2
        scores = scores + step * h
        after, Z = reweigh(D, h, y, step)
        trace.append(Round(D, D.sum(axis=1), loss, step, scores, pseudoloss=loss, Z=Z))
        D = after
    return trace


def ecoc(hypotheses, code, y, weighted=False):
    """Distances to the codewords after all bits; a bit counts 1, or half the log-odds of right."""
    errors = [np.mean(h != bits[y]) for h, bits in zip(hypotheses, code.T, strict=True)]
    counts = [log_odds_of_right(e) / 2 if weighted else 1.0 for e in errors]
    distances = np.zeros((len(y), len(code)))
    for i in range(len(y)):
        for l, word in enumerate(code):
            bits = [h[i] for h in hypotheses]
            distances[i, l] = sum(
                c for c, said, bit in zip(counts, bits, word, strict=True) if said != bit
            )
    return errors, counts, distances


def rounds(hypotheses, colorings):
    """Pairs of what is said, or who is asked, and the round's colouring."""
    if callable(hypotheses):
        return zip(repeat(hypotheses), colorings, strict=False)
    return zip(hypotheses, colorings, strict=True)


def uniform_pairs(y, k, prior=None):
    """D_1(i, l): alike over all wrong labels, in proportion to the user's weights."""
    D = np.array([[float(l != own) for l in range(k)] for own in y])
    if prior is not None:
        D = D * np.asarray(prior)[:, None]
    return D / D.sum()


def separated(D, y, coloring):
    """U, and the weights D(i)."""
    apart = coloring[y][:, None] != coloring[None, :]
    U = (D * apart).sum()
    return U, (D * apart).sum(axis=1) / U


def pseudoloss_of(D, h, y):
    """Half the sum of D(i, l) (1 - h(x_i, y_i) + h(x_i, l))."""
    own = h[np.arange(len(y)), y]
    return 0.5 * (D * (1 - own[:, None] + h)).sum()


def reweigh(D, h, y, step):
    """D of the next round, and the Z that normalises it."""
    own = h[np.arange(len(y)), y]
    raised = D * np.exp(step * (1 - own[:, None] + h))
    return raised / raised.sum(), raised.sum()


def log_odds_of_right(error):
    """ln((1 - error) / error), with the error clipped."""
    error = np.clip(error, CLIP, 1 - CLIP)
    return np.log((1 - error) / error)


def weights_in_logs(scores, y, smoothing, coloring):
    """Exact D(i) and ln U by logarithms, for scores so large that the twins above underflow."""
    rows = np.arange(len(y))
    against = scores - scores[rows, y][:, None]
    against[rows, y] = -np.inf
    total = np.logaddexp.reduce(against, axis=1)
    damp = 0.0 if smoothing == 0 else 2 * np.logaddexp(0, total + np.log(smoothing))
    apart = coloring[y][:, None] != coloring[None, :]
    logs = np.logaddexp.reduce(np.where(apart, against, -np.inf), axis=1) - damp
    weights = np.exp(logs - logs.max())
    log_U = np.logaddexp.reduce(logs) - np.logaddexp.reduce(total - damp)
    return weights / weights.sum(), log_U


def real_data(name, from_folder):
    """A real data set as numbers and labels 0 .. k - 1."""
    if name in PACKAGED:
        return PACKAGED[name](return_X_y=True)
    X, y = from_folder(name)
    return X.to_numpy(dtype=float), np.unique(y, return_inverse=True)[1]
