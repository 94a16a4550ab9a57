"""Who is compared in ``noise.py``: each as a user would take it, with one thread."""

from collections.abc import Callable
from typing import Any

from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import steadyboost as sb

STOP_AFTER = 20  # rounds without a gain on the held-out tenth


def lightgbm(seed: int, **options: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=seed, **options)


class StoppedLightGBM:
    """LightGBM that keeps a tenth of the rows to stop on."""

    def __init__(self, seed: int):
        self.seed, self.model = seed, lightgbm(seed, n_estimators=1000)

    def fit(self, X: Any, y: Any) -> "StoppedLightGBM":
        from lightgbm import early_stopping

        A, B, a, b = train_test_split(X, y, test_size=0.1, random_state=self.seed, stratify=y)
        stop = early_stopping(STOP_AFTER, verbose=False)
        self.model.fit(A, a, eval_set=[(B, b)], callbacks=[stop])
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.model.predict_proba(X)


def xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed)


def catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False
    )


def cleanlab(seed: int) -> Any:
    from cleanlab.classification import CleanLearning

    issues = {"n_jobs": 1}
    return CleanLearning(lightgbm(seed), seed=seed, find_label_issues_kwargs=issues)


def trees(seed: int) -> Any:
    return AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3), n_estimators=100, random_state=seed
    )


RIVALS: dict[str, Callable[[int], Any]] = {
    "SteadyBoost": lambda seed: sb.SteadyBoostClassifier(n_jobs=1, random_state=seed),
    "LightGBM": lightgbm,
    "LightGBM stopped": StoppedLightGBM,
    "XGBoost": xgboost,
    "CatBoost": catboost,
    "HistGradientBoosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "RandomForest": lambda seed: RandomForestClassifier(random_state=seed),
    "RandomForest leaf 5": lambda seed: RandomForestClassifier(
        min_samples_leaf=5, random_state=seed
    ),
    "ExtraTrees": lambda seed: ExtraTreesClassifier(random_state=seed),
    "AdaBoost": trees,
    "cleanlab LightGBM": cleanlab,
    "sm-boost": lambda seed: sb.SoftmaxBoostClassifier(n_jobs=1, random_state=seed),
    "MSmoothBoost": lambda seed: sb.MSmoothBoostClassifier(n_jobs=1, random_state=seed),
    "AdaBoost.OC": lambda seed: sb.AdaBoostOCClassifier(n_jobs=1, random_state=seed),
    "WeightBoost": lambda seed: sb.WeightBoostClassifier(n_jobs=1, random_state=seed),
    "DMCBoost": lambda seed: sb.DMCBoostClassifier(n_jobs=1, random_state=seed),
}

LARGE_RIVALS = (  # those that mostly take less than two minutes for a large table
    *("SteadyBoost", "LightGBM", "LightGBM stopped", "XGBoost", "HistGradientBoosting"),
    *("RandomForest", "RandomForest leaf 5", "ExtraTrees", "cleanlab LightGBM"),
)
LONGER = {"cleanlab LightGBM": ("mnist",)}  # sets that take some of them longer


def is_slow(method: str, name: str) -> bool:
    """Whether a fit to a large table takes more than two minutes."""
    return name in LONGER.get(method, ())
