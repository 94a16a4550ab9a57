"""Treelite: a booster as a model for treelite, TL2cgen and FIL."""

from typing import Any

import numpy as np
import treelite
from treelite.model_builder import Metadata, ModelBuilder, PostProcessorFunc, TreeAnnotation

from steadyboost.exports.trees import (
    FeatureBins,
    ModelTree,
    check_additive,
    decision_matrix,
    link_of,
    model_trees,
    threshold_tree,
)


def to_treelite(model: Any, output: str = "scores") -> treelite.Model:
    """A fitted booster as a treelite model, in double precision.

    Parameters
    ----------
    model : booster
        A fitted booster that adds up trees: all but MartiBoost, SteadyBoost and WeightBoost, with
        trees, stumps, tests or rules of this package.
    output : {"scores", "probabilities"}, default="scores"
        What it predicts: the decision function, or probabilities, for boosters whose probabilities
        are a softmax of the scores: not for equal votes, nor for one class against all others.

    Returns
    -------
    treelite_model : treelite.Model
        It takes rows as :func:`~steadyboost.exports.encode` gives them, in float64, and predicts
        (n, 1, k), with one number in place of k where there are two classes and scores.

    References
    ----------
    .. [1] H. Cho, M. Li (2018). Treelite: toolbox for decision tree deployment. SysML.

    Examples
    --------
    >>> import numpy as np
    >>> import treelite
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.exports import to_treelite
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> scores = treelite.gtil.predict(to_treelite(model), X)[:, 0]
    >>> bool(np.allclose(scores, model.decision_function(X)))
    True
    """
    check_additive(model, "treelite")
    matrix = _matrix(model, output)
    trees, width = model_trees(model), matrix.shape[1]
    builder = ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=Metadata(
            num_feature=model._encoder.n_columns,
            task_type="kMultiClf" if width > 1 else "kBinaryClf",
            average_tree_output=False,
            num_target=1,
            num_class=[width],
            leaf_vector_shape=(1, width),
        ),
        tree_annotation=TreeAnnotation(
            num_tree=len(trees),
            target_id=[0] * len(trees),
            class_id=[-1 if width > 1 else 0] * len(trees),
        ),
        postprocessor=PostProcessorFunc(name=_last_step(output, width)),
        base_scores=[0.0] * width,
    )
    for model_tree in trees:
        _add(builder, model_tree, FeatureBins.of(model), matrix)
    return builder.commit()


def _matrix(model: Any, output: str) -> np.ndarray:
    """The matrix for leaf values: their sums are the decision function, or softmax inputs."""
    if output not in ("scores", "probabilities"):
        raise ValueError(f"output={output!r} is not known; pass 'scores' or 'probabilities'.")
    scores = decision_matrix(model)
    if output == "scores":
        return scores
    link = link_of(model)
    if model.decision_costs is not None:
        raise ValueError(
            f"output='probabilities': {type(model).__name__} was fitted with a cost_matrix, and "
            "its probabilities are not those of the weighted rows that its trees saw; pass "
            "output='scores', or use to_onnx."
        )
    if link.kind != "softmax":
        raise ValueError(
            f"output='probabilities': those of {type(model).__name__} are not a softmax of its "
            "scores, which treelite requires; pass output='scores', or use to_onnx."
        )
    return link.matrix


def _last_step(output: str, width: int) -> str:
    if output == "probabilities":
        return "softmax"
    return "identity_multiclass" if width > 1 else "identity"


def _add(
    builder: ModelBuilder, model_tree: ModelTree, bins: FeatureBins, matrix: np.ndarray
) -> None:
    """Add one tree; sets of categories become chains of comparisons of codes."""
    tree = threshold_tree(model_tree.tree, bins.runs)
    builder.start_tree()
    for node in range(len(tree.left)):
        builder.start_node(node)
        if tree.left[node] < 0:
            leaf = (model_tree.values[tree.origin[node]] @ matrix).tolist()
            builder.leaf(leaf if len(leaf) > 1 else leaf[0])
        else:
            builder.numerical_test(
                feature_id=int(tree.column[node]),
                threshold=float(tree.threshold[node]),
                default_left=bool(tree.missing_left[node]),
                opname="<=",
                left_child_key=int(tree.left[node]),
                right_child_key=int(tree.right[node]),
            )
        builder.end_node()
    builder.end_tree()
