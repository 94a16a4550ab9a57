"""The bricks of an ONNX graph: nodes with fresh names, constants, and a forest."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

from steadyboost.exports.splits import ThresholdTree

OPSETS = {"": 19, "ai.onnx.ml": 5}  # with double thresholds and sums, and text to compare
TREES = "ai.onnx.ml"


@dataclass
class Graph:
    """Nodes and constants in the making; ``prefix`` keeps their names apart from others."""

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
        """Rows times a matrix, which is left out where it changes nothing."""
        if matrix.shape[0] == matrix.shape[1] and (matrix == np.eye(len(matrix))).all():
            return name
        return self.add("MatMul", name, self.constant(matrix.astype(np.float64)))


@dataclass
class Forest:
    """Trees of comparisons, whose leaves add to targets."""

    n_targets: int
    nodes: list[tuple[np.ndarray, ...]] = field(default_factory=list)
    leaves: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    n_nodes: int = 0
    n_leaves: int = 0

    def add(self, tree: ThresholdTree, targets: np.ndarray, weights: np.ndarray) -> None:
        """A tree; both are by node of the grown tree that it comes from, one number per leaf."""
        leaf = tree.is_leaf
        if leaf[0]:  # a node both of whose branches end there
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
