"""From a fitted booster to the text and the columns of a model file."""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import steadyboost
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.files import replacing
from steadyboost.ensemble.model_io.answers import kind_of
from steadyboost.ensemble.model_io.archive import NUMERIC, ColumnWriter, write_archive
from steadyboost.ensemble.model_io.checks import ModelFileError, check_classes, check_stages
from steadyboost.ensemble.model_io.values import encode, encode_params, exported
from steadyboost.ensemble.stages import Stage
from steadyboost.learners.many import Answers

FORMAT, VERSION = "steadyboost", 1
TABLES = {  # attributes that have their own place in a file
    *("classes_", "n_classes_", "n_features_in_", "feature_names_in_", "stages_", "history_"),
    *("_seed", "_encoder", "_binner"),
}
NOT_OURS = ("__", "_skl", "_callback_", "_parent_callback_", "_metadata_")  # Python, scikit-learn


def write_model(
    path: str | os.PathLike[str],
    model: BoostingClassifier,
    stages: Sequence[Stage],
    history: Iterable[dict[str, Any]],
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a booster with these stages and history, and notes of whoever keeps the file."""
    model._validate_params()
    check_classes(model.classes_)
    check_stages(stages, model)
    columns = ColumnWriter()
    document = {
        **_head(model),
        **_tables(model, columns),
        "fitted": _values("fitted", fitted_attributes(model), columns),
        "history": [encode(record, "the history") for record in history],
        "notes": encode(notes or {}, "a note"),
        "steps": columns.put("steps", np.array([stage.step for stage in stages], dtype=float)),
        "errors": columns.put("errors", np.array([stage.error for stage in stages], dtype=float)),
        "stages": _stages(stages, columns),
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with replacing(path) as file:
        write_archive(file, text, columns.joined())


def writable_params(model: Any) -> dict[str, Any]:
    """The parameters of a booster as JSON; an error says why it cannot be written."""
    ours = isinstance(model, BoostingClassifier)
    if not ours or type(model) is not exported(type(model).__name__):
        raise ModelFileError(
            f"Only boosters that steadyboost exports can be written to a model file; this is a "
            f"{type(model).__name__}. To keep it, use skops or joblib."
        )
    state = model.random_state
    if isinstance(state, np.random.RandomState):
        state = getattr(model, "_seed", None)  # the draw from it that the model grew from
    return encode_params(model, random_state=state)


def fitted_attributes(model: BoostingClassifier) -> dict[str, Any]:
    """What a booster learnt beside its stages and tables, such as a tuned parameter."""
    taken = TABLES.union(model._get_param_names())
    return {name: value for name, value in vars(model).items() if is_own(model, name, taken)}


def is_own(model: BoostingClassifier, name: str, taken: Collection[str]) -> bool:
    """Whether a booster may have set this attribute itself; methods stay what they are."""
    free = name.isidentifier() and name not in taken and not name.startswith(NOT_OURS)
    inherited = getattr(type(model), name, None) if free else None
    return free and not callable(inherited) and not isinstance(inherited, property)


def _head(model: BoostingClassifier) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "library": steadyboost.__version__,
        "booster": type(model).__name__,
        "params": writable_params(model),
        "seed": model._seed,
    }


def _tables(model: BoostingClassifier, columns: ColumnWriter) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    return {
        "n_features": int(model.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "classes": encode(model.classes_, "y"),
        "categories": encode(model._encoder.categories, "a category"),
        "bins": _bins(model, columns),
    }


def _bins(model: BoostingClassifier, columns: ColumnWriter) -> dict[str, Any] | None:
    binner = model._binner
    if binner is None:
        return None
    return {
        "cuts": [columns.put("cuts", cuts) for cuts in binner.cuts],
        "has_missing": [int(missing) for missing in binner.has_missing],
    }


def _stages(stages: Iterable[Stage], columns: ColumnWriter) -> list[dict[str, Any]]:
    """One record per stage; a code that equals the one before is not repeated."""
    records: list[dict[str, Any]] = []
    code = None
    for stage in stages:
        record = _answer(stage.answer, columns)
        if code is None or not _identical(code, stage.code):
            code = stage.code
            record["code"] = columns.put("code", code)
        if stage.extra:
            record["extra"] = _values("extra", stage.extra, columns)
        records.append(record)
    return records


def _answer(answer: Any, columns: ColumnWriter) -> dict[str, Any]:
    if isinstance(answer, Answers):
        return {"many": [one and _answer(one, columns) for one in answer.answers]}
    kind = kind_of(answer)
    arrays = kind.to_arrays(answer).items()
    put = {name: columns.put(f"{kind.name}.{name}", array) for name, array in arrays}
    return {"kind": kind.name, "arrays": put}


def _identical(one: np.ndarray, other: np.ndarray) -> bool:
    same_form = one.dtype == other.dtype and one.shape == other.shape
    return one is other or (same_form and one.tobytes() == other.tobytes())


def _values(prefix: str, values: Mapping[str, Any], columns: ColumnWriter) -> dict[str, Any]:
    """Values by name, arrays of numbers in columns."""

    def place(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.name in NUMERIC:
            return {"$column": columns.put(f"{prefix}.{name}", value)}
        return encode(value, name)

    return {name: place(name, value) for name, value in values.items()}
