"""Parts of an ONNX graph: nodes, constants, a tree ensemble, and the columns of the input."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.exports.trees import (
    FeatureBins,
    ModelTree,
    SplitIntervals,
    ThresholdTree,
    column_names,
)
from steadyboost.trees.growth.tree import GrownTree

OPSETS = {"": 19, "ai.onnx.ml": 5}  # with double thresholds and sums, and text to compare
TREES = "ai.onnx.ml"


@dataclass
class Graph:
    """Nodes and constants of a graph; ``prefix`` makes their names unique."""

    prefix: str = "steadyboost"
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def fresh(self) -> str:
        return f"{self.prefix}_{len(self.nodes) + len(self.constants)}"

    def add(self, op: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Append a node; the name of its output."""
        name = output or self.fresh()
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: Any) -> str:
        array, name = np.asarray(values), self.fresh()
        if array.dtype.kind in "UO":
            texts: Any = [str(text).encode() for text in array.ravel()]
            tensor = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)
        else:
            tensor = numpy_helper.from_array(array.copy(order="C"), name)
        self.constants.append(tensor)
        return name

    def double(self, name: str) -> str:
        return self.add("Cast", name, to=TensorProto.DOUBLE)

    def product(self, name: str, matrix: np.ndarray) -> str:
        """Rows times a matrix; no node is added for the identity."""
        if matrix.shape[0] == matrix.shape[1] and (matrix == np.eye(len(matrix))).all():
            return name
        return self.add("MatMul", name, self.constant(matrix.astype(np.float64)))


@dataclass
class Forest:
    """Trees of comparisons whose leaves add to targets: the operator TreeEnsemble."""

    n_targets: int
    nodes: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    leaves: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    n_nodes: int = 0
    n_leaves: int = 0

    def add(self, tree: ThresholdTree, targets: np.ndarray, weights: np.ndarray) -> None:
        """Append a tree; ``targets`` and ``weights`` are by node of the grown tree."""
        leaf = tree.is_leaf
        if leaf[0]:  # ONNX has no tree without a node: both branches lead to the one leaf
            column, threshold, missing = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64)
            ends, is_end = np.full((2, 1), self.n_leaves), np.ones((2, 1), np.int64)
        else:
            column, threshold = tree.column[~leaf], tree.threshold[~leaf]
            missing = tree.missing_left[~leaf].astype(np.int64)
            children = np.array([tree.left[~leaf], tree.right[~leaf]])
            is_end = leaf[children].astype(np.int64)
            place = np.where(leaf, np.cumsum(leaf) + self.n_leaves, np.cumsum(~leaf) + self.n_nodes)
            ends = place[children] - 1
        self.nodes.append((column, threshold, *ends, *is_end, missing))
        origin = tree.origin[leaf]
        self.leaves.append((targets[origin], weights[origin]))
        self.roots.append(self.n_nodes)
        self.n_nodes += len(column)
        self.n_leaves += len(origin)

    def write(self, graph: Graph, rows: str) -> str:
        """The node of the whole forest: (n, targets) sums."""
        fields = [np.concatenate(values) for values in zip(*self.nodes, strict=True)]
        column, threshold, true, false, true_leaf, false_leaf, missing = fields
        targets, weights = (np.concatenate(values) for values in zip(*self.leaves, strict=True))
        return graph.add(
            "TreeEnsemble",
            rows,
            domain=TREES,
            n_targets=self.n_targets,
            aggregate_function=1,  # sum
            post_transform=0,  # none
            tree_roots=self.roots,
            nodes_featureids=column.tolist(),
            nodes_splits=numpy_helper.from_array(threshold),
            nodes_modes=numpy_helper.from_array(np.zeros(len(column), np.uint8)),  # <=
            nodes_truenodeids=true.tolist(),
            nodes_falsenodeids=false.tolist(),
            nodes_trueleafs=true_leaf.tolist(),
            nodes_falseleafs=false_leaf.tolist(),
            nodes_missing_value_tracks_true=missing.tolist(),
            leaf_targetids=targets.tolist(),
            leaf_weights=numpy_helper.from_array(weights),
        )


NUMBERS = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}
MATRIX = "X"


def is_text(kept: list[Any] | None) -> bool:
    return any(isinstance(value, str) for value in kept or ())


def as_columns(model: Any, columns: bool | None) -> bool:
    """Whether the graph has one input per column, which columns of text require."""
    text = [f for f, kept in enumerate(model._encoder.column_categories) if is_text(kept)]
    if columns is False and text:
        names = [column_names(model)[f] for f in text[:5]]
        raise ValueError(
            f"columns=False asks for one matrix of numbers, but columns {names} are text; pass "
            "columns=True or None."
        )
    return bool(text) if columns is None else columns


@dataclass
class GraphColumns:
    """The columns of the table in the graph, and the sets of categories that trees split on.

    ``matrix`` is (n, width), ``place[f]`` where numeric column f is in it, and ``raw[f]`` names
    the (n, 1) values of a categorical column.
    """

    bins: FeatureBins
    matrix: str | None
    place: dict[int, int]
    raw: dict[int, str]
    sets: dict[int, dict[bytes, int]] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)

    def collect(self, trees: list[ModelTree]) -> None:
        """Give each set of categories that a tree splits on a column, after all numeric columns."""
        for tree in (model_tree.tree for model_tree in trees):
            for node in np.flatnonzero(~tree.is_leaf).tolist():
                if int(tree.feature[node]) in self.raw:
                    known = self.sets.setdefault(int(tree.feature[node]), {})
                    known.setdefault(self.bins.codes_left(tree, node).tobytes(), len(known))
        at = len(self.place)
        for feature, known in self.sets.items():
            self.start[feature] = at
            at += len(known)

    def runs(self, tree: GrownTree, node: int) -> SplitIntervals:
        feature = int(tree.feature[node])
        if feature not in self.raw:
            return self.bins.runs(tree, node)._replace(column=self.place[feature])
        own = self.sets[feature][self.bins.codes_left(tree, node).tobytes()]
        return SplitIntervals(self.start[feature] + own, [0.5], [False, True], False, [1.0, 1.0])

    def rows(self, graph: Graph) -> str:
        """The matrix that trees split on: numbers, then an indicator for each set of categories."""
        parts = [] if self.matrix is None else [self.matrix]
        parts += [self._members(graph, f, list(known)) for f, known in self.sets.items()]
        if not parts:  # no tree has a split, but the operator needs a column
            feature = next(iter(self.raw))
            nothing = np.zeros(len(self.bins.categories[feature] or ()) + 1, dtype=bool)
            parts = [self._members(graph, feature, [nothing.tobytes()])]
        return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)

    def _members(self, graph: Graph, feature: int, sets: list[bytes]) -> str:
        """(n, sets) indicators of membership; an unknown category counts as missing."""
        table = np.array([np.frombuffer(one, dtype=bool) for one in sets], dtype=np.float64).T
        known, gap = table[:-1], table[-1:]
        values = np.array([self.bins.categories[feature] or [np.nan]])
        found = graph.double(graph.add("Equal", self.raw[feature], graph.constant(values)))
        shift = known - gap if len(known) else np.zeros((1, len(sets)))
        return graph.add("Add", graph.product(found, shift), graph.constant(gap))


def table_of(model: Any, graph: Graph, matrix: str) -> GraphColumns:
    """The table as one matrix of numbers, already in double precision."""
    categorical = np.flatnonzero(model._encoder.is_categorical).tolist()
    raw = {f: graph.add("Gather", matrix, graph.constant([f]), axis=1) for f in categorical}
    place = {f: f for f in range(model._encoder.n_columns)}
    return GraphColumns(FeatureBins.of(model), matrix, place, raw)


def declare_matrix(
    model: Any, graph: Graph, dtype: str
) -> tuple[GraphColumns, list[ValueInfoProto]]:
    shape = [None, model._encoder.n_columns]
    inputs = [helper.make_tensor_value_info(MATRIX, NUMBERS[dtype], shape)]
    matrix = MATRIX if dtype == "float64" else graph.double(MATRIX)
    return table_of(model, graph, matrix), inputs


def declare_columns(
    model: Any, graph: Graph, dtype: str
) -> tuple[GraphColumns, list[ValueInfoProto]]:
    """The table as one input of shape (n, 1) per column."""
    categories, names = model._encoder.column_categories, column_names(model)
    kinds = [TensorProto.STRING if is_text(kept) else NUMBERS[dtype] for kept in categories]
    columns = list(zip(names, kinds, strict=True))
    inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in columns]
    cast = [
        name if kind in (TensorProto.STRING, TensorProto.DOUBLE) else graph.double(name)
        for name, kind in columns
    ]
    numeric = [f for f, kept in enumerate(categories) if kept is None]
    matrix = graph.add("Concat", *[cast[f] for f in numeric], axis=1) if numeric else None
    place = {f: at for at, f in enumerate(numeric)}
    raw = {f: cast[f] for f, kept in enumerate(categories) if kept is not None}
    return GraphColumns(FeatureBins.of(model), matrix, place, raw), inputs


def declare(
    model: FittedBooster, graph: Graph, columns: bool, dtype: str
) -> tuple[GraphColumns, list[ValueInfoProto]]:
    return (declare_columns if columns else declare_matrix)(model, graph, dtype)
