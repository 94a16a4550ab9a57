"""How well wrong labels were found, by those that are known."""

import numpy as np
from _audit_methods import Found, two_means
from sklearn.metrics import average_precision_score, f1_score

N_BINS = 10


def scores_of(found: Found, is_wrong: np.ndarray) -> dict[str, float]:
    """F1 of the list, average precision, precision at the true number, and errors of the count."""
    true, n_wrong = float(is_wrong.mean()), int(is_wrong.sum())
    line = {"true": true}
    if n_wrong:
        worst = np.argsort(-found.suspicion, kind="stable")[:n_wrong]
        line["ap"] = float(average_precision_score(is_wrong, found.suspicion))
        line["precision"] = float(is_wrong[worst].mean())
    if found.flags is not None:
        line["flagged"] = float(found.flags.mean())
        if n_wrong:
            line["f1"] = float(f1_score(is_wrong, found.flags, zero_division=0))
            line["weighted_f1"] = float(f1_score(is_wrong, found.flags, average="weighted"))
    if found.rate is not None:
        line["rate"], line["off"] = found.rate, abs(found.rate - true)
        if n_wrong:
            line["relative"] = line["off"] / true
    if found.interval is not None:
        low, high = found.interval
        line |= {"low": low, "high": high, "covered": float(low <= true <= high)}
    if found.wrong is not None:
        line["calibration"] = calibration_error(found.wrong, is_wrong)
    return line


def f1_by_two_means(found: Found, is_wrong: np.ndarray) -> float:
    """OpenDataVal's protocol: the lower of two means over the scores is the list."""
    return float(f1_score(is_wrong, two_means(-found.suspicion)))


def calibration_error(wrong: np.ndarray, is_wrong: np.ndarray) -> float:
    """Expected calibration error of the probability of being wrong, in ten bins."""
    bins = np.minimum((N_BINS * wrong).astype(int), N_BINS - 1)
    said, true = (np.bincount(bins, weights=v, minlength=N_BINS) for v in (wrong, is_wrong))
    return float(np.abs(said - true).sum() / len(wrong))
