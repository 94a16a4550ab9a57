"""Dawid and Skene (1979) as in a textbook, and what the package adds, in plain loops."""

import math


def dawid_skene(answers, n, k, n_steps):
    """Posteriors after steps of EM; answers are (item, annotator, label)."""
    votes = [[sum(1 for i, _, l in answers if i == item and l == j) for j in range(k)]
             for item in range(n)]  # fmt: skip
    posterior = [[(v + 1 / k) / (sum(row) + 1) for v in row] for row in votes]
    annotators = sorted({a for _, a, _ in answers})
    for _ in range(n_steps):
        shares = [sum(row[j] for row in posterior) / n for j in range(k)]
        matrices = {}
        for a in annotators:
            table = [[sum(posterior[i][j] for i, b, l in answers if b == a and l == label)
                      for label in range(k)] for j in range(k)]  # fmt: skip
            matrices[a] = [[entry / max(sum(row), 1e-300) for entry in row] for row in table]
        posterior = []
        for item in range(n):
            density = list(shares)
            for i, a, l in answers:
                if i == item:
                    density = [d * matrices[a][j][l] for j, d in enumerate(density)]
            posterior.append([d / sum(density) for d in density])
    return posterior


def logit(p):
    return math.log(p / (1 - p))


def group_matrix(counts, strength):
    """Rows of expected counts, shrunk towards one accuracy."""
    k = len(counts)
    total = sum(map(sum, counts))
    accuracy = (sum(counts[j][j] for j in range(k)) + 1) / (total + k)
    matrix = []
    for j in range(k):
        prior = [accuracy if l == j else (1 - accuracy) / (k - 1) for l in range(k)]
        row = [c + strength * p for c, p in zip(counts[j], prior, strict=True)]
        matrix.append([entry / sum(row) for entry in row])
    return matrix


def annotator_matrix(counts, group, in_accuracy, in_matrix):
    """An annotator's matrix, shrunk towards the group's with the annotator's own accuracy."""
    k = len(group)
    n = sum(map(sum, counts))
    expected = sum(sum(counts[j]) * group[j][j] for j in range(k)) / n
    accuracy = (sum(counts[j][j] for j in range(k)) + in_accuracy * expected) / (n + in_accuracy)
    better = logit(accuracy) - logit(expected)
    matrix = []
    for j in range(k):
        own = 1 / (1 + math.exp(-logit(group[j][j]) - better))
        others = 1 - group[j][j]
        base = [own if l == j else (1 - own) * group[j][l] / others for l in range(k)]
        row = [c + in_matrix * b for c, b in zip(counts[j], base, strict=True)]
        matrix.append([entry / sum(row) for entry in row])
    return matrix


def posteriors(answers, matrices, prior, hard, guesses):
    """Class posteriors and that of being hard, by the sum over both states of each item."""
    k = len(prior[0])
    found, is_hard = [], []
    for item, classes in enumerate(prior):
        easy, difficult = [p * (1 - hard) for p in classes], [p * hard for p in classes]
        for i, a, l in answers:
            if i == item:
                easy = [e * matrices[a][j][l] for j, e in enumerate(easy)]
                difficult = [
                    d * ((1 - guesses) * matrices[a][j][l] + guesses / k)
                    for j, d in enumerate(difficult)
                ]
        total = sum(easy) + sum(difficult)
        found.append([(e + d) / total for e, d in zip(easy, difficult, strict=True)])
        is_hard.append(sum(difficult) / total)
    return found, is_hard
