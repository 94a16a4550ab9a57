"""Classifiers of other libraries, with their own defaults, and what they need to read a table.

Libraries that know categories get codes and are told which columns these are; the others get a
column per category. Gaps stay gaps, except for AdaBoost, which gets the median.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyboost.lab.comparison.features import Features

CATBOOST_VALUES = 2_000  # rounds times classes, as many as its default has for two classes


def _spread(estimator: Any, features: Features, fill: bool = False) -> Any:
    """Ahead of the estimator, a column per category and, if asked, medians for gaps."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    fill = fill and features.has_gaps
    if not fill and not features.categories:
        return estimator
    numeric = np.flatnonzero(~features.categorical).tolist()
    filler = SimpleImputer(strategy="median", keep_empty_features=True) if fill else "passthrough"
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, features.categories), (filler, numeric))
    return make_pipeline(columns, estimator)


def adaboost(features: Features, seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return _spread(AdaBoostClassifier(random_state=seed), features, fill=True)


def random_forest(features: Features, seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _spread(RandomForestClassifier(random_state=seed, n_jobs=n_jobs), features)


def extra_trees(features: Features, seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return _spread(ExtraTreesClassifier(random_state=seed, n_jobs=n_jobs), features)


def hist_gradient_boosting(features: Features, seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        categorical_features=features.categories or None, random_state=seed
    )


def lightgbm(features: Features, seed: int, n_jobs: int | None) -> Any:
    from lightgbm import LGBMClassifier

    class WithCategories(LGBMClassifier):
        """LightGBM asks for the categories when it is fitted, not when it is made."""

        def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
            return super().fit(X, y, categorical_feature=features.categories or "auto")

    return WithCategories(random_state=seed, n_jobs=n_jobs, verbose=-1)


def xgboost(features: Features, seed: int, n_jobs: int | None) -> Any:
    from xgboost import XGBClassifier

    kinds = ["c" if is_category else "q" for is_category in features.categorical]
    native = {"enable_categorical": True, "feature_types": kinds} if features.categories else {}
    return XGBClassifier(random_state=seed, n_jobs=n_jobs, verbosity=0, **native)


def catboost(features: Features, seed: int, n_jobs: int | None) -> Any:
    from catboost import CatBoostClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    class InTime(CatBoostClassifier):
        """Its default of 1,000 rounds takes minutes where there are many classes."""

        def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
            if "iterations" not in self.get_params():
                self.set_params(iterations=max(100, CATBOOST_VALUES // len(np.unique(y))))
            return super().fit(X, y)

    threads = -1 if n_jobs is None else n_jobs
    options = {"thread_count": threads, "verbose": 0, "allow_writing_files": False}
    if not features.categories:
        return InTime(random_seed=seed, **options)
    model = InTime(random_seed=seed, cat_features=features.categories, **options)
    return make_pipeline(
        FunctionTransformer(_named, kw_args={"columns": features.categories}), model
    )


def _named(X: np.ndarray, columns: list[int]) -> np.ndarray:
    """CatBoost wants the categories as text."""
    named = X.astype(object)
    for column in columns:
        named[:, column] = X[:, column].astype(str)
    return named


PEERS = (
    ("scikit-learn AdaBoost", adaboost, "sklearn"),
    ("HistGradientBoosting", hist_gradient_boosting, "sklearn"),
    ("RandomForest", random_forest, "sklearn"),
    ("ExtraTrees", extra_trees, "sklearn"),
    ("LightGBM", lightgbm, "lightgbm"),
    ("XGBoost", xgboost, "xgboost"),
    ("CatBoost", catboost, "catboost"),
)
