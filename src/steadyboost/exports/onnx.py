"""ONNX: a booster as a graph that onnxruntime and other runtimes execute, without this package.

All is computed in double precision, with the thresholds and sums of the model, so that rows are on
the same side of every threshold.
"""

from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, compose, helper
from sklearn.pipeline import Pipeline

import steadyboost
from steadyboost.exports import missing_extra
from steadyboost.exports.onnx_graph import (
    MATRIX,
    NUMBERS,
    OPSETS,
    Graph,
    GraphColumns,
    as_columns,
    declare,
    is_text,
)
from steadyboost.exports.onnx_scores import write_answers, write_scores
from steadyboost.exports.trees import check_model, column_names, encode, model_trees
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
    ``scores``, as ``decision_function`` (with a ``_`` appended where a column has that name).
    Missing values and categories are handled in the graph. Operators are those of opset 19 and of
    ``ai.onnx.ml`` 5, which onnxruntime supports since version 1.20.

    Parameters
    ----------
    model : booster or Pipeline
        A fitted booster with trees, stumps, tests or rules of this package.
        MartiBoost, C4.5 and learners of other libraries cannot be exported. Or a pipeline of
        scikit-learn that ends with a booster and takes a matrix of numbers; skl2onnx converts
        the steps before it.
    columns : bool or None, default=None
        One input of shape (n, 1) per column, named after it, instead of one matrix ``X``. By
        default only if a column is text.
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
        front = converted_steps(model, dtype)
        return with_steps(front, to_onnx(model[-1], columns=False, dtype=number_kind(front)))
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
    """Write the nodes from the input to the three outputs."""
    trees = model_trees(model)
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
    """The class of the largest score, the first in case of ties; or all labels of a set."""
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
        What ``InferenceSession.run`` takes. Missing text becomes a text that is not a category.

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
    categories = model._encoder.column_categories
    typed = [
        _texts(own, kept) if is_text(kept) else own.astype(dtype)
        for own, kept in zip(values, categories, strict=True)
    ]
    return {name: own[:, None] for name, own in zip(column_names(model), typed, strict=True)}


def _columns(model: Any, X: Any) -> list[np.ndarray]:
    """Columns of a table: numbers encoded, categories as they are."""
    encoded, frame, encoder = encode(model, X), as_frame(X), model._encoder

    def column(place: int) -> np.ndarray:
        f, _ = encoder.parts[place]
        if encoder.categories[f] is None:
            return encoded[:, place]
        return np.asarray(X)[:, f] if frame is None else categories_of(frame[:, f])

    return [column(place) for place in range(encoder.n_columns)]


def _texts(values: np.ndarray, kept: list[str]) -> np.ndarray:
    """Text with a placeholder for missing values that is none of the categories."""
    filler = ""
    while filler in kept:
        filler += "?"
    return np.array([filler if value is None else value for value in values], dtype=object)


PREFIX = "steps_"  # keeps names of the converted steps apart from ours
SEEN = "steadyboost_matrix"  # the input of the booster


def converted_steps(pipeline: Pipeline, dtype: str) -> ModelProto:
    """All steps but the last, from a matrix ``X`` to the input of the booster."""
    try:
        import skl2onnx  # slow to import, and of no use without a pipeline
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    except ModuleNotFoundError as error:
        raise missing_extra(error, "to_onnx of a pipeline") from error

    kind = DoubleTensorType if dtype == "float64" else FloatTensorType
    shape = [None, pipeline.n_features_in_]
    front = skl2onnx.convert_sklearn(
        pipeline[:-1], initial_types=[(MATRIX, kind(shape))], target_opset={"": OPSETS[""]}
    )
    # Operators that an older version of a set has are in the newer, too.
    del front.opset_import[:]
    front.opset_import.extend(helper.make_opsetid(*one) for one in OPSETS.items())
    return front


def number_kind(front: ModelProto) -> str:
    """The type of the numbers that the steps return."""
    kind = front.graph.output[0].type.tensor_type.elem_type
    known = {code: name for name, code in NUMBERS.items()}
    if kind not in known:
        raise ValueError(
            f"The step before the booster gives {TensorProto.DataType.Name(kind)} in ONNX, where "
            "numbers are needed; add a step after it that returns numbers."
        )
    return known[kind]


def with_steps(front: ModelProto, booster: ModelProto) -> ModelProto:
    """The steps and the booster as one model."""
    front.ir_version = booster.ir_version
    steps = compose.add_prefix(front, PREFIX, rename_inputs=False)
    booster.graph.input[0].name = SEEN
    for node in booster.graph.node:
        for place, name in enumerate(node.input):
            if name == MATRIX:
                node.input[place] = SEEN
    return compose.merge_models(
        steps,
        booster,
        io_map=[(steps.graph.output[0].name, SEEN)],
        producer_name=booster.producer_name,
        producer_version=booster.producer_version,
    )
