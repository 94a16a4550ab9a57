"""SHAP values: the contribution of each feature to the scores of a row."""

from copy import copy
from typing import Any

import numpy as np
import shap

from steadyboost.boosters.martiboost import MartiBoostClassifier
from steadyboost.boosters.steadyboost.classifier import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.members import MOST_BACKGROUND
from steadyboost.boosters.weightboost import WeightBoostClassifier
from steadyboost.exports.trees import (
    FeatureBins,
    ModelTree,
    check_additive,
    check_booster,
    column_names,
    decision_matrix,
    encode,
    model_trees,
    threshold_tree,
)
from steadyboost.preprocessing.encoder import Encoder

NOT_SUMS = (MartiBoostClassifier, SteadyBoostClassifier, WeightBoostClassifier)
FEW_COLUMNS = 10  # up to which all subsets of columns are tried, as shap does by itself


def shap_explainer(model: Any, data: Any = None) -> shap.Explainer:
    """An explainer of a fitted booster, whose values for a row add up to what the booster says.

    Where a booster is a sum of trees, it explains ``decision_function``, exactly and fast: values
    and ``expected_value`` add up to it, for each class, or to the one number where there are two
    classes. SteadyBoost, WeightBoost and MartiBoost are not sums of trees; for them it explains
    ``predict_proba``, by what happens as values of a row replace those of background rows.

    Parameters
    ----------
    model : booster
        A fitted booster.
    data : array-like or data frame of shape (n_samples, n_features), default=None
        Background rows (interventional SHAP values), of which at most 100 are used where a booster
        is not a sum of trees. Without them, trees marginalise features by the weights of their own
        round, so that expected values are those of reweighted rows; SteadyBoost takes training rows
        by themselves, right after ``fit``; model files do not hold them.

    Returns
    -------
    explainer : shap.TreeExplainer, or an explainer of ``predict_proba``
        It takes rows as :func:`~steadyboost.exports.encode` returns them; rows of numbers need no
        encoding.

    References
    ----------
    .. [1] S. M. Lundberg et al. (2020). From local explanations to global understanding with
       explainable AI for trees. Nature Machine Intelligence 2, 56-67.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import AdaBoostClassifier
    >>> from steadyboost.exports import shap_explainer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    >>> explanation = shap_explainer(model)(X)
    >>> total = explanation.values.sum(axis=1) + explanation.base_values
    >>> bool(np.allclose(total, model.decision_function(X)))
    True
    """
    check_booster(model)
    if isinstance(model, NOT_SUMS):
        return _proba_explainer(model, data)
    check_additive(model, "SHAP")
    bins, matrix = FeatureBins.of(model), decision_matrix(model)
    forest = {
        "trees": [_tree(model_tree, bins, matrix) for model_tree in model_trees(model)],
        "base_offset": 0.0,
        "tree_output": "raw_value",
        "objective": None,
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
    }
    background = None if data is None else encode(model, data)
    return shap.TreeExplainer(forest, background, feature_names=column_names(model))


def _proba_explainer(model: Any, data: Any) -> shap.Explainer:
    """An explainer of probabilities, for encoded rows, that needs no trees."""
    background = getattr(model, "background_", None) if data is None else encode(model, data)
    if background is None:
        raise ValueError(
            f"{type(model).__name__} is explained by comparison with other rows; pass some of them "
            "as data, such as 100 training rows."
        )
    if len(background) > MOST_BACKGROUND:
        rows = np.random.default_rng(0).choice(len(background), MOST_BACKGROUND, replace=False)
        background = background[np.sort(rows)]
    return shap.Explainer(
        on_encoded_rows(model).predict_proba,
        shap.maskers.Independent(background, max_samples=len(background)),
        algorithm="exact" if background.shape[1] <= FEW_COLUMNS else "permutation",
        feature_names=column_names(model),
        output_names=[str(label) for label in model.classes_],
        seed=0,
    )


def on_encoded_rows(model: Any) -> Any:
    """A copy of a fitted booster that takes rows as :func:`encode` returns them."""
    twin = copy(model)
    twin.n_features_in_ = model._encoder.n_columns
    twin._encoder = Encoder([None] * twin.n_features_in_)
    vars(twin).pop("feature_names_in_", None)
    return twin


def _tree(model_tree: ModelTree, bins: FeatureBins, matrix: np.ndarray) -> dict[str, np.ndarray]:
    """One tree as a dictionary of the explainer; sets of categories become comparisons."""
    tree = threshold_tree(model_tree.tree, bins.runs)
    values = np.zeros((len(tree.column), matrix.shape[1]))
    values[tree.is_leaf] = model_tree.values[tree.origin[tree.is_leaf]] @ matrix
    return {
        "children_left": tree.left,
        "children_right": tree.right,
        "children_default": np.where(tree.missing_left, tree.left, tree.right),
        "features": np.where(tree.is_leaf, -2, tree.column),
        "thresholds": tree.threshold,
        "values": values,
        "node_sample_weight": tree.cover,
    }
