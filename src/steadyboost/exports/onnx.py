"""ONNX: a booster as a graph that onnxruntime and others run, without this package.

All is done in double precision, with the thresholds and sums of the model, so that rows fall on the
same side of every threshold.
"""

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, helper
from sklearn.pipeline import Pipeline

import steadyboost
from steadyboost.exports.members import check_model, members
from steadyboost.exports.names import feature_names
from steadyboost.exports.onnx_columns import (
    MATRIX,
    NUMBERS,
    GraphColumns,
    as_columns,
    declare,
    is_text,
)
from steadyboost.exports.onnx_graph import OPSETS, Graph
from steadyboost.exports.onnx_pipeline import front_of, joined, number_kind
from steadyboost.exports.onnx_pool import write_answers
from steadyboost.exports.onnx_scan import write_scores
from steadyboost.exports.splits import encode
from steadyboost.preprocessing.encoder import as_frame, categories_of

OUTPUTS = ("label", "probabilities", "scores")
LABEL_KINDS = {
    "b": TensorProto.BOOL,
    "f": TensorProto.DOUBLE,
    "i": TensorProto.INT64,
    "u": TensorProto.INT64,
}


def to_onnx(model: Any, *, columns: bool | None = None, dtype: str = "float64") -> ModelProto:
    """A fitted booster as an ONNX model.

    It has three outputs: ``label``, as ``predict``; ``probabilities``, as ``predict_proba``; and
    ``scores``, as ``decision_function`` (a name that a column has already gets a ``_`` after it).
    Gaps and categories are dealt with in the graph. Operators are those of opset 19 and of
    ``ai.onnx.ml`` 5, which onnxruntime has since version 1.20.

    Parameters
    ----------
    model : booster or Pipeline
        A fitted booster whose weak learner is ours and grows trees, stumps, tests or rules.
        MartiBoost, C4.5 and learners of other libraries cannot be exported. Or a pipeline of
        scikit-learn that ends with a booster and takes a matrix of numbers; skl2onnx converts
        the steps before it.
    columns : bool or None, default=None
        One input of shape (n, 1) per column, named after it, instead of one matrix ``X``. By
        default only where a column is text.
    dtype : {"float64", "float32"}, default="float64"
        Of numeric inputs. Thresholds are compared in double precision either way.

    Returns
    -------
    onnx_model : onnx.ModelProto
        Write it by ``onnx.save(onnx_model, path)``.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.exports import onnx_inputs, to_onnx
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> label, probabilities, scores = session.run(None, onnx_inputs(model, X))
    >>> bool((label == model.predict(X)).all())
    True
    """
    _check_dtype(dtype)
    if isinstance(model, Pipeline):
        front = front_of(model, dtype)
        return joined(front, to_onnx(model[-1], columns=False, dtype=number_kind(front)))
    check_model(model, "ONNX")
    graph = Graph()
    table, inputs = declare(model, graph, as_columns(model, columns), dtype)
    taken = {one.name for one in inputs}
    names = [name + "_" * (name in taken) for name in OUTPUTS]
    outputs = write(model, graph, table, names)
    body = helper.make_graph(
        graph.nodes, type(model).__name__, inputs, outputs, initializer=graph.constants
    )
    made = helper.make_model(
        body,
        opset_imports=[helper.make_opsetid(*one) for one in OPSETS.items()],
        ir_version=10,
        producer_name="steadyboost",
        producer_version=steadyboost.__version__,
    )
    checker.check_model(made)
    return made


def _check_dtype(dtype: str) -> None:
    if dtype not in NUMBERS:
        raise ValueError(f"dtype={dtype!r} is not known; pass one of {sorted(NUMBERS)}.")


def write(model: Any, graph: Graph, table: GraphColumns, names: list[str]) -> list[ValueInfoProto]:
    """Nodes from the rows to the three outputs, which get the names given."""
    trees = members(model)
    table.collect(trees)
    scores = write_scores(model, graph, table, trees, table.rows(graph))
    best, decided = write_answers(model, graph, scores, names[1])
    shape: list[int | None] = [None, model.n_classes_]
    if model.decision(np.zeros((1, model.n_outputs()))).ndim == 1:
        shape = [None]
        graph.add("Squeeze", decided, graph.constant([1]), output=names[2])
    else:
        graph.add("Identity", decided, output=names[2])
    return [
        _labelled(model, graph, best, names[0]),
        helper.make_tensor_value_info(names[1], TensorProto.DOUBLE, [None, model.n_classes_]),
        helper.make_tensor_value_info(names[2], TensorProto.DOUBLE, shape),
    ]


def _labelled(model: Any, graph: Graph, seen: str, name: str) -> ValueInfoProto:
    """The class of the largest score, the first of equals; or all labels that are likely."""
    if getattr(model, "multilabel_", False):
        likely = graph.add("Greater", seen, graph.constant(0.0))
        graph.add("Cast", likely, to=TensorProto.INT64, output=name)
        return helper.make_tensor_value_info(name, TensorProto.INT64, [None, model.n_classes_])
    best = graph.add("ArgMax", seen, axis=1, keepdims=0)
    classes = model.classes_
    kind = LABEL_KINDS.get(classes.dtype.kind, TensorProto.STRING)
    if kind in (TensorProto.INT64, TensorProto.DOUBLE):
        classes = classes.astype(helper.tensor_dtype_to_np_dtype(kind))
    graph.add("Gather", graph.constant(classes), best, output=name)
    return helper.make_tensor_value_info(name, kind, [None])


def onnx_inputs(
    model: Any, X: Any, *, columns: bool | None = None, dtype: str = "float64"
) -> dict[str, np.ndarray]:
    """Rows in the form that the ONNX model of a booster takes.

    Parameters
    ----------
    model : booster or Pipeline
        The fitted model that was exported.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows.
    columns, dtype
        As they were passed to :func:`to_onnx`.

    Returns
    -------
    inputs : dict of str to ndarray
        What ``InferenceSession.run`` takes. Gaps in text are a text that is no category.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier
    >>> from steadyboost.exports import onnx_inputs
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(n_estimators=1).fit(X, y)
    >>> {name: values.shape for name, values in onnx_inputs(model, X).items()}
    {'X': (178, 13)}
    """
    _check_dtype(dtype)
    if isinstance(model, Pipeline):
        return {MATRIX: np.asarray(X, dtype=dtype)}
    check_model(model, "ONNX")
    values = _columns(model, X)
    if not as_columns(model, columns):
        return {MATRIX: np.column_stack(values).astype(dtype)}
    categories = model._encoder.categories
    typed = [
        _texts(own, kept) if is_text(kept) else own.astype(dtype)
        for own, kept in zip(values, categories, strict=True)
    ]
    return {name: own[:, None] for name, own in zip(feature_names(model), typed, strict=True)}


def _columns(model: Any, X: Any) -> list[np.ndarray]:
    """Numbers as numbers, and categories as they are."""
    encoded, frame = encode(model, X), as_frame(X)

    def column(f: int) -> np.ndarray:
        if model._encoder.categories[f] is None:
            return encoded[:, f]
        return np.asarray(X)[:, f] if frame is None else categories_of(frame[:, f])

    return [column(f) for f in range(encoded.shape[1])]


def _texts(values: np.ndarray, kept: list[str]) -> np.ndarray:
    """Text with a filler for gaps that is none of the categories."""
    filler = ""
    while filler in kept:
        filler += "?"
    return np.array([filler if value is None else value for value in values], dtype=object)
