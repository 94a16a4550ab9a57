"""Methods that can be compared: our boosters, and classifiers of other libraries."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import issparse

import steadyboost
from steadyboost.ensemble.validation import take_rows
from steadyboost.lab.demo import display_name
from steadyboost.preprocessing.encoder import Encoder, as_frame, categorical_mask


@dataclass(frozen=True)
class Features:
    """A table, and the same as ``numbers``: codes for categories, parts of dates, NaN for gaps.

    Codes are learnt from all rows, which leaks nothing: they do not depend on the labels.
    """

    X: Any
    numbers: Any
    categorical: np.ndarray  # by column of numbers
    mask: np.ndarray  # by column of X

    @classmethod
    def read(cls, X: Any, categorical_features: Any = "from_dtype") -> Features:
        if as_frame(X) is None and not issparse(X):
            X = np.asarray(X)
        if getattr(X, "ndim", 2) != 2:
            raise ValueError(f"X has shape {X.shape}; pass a table of rows and columns.")
        mask = categorical_mask(X, categorical_features)
        encoder = Encoder.learn(X, mask)
        return cls(X, encoder.encode(X), encoder.is_categorical, mask)

    @property
    def n_rows(self) -> int:
        return self.numbers.shape[0]

    @property
    def n_columns(self) -> int:
        return self.numbers.shape[1]

    @property
    def has_gaps(self) -> bool:
        return not issparse(self.numbers) and bool(np.isnan(self.numbers.astype(float)).any())

    @property
    def categories(self) -> list[int]:
        """Indices of the categorical columns."""
        return np.flatnonzero(self.categorical).tolist()

    def rows(self, indices: np.ndarray, as_numbers: bool) -> Any:
        return self.numbers[indices] if as_numbers else take_rows(indices, self.X)[0]


CATBOOST_VALUES = 2_000  # rounds times classes: that of its default of 1,000 for two classes


def _spread(estimator: Any, features: Features, fill: bool = False) -> Any:
    """A pipeline that one-hot encodes categories and, if asked, imputes medians."""
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
        """LightGBM takes the categorical columns in ``fit``, not in its constructor."""

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
        """With fewer rounds for many classes: the default of 1,000 takes minutes there."""

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
    """Categories as text, as CatBoost requires."""
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


Build = Callable[[Features, int, int | None], Any]  # of the data, a seed and a number of threads
# Boosters of different families, and fast enough for an interactive comparison.
USUAL = (
    "SteadyBoost",
    "SAMME",
    "AdaBoost",
    "MSmoothBoost",
    "WeightBoost",
    "SoftmaxBoost",
    "GD-MCBoost",
    "Bagging",
)
GROUPS = ("usual", "ours", "peers", "all")


@dataclass(frozen=True)
class ComparedMethod:
    """A name, and how its estimator is made.

    ``package`` is the library that it needs; peers get numbers in place of the user's table.
    """

    name: str
    build: Build
    package: str = "steadyboost"
    wants_numbers: bool = False

    @property
    def is_ours(self) -> bool:
        return self.package == "steadyboost"

    @cached_property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


def known_methods() -> dict[str, ComparedMethod]:
    """All methods by name, ours first, installed or not."""
    methods = [*_ours(), *(ComparedMethod(*peer, wants_numbers=True) for peer in PEERS)]
    return {method.name: method for method in methods}


def _ours() -> list[ComparedMethod]:
    names = [name for name in steadyboost.__all__ if name.endswith("Classifier")]
    return [
        _our_method(getattr(steadyboost, name)) for name in names if name != "BoostingClassifier"
    ]


def _our_method(cls: type) -> ComparedMethod:
    def build(features: Features, seed: int, n_jobs: int | None) -> Any:
        named = np.flatnonzero(features.mask).tolist()
        categories = {"categorical_features": named} if named else {}
        return cls(random_state=seed, n_jobs=n_jobs, **categories)

    return ComparedMethod(display_name(cls), build)


def choose(wanted: Sequence[str] | Mapping[str, Any] | None) -> list[ComparedMethod]:
    """The methods of some names or groups, or a user's own estimators by name."""
    if isinstance(wanted, Mapping):
        methods = [_given(name, estimator) for name, estimator in wanted.items()]
    else:
        known = known_methods()
        names = ["usual"] if wanted is None else list(wanted)
        methods = [method for name in names for method in _meant(name, known)]
    unique = list({method.name: method for method in methods}.values())
    if len(unique) < 2:
        raise ValueError(
            f"methods={list(wanted or ())} leaves {len(unique)} method(s) to compare; name two or "
            "more."
        )
    return unique


def _given(name: str, estimator: Any) -> ComparedMethod:
    from sklearn.base import clone

    is_ours = type(estimator).__module__.startswith("steadyboost.")
    package = "steadyboost" if is_ours else type(estimator).__module__.split(".")[0]
    return ComparedMethod(name, lambda features, seed, n_jobs: clone(estimator), package)


def _meant(name: str, known: dict[str, ComparedMethod]) -> list[ComparedMethod]:
    """Methods of a name or group; a group skips libraries that are not installed."""
    if name in GROUPS:
        return [m for m in known.values() if _is_in(m, name) and m.is_installed]
    by_key = {_key(method.name): method for method in known.values()}
    method = by_key.get(_key(name.removesuffix("Classifier")))
    if method is None:
        near = get_close_matches(_key(name), by_key, n=1)
        hint = f"did you mean {by_key[near[0]].name!r}? " if near else ""
        raise ValueError(
            f"methods has {name!r}, which is not known; {hint}Known are {', '.join(known)}, and "
            f"the groups {', '.join(GROUPS)}."
        )
    if not method.is_installed:
        raise ValueError(
            f"methods has {name!r}, but {method.package} is not installed; pip install "
            f"{method.package}."
        )
    return [method]


def _is_in(method: ComparedMethod, group: str) -> bool:
    if group == "usual":
        return not method.is_ours or method.name in USUAL
    return group == "all" or method.is_ours == (group == "ours")


def _key(name: str) -> str:
    """Letters and digits only, so that ``ada-boost.m1`` matches AdaBoost.M1."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
