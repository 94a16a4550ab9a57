"""How the weak hypotheses of a model become arrays, and arrays become hypotheses again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.ensemble.model_io.checks import (
    ModelFileError,
    check_branches,
    check_cases,
    check_tree,
    need,
    need_array,
    need_keys,
)
from steadyboost.learners.c45 import C45Answer
from steadyboost.learners.tree_answer import LeafAnswer, TreeAnswer
from steadyboost.trees.c45.tree import C45Tree
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.splits.bitset import BITSET_WORDS

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class AnswerLimits:
    """What a hypothesis may refer to: features, answers, and bins where the model has them.

    A vote is an answer, or a number for each class.
    """

    n_features: int
    n_answers: int
    n_classes: int
    binned: bool


@dataclass(frozen=True)
class AnswerKind:
    """A type of hypothesis under the name that files know it by."""

    name: str
    type: type
    to_arrays: Callable[[Any], Arrays]
    from_arrays: Callable[[Arrays, AnswerLimits], Any]


_KINDS: dict[str, AnswerKind] = {}


def register_answer(
    name: str,
    type_: type,
    to_arrays: Callable[[Any], Arrays],
    from_arrays: Callable[[Arrays, AnswerLimits], Any],
) -> None:
    """Let model files hold another type of hypothesis.

    Parameters
    ----------
    name : str
        What files call it: an identifier that must never change its meaning.
    type_ : type
        The class of the hypotheses.
    to_arrays : callable
        From a hypothesis to a dictionary of numeric arrays.
    from_arrays : callable
        From that dictionary and a :class:`AnswerLimits` to a hypothesis. The arrays may come from a
        hostile file: it must check whatever prediction relies on, and raise ModelFileError.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Constant:
    ...     vote: int
    >>> def from_arrays(arrays, limits):
    ...     vote = int(arrays["vote"][()])
    ...     need(0 <= vote < limits.n_answers, "a vote is out of range")
    ...     return Constant(vote)
    >>> register_answer("example", Constant, lambda c: {"vote": np.array(c.vote)}, from_arrays)
    >>> kind_of(Constant(1)).name
    'example'
    """
    if not name.isidentifier():
        raise ValueError(f"name={name!r} must be an identifier.")
    _KINDS[name] = AnswerKind(name, type_, to_arrays, from_arrays)


def kind_of(answer: Any) -> AnswerKind:
    """The kind of a hypothesis that is to be written."""
    for kind in _KINDS.values():
        if type(answer) is kind.type:
            return kind
    raise ModelFileError(
        f"The model holds weak hypotheses of type {type(answer).__name__}, which a model file "
        "cannot hold. To keep this model, use skops or joblib."
    )


def kind_named(name: Any) -> AnswerKind:
    """The kind that a file names."""
    need(isinstance(name, str) and name in _KINDS, f"{name!r} is no kind of weak hypothesis")
    return _KINDS[name]


def _leaves_to_arrays(answer: TreeAnswer) -> Arrays:
    tree = answer.tree
    return {
        "feature": tree.feature,
        "children": tree.children,
        "left_set": tree.left_bitset,  # the name in files since version 1
        "value": tree.value,
        "gain": tree.gain,
    }


def _tree_to_arrays(answer: TreeAnswer) -> Arrays:
    return {**_leaves_to_arrays(answer), "label": answer.label}


def _grown_from_arrays(arrays: Arrays, limits: AnswerLimits) -> GrownTree:
    """A tree that :func:`~steadyboost.trees.prediction.apply.apply` can walk without looking."""
    need(limits.binned, "a tree needs the cuts of the features")
    need_keys(arrays, {"feature", "children", "left_set", "value", "gain"}, "a tree")
    n = len(np.atleast_1d(arrays["feature"]))
    feature = need_array(arrays["feature"], np.int32, (n,), "feature")
    children = need_array(arrays["children"], np.int32, (n, 2), "children")
    left_bitset = need_array(arrays["left_set"], np.uint32, (n, BITSET_WORDS), "left_set")
    value = need_array(arrays["value"], np.float64, (n, None), "value")
    gain = need_array(arrays["gain"], np.float64, (n,), "gain")
    depth = check_tree(feature, children, limits.n_features)
    need(np.isfinite(value).all() and np.isfinite(gain).all(), "a tree must be finite")
    return GrownTree(feature, children, left_bitset, value, gain, depth)


def _tree_from_arrays(arrays: Arrays, limits: AnswerLimits) -> TreeAnswer:
    need("label" in arrays, "a tree must have labels")
    tree = _grown_from_arrays({k: v for k, v in arrays.items() if k != "label"}, limits)
    label = need_array(arrays["label"], np.int32, (len(tree.feature),), "label")
    need(((label >= 0) & (label < limits.n_answers)).all(), "a label is out of range")
    return TreeAnswer(tree, label)


def _leaves_from_arrays(arrays: Arrays, limits: AnswerLimits) -> LeafAnswer:
    return LeafAnswer.of(_grown_from_arrays(arrays, limits))


C45_VECTORS: dict[str, type[Any]] = {
    "attribute": np.int64,
    "threshold": np.float64,
    "first_child": np.int64,
    "n_branches": np.int64,
    "cases": np.float64,
    "majority": np.int64,
    "errors": np.float64,
}


def _c45_to_arrays(answer: C45Answer) -> Arrays:
    names = (*C45_VECTORS, "class_weights")
    arrays = {name: getattr(answer.tree, name) for name in names}
    return {**arrays, "by_share": np.array(answer.by_share)}


def _c45_from_arrays(arrays: Arrays, limits: AnswerLimits) -> C45Answer:
    """A C4.5 tree whose branches, features and classes are all there."""
    need_keys(arrays, {*C45_VECTORS, "class_weights", "by_share"}, "a C4.5 tree")
    n = len(np.atleast_1d(arrays["attribute"]))
    vectors = {name: need_array(arrays[name], t, (n,), name) for name, t in C45_VECTORS.items()}
    by_share = bool(need_array(arrays["by_share"], np.bool_, (), "by_share"))
    shape = (n, limits.n_classes if by_share else None)
    weights = need_array(arrays["class_weights"], np.float64, shape, "class_weights")
    n_votes = weights.shape[1]
    check_branches(vectors, limits.n_features)
    need(by_share or n_votes <= limits.n_answers, "there are more votes than answers")
    need(((vectors["majority"] >= 0) & (vectors["majority"] < n_votes)).all(), "an unknown class")
    check_cases(vectors, weights)
    return C45Answer(
        C45Tree(**vectors, class_weights=weights, n_features=limits.n_features), by_share
    )


register_answer("tree", TreeAnswer, _tree_to_arrays, _tree_from_arrays)
register_answer("leaves", LeafAnswer, _leaves_to_arrays, _leaves_from_arrays)
register_answer("c45", C45Answer, _c45_to_arrays, _c45_from_arrays)
