"""From scores to labels, probabilities and decisions, in ONNX."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.crossfit import N_FORESTS, Shape
from steadyboost.boosters.steadyboost.noise_model import SMALLEST, TINY, UNMIX_STEPS, symmetric
from steadyboost.exports.links import decision_matrix, link_of
from steadyboost.exports.onnx_graph import Graph


def write_answers(model: Any, graph: Graph, scores: str, name: str) -> tuple[str, str]:
    """Probabilities, under a name; what the label is the largest of, and the decision."""
    if isinstance(model, SteadyBoostClassifier) and model.n_classes_ > 1:
        pooled = _pooled(model, graph, scores)
        graph.add("Identity", pooled, output=name)
        logs = graph.add("Log", graph.add("Max", pooled, graph.constant(TINY)))
        two = np.array([[-1.0], [1.0]])
        return pooled, graph.product(logs, two) if model.n_classes_ == 2 else logs
    link = link_of(model)
    seen = graph.product(scores, link.matrix)
    _linked(graph, link.kind, seen, name)
    return seen, graph.product(scores, decision_matrix(model))


def _linked(graph: Graph, kind: str, seen: str, name: str) -> None:
    """Probabilities, from scores times the matrix of the link."""
    if kind == "sigmoid":
        graph.add("Sigmoid", seen, output=name)
    elif kind == "shares":
        graph.add("Div", seen, _total(graph, seen), output=name)
    else:
        if kind == "against":
            against = graph.add("Mul", seen, graph.constant(-2.0))
            seen = graph.add("Neg", _log_one_plus_exp(graph, against))
        graph.add("Softmax", seen, axis=1, output=name)


def _total(graph: Graph, x: str) -> str:
    return graph.add("ReduceSum", x, graph.constant([1]))


def _log_one_plus_exp(graph: Graph, x: str) -> str:
    """ln(1 + e**x) for x of any size; onnxruntime has no Softplus in double precision."""
    small = graph.add("Exp", graph.add("Neg", graph.add("Abs", x)))
    rest = graph.add("Log", graph.add("Add", small, graph.constant(1.0)))
    return graph.add("Add", graph.add("Relu", x), rest)


def _columns(graph: Graph, scores: str, which: slice) -> str:
    return graph.add("Gather", scores, graph.constant(np.arange(which.start, which.stop)), axis=1)


def _pooled(model: SteadyBoostClassifier, graph: Graph, scores: str) -> str:
    """The members' probabilities, pooled log-linearly, and freed from a mixture if there is one."""
    shape, noise = model._shape, model._noise
    members = [_boosters(model, graph, scores)]
    members += [_forest(graph, scores, shape, number) for number in range(N_FORESTS)]
    weighted = [
        graph.add(
            "Mul",
            graph.add("Log", graph.add("Max", member, graph.constant(SMALLEST))),
            graph.constant(float(weight)),
        )
        for member, weight in zip(members, noise.weights, strict=True)
    ]
    pool = graph.add("Softmax", graph.add("Sum", *weighted), axis=1)
    return _unmixed(graph, pool, noise) if noise.mixes else pool


def _boosters(model: SteadyBoostClassifier, graph: Graph, scores: str) -> str:
    """The mean of what the boosters say."""
    shape = model._shape
    start = graph.constant(np.asarray(model._start, dtype=float)[None, :])
    sides = np.array([[0.0, 1.0]]) if shape.n_classes == 2 else np.eye(shape.n_classes)
    said = []
    for fold in range(shape.n_folds):
        own = graph.add("Add", _columns(graph, scores, shape.booster(fold)), start)
        said.append(graph.add("Softmax", graph.product(own, sides), axis=1))
    return graph.add("Mul", graph.add("Sum", *said), graph.constant(1 / shape.n_folds))


def _forest(graph: Graph, scores: str, shape: Shape, number: int) -> str:
    """Shares of the votes, or equal ones where there are none."""
    own = _columns(graph, scores, shape.forest(number))
    total = _total(graph, own)
    some = graph.add("Greater", total, graph.constant(0.0))
    whole = graph.add("Where", some, total, graph.constant(1.0))
    return graph.add(
        "Where", some, graph.add("Div", own, whole), graph.constant(1 / shape.n_classes)
    )


def _unmixed(graph: Graph, pool: str, noise: Any) -> str:
    """Steps of expectation-maximisation towards the distribution of true labels."""
    k = len(noise.transition)
    given = graph.add("MatMul", pool, graph.constant(symmetric(noise.rate, k)))
    there, back = graph.constant(noise.transition), graph.constant(noise.transition.T)
    unique = graph.fresh()
    before, step, after = (f"{unique}_{name}" for name in ("before", "step", "after"))
    body = Graph(f"{unique}_body")
    seen = body.add("Max", body.add("MatMul", before, there), body.constant(TINY))
    ratio = body.add("MatMul", body.add("Div", given, seen), back)
    joint = body.add("Mul", before, ratio)
    body.add("Div", joint, _total(body, joint), output=after)
    matrix = [None, k]
    inputs = [
        helper.make_tensor_value_info(before, TensorProto.DOUBLE, matrix),
        helper.make_tensor_value_info(step, TensorProto.INT64, []),
    ]
    outputs = [helper.make_tensor_value_info(after, TensorProto.DOUBLE, matrix)]
    made = helper.make_graph(body.nodes, "unmix", inputs, outputs, body.constants)
    steps = graph.constant(np.arange(UNMIX_STEPS))
    return graph.add("Scan", given, steps, body=made, num_scan_inputs=1)
