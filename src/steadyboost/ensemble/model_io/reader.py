"""From the text and the columns of a model file to a fitted booster."""

import json
import os
from typing import Any

import numpy as np

from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.history import History
from steadyboost.ensemble.model_io.answers import AnswerLimits, kind_named
from steadyboost.ensemble.model_io.archive import MAX_CONTAINERS, ColumnReader, read_archive
from steadyboost.ensemble.model_io.checks import (
    ModelFileError,
    check_binner,
    check_classes,
    check_code,
    check_encoder,
    check_stages,
    need,
    need_array,
    need_int,
    need_keys,
    need_list,
    need_object,
)
from steadyboost.ensemble.model_io.values import build, decode, exported
from steadyboost.ensemble.model_io.writer import FORMAT, TABLES, VERSION, is_own
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.workers import Workers
from steadyboost.learners.many import Answers
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder

KEYS = {
    *("format", "version", "library", "booster", "params", "seed", "n_features", "feature_names"),
    *("classes", "categories", "bins", "fitted", "history", "notes", "steps", "errors", "stages"),
}
MAX_FEATURES = 2**31 - 1
MAX_SEED = 2**32 - 1


def read_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """A booster and the notes in its file."""
    with open(path, "rb") as file:
        try:
            text, columns = read_archive(file)
            document = _document(text)
            model = _model(document, ColumnReader(columns))
            return model, decode(need_object(document["notes"], "notes"))
        # Whatever bytes may come, and whatever zipfile, json or numpy make of them.
        except Exception as error:
            reason = str(error)[:300] or type(error).__name__
            name = os.fspath(path)
            raise ModelFileError(f"{name} is not a sound model file: {reason}") from error


def _document(text: bytes) -> dict[str, Any]:
    need(text.count(b"[") + text.count(b"{") <= MAX_CONTAINERS, "the text has too many parts")
    document = need_object(json.loads(text), "the text")
    need(document.get("format") == FORMAT, "it is of another format")
    version = need_int(document.get("version"), 1, 2**31, "the version")
    library = str(document.get("library"))[:20]
    need(version <= VERSION, f"it was written by a newer steadyboost, {library}; update yours")
    return need_keys(document, KEYS, "the text")


def _model(document: dict[str, Any], reader: ColumnReader) -> BoostingClassifier:
    cls = exported(document["booster"])
    need(cls and issubclass(cls, BoostingClassifier), f"{document['booster']!r} is no booster")
    model = build(cls, document["params"])
    need(model.n_jobs != 0, "n_jobs cannot be 0")
    model._seed = need_int(document["seed"], 0, MAX_SEED, "the seed")
    _set_tables(model, document, reader)
    _set_attributes(model, document["fitted"], reader)
    model.history_ = History(map(_record, need_list(document["history"], "history")))
    model.stages_ = _stages(model, document, reader)
    reader.finish()
    _try(model)
    return model


def _try(model: BoostingClassifier) -> None:
    """Predict one row, so that values which a booster cannot work with show up here."""
    row = model._data(np.zeros((1, model.n_features_in_)), Workers(1))
    scores = np.zeros((1, model.n_columns(len(model.stages_))), order="F")
    with np.errstate(all="ignore"):
        for stage in model.stages_:
            model.add(scores, stage, stage.answer.votes(row))
        proba = model.probabilities(scores)
    need(proba.shape == (1, model.n_classes_) and np.isfinite(proba).all(), "it does not predict")


def _record(record: Any) -> dict[str, Any]:
    need_int(need_object(record, "a record").get("round"), 1, 2**62, "the round of a record")
    return decode(record)


def _set_tables(model: BoostingClassifier, document: dict[str, Any], reader: ColumnReader) -> None:
    n = model.n_features_in_ = need_int(document["n_features"], 1, MAX_FEATURES, "n_features")
    names = document["feature_names"]
    if names is not None:
        texts = all(isinstance(name, str) for name in need_list(names, "feature_names"))
        need(texts and len(names) == n, "there must be a name per feature")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.classes_ = decode(document["classes"])
    check_classes(model.classes_)
    model.n_classes_ = len(model.classes_)
    model._encoder = _encoder(document["categories"])
    check_encoder(model._encoder, n)
    model._binner = _binner(document["bins"], model._encoder, reader)
    if model._binner is not None:
        check_binner(model._binner, n)
    need(model._binner or not model._learner().uses_bins, "the weak learner needs bins")


def _encoder(categories: Any) -> Encoder:
    columns = decode(need_list(categories, "categories"))
    return Encoder([None if kept is None else need_list(kept, "categories") for kept in columns])


def _binner(bins: Any, encoder: Encoder, reader: ColumnReader) -> Binner | None:
    if bins is None:
        return None
    need_keys(bins, {"cuts", "has_missing"}, "bins")
    cuts = [reader.take("cuts", what) for what in need_list(bins["cuts"], "cuts")]
    missing = need_list(bins["has_missing"], "has_missing")
    has_missing = [need_int(entry, 0, 1, "has_missing") for entry in missing]
    return Binner(cuts, np.array(has_missing, dtype=np.int64), encoder.is_categorical)


def _set_attributes(model: BoostingClassifier, fitted: Any, reader: ColumnReader) -> None:
    taken = TABLES.union(model._get_param_names())
    for name, value in _values("fitted", fitted, reader).items():
        need(is_own(model, name, taken), f"{name!r} cannot be a fitted attribute")
        setattr(model, name, value)


def _stages(
    model: BoostingClassifier, document: dict[str, Any], reader: ColumnReader
) -> list[Stage]:
    records = need_list(document["stages"], "stages")
    n = len(records)
    steps, errors = (_numbers(name, document[name], n, reader) for name in ("steps", "errors"))
    stages: list[Stage] = []
    code = np.empty(0)  # fits nothing: the first stage must bring its own
    for record, step, error in zip(records, steps, errors, strict=True):
        what = {"many"} if "many" in need_object(record, "a stage") else {"kind", "arrays"}
        need_keys(record, what | ({"code", "extra"} & set(record)), "a stage")
        if "code" in record:
            code = reader.take("code", record["code"])
            check_code(code, 1 if "many" in record else model.n_outputs())
        n_parts = model.n_parts(len(stages)) if "many" in record else 0
        own = {name: record[name] for name in what}
        answer = _answer(model, own, n_parts, len(code), reader)
        extra = _values("extra", record.get("extra", {}), reader)
        stages.append(Stage(answer, code, step, error, extra))
    check_stages(stages, model)
    return stages


def _numbers(name: str, what: Any, n: int, reader: ColumnReader) -> list[Any]:
    """A number for each stage, or for each of its parts."""
    numbers = reader.take(name, what)
    shape = (n,) if numbers.ndim < 2 else (n, None)
    numbers = need_array(numbers, np.float64, shape, name)
    return numbers.tolist() if numbers.ndim == 1 else list(numbers)


def _answer(
    model: BoostingClassifier,
    record: dict[str, Any],
    n_parts: int,
    n_answers: int,
    reader: ColumnReader,
) -> Any:
    if "many" in record:
        several = need_list(record["many"], "many")
        need(len(several) == n_parts, f"there must be {n_parts} answers in a stage")
        return Answers(tuple(_one_of(model, one, n_answers, reader) for one in several))
    return _one_of(model, record, n_answers, reader)


def _one_of(
    model: BoostingClassifier, record: dict[str, Any] | None, n_answers: int, reader: ColumnReader
) -> Any:
    if record is None:
        return None
    need_keys(record, {"kind", "arrays"}, "an answer")
    kind = kind_named(record["kind"])
    arrays = need_object(record["arrays"], "arrays")
    taken = {name: reader.take(f"{kind.name}.{name}", what) for name, what in arrays.items()}
    binned = model._binner is not None
    return kind.from_arrays(
        taken, AnswerLimits(model.n_features_in_, n_answers, model.n_classes_, binned)
    )


def _values(prefix: str, values: Any, reader: ColumnReader) -> dict[str, Any]:
    """Values by name, arrays of numbers from their columns."""

    def find(name: str, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"$column"}:
            return reader.take(f"{prefix}.{name}", value["$column"])
        return decode(value)

    return {name: find(name, value) for name, value in need_object(values, prefix).items()}
