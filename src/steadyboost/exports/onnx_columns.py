"""SteadyBoost's members without trees in ONNX: columns from bins, products, and a kernel."""

import numpy as np

from steadyboost.boosters.steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.design import Design
from steadyboost.boosters.steadyboost.kernel_member import KernelMember
from steadyboost.boosters.steadyboost.linear_member import LinearMember
from steadyboost.exports.onnx_graph import Forest, Graph, GraphColumns
from steadyboost.exports.trees import ThresholdTree


def write_initial_scores(model: SteadyBoostClassifier, graph: Graph, table: GraphColumns) -> str:
    """Scores before the first round, (n, columns): zeros for members that are made of trees."""
    design = model._design
    assert design is not None
    columns = DesignColumns.write(design, graph, table)
    parts = []
    for place in model._members.places:
        member = place.member
        if isinstance(member, LinearMember) and member.coef.size:
            parts.append(_scores(member, graph, columns))
        else:
            zeros = np.zeros((1, member.n_columns))
            parts.append(graph.add("Mul", columns.zero, graph.constant(zeros)))
    return graph.add("Concat", *parts, axis=1)


def _scores(member: LinearMember, graph: Graph, columns: "DesignColumns") -> str:
    """What a regression says of rows."""
    rows = columns.matrix
    if isinstance(member, KernelMember):
        landmarks = member.landmarks[:, columns.order]
        squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant([1]))
        crossed = graph.add("MatMul", rows, graph.constant(-2 * landmarks.T))
        own = graph.constant((landmarks * landmarks).sum(axis=1)[None, :])
        distance = graph.add("Max", graph.add("Sum", squares, crossed, own), graph.constant(0.0))
        rows = graph.add("Exp", graph.add("Mul", distance, graph.constant(-member.precision)))
        coef = member.coef
    else:
        coef = member.coef[columns.order]
    product = graph.add("MatMul", rows, graph.constant(coef))
    return graph.add("Add", product, graph.constant(member.intercept[None, :]))


class DesignColumns:
    """The columns of the design in the graph.

    Parameters
    ----------
    matrix : str
        Names the node (n, columns) whose j-th column is number ``order[j]`` of the design.
    zero : str
        Names a node (n, 1) of zeros.
    """

    def __init__(self, matrix: str, order: np.ndarray, zero: str):
        self.matrix, self.order, self.zero = matrix, order, zero

    @classmethod
    def write(cls, design: Design, graph: Graph, table: GraphColumns) -> "DesignColumns":
        """Numeric features first, then categories."""
        starts = np.cumsum(design.widths) - design.widths
        parts, order = [], []
        if not design.categorical.all():
            matrix, columns = _numbers(design, table, graph)
            parts.append(matrix)
            order.append(columns)
        for f in np.flatnonzero(design.categorical).tolist():
            parts.append(_categories(design, table, graph, f))
            order.append(starts[f] + np.arange(design.widths[f]))
        matrix = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
        first = graph.add("Gather", matrix, graph.constant([0]), axis=1)
        return cls(matrix, np.concatenate(order), graph.double(graph.add("IsNaN", first)))


def _numbers(design: Design, table: GraphColumns, graph: Graph) -> tuple[str, np.ndarray]:
    """Columns of numeric features, and their numbers in the design.

    A tree of thresholds per column finds the bin of a row; missing values come afterwards.
    """
    assert table.matrix is not None
    starts = np.cumsum(design.widths) - design.widths
    numeric = np.flatnonzero(~design.categorical).tolist()
    tables = {f: design.table(f) for f in numeric}
    numbers = [starts[f] + np.arange(design.widths[f]) for f in numeric]
    forest, first = Forest(sum(map(len, numbers))), 0
    for place, feature in enumerate(numeric):
        tree = search_tree(place, table.bins.cuts[feature])
        for column in tables[feature].T:
            forest.add(tree, np.full(len(column) - 1, first), column[:-1])
            first += 1
    places = graph.constant([table.place[f] for f in numeric])
    own = graph.add("Gather", table.matrix, places, axis=1)
    sources = np.repeat(np.arange(len(numeric)), [len(each) for each in numbers])
    gaps = graph.add("Gather", graph.add("IsNaN", own), graph.constant(sources), axis=1)
    missing = np.concatenate([tables[f][-1] for f in numeric])[None, :]
    values = graph.add("Where", gaps, graph.constant(missing), forest.write(graph, own))
    return values, np.concatenate(numbers)


def search_tree(column: int, cuts: np.ndarray) -> ThresholdTree:
    """The balanced tree whose leaf of a value comes from the value's bin."""
    nodes: list[tuple[float, int, int, int]] = []  # threshold, left, right, bin

    def grow(first: int, last: int) -> int:
        number = len(nodes)
        nodes.append((0.0, -1, -1, first))
        if first < last:
            middle = (first + last) // 2
            left, right = grow(first, middle), grow(middle + 1, last)
            nodes[number] = (float(cuts[middle]), left, right, -1)
        return number

    grow(0, len(cuts))
    threshold, left, right, bin_ = (np.array(each) for each in zip(*nodes, strict=True))
    n = len(nodes)
    missing = np.zeros(n, dtype=bool)
    return ThresholdTree(np.full(n, column), threshold, left, right, missing, bin_, np.ones(n))


def _categories(design: Design, table: GraphColumns, graph: Graph, feature: int) -> str:
    """Zeros and ones for a category; where it is missing or unknown, zeros, or the last column."""
    values = np.array([table.bins.categories[feature] or [np.nan]])
    found = graph.double(graph.add("Equal", table.raw[feature], graph.constant(values)))
    bins = np.searchsorted(table.bins.cuts[feature], np.arange(values.shape[1]))
    rows = design.table(feature)
    gap = rows[-1:]
    return graph.add("Add", graph.product(found, rows[bins] - gap), graph.constant(gap))
