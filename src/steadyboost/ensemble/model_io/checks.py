"""Checks of a model from a file: compiled prediction does not check bounds itself."""

from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.preprocessing.encoder import DATE_PARTS

if TYPE_CHECKING:
    from steadyboost.preprocessing.binner import Binner
    from steadyboost.preprocessing.encoder import Encoder

MAX_CUTS = 254  # of a column: 255 bins
MAX_CATEGORIES = 255
MAX_SCORE = 1e300  # scores beyond would overflow when they are added up
MAX_VALUE = 1e100  # of a node of a tree: sums and products of these must not overflow
MAX_DEPTH = 10_000  # of a tree: each row of a prediction takes as many steps


class ModelFileError(ValueError):
    """A model that cannot be written, or a file that is not one, or is damaged.

    Examples
    --------
    >>> from steadyboost import Tree
    >>> from steadyboost.ensemble.model_io.file import save_model
    >>> save_model(Tree(), "tree.sb")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    steadyboost.ensemble.model_io.checks.ModelFileError: Only boosters ... use skops or joblib.
    """


def need(condition: Any, message: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise ModelFileError(message)


def need_int(value: Any, low: int, high: int, name: str) -> int:
    """The value, if it is an integer (and not a boolean) from ``low`` to ``high``."""
    need(type(value) is int and low <= value <= high, f"{name} must be from {low} to {high}")
    return value


def need_list(value: Any, name: str) -> list[Any]:
    need(isinstance(value, list), f"{name} must be a list")
    return value


def need_object(value: Any, name: str) -> dict[str, Any]:
    need(isinstance(value, dict), f"{name} must be an object")
    return value


def need_keys(value: Any, keys: set[str], name: str) -> dict[str, Any]:
    """The value, if it is an object of exactly these keys."""
    need_object(value, name)
    need(value.keys() == keys, f"{name} must have the keys {sorted(keys)}, has {sorted(value)}")
    return value


def need_array(
    array: np.ndarray, dtype: type[np.generic], shape: tuple[int | None, ...], name: str
) -> np.ndarray:
    """The array, if it has this type and shape; None stands for any length."""
    fits = array.dtype == dtype and array.ndim == len(shape)
    if not fits or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ModelFileError(f"{name} must be {np.dtype(dtype)} of shape {shape}")
    return array


def check_tree(feature: np.ndarray, children: np.ndarray, n_features: int) -> int:
    """Check that nodes form one binary tree whose leaves point to themselves; its depth.

    Children come after their parent, as growth writes them, so there are no cycles.
    """
    n = len(feature)
    nodes = np.arange(n)
    need(n > 0, "a tree needs a node")
    need(((feature >= 0) & (feature < n_features)).all(), "a tree splits an unknown feature")
    need(((children >= 0) & (children < n)).all(), "a child is outside its tree")
    inner = (children != nodes[:, None]).any(axis=1)
    below = children[inner]
    need((below > nodes[inner, None]).all(), "a child comes before its parent")
    parents = np.bincount(below.ravel(), minlength=n)
    need((parents[1:] == 1).all(), "a node needs exactly one parent")
    return _depth(children, inner)


def _depth(children: np.ndarray, inner: np.ndarray) -> int:
    depth = 0
    level = np.zeros(1, dtype=np.int64)
    while inner[level].any():
        level = children[level[inner[level]]].ravel()
        depth += 1
        need(depth <= MAX_DEPTH, f"a tree is deeper than {MAX_DEPTH}")
    return depth


def check_branches(tree: dict[str, np.ndarray], n_features: int) -> None:
    """Check that the nodes of a C4.5 tree form one tree; branches come after their node."""
    attribute, first, n_branches = tree["attribute"], tree["first_child"], tree["n_branches"]
    n = len(attribute)
    inner = attribute >= 0
    need(n > 0, "a tree needs a node")
    need((attribute < n_features).all(), "a tree tests an unknown feature")
    need((n_branches[~inner] == 0).all(), "a leaf has branches")
    first, n_branches, places = first[inner], n_branches[inner], np.flatnonzero(inner)
    need(((n_branches > 0) & (n_branches < n)).all(), "a test has no branches, or too many")
    need(((first > places) & (first <= n - n_branches)).all(), "a branch is outside its tree")
    numeric = ~np.isnan(tree["threshold"][inner])
    need((n_branches[numeric] == 2).all(), "a threshold has two branches")
    need(n_branches.sum() == n - 1, "a node needs exactly one parent")
    starts = np.repeat(first - np.cumsum(n_branches) + n_branches, n_branches)
    parents = np.bincount(starts + np.arange(n - 1), minlength=n)
    need((parents[1:] == 1).all(), "a node needs exactly one parent")


def check_cases(tree: dict[str, np.ndarray], class_weights: np.ndarray) -> None:
    """Check that cases are the sums of the class weights, and those of branches of their node."""
    cases = tree["cases"]
    need(np.isfinite(class_weights).all() and (class_weights >= 0).all(), "a weight is not one")
    need(np.allclose(cases, class_weights.sum(axis=1), rtol=1e-6), "cases are not their classes'")
    for node in np.flatnonzero(tree["n_branches"]):
        first = tree["first_child"][node]
        branches = cases[first : first + tree["n_branches"][node]]
        need(cases[node] > 0, "a node without cases has branches")
        need(np.isclose(branches.sum(), cases[node], rtol=1e-6), "branches are not their node's")


def check_classes(classes: Any) -> None:
    """Check that classes are sorted and distinct: labels are found by bisection."""
    need(isinstance(classes, np.ndarray) and classes.ndim == 1, "classes must be a vector")
    need(len(classes) > 0, "there must be a class")
    need((classes == classes).all(), "a class is missing")
    need((classes[:-1] < classes[1:]).all(), "classes must be sorted, each once")


def check_encoder(encoder: "Encoder", n_features: int) -> None:
    need(len(encoder.categories) == n_features, "there must be one list of categories per feature")
    for kept in encoder.categories:
        if kept is not None:
            plain = all(isinstance(v, (str, int, float)) and v == v for v in kept)
            need(plain, "categories must be texts or numbers")
            need(len(set(kept)) == len(kept) <= MAX_CATEGORIES, "categories must be few, each once")
    for parts in encoder.dates or ():
        if parts is not None:
            known = [part for part in DATE_PARTS if part in parts]
            need(len(parts) > 0 and parts == known, "parts of dates must be known, each once")


def check_binner(binner: "Binner", n_features: int) -> None:
    need(len(binner.cuts) == n_features, "there must be cuts for each feature")
    need(binner.has_missing.shape == (n_features,), "has_missing must have an entry per feature")
    for cuts in binner.cuts:
        need_array(cuts, np.float64, (None,), "cuts")
        need(len(cuts) <= MAX_CUTS, f"a feature has more than {MAX_CUTS} cuts")
        need(np.isfinite(cuts).all() and (cuts[:-1] < cuts[1:]).all(), "cuts must be sorted")


def check_code(code: Any, n_outputs: int) -> None:
    """Check a code, which is (outputs,) or (answers, outputs)."""
    need(isinstance(code, np.ndarray), "a code must be an array")
    need(code.dtype == np.float64 or code.dtype.kind in "biu", f"a code of type {code.dtype}")
    fits = code.ndim in (1, 2) and code.shape[-1] == n_outputs and len(code) > 0
    need(fits, f"a code of shape {code.shape} does not fit {n_outputs} columns of scores")
    need(np.isfinite(code).all(), "a code must be finite")
