"""The model of ``steadyboost.noise.label_errors``, one row and one class at a time."""

import math


def expit(x):
    return 1 / (1 + math.exp(-x))


def rank_of(margin, margins):
    """Share of the margins below this one; equal ones count half."""
    below = sum(other < margin for other in margins)
    equal = sum(other == margin for other in margins)
    return (below + equal / 2) / len(margins)


def margin(proba):
    first, second = sorted(proba, reverse=True)[:2]
    return math.log(first) - math.log(second)


def true_classes(proba, u, parameters):
    """The distribution of the true class by the features alone."""
    k = len(proba)
    most, top = (k - 1) / k, max(range(k), key=lambda j: proba[j])
    tie, log_decay = parameters[4:]
    error = (0.5 + (most - 0.5) * expit(tie)) * math.exp(-math.exp(log_decay) * u)
    others = sum(proba[j] for j in range(k) if j != top)
    return [1 - error if j == top else error * proba[j] / others for j in range(k)]


def given_classes(j, proba, u, parameters, offsets, matrix):
    """What a row of true class j is given as: kept, replaced by each class, mixed up with each."""
    k = len(proba)
    flat, rise, level, slope = parameters[:4]
    most = (k - 1) / k
    replaced = most * expit(flat + rise * (1 - u) + offsets[j])
    mixed = most * expit(level + slope * (1 - u))
    by_matrix = [replaced * matrix[j][given] for given in range(k)]
    by_looks = [
        0 if given == j else (1 - replaced) * mixed * min(proba[given] / (1 - proba[j]), 1)
        for given in range(k)
    ]
    return (1 - replaced) * (1 - mixed), by_matrix, by_looks


def joint(proba, y, u, parameters, offsets, matrix):
    """Densities of the given label of one row: kept; replaced and mixed up, by true class."""
    truth = true_classes(proba, u, parameters)
    kept, replaced, mixed = 0.0, [], []
    for j in range(len(proba)):
        keep, by_matrix, by_looks = given_classes(j, proba, u, parameters, offsets, matrix)
        kept += truth[j] * keep if j == y else 0
        replaced.append(truth[j] * by_matrix[y])
        mixed.append(truth[j] * by_looks[y])
    return kept, replaced, mixed


def objective(rows, weights, parameters, offsets, matrix, priors, prior_weight):
    """Minus the logarithm of the posterior density; ``rows`` are (proba, y, u)."""
    loss = 0.0
    for (proba, y, u), weight in zip(rows, weights, strict=True):
        kept, replaced, mixed = joint(proba, y, u, parameters, offsets, matrix)
        loss -= weight * math.log(kept + sum(replaced) + sum(mixed))
    for value, prior in zip(parameters, priors, strict=True):
        loss += prior_weight * ((value - prior.mean) / prior.deviation) ** 2 / 2
    return loss
