"""What a model must satisfy before it is used: compiled prediction does not look twice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from steadyboost.ensemble.hooks import Hooks
    from steadyboost.ensemble.stages import Stage
    from steadyboost.preprocessing.binner import Binner
    from steadyboost.preprocessing.encoder import Encoder

MAX_CUTS = 254
MAX_CATEGORIES = 255
MAX_SCORE = 1e300  # scores beyond would overflow when they are added up


class ModelFileError(ValueError):
    """A model that cannot be written, or a file that is not a sound model.

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
    """Cases are what the classes add up to, and branches share out those of their node."""
    cases = tree["cases"]
    need(np.isfinite(class_weights).all() and (class_weights >= 0).all(), "a weight is not one")
    need(np.allclose(cases, class_weights.sum(axis=1), rtol=1e-6), "cases are not their classes'")
    for node in np.flatnonzero(tree["n_branches"]):
        first = tree["first_child"][node]
        branches = cases[first : first + tree["n_branches"][node]]
        need(cases[node] > 0, "a node without cases has branches")
        need(np.isclose(branches.sum(), cases[node], rtol=1e-6), "branches are not their node's")


def check_classes(classes: Any) -> None:
    """Labels are looked up by bisection: they must be sorted, and each one once."""
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


def check_binner(binner: "Binner", n_features: int) -> None:
    need(len(binner.cuts) == n_features, "there must be cuts for each feature")
    need(binner.has_missing.shape == (n_features,), "has_missing must have an entry per feature")
    for cuts in binner.cuts:
        need_array(cuts, np.float64, (None,), "cuts")
        need(len(cuts) <= MAX_CUTS, f"a feature has more than {MAX_CUTS} cuts")
        need(np.isfinite(cuts).all() and (cuts[:-1] < cuts[1:]).all(), "cuts must be sorted")


def check_code(code: Any, n_outputs: int) -> None:
    """What answers add to the scores: (outputs,) or (answers, outputs)."""
    need(isinstance(code, np.ndarray), "a code must be an array")
    need(code.dtype == np.float64 or code.dtype.kind in "biu", f"a code of type {code.dtype}")
    fits = code.ndim in (1, 2) and code.shape[-1] == n_outputs and len(code) > 0
    need(fits, f"a code of shape {code.shape} does not fit {n_outputs} columns of scores")
    need(np.isfinite(code).all(), "a code must be finite")


def n_parts(stage: "Stage") -> int:
    """Answers of a stage; 0 where it is not made of parts."""
    return len(getattr(stage.answer, "answers", ()))


def check_stages(stages: Sequence["Stage"], booster: "Hooks") -> None:
    """Codes fit the scores, and the scores stay finite."""
    need(len(stages) > 0, "there must be a stage")
    several = n_parts(stages[0]) > 0
    total, code, largest = 0.0, None, 0.0
    for t, stage in enumerate(stages):
        if stage.code is not code:
            code = stage.code
            check_code(code, 1 if several else booster.n_outputs())
            largest = float(np.abs(code.astype(np.float64)).max())
        parts = booster.n_parts(t) if several else 0
        need(n_parts(stage) == parts, "a stage has parts that it should not have, or too few")
        for number in (stage.step, stage.error):
            need(np.shape(number) in ((), (parts,)), "there must be a number per part")
        for value in stage.extra.values() if several else ():
            need(np.shape(value)[:1] in ((), (parts,)), "there must be an entry per part")
        total += float(np.abs(stage.step).max()) * largest
    need(total <= MAX_SCORE, "steps and codes must be finite and of bounded size")
