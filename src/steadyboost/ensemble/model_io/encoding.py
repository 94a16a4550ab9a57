"""Values and weak hypotheses as JSON and arrays, and back.

JSON's own types stand for themselves. All else is an object of one key that begins with ``$``; a
dictionary whose keys are not plain texts becomes a list of pairs. A weak hypothesis is a kind, by
name, and arrays.
"""

import math
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import steadyboost
from steadyboost.ensemble.codes.codes import CodeDistance
from steadyboost.ensemble.model_io.archive import Budget
from steadyboost.ensemble.model_io.checks import (
    MAX_VALUE,
    ModelFileError,
    check_branches,
    check_cases,
    check_tree,
    need,
    need_array,
    need_int,
    need_keys,
    need_list,
    need_object,
)
from steadyboost.learners.c45 import C45Answer
from steadyboost.learners.tree import LeafAnswer, TreeAnswer
from steadyboost.trees.c45.tree import C45Tree
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.splits.bitset import BITSET_WORDS

INT_BOUND = 2**63
ROUNDING = 1e-6  # of a gain, whose square sums are differences
MAX_DIMENSIONS = 8
LEAVES = "leaves"  # the kind of hypotheses of which the values of leaves are added
NON_FINITE = ("nan", "inf", "-inf")
RECORDS: dict[str, Any] = {"CodeDistance": CodeDistance}  # dataclasses of plain values
PLAIN: dict[str, tuple[type, ...]] = {  # kinds of arrays, and what their items may be
    "b": (bool,),
    "i": (int,),
    "u": (int,),
    "f": (int, float),
    "U": (str,),
    "O": (str, bool, int, float),
}
Arrays = dict[str, np.ndarray]


def encode(value: Any, name: str) -> Any:
    """A value as JSON; ``name`` is what an error calls it.

    Examples
    --------
    >>> encode({"a": (1, np.float32(0.5))}, "x")
    {'a': {'$tuple': [1, 0.5]}}
    >>> decode(encode({1: float("inf")}, "x"))
    {1: inf}
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        need(-INT_BOUND <= value < INT_BOUND, f"{name}={value} is too large for a model file.")
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, list):
        return [encode(item, name) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [encode(item, name) for item in value]}
    if isinstance(value, Mapping):
        return _encode_mapping(value, name)
    if isinstance(value, np.ndarray):
        return {"$array": _encode_array(value, name)}
    if type(value) is RECORDS.get(type(value).__name__):
        return {"$record": [type(value).__name__, _encode_mapping(vars(value), name)]}
    if isinstance(value, BaseEstimator) and type(value) is exported(type(value).__name__):
        return {"$new": [type(value).__name__, encode_params(value)]}
    raise ModelFileError(
        f"{name} is a {type(value).__name__}, which a model file cannot hold (only plain values, "
        "arrays and steadyboost's own learners). To keep this model, use skops or joblib."
    )


def encode_params(estimator: BaseEstimator, **instead: Any) -> dict[str, Any]:
    """The parameters of an estimator as JSON; callbacks belong to a run, not to a model."""
    params = {**estimator.get_params(deep=False), "callbacks": None, **instead}
    return {name: encode(params[name], name) for name in estimator._get_param_names()}


def _encode_mapping(value: Mapping[Any, Any], name: str) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {str(key): encode(item, name) for key, item in value.items()}
    return {"$dict": [[encode(key, name), encode(item, name)] for key, item in value.items()]}


def _encode_array(array: np.ndarray, name: str) -> list[Any]:
    if array.dtype.kind not in PLAIN:
        raise ModelFileError(
            f"{name} is an array of {array.dtype}, which a model file cannot hold. "
            "To keep this model, use skops or joblib."
        )
    items = [encode(item, name) for item in array.ravel().tolist()]
    return [array.dtype.newbyteorder("<").str, list(array.shape), items]


def decode(value: Any, budget: Budget | None = None) -> Any:
    """The value that JSON stands for; only plain values, arrays and steadyboost's own learners.

    Arrays of text take memory for the longest text in each entry, and draw on the ``budget``.
    """
    return _Decoder(Budget(0) if budget is None else budget).decode(value)


class _Decoder:
    def __init__(self, budget: Budget):
        self.budget = budget

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if isinstance(value, dict):
            tag = next(iter(value), "")
            if tag.startswith("$"):
                need(len(value) == 1 and tag in _DECODERS, f"{tag!r} is not known")
                return _DECODERS[tag](self, value[tag])
            need(not any(key.startswith("$") for key in value), "a key is not known")
            return {key: self.decode(item) for key, item in value.items()}
        if isinstance(value, float):
            need(math.isfinite(value), "a number is too large")
        if isinstance(value, int):
            need(-INT_BOUND <= value < INT_BOUND, "a number is too large")
        return value

    def number(self, text: Any) -> float:
        need(text in NON_FINITE, "a number is not known")
        return float(text)

    def tuple(self, items: Any) -> tuple[Any, ...]:
        return tuple(self.decode(need_list(items, "a tuple")))

    def dict(self, pairs: Any) -> dict[Any, Any]:
        for pair in need_list(pairs, "pairs"):
            need(len(need_list(pair, "a pair")) == 2, "a pair")
        return {self.decode(key): self.decode(item) for key, item in pairs}

    def array(self, parts: Any) -> np.ndarray:
        need(len(need_list(parts, "an array")) == 3, "an array has a type, a shape and its values")
        text, shape, items = parts
        values = self.decode(need_list(items, "values"))
        need(len(need_list(shape, "a shape")) <= MAX_DIMENSIONS, "an array has too many dimensions")
        for length in shape:
            need_int(length, 0, INT_BOUND, "a length")
        need(math.prod(shape) == len(values), "an array's shape does not fit its values")
        out = np.empty(len(values), dtype=self.array_type(text, values))
        out[:] = values
        return out.reshape(shape)

    def array_type(self, text: Any, values: list[Any]) -> np.dtype:
        """The type named; a width alone takes memory."""
        need(isinstance(text, str) and len(text) < 16, "an array's type must be a short text")
        dtype = np.dtype(text)
        need(dtype.kind in PLAIN, f"arrays of {dtype} are not known")
        fitting = PLAIN[dtype.kind]
        need(all(isinstance(value, fitting) for value in values), f"a value is not of type {dtype}")
        self.budget.spend(_memory_of(dtype, values))
        return dtype.newbyteorder("=")

    def new(self, parts: Any) -> Any:
        need(len(need_list(parts, "a learner")) == 2, "a learner has a name and parameters")
        cls = exported(parts[0])
        need(cls is not None, f"{parts[0]!r} is not an estimator of this library")
        return build(cls, parts[1], self.budget)

    def record(self, parts: Any) -> Any:
        need(len(need_list(parts, "a record")) == 2, "a record has a name and values")
        need(isinstance(parts[0], str) and parts[0] in RECORDS, f"{parts[0]!r} is not a record")
        cls = RECORDS[parts[0]]
        values = self.decode(need_keys(parts[1], {own.name for own in fields(cls)}, "a record"))
        need(all(isinstance(value, (int, float)) for value in values.values()), "a record's value")
        return cls(**values)


def array_bytes(value: Any) -> int:
    """Bytes that reading the arrays in a JSON value takes beyond its text."""
    if isinstance(value, list):
        return sum(map(array_bytes, value))
    if not isinstance(value, dict):
        return 0
    own = value.get("$array")
    return sum(map(array_bytes, value.values())) if own is None else _memory_of(own[0], own[2])


def _memory_of(dtype: Any, values: Sized) -> int:
    return int(np.dtype(dtype).itemsize * len(values))


_DECODERS: dict[str, Callable[[_Decoder, Any], Any]] = {
    "$float": _Decoder.number,
    "$tuple": _Decoder.tuple,
    "$dict": _Decoder.dict,
    "$array": _Decoder.array,
    "$record": _Decoder.record,
    "$new": _Decoder.new,
}


def exported(name: Any) -> Any:
    """The estimator class that the package exports by this name, None if there is none.

    Only public names are looked up: a file cannot have anything else imported.
    """
    if not isinstance(name, str) or name not in steadyboost.__all__:
        return None
    found = getattr(steadyboost, name)
    return found if isinstance(found, type) and issubclass(found, BaseEstimator) else None


def build(cls: Any, params: Any, budget: Budget) -> Any:
    """An estimator with parameters from JSON; those not in the file keep their defaults."""
    unknown = sorted(need_object(params, "parameters").keys() - set(cls._get_param_names()))
    need(not unknown, f"{cls.__name__} has no parameters {unknown}")
    need(params.get("callbacks") is None, "callbacks cannot be in a file")
    estimator = cls(**{name: decode(value, budget) for name, value in params.items()})
    estimator._validate_params()
    return estimator


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
    need(
        isinstance(name, str) and name in _KINDS, f"{name!r} is not a known kind of weak hypothesis"
    )
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
    """A tree that :func:`~steadyboost.trees.prediction.apply.apply` can walk unchecked."""
    need(limits.binned, "a tree needs the cuts of the features")
    need_keys(arrays, {"feature", "children", "left_set", "value", "gain"}, "a tree")
    n = len(np.atleast_1d(arrays["feature"]))
    feature = need_array(arrays["feature"], np.int32, (n,), "feature")
    children = need_array(arrays["children"], np.int32, (n, 2), "children")
    left_bitset = need_array(arrays["left_set"], np.uint32, (n, BITSET_WORDS), "left_set")
    value = need_array(arrays["value"], np.float64, (n, None), "value")
    gain = need_array(arrays["gain"], np.float64, (n,), "gain")
    depth = check_tree(feature, children, limits.n_features)
    need((np.abs(value) <= MAX_VALUE).all(), "the values of a tree must be finite and bounded")
    need(((gain >= -ROUNDING) & (gain <= MAX_VALUE)).all(), "a gain must not be negative")
    return GrownTree(feature, children, left_bitset, value, np.maximum(gain, 0), depth)


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
register_answer(LEAVES, LeafAnswer, _leaves_to_arrays, _leaves_from_arrays)
register_answer("c45", C45Answer, _c45_to_arrays, _c45_from_arrays)
