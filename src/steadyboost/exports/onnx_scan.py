"""Scores tree by tree, in ONNX.

A leaf of ONNX adds one number to one score, and onnxruntime adds up trees in any order. Neither
will do where a leaf adds to several classes, where what a tree of WeightBoost adds depends on the
scores before it, or where the order of a sum decides a tie. There the trees say which leaf a row
is in, and a scan over the trees adds what a table has for it.
"""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from steadyboost.boosters.weightboost import WeightBoostClassifier
from steadyboost.boosters.weightboost.factors import Exponential, InversePolynomial
from steadyboost.exports.members import Member, is_additive
from steadyboost.exports.onnx_columns import GraphColumns
from steadyboost.exports.onnx_graph import Forest, Graph
from steadyboost.exports.splits import threshold_tree

DYADIC = 2.0**20  # multiples of its inverse add up without rounding


def write_scores(
    model: Any, graph: Graph, table: GraphColumns, trees: list[Member], rows: str
) -> str:
    """The scores of the model, (n, columns)."""
    if needs_order(model, trees):
        return scanned(model, graph, table, trees, rows)
    simple = [member for member in trees if member.adds_to == 1]
    other = [member for member in trees if member.adds_to > 1]
    if not other:
        return summed(model, graph, table, simple or trees[:1], rows)
    parts = [scanned(model, graph, table, other, rows)]
    if simple:
        parts.append(summed(model, graph, table, simple, rows))
    return parts[0] if len(parts) == 1 else graph.add("Add", *parts)


def needs_order(model: Any, trees: list[Member]) -> bool:
    """Whether sums in another order than the model's would decide ties in another way.

    So it is where steps recur, as those of epsilon-boosting do, and rounding tells which of two
    equal sums is the larger.
    """
    if not is_additive(model):
        return True
    sizes = [np.unique(np.abs(one.values[one.tree.is_leaf])) for one in trees if one.adds_to == 1]
    distinct, counts = np.unique(np.concatenate([*sizes, []]), return_counts=True)
    exact = distinct * DYADIC == np.round(distinct * DYADIC)
    return bool((counts[~exact] > 1).any())


def summed(model: Any, graph: Graph, table: GraphColumns, trees: list[Member], rows: str) -> str:
    """Sums over trees whose leaves each add to one score."""
    forest = Forest(model.n_outputs())
    for member in trees:
        columns = np.abs(member.values).argmax(axis=1)
        weights = member.values[np.arange(len(columns)), columns]
        forest.add(threshold_tree(member.tree, table.runs), columns, weights)
    return forest.write(graph, rows)


def scanned(model: Any, graph: Graph, table: GraphColumns, trees: list[Member], rows: str) -> str:
    """Scores, tree by tree, from what each leaf adds to scores of zero."""
    forest, first = Forest(len(trees)), 0
    for number, member in enumerate(trees):
        lines = first + np.cumsum(member.tree.is_leaf) - 1.0
        targets = np.full(len(lines), number)
        forest.add(threshold_tree(member.tree, table.runs), targets, lines)
        first += int(member.tree.is_leaf.sum())
    found = graph.add("Cast", forest.write(graph, rows), to=TensorProto.INT64)
    values = np.concatenate([member.values[member.tree.is_leaf] for member in trees])
    leaves = graph.constant(values)
    start = graph.add("Mul", _first(graph, rows), graph.constant(np.zeros((1, model.n_outputs()))))
    return graph.add(
        "Scan",
        start,
        graph.add("Transpose", found, perm=[1, 0]),
        body=_round(model, graph, leaves),
        num_scan_inputs=1,
    )


def _first(graph: Graph, rows: str) -> str:
    """(n, 1) of numbers: whether the first column is missing."""
    column = graph.add("Gather", rows, graph.constant([0]), axis=1)
    return graph.double(graph.add("IsNaN", column))


def _round(model: Any, graph: Graph, leaves: str) -> Any:
    """Scores gain the line of a leaf, times q(beta |H|) where there is such a factor."""
    unique = graph.fresh()
    before, leaf, after = (f"{unique}_{name}" for name in ("before", "leaf", "after"))
    body = Graph(f"{unique}_body")
    gain = body.add("Gather", leaves, leaf, axis=0)
    if not is_additive(model):
        gain = body.add("Mul", gain, _factor(model, body, body.add("Abs", before)))
    body.add("Add", before, gain, output=after)
    width = model.n_outputs()
    inputs = [
        helper.make_tensor_value_info(before, TensorProto.DOUBLE, [None, width]),
        helper.make_tensor_value_info(leaf, TensorProto.INT64, [None]),
    ]
    outputs = [helper.make_tensor_value_info(after, TensorProto.DOUBLE, [None, width])]
    return helper.make_graph(body.nodes, "tree", inputs, outputs, body.constants)


def _factor(model: Any, body: Graph, sure: str) -> str:
    """q at |H|, which is 1 at the scores of zero at which the table was made."""
    if not isinstance(model, WeightBoostClassifier):
        raise ValueError(
            f"What a tree of {type(model).__name__} adds depends on the scores before it, in a way "
            "that is not known to the ONNX export."
        )
    factor = model.factor()
    if isinstance(factor, Exponential):
        return body.add("Exp", body.add("Mul", sure, body.constant(np.float64(-factor.beta))))
    if isinstance(factor, InversePolynomial):
        u = body.add("Mul", sure, body.constant(np.float64(factor.beta)))
        base = body.add("Add", u, body.constant(np.float64(1.0)))
        return body.add("Pow", base, body.constant(np.float64(-factor.power)))
    raise ValueError(
        f"regularizer={model.regularizer!r} is a function of Python, which ONNX does not know; fit "
        "with regularizer='exponential' or 'inverse_polynomial'."
    )
