"""Python values as JSON and back: parameters, histories, labels.

JSON's own types stand for themselves. All else is an object of one key that begins with ``$``; a
dictionary whose keys are not plain texts becomes a list of pairs.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import steadyboost
from steadyboost.ensemble.codes.codes import CodeDistance
from steadyboost.ensemble.model_io.checks import (
    ModelFileError,
    need,
    need_int,
    need_keys,
    need_list,
    need_object,
)

INT_BOUND = 2**63
MAX_DIMENSIONS = 8
MAX_TEXT = 2**20  # characters that labels may take beyond what is in them
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


def decode(value: Any) -> Any:
    """The value that JSON stands for; only plain values, arrays and steadyboost's own learners."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if isinstance(value, dict):
        tag = next(iter(value), "")
        if tag.startswith("$"):
            need(len(value) == 1 and tag in _DECODERS, f"{tag!r} is not known")
            return _DECODERS[tag](value[tag])
        need(not any(key.startswith("$") for key in value), "a key is not known")
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, float):
        need(math.isfinite(value), "a number is too large")
    if isinstance(value, int):
        need(-INT_BOUND <= value < INT_BOUND, "a number is too large")
    return value


def _decode_float(text: Any) -> float:
    need(text in NON_FINITE, "a number is not known")
    return float(text)


def _decode_dict(pairs: Any) -> dict[Any, Any]:
    need(all(len(need_list(pair, "a pair")) == 2 for pair in need_list(pairs, "pairs")), "a pair")
    return {decode(key): decode(item) for key, item in pairs}


def _decode_array(parts: Any) -> np.ndarray:
    need(len(need_list(parts, "an array")) == 3, "an array has a type, a shape and its values")
    text, shape, items = parts
    values = decode(need_list(items, "values"))
    need(len(need_list(shape, "a shape")) <= MAX_DIMENSIONS, "an array has too many dimensions")
    for length in shape:
        need_int(length, 0, INT_BOUND, "a length")
    need(math.prod(shape) == len(values), "an array's shape does not fit its values")
    out = np.empty(len(values), dtype=_array_type(text, values))
    out[:] = values
    return out.reshape(shape)


def _array_type(text: Any, values: list[Any]) -> np.dtype:
    """The type named, of which no more than the values fill: a width alone takes memory."""
    need(isinstance(text, str) and len(text) < 16, "an array's type must be a short text")
    dtype = np.dtype(text)
    need(dtype.kind in PLAIN, f"arrays of {dtype} are not known")
    fitting = PLAIN[dtype.kind]
    need(all(isinstance(value, fitting) for value in values), f"a value is not of type {dtype}")
    if dtype.kind == "U" and dtype.itemsize // 4 * len(values) > MAX_TEXT:
        return np.dtype(("U", max(map(len, values))))
    return dtype.newbyteorder("=")


def _decode_new(parts: Any) -> Any:
    need(len(need_list(parts, "a learner")) == 2, "a learner has a name and parameters")
    cls = exported(parts[0])
    need(cls is not None, f"{parts[0]!r} is not an estimator of this library")
    return build(cls, parts[1])


def _decode_record(parts: Any) -> Any:
    need(len(need_list(parts, "a record")) == 2, "a record has a name and values")
    need(isinstance(parts[0], str) and parts[0] in RECORDS, f"{parts[0]!r} is no record")
    cls = RECORDS[parts[0]]
    return cls(**decode(need_keys(parts[1], {field.name for field in fields(cls)}, "a record")))


def exported(name: Any) -> Any:
    """The estimator class that the package exports by this name, None if there is none.

    The public names are the only door: nothing else is looked up or imported.
    """
    if not isinstance(name, str) or name not in steadyboost.__all__:
        return None
    found = getattr(steadyboost, name)
    return found if isinstance(found, type) and issubclass(found, BaseEstimator) else None


def build(cls: Any, params: Any) -> Any:
    """An estimator with parameters from JSON; those not in the file keep their defaults."""
    unknown = sorted(need_object(params, "parameters").keys() - set(cls._get_param_names()))
    need(not unknown, f"{cls.__name__} has no parameters {unknown}")
    need(params.get("callbacks") is None, "callbacks cannot be in a file")
    estimator = cls(**{name: decode(value) for name, value in params.items()})
    estimator._validate_params()
    return estimator


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$float": _decode_float,
    "$tuple": lambda items: tuple(decode(need_list(items, "a tuple"))),
    "$dict": _decode_dict,
    "$array": _decode_array,
    "$record": _decode_record,
    "$new": _decode_new,
}
