"""From trees to scores, probabilities and decisions, in ONNX.

A leaf of ONNX adds one number to one score, and onnxruntime adds up trees in any order. That is not
enough where a leaf adds to several classes, where the contribution of a tree of WeightBoost depends
on the scores before it, or where the order of a sum decides a tie. In these cases the trees return
the index of the leaf of a row, and a scan over the trees adds the values of that leaf.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.booster_member import BoosterMember
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.boosters.steadyboost.linear_member import LinearMember
from steadyboost.boosters.steadyboost.members import Member
from steadyboost.boosters.weightboost import WeightBoostClassifier
from steadyboost.boosters.weightboost.factors import Exponential, InversePolynomial
from steadyboost.ensemble.costs import stakes_of
from steadyboost.exports.onnx_columns import write_initial_scores
from steadyboost.exports.onnx_graph import Forest, Graph, GraphColumns
from steadyboost.exports.trees import (
    ModelTree,
    decision_matrix,
    is_additive,
    link_of,
    threshold_tree,
)
from steadyboost.noise.noise_model import SMALLEST, TINY, UNMIX_STEPS

DYADIC = 2.0**20  # sums of multiples of its inverse are exact in float64


def write_scores(
    model: Any, graph: Graph, table: GraphColumns, trees: list[ModelTree], rows: str
) -> str:
    """The scores of the model, (n, columns)."""
    scores = _tree_scores(model, graph, table, trees, rows)
    if len(model.initial_features()) == 0:
        return scores
    return graph.add("Add", scores, write_initial_scores(model, graph, table))


def _tree_scores(
    model: Any, graph: Graph, table: GraphColumns, trees: list[ModelTree], rows: str
) -> str:
    if needs_order(model, trees):
        return scanned(model, graph, table, trees, rows)
    simple = [model_tree for model_tree in trees if model_tree.adds_to == 1]
    other = [model_tree for model_tree in trees if model_tree.adds_to > 1]
    if not other:
        return summed(model, graph, table, simple or trees[:1], rows)
    parts = [scanned(model, graph, table, other, rows)]
    if simple:
        parts.append(summed(model, graph, table, simple, rows))
    return parts[0] if len(parts) == 1 else graph.add("Add", *parts)


def needs_order(model: Any, trees: list[ModelTree]) -> bool:
    """Whether adding trees in another order could break ties differently from the model.

    This is so where steps recur, as in epsilon-boosting: rounding then decides which of two sums
    that are equal in exact arithmetic is larger.
    """
    if not is_additive(model):
        return True
    sizes = [np.unique(np.abs(one.values[one.tree.is_leaf])) for one in trees if one.adds_to == 1]
    distinct, counts = np.unique(np.concatenate([*sizes, []]), return_counts=True)
    exact = distinct * DYADIC == np.round(distinct * DYADIC)
    return bool((counts[~exact] > 1).any())


def summed(model: Any, graph: Graph, table: GraphColumns, trees: list[ModelTree], rows: str) -> str:
    """Sums over trees whose leaves each add to one score."""
    forest = Forest(model.n_outputs())
    for model_tree in trees:
        columns = np.abs(model_tree.values).argmax(axis=1)
        weights = model_tree.values[np.arange(len(columns)), columns]
        forest.add(threshold_tree(model_tree.tree, table.runs), columns, weights)
    return forest.write(graph, rows)


def scanned(
    model: Any, graph: Graph, table: GraphColumns, trees: list[ModelTree], rows: str
) -> str:
    """Scores by a scan over the trees, each of which adds the row of a table of leaf values."""
    forest, first = Forest(len(trees)), 0
    for number, model_tree in enumerate(trees):
        lines = first + np.cumsum(model_tree.tree.is_leaf) - 1.0
        targets = np.full(len(lines), number)
        forest.add(threshold_tree(model_tree.tree, table.runs), targets, lines)
        first += int(model_tree.tree.is_leaf.sum())
    found = graph.add("Cast", forest.write(graph, rows), to=TensorProto.INT64)
    values = np.concatenate([model_tree.values[model_tree.tree.is_leaf] for model_tree in trees])
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
    """A (n, 1) matrix of numbers, whatever they are: its shape gives the number of rows."""
    column = graph.add("Gather", rows, graph.constant([0]), axis=1)
    return graph.double(graph.add("IsNaN", column))


def _round(model: Any, graph: Graph, leaves: str) -> Any:
    """Body of the scan: add the values of a leaf, times q(beta |H|) for WeightBoost."""
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
    """q(beta |H|); the table of leaf values was made at scores of zero, where q is 1."""
    if not isinstance(model, WeightBoostClassifier):
        raise ValueError(
            f"What a tree of {type(model).__name__} adds depends on the scores before it, in a way "
            "that the ONNX export does not support."
        )
    factor = model.factor()
    if isinstance(factor, Exponential):
        return body.add("Exp", body.add("Mul", sure, body.constant(np.float64(-factor.beta))))
    if isinstance(factor, InversePolynomial):
        u = body.add("Mul", sure, body.constant(np.float64(factor.beta)))
        base = body.add("Add", u, body.constant(np.float64(1.0)))
        return body.add("Pow", base, body.constant(np.float64(-factor.power)))
    raise ValueError(
        f"regularizer={model.regularizer!r} is a Python function, which ONNX cannot express; fit "
        "with regularizer='exponential' or 'inverse_polynomial'."
    )


def write_answers(model: Any, graph: Graph, scores: str, name: str) -> tuple[str, str]:
    """Write the probabilities; the values whose maximum is the label, and the decision."""
    costs = model.decision_costs
    if costs is None:
        return _write_proba(model, graph, scores, name)
    weighted = name + "_by_stakes"
    _, decided = _write_proba(model, graph, scores, weighted)
    stakes = stakes_of(costs) if model.weighs_stakes else np.ones(len(costs))
    given = graph.add("Div", weighted, graph.constant(stakes))
    proba = graph.add("Div", given, _total(graph, given), output=name)
    return graph.add("Neg", graph.product(proba, costs)), decided


def _write_proba(model: Any, graph: Graph, scores: str, name: str) -> tuple[str, str]:
    """As ``write_answers``, of a model that answers with the most probable class."""
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
    """Write the probabilities, from scores times the matrix of the link."""
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
    """Probabilities of the members, freed from a matrix if there is one, pooled log-linearly."""
    noise = model._noise
    plain = [
        _weighted_classes(
            graph,
            member_proba(place.member, graph, _columns(graph, scores, place.columns)),
            1 / model._class_factors,
        )
        for place in model._members.places
    ]
    members = [_unmixed(graph, own, noise) for own in plain] if noise.mixes else plain
    weighted = [
        graph.add(
            "Mul",
            graph.add("Log", graph.add("Max", member, graph.constant(SMALLEST))),
            graph.constant(float(weight)),
        )
        for member, weight in zip(members, noise.weights, strict=True)
    ]
    pool = graph.add("Softmax", graph.add("Sum", *weighted), axis=1)
    return _weighted_classes(graph, pool, model._class_factors)


def _weighted_classes(graph: Graph, proba: str, factors: np.ndarray) -> str:
    """Probabilities where rows of each class weigh a factor more."""
    if (factors == factors[0]).all():
        return proba
    weighted = graph.add("Mul", proba, graph.constant(factors))
    return graph.add("Div", weighted, _total(graph, weighted))


@singledispatch
def member_proba(member: Member, graph: Graph, scores: str) -> str:
    """Class probabilities of a member, from its columns of the scores."""
    raise NotImplementedError(f"{type(member).__name__} has no form in ONNX.")


@member_proba.register
def _(member: BoosterMember, graph: Graph, scores: str) -> str:
    """Mean of the probabilities of the boosters."""
    prior = graph.constant(np.asarray(member.prior, dtype=float)[None, :])
    sides = np.array([[0.0, 1.0]]) if member.n_classes == 2 else np.eye(member.n_classes)
    by_fold = []
    for fold in range(member.n_folds):
        own = graph.add("Add", _columns(graph, scores, member.columns_of(fold)), prior)
        by_fold.append(graph.add("Softmax", graph.product(own, sides), axis=1))
    return graph.add("Mul", graph.add("Sum", *by_fold), graph.constant(1 / member.n_folds))


@member_proba.register
def _(member: LinearMember, graph: Graph, scores: str) -> str:
    """Probabilities of a regression."""
    return graph.add("Softmax", scores, axis=1)


@member_proba.register
def _(member: ForestMember, graph: Graph, scores: str) -> str:
    """Shares of the votes of a forest, or the uniform distribution where there are none."""
    total = _total(graph, scores)
    some = graph.add("Greater", total, graph.constant(0.0))
    whole = graph.add("Where", some, total, graph.constant(1.0))
    return graph.add(
        "Where", some, graph.add("Div", scores, whole), graph.constant(1 / member.n_classes)
    )


def _unmixed(graph: Graph, given: str, noise: Any) -> str:
    """Expectation-maximisation steps towards the distribution of true labels."""
    k = len(noise.transition)
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
