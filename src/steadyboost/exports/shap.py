"""SHAP values: the contribution of each feature to the scores of a row."""

from typing import Any

import numpy as np
import shap

from steadyboost.exports.trees import (
    FeatureBins,
    ModelTree,
    check_additive,
    column_names,
    decision_matrix,
    encode,
    model_trees,
    threshold_tree,
)


def shap_explainer(model: Any, data: Any = None) -> shap.TreeExplainer:
    """An explainer of a fitted booster's ``decision_function``.

    Its values for a row and ``expected_value`` add up to the decision function, for each class, or
    to the one number where there are two classes.

    Parameters
    ----------
    model : booster
        A fitted booster that adds up trees: all but MartiBoost, SteadyBoost and WeightBoost, with
        trees, stumps, tests or rules of this package.
    data : array-like or data frame of shape (n_samples, n_features), default=None
        Background rows (interventional SHAP values). Without them, features are marginalised by
        the weights of the tree's own round, so that expected values are those of reweighted rows.

    Returns
    -------
    explainer : shap.TreeExplainer
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
