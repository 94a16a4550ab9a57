"""Suites of ``audit.py`` that are not tables with one label: networks, sets of labels, time."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _audit_methods import (
    CLEANLAB,
    CLEANLAB_OURS,
    OURS,
    RULE,
    SELF,
    from_proba,
    rule,
    self_confidence,
)
from _audit_methods import cleanlab as judged_by_cleanlab
from _audit_scores import scores_of
from _noisy_rivals import lightgbm
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict

import steadyboost
from steadyboost.lab.datasets import make_waveform
from steadyboost.noise import audit, audit_proba, corrupt

SETS_OF_LABELS = ((600, 20, 5), (1000, 20, 8), (1500, 40, 4))  # rows, columns, labels
LARGEST_FLIP = 0.2  # each label has a rate of its own, up to this
TIMED_ROWS = 10_000


def label_errors(folder: Path | None, cache: Path, seeds: int) -> pd.DataFrame:
    """Files of probabilities, given labels and known mistakes in ``label_errors``."""
    lines = []
    paths = sorted((folder / "label_errors").glob("*.npz")) if folder else []
    for path in paths:
        with np.load(path) as stored:
            proba, y = stored["pred_probs"].astype(float), stored["given"].astype(int)
            is_wrong = stored["is_wrong"]
        proba /= proba.sum(axis=1, keepdims=True)
        found = {
            OURS: from_proba(proba, y),
            "cleanlab": judged_by_cleanlab(proba, y),
            SELF: self_confidence(proba, y),
            RULE: rule(proba, y),
        }
        for method, own in found.items():
            lines.append({"set": path.stem, "method": method} | scores_of(own, is_wrong))
    return pd.DataFrame(lines)


def sets_of_labels(folder: Path | None, cache: Path, seeds: int) -> pd.DataFrame:
    """Average precision of wrong entries, and of rows with a wrong entry."""
    lines = []
    for seed in range(seeds):
        for n, d, k in SETS_OF_LABELS:
            X, Y = make_multilabel_classification(n, d, n_classes=k, random_state=seed)
            given, is_wrong = flipped(Y, seed)
            name = f"{n} rows, {k} labels"
            for method, (entries, rows) in suspicions(X, given, seed).items():
                line = {"set": name, "seed": seed, "method": method}
                line["entries"] = average_precision_score(is_wrong.ravel(), entries.ravel())
                line["rows"] = average_precision_score(is_wrong.any(axis=1), rows)
                lines.append(line)
    return pd.DataFrame(lines)


def flipped(Y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Entries of each label flipped at rates of its own, for 0 and for 1."""
    rng = np.random.default_rng(seed)
    rates = rng.uniform(0, LARGEST_FLIP, (2, Y.shape[1]))
    is_wrong = rng.random(Y.shape) < np.where(Y == 1, rates[1], rates[0])
    return np.where(is_wrong, 1 - Y, Y), is_wrong


def suspicions(X: np.ndarray, Y: np.ndarray, seed: int) -> dict[str, tuple[Any, Any]]:
    """By entry and by row, high where suspicious."""
    found = audit(X, Y, random_state=seed, n_jobs=1)
    folds = KFold(5, shuffle=True, random_state=seed)
    boosted = [
        cross_val_predict(lightgbm(seed), X, y, cv=folds, method="predict_proba")[:, 1] for y in Y.T
    ]
    return {
        OURS: (1 - found.scores, 1 - found.row_scores),
        CLEANLAB: cleanlab_of_sets(Y, np.column_stack(boosted)),
        CLEANLAB_OURS: cleanlab_of_sets(Y, found.probabilities),
    }


def cleanlab_of_sets(Y: np.ndarray, proba: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from cleanlab.multilabel_classification import get_label_quality_scores
    from cleanlab.multilabel_classification.rank import get_label_quality_scores_per_class

    labels = [np.flatnonzero(row).tolist() for row in Y]
    by_entry = get_label_quality_scores_per_class(labels, proba)
    return -by_entry, -get_label_quality_scores(labels, proba)


def timings(folder: Path | None, cache: Path, seeds: int) -> pd.DataFrame:
    """Processor time of a fit of our classifier, and of an audit of its probabilities."""
    X, y = make_waveform(TIMED_ROWS, random_state=0)
    noisy, _ = corrupt(y, 0.2, random_state=0)
    start = time.process_time()
    model = steadyboost.SteadyBoostClassifier(random_state=0, n_jobs=1).fit(X, noisy)
    whole = time.process_time() - start
    start = time.process_time()
    audit_proba(model.out_of_sample_proba_, noisy)
    judging = time.process_time() - start
    return pd.DataFrame([{"rows": TIMED_ROWS, "fit": whole, "audit of its probabilities": judging}])
