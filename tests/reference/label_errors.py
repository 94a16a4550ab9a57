"""The model of ``steadyboost.noise.label_errors``, one row and one curve at a time."""

from math import exp, log


def log_odds_of(at, rise, rank, most):
    return most / (1 + exp(-(at + rise * (1 - rank))))


def replaced(q, transition, label):
    """That a label was given in place of another class, by Bayes' rule."""
    given = sum(q[j] * transition[j][label] for j in range(len(q)))
    return 1 - q[label] * transition[label][label] / given


def wrong(b, h, disagrees):
    """A classifier errs with probability b, a label is a mix-up with probability h, independently.

    Of two classes, they disagree if one of them is wrong, and agree if none is or both are.
    """
    label_alone, classifier_alone = (1 - b) * h, b * (1 - h)
    both, none = b * h, (1 - b) * (1 - h)
    if disagrees:
        return label_alone / (label_alone + classifier_alone)
    return both / (both + none)


def log_posterior(prior, b, h, rows, most_rows):
    """Of a curve, up to a constant; rows are (bin, disagrees, weight that counts)."""
    total = 0.0
    for place, disagrees, weight in rows:
        chance = b[place] * (1 - h[place]) + (1 - b[place]) * h[place]
        total += weight * log(chance if disagrees else 1 - chance)
    return log(prior) + min(1, most_rows / len(rows)) * total
