"""Crowds of annotators whose truth is known."""

import numpy as np

from steadyboost.noise.annotations import Annotations


def made_crowd(n=300, k=3, n_annotators=8, per_item=3, low=0.55, high=0.95, seed=0):
    """Answers, true classes and accuracies of annotators who err towards any class alike."""
    rng = np.random.default_rng(seed)
    y, accuracy = rng.integers(k, size=n), rng.uniform(low, high, n_annotators)
    by = np.concatenate([
        np.sort(rng.choice(n_annotators, per_item, replace=False)) for _ in range(n)
    ])  # fmt: skip
    item = np.repeat(np.arange(n), per_item)
    off = np.where(rng.random(len(item)) < accuracy[by], 0, rng.integers(1, k, len(item)))
    answers = Annotations(
        item, by, (y[item] + off) % k, np.arange(n), np.arange(n_annotators), np.arange(k)
    )
    return answers, y, accuracy


def listed(answers):
    columns = answers.item, answers.annotator, answers.label
    return list(zip(*(column.tolist() for column in columns), strict=True))


def made_proba(y, k, share, seed=0):
    """What a classifier says that is right about a share of the rows."""
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(len(y)) < share, y, rng.integers(k, size=len(y)))
    return 0.7 * np.eye(k)[said] + 0.3 / k
