"""Model files: JSON and arrays in a zip, no pickle; everything is checked before it is used."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import steadyboost
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.history import History
from steadyboost.ensemble.model_io.archive import (
    NUMERIC,
    ArchiveReader,
    Budget,
    ColumnWriter,
    write_archive,
)
from steadyboost.ensemble.model_io.checks import (
    ModelFileError,
    check_binner,
    check_classes,
    check_code,
    check_encoder,
    need,
    need_array,
    need_int,
    need_keys,
    need_list,
    need_object,
)
from steadyboost.ensemble.model_io.encoding import (
    LEAVES,
    AnswerLimits,
    array_bytes,
    build,
    decode,
    encode,
    encode_params,
    exported,
    kind_named,
    kind_of,
)
from steadyboost.ensemble.model_io.fields import check_fields, check_stages
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.workers import Workers
from steadyboost.files import replacing
from steadyboost.learners.base import Answers
from steadyboost.preprocessing.binner import Binner
from steadyboost.preprocessing.encoder import Encoder

__all__ = ["ModelFileError", "load", "save_model"]
FORMAT, VERSION = "steadyboost", 2
WITHOUT_DATES = 1  # the version of files that older releases can read, too
DATES = "date_parts"
KEYS = {
    *("format", "version", "library", "booster", "params", "seed", "n_features", "feature_names"),
    *("classes", "categories", "bins", "fitted", "history", "notes", "steps", "errors", "stages"),
}
MAX_FEATURES = 2**31 - 1
MAX_SEED = 2**32 - 1


def save_model(model: Any, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a fitted booster to a file, complete or not at all.

    Parameters
    ----------
    model : BoostingClassifier
        A fitted booster whose weak learner is one of this library. Its callbacks are left out,
        and a generator in ``random_state`` becomes the seed that was drawn from it.
    path : str or path-like
        Where to write; by custom it ends in ``.sb``.
    overwrite : bool, default=True
        Whether to replace a file that is there already.

    Raises
    ------
    ModelFileError
        If the model holds what a file cannot: a scikit-learn estimator, a function.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from steadyboost import SAMMEClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=5).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, Path(folder, "iris.sb"))
    ...     bool((load(Path(folder, "iris.sb")).predict(X) == model.predict(X)).all())
    True
    """
    writable_params(model)
    check_is_fitted(model, "stages_")
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(f"{os.fspath(path)} exists; pass overwrite=True to replace it.")
    write_model(path, model, model.stages_, model.history_)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a fitted booster from a file that :func:`save_model` has written.

    A damaged or crafted file raises an error; no code from it is run.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    model : BoostingClassifier
        A fitted booster with the same predictions, bit for bit.

    Raises
    ------
    ModelFileError
        If the file is not a SteadyBoost model file, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     load(file.name)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    steadyboost.ensemble.model_io.checks.ModelFileError: ... is not a SteadyBoost model file...
    """
    return read_model(path)[0]


def write_model(
    path: str | os.PathLike[str],
    model: BoostingClassifier,
    stages: Sequence[Stage],
    history: Iterable[dict[str, Any]],
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a booster with these stages and history, and notes, such as those of a checkpoint."""
    model._validate_params()
    check_classes(model.classes_)
    check_stages(stages, model)
    columns = ColumnWriter()
    document = {
        **_head(model),
        **_tables(model, columns),
        "fitted": _put_values("fitted", fitted_attributes(model), columns),
        "history": [encode(record, "the history") for record in history],
        "notes": encode(notes or {}, "a note"),
        "steps": columns.put("steps", np.array([stage.step for stage in stages], dtype=float)),
        "errors": columns.put("errors", np.array([stage.error for stage in stages], dtype=float)),
        "stages": _stage_records(stages, columns),
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    with replacing(path) as file:
        more_bytes = table_bytes(len(model.classes_)) + array_bytes(document)
        write_archive(file, text, columns.joined(), more_bytes)


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
    """Fitted attributes other than stages and preprocessing, such as a tuned parameter."""
    fields = model.fitted_fields()
    return {name: value for name, value in vars(model).items() if name in fields}


def _head(model: BoostingClassifier) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION if any(model._encoder.dates or ()) else WITHOUT_DATES,
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
        "categories": _categories(model._encoder),
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


def _stage_records(stages: Iterable[Stage], columns: ColumnWriter) -> list[dict[str, Any]]:
    """One record per stage; a code that equals the one before is not repeated."""
    records: list[dict[str, Any]] = []
    code = None
    for stage in stages:
        record = _answer_record(stage.answer, columns)
        if code is None or not _identical(code, stage.code):
            code = stage.code
            record["code"] = columns.put("code", code)
        if stage.extra:
            record["extra"] = _put_values("extra", stage.extra, columns)
        records.append(record)
    return records


def _answer_record(answer: Any, columns: ColumnWriter) -> dict[str, Any]:
    if isinstance(answer, Answers):
        return {"many": [one and _answer_record(one, columns) for one in answer.answers]}
    kind = kind_of(answer)
    arrays = kind.to_arrays(answer).items()
    put = {name: columns.put(f"{kind.name}.{name}", array) for name, array in arrays}
    return {"kind": kind.name, "arrays": put}


def _identical(one: np.ndarray, other: np.ndarray) -> bool:
    same_form = one.dtype == other.dtype and one.shape == other.shape
    return one is other or (same_form and one.tobytes() == other.tobytes())


def _put_values(prefix: str, values: Mapping[str, Any], columns: ColumnWriter) -> dict[str, Any]:
    """Values by name, arrays of numbers in columns."""

    def place(name: str, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.name in NUMERIC:
            return {"$column": columns.put(f"{prefix}.{name}", value)}
        return encode(value, name)

    return {name: place(name, value) for name, value in values.items()}


def read_model(path: str | os.PathLike[str]) -> tuple[Any, dict[str, Any]]:
    """A booster and the notes in its file."""
    with open(path, "rb") as file:
        try:
            reader = ArchiveReader(file)
            document = _document(reader.text())
            model = _model(document, reader)
            return model, decode(need_object(document["notes"], "notes"), reader.budget)
        # Whatever bytes may come, and whatever zipfile, json or numpy make of them.
        except Exception as error:
            reason = str(error)[:300] or type(error).__name__
            name = os.fspath(path)
            raise ModelFileError(
                f"{name} is not a SteadyBoost model file, or is truncated: {reason}"
            ) from error


def _document(text: bytes) -> dict[str, Any]:
    document = need_object(json.loads(text), "the text")
    need(document.get("format") == FORMAT, "it is of another format")
    version = need_int(document.get("version"), 1, 2**31, "the version")
    library = str(document.get("library"))[:20]
    need(version <= VERSION, f"it was written by a newer steadyboost, {library}; update yours")
    return need_keys(document, KEYS, "the text")


def _model(document: dict[str, Any], reader: ArchiveReader) -> BoostingClassifier:
    cls = exported(document["booster"])
    need(cls and issubclass(cls, BoostingClassifier), f"{document['booster']!r} is not a booster")
    model = build(cls, document["params"], reader.budget)
    model.set_params(n_jobs=None, verbose=0)  # settings of a run, not of a model
    model._seed = need_int(document["seed"], 0, MAX_SEED, "the seed")
    _set_tables(model, document, reader)
    _set_attributes(model, document["fitted"], reader)
    model.history_ = _history(document["history"], reader.budget)
    model.stages_ = _stages(model, document, reader)
    need(len(model.history_) >= len(model.stages_), "a round has no record in the history")
    reader.finish()
    _try(model)
    return model


def _try(model: BoostingClassifier) -> None:
    """Predict a few rows, to detect unusable values before the model is returned."""
    n = model._encoder.n_columns
    some = np.array([[0.0], [np.nan], [-1e300], [1e300]])
    rows = model._data(np.broadcast_to(some, (len(some), n)), Workers(1))
    with np.errstate(all="ignore"):  # values that are not finite are found below
        scores = model._initial_scores(rows)
        for stage in model.stages_:
            model.add(scores, stage, stage.answer.votes(rows))
        proba = model.probabilities(scores)
    need(proba.shape == (len(some), model.n_classes_), "it does not predict")
    need(np.isfinite(scores).all() and ((proba >= 0) & (proba <= 1)).all(), "it does not predict")
    need(np.isfinite(model.feature_importances_).all(), "its importances are not numbers")


def _history(records: Any, budget: Budget) -> History:
    """A record per round, which may go on after the last stage that was kept."""
    for record in need_list(records, "history"):
        need_int(need_object(record, "a record").get("round"), 1, 2**62, "the round of a record")
    return History(decode(record, budget) for record in records)


def _set_tables(model: BoostingClassifier, document: dict[str, Any], reader: ArchiveReader) -> None:
    n = model.n_features_in_ = need_int(document["n_features"], 1, MAX_FEATURES, "n_features")
    names = document["feature_names"]
    if names is not None:
        texts = all(isinstance(name, str) for name in need_list(names, "feature_names"))
        need(texts and len(names) == n, "there must be a name per feature")
        need(len(set(names)) == n, "two features have one name")
        model.feature_names_in_ = np.array(names, dtype=object)
    model.classes_ = decode(document["classes"], reader.budget)
    check_classes(model.classes_)
    k = model.n_classes_ = len(model.classes_)
    reader.budget.spend(table_bytes(k))
    model._encoder = _encoder(document["categories"], reader.budget)
    check_encoder(model._encoder, n)
    model._binner = _binner(document["bins"], model._encoder, reader)
    if model._binner is not None:
        check_binner(model._binner, model._encoder.n_columns)
    need(model._binner or not model._learner().uses_bins, "the weak learner needs bins")


def table_bytes(n_classes: int) -> int:
    """The least that tables of all pairs of classes take, which models make of a few numbers."""
    return n_classes * n_classes


def _categories(encoder: Encoder) -> list[Any]:
    """For each feature its categories, the parts of its dates, or None."""
    columns = encode(encoder.categories, "a category")
    for f, part in encoder.parts:
        if part is not None:
            columns[f] = {DATES: encoder.dates[f]}  # type: ignore[index]
    return columns


def _encoder(categories: Any, budget: Budget) -> Encoder:
    columns = decode(need_list(categories, "categories"), budget)
    kept: list[list[Any] | None] = []
    dates: list[list[str] | None] = []
    for own in columns:
        is_date = isinstance(own, dict)
        parts = need_keys(own, {DATES}, "dates")[DATES] if is_date else None
        dates.append(need_list(parts, "parts of dates") if is_date else None)
        kept.append(None if own is None or is_date else need_list(own, "categories"))
    return Encoder(kept, None if all(parts is None for parts in dates) else dates)


def _binner(bins: Any, encoder: Encoder, reader: ArchiveReader) -> Binner | None:
    if bins is None:
        return None
    need_keys(bins, {"cuts", "has_missing"}, "bins")
    cuts = [reader.take("cuts", what) for what in need_list(bins["cuts"], "cuts")]
    missing = need_list(bins["has_missing"], "has_missing")
    has_missing = [need_int(entry, 0, 1, "has_missing") for entry in missing]
    return Binner(cuts, np.array(has_missing, dtype=np.int64), encoder.is_categorical)


def _set_attributes(model: BoostingClassifier, fitted: Any, reader: ArchiveReader) -> None:
    values = model.updated_fields(_take_values("fitted", fitted, reader))
    check_fields(values, model.fitted_fields(), model.needed_fields)
    for name, value in values.items():
        setattr(model, name, value)


def _stages(
    model: BoostingClassifier, document: dict[str, Any], reader: ArchiveReader
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
        extra = _take_values("extra", record.get("extra", {}), reader)
        stages.append(Stage(answer, code, step, error, extra))
    check_stages(stages, model)
    return stages


def _numbers(name: str, what: Any, n: int, reader: ArchiveReader) -> list[Any]:
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
    reader: ArchiveReader,
) -> Any:
    if "many" in record:
        several = need_list(record["many"], "many")
        need(len(several) == n_parts, f"there must be {n_parts} answers in a stage")
        return Answers(tuple(_one_of(model, one, n_answers, reader) for one in several))
    return _one_of(model, record, n_answers, reader)


def _one_of(
    model: BoostingClassifier, record: dict[str, Any] | None, n_answers: int, reader: ArchiveReader
) -> Any:
    if record is None:
        return None
    need_keys(record, {"kind", "arrays"}, "an answer")
    kind = kind_named(record["kind"])
    adds_leaves = model.adds_leaf_values and model.n_classes_ > 1
    need((kind.name == LEAVES) == adds_leaves, f"{kind.name!r} is not an answer of this booster")
    arrays = need_object(record["arrays"], "arrays")
    taken = {name: reader.take(f"{kind.name}.{name}", what) for name, what in arrays.items()}
    binned = model._binner is not None
    return kind.from_arrays(
        taken, AnswerLimits(model._encoder.n_columns, n_answers, model.n_classes_, binned)
    )


def _take_values(prefix: str, values: Any, reader: ArchiveReader) -> dict[str, Any]:
    """Values by name, arrays of numbers from their columns."""

    def find(name: str, value: Any) -> Any:
        if isinstance(value, dict) and value.keys() == {"$column"}:
            return reader.take(f"{prefix}.{name}", value["$column"])
        return decode(value, reader.budget)

    return {name: find(name, value) for name, value in need_object(values, prefix).items()}
