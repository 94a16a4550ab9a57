"""Who looks for wrong labels in ``audit.py``: probabilities, which are kept, then judgements."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _audit_cases import Case, Table
from _noisy_rivals import lightgbm
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from steadyboost.noise import audit, audit_proba

OURS = "SteadyBoost audit"
CLEANLAB, CLEANLAB_OURS = "cleanlab, LightGBM", "cleanlab, our probabilities"
OOB, SELF, RULE = "Data-OOB, 800 trees", "self-confidence", "rule"
N_BAGGED = 800


class Found(NamedTuple):
    """What a method says of given labels; rates and probabilities only where it claims them."""

    suspicion: np.ndarray  # high is suspicious
    flags: np.ndarray | None = None
    rate: float | None = None
    interval: tuple[float, float] | None = None
    wrong: np.ndarray | None = None  # probability that the label is wrong


def our_outcome(table: Table, seed: int) -> dict[str, np.ndarray]:
    found = audit(table.X, table.y, random_state=seed, n_jobs=1)
    return {
        "proba": found.probabilities,
        "wrong": 1 - found.scores,
        "flags": found.suggested != found.given,
        "rate": np.array([found.noise_rate, *found.noise_rate_interval]),
    }


def lightgbm_proba(table: Table, seed: int) -> dict[str, np.ndarray]:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    model = lightgbm(seed)
    return {"proba": cross_val_predict(model, table.X, table.y, cv=folds, method="predict_proba")}


def bagged_proba(table: Table, seed: int) -> dict[str, np.ndarray]:
    """Bagged trees that see all columns, grown to the end: shares of votes out of bag."""
    trees = RandomForestClassifier(N_BAGGED, max_features=None, oob_score=True, random_state=seed)
    return {"proba": trees.fit(table.X, table.y).oob_decision_function_}


SOURCES: dict[str, Callable[[Table, int], dict[str, np.ndarray]]] = {
    "ours": our_outcome,
    "lightgbm": lightgbm_proba,
    "bagged": bagged_proba,
}


def kept(source: str, case: Case, table: Table, cache: Path, fresh: bool) -> dict[str, np.ndarray]:
    """Outcome of a source, from the cache if it is there; with its processor time."""
    folder = cache / case.suite
    path = folder / f"{case.set}-{case.kind}-{case.rate:g}-{case.seed}-{case.rows}-{source}.npz"
    if path.exists() and not fresh:
        with np.load(path) as stored:
            return dict(stored)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = SOURCES[source](table, case.seed)
    outcome["seconds"] = np.array(time.process_time() - start)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **outcome)
    return outcome


def ours(outcome: dict[str, np.ndarray]) -> Found:
    rate, low, high = outcome["rate"].tolist()
    return Found(outcome["wrong"], outcome["flags"], rate, (low, high), outcome["wrong"])


def from_proba(proba: np.ndarray, y: np.ndarray) -> Found:
    """Our audit of probabilities that are given."""
    found = audit_proba(proba, y)
    wrong, flags = 1 - found.scores, found.suggested != found.given
    return Found(wrong, flags, found.noise_rate, found.noise_rate_interval, wrong)


def cleanlab(proba: np.ndarray, y: np.ndarray) -> Found:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    issues = find_label_issues(y, proba, n_jobs=1)
    return Found(-get_label_quality_scores(y, proba), issues, float(issues.mean()))


def data_oob(proba: np.ndarray, y: np.ndarray) -> Found:
    """Kwon and Zou (2023); the list is the lower of two means, as in OpenDataVal."""
    value = proba[np.arange(len(y)), y]
    flags = two_means(value)
    return Found(-value, flags, float(flags.mean()))


def two_means(value: np.ndarray) -> np.ndarray:
    means = KMeans(2, n_init=10, random_state=0).fit(value[:, None])
    return means.labels_ == means.cluster_centers_[:, 0].argmin()


def self_confidence(proba: np.ndarray, y: np.ndarray) -> Found:
    return Found(-proba[np.arange(len(y)), y])


def rule(proba: np.ndarray, y: np.ndarray) -> Found:
    """The most probable class is not the given one."""
    flags = proba.argmax(axis=1) != y
    return Found(-proba[np.arange(len(y)), y], flags, float(flags.mean()))


def judgements(y: np.ndarray, sources: dict[str, Any]) -> dict[str, Found]:
    """All methods, as far as there are probabilities for them."""
    own = sources["ours"]["proba"]
    found = {OURS: ours(sources["ours"])}
    if "lightgbm" in sources:
        found[CLEANLAB] = cleanlab(sources["lightgbm"]["proba"], y)
    found[CLEANLAB_OURS] = cleanlab(own, y)
    if "bagged" in sources:
        found[OOB] = data_oob(sources["bagged"]["proba"], y)
    return found | {SELF: self_confidence(own, y), RULE: rule(own, y)}
