"""Scores round by round, in ONNX.

What a tree of WeightBoost adds depends on the scores before it; and elsewhere the order of a sum
can decide a tie.
"""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from steadyboost.boosters.weightboost import WeightBoostClassifier
from steadyboost.core.factors import Exponential, InversePolynomial
from steadyboost.exports.members import Member, is_additive
from steadyboost.exports.onnx_columns import Table
from steadyboost.exports.onnx_graph import Forest, Graph
from steadyboost.exports.splits import threshold_tree

DYADIC = 2.0**20  # multiples of its inverse add up without rounding


def needs_order(model: Any, trees: list[Member]) -> bool:
    """Whether sums in another order than the model's would decide ties in another way.

    So it is where steps recur, as those of epsilon-boosting do, and rounding tells which of two
    equal sums is the larger. Onnxruntime adds up trees in any order; rounds are scanned in theirs.
    """
    if not is_additive(model):
        return True
    sizes = [np.unique(np.abs(one.values[one.tree.is_leaf])) for one in trees]
    distinct, counts = np.unique(np.concatenate(sizes), return_counts=True)
    exact = distinct * DYADIC == np.round(distinct * DYADIC)
    return bool((counts[~exact] > 1).any())


def scanned(model: Any, graph: Graph, table: Table, trees: list[Member], rows: str) -> str:
    """Scores, round by round, from what each round adds to scores of zero."""
    n_rounds, width = len(model.stages_), model.n_outputs()
    forest = Forest(n_rounds * width)
    for member in trees:
        planted = threshold_tree(member.tree, table.runs)
        forest.add(planted, member.values, member.round * width)
    votes = graph.add("Reshape", forest.write(graph, rows), graph.constant([-1, n_rounds, width]))
    votes = graph.add("Transpose", votes, perm=[1, 0, 2])
    first = graph.add("Gather", votes, graph.constant(0), axis=0)
    start = graph.add("Mul", first, graph.constant(0.0))
    return graph.add("Scan", start, votes, body=_round(model, graph), num_scan_inputs=1)


def _round(model: Any, graph: Graph) -> Any:
    """H gains a vote, which has the step in it, times q(beta |H|) where there is such a factor."""
    before, vote, after = (f"{graph.prefix}_{name}" for name in ("before", "vote", "after"))
    body = Graph(f"{graph.prefix}_round")
    gain = vote
    if not is_additive(model):
        gain = body.add("Mul", vote, _factor(model, body, body.add("Abs", before)))
    body.add("Add", before, gain, output=after)

    def value(name: str) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None])

    return helper.make_graph(
        body.nodes, "round", [value(before), value(vote)], [value(after)], body.constants
    )


def _factor(model: Any, body: Graph, sure: str) -> str:
    """q at |H|, which is 1 at the scores of zero from which the votes were taken."""
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
