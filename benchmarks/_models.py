"""The models that are timed, as data. Libraries load on first use, in the measured process."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DEPTH = 3
LEAVES = 2**DEPTH
OURS = "steadyboost"


@dataclass(frozen=True)
class Model:
    """How to build a model of so many rounds and threads, and how to count what it did."""

    label: str
    package: str
    build: Callable[[int, int], Any]
    rounds_done: Callable[[Any], int]
    pace: str  # which of a data set's numbers of rounds it gets
    tree_per_class: bool = True
    threads: tuple[int, ...] = (1, 2)
    predicts: bool = True

    def trees_per_round(self, n_classes: int) -> int:
        return n_classes if self.tree_per_class and n_classes > 2 else 1


def _steadyboost(rounds: int, threads: int) -> Any:
    from steadyboost import SAMMEClassifier, Tree

    tree = Tree(max_depth=DEPTH)
    return SAMMEClassifier(estimator=tree, n_estimators=rounds, n_jobs=threads, random_state=0)


def _adaboost(rounds: int, threads: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=DEPTH)
    return AdaBoostClassifier(tree, n_estimators=rounds, random_state=0)


def _hist_gradient_boosting(rounds: int, threads: int) -> Any:
    """Threads come from OMP_NUM_THREADS, which the parent sets before the process starts."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=rounds,
        max_depth=DEPTH,
        max_leaf_nodes=LEAVES,
        learning_rate=0.1,
        early_stopping=False,
        random_state=0,
    )


def _lightgbm(rounds: int, threads: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=rounds,
        max_depth=DEPTH,
        num_leaves=LEAVES,
        n_jobs=threads,
        random_state=0,
        verbosity=-1,
    )


def _xgboost(rounds: int, threads: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=rounds, max_depth=DEPTH, tree_method="hist", n_jobs=threads, random_state=0
    )


MODELS: dict[str, Model] = {
    OURS: Model(
        "SteadyBoost SAMME",
        "steadyboost",
        _steadyboost,
        lambda model: model.n_iter_,
        pace="ours",
        tree_per_class=False,
    ),
    # It has no threads, and would take minutes to train the trees that prediction needs.
    "adaboost": Model(
        "scikit-learn AdaBoost",
        "sklearn",
        _adaboost,
        lambda model: len(model.estimators_),
        pace="slow",
        tree_per_class=False,
        threads=(1,),
        predicts=False,
    ),
    "hgb": Model(
        "scikit-learn HGB",
        "sklearn",
        _hist_gradient_boosting,
        lambda model: model.n_iter_,
        pace="peers",
    ),
    "lightgbm": Model(
        "LightGBM",
        "lightgbm",
        _lightgbm,
        lambda model: model.booster_.current_iteration(),
        pace="peers",
    ),
    "xgboost": Model(
        "XGBoost",
        "xgboost",
        _xgboost,
        lambda model: model.get_booster().num_boosted_rounds(),
        pace="peers",
    ),
}
