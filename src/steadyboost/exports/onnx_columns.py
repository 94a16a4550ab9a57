"""A user's table inside an ONNX graph: numbers in a matrix, sets of categories as yes or no."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper

from steadyboost.ensemble.prediction import FittedBooster
from steadyboost.exports.members import Member
from steadyboost.exports.names import feature_names
from steadyboost.exports.onnx_graph import Graph
from steadyboost.exports.splits import FeatureBins, Runs
from steadyboost.trees.growth.tree import GrownTree

NUMBERS = {"float64": TensorProto.DOUBLE, "float32": TensorProto.FLOAT}
MATRIX = "X"


def is_text(kept: list[Any] | None) -> bool:
    return any(isinstance(value, str) for value in kept or ())


def as_columns(model: Any, columns: bool | None) -> bool:
    """Whether the model gets one input per column: where a column is text, it has to."""
    text = [f for f, kept in enumerate(model._encoder.categories) if is_text(kept)]
    if columns is False and text:
        names = [feature_names(model)[f] for f in text[:5]]
        raise ValueError(
            f"columns=False asks for one matrix of numbers, but columns {names} are text; pass "
            "columns=True or None."
        )
    return bool(text) if columns is None else columns


@dataclass
class GraphColumns:
    """Where the columns of the table are in the graph, and the sets of categories that are asked.

    ``matrix`` is (n, width), ``place[f]`` where numeric column f is in it, and ``raw[f]`` names
    the (n, 1) values of a categorical column.
    """

    bins: FeatureBins
    matrix: str | None
    place: dict[int, int]
    raw: dict[int, str]
    sets: dict[int, dict[bytes, int]] = field(default_factory=dict)
    start: dict[int, int] = field(default_factory=dict)

    def collect(self, trees: list[Member]) -> None:
        """Number the sets of categories that the trees ask for, after all numeric columns."""
        for tree in (member.tree for member in trees):
            for node in np.flatnonzero(~tree.is_leaf).tolist():
                if int(tree.feature[node]) in self.raw:
                    known = self.sets.setdefault(int(tree.feature[node]), {})
                    known.setdefault(self.bins.codes_left(tree, node).tobytes(), len(known))
        at = len(self.place)
        for feature, known in self.sets.items():
            self.start[feature] = at
            at += len(known)

    def runs(self, tree: GrownTree, node: int) -> Runs:
        feature = int(tree.feature[node])
        if feature not in self.raw:
            return self.bins.runs(tree, node)._replace(column=self.place[feature])
        own = self.sets[feature][self.bins.codes_left(tree, node).tobytes()]
        return Runs(self.start[feature] + own, [0.5], [False, True], False, [1.0, 1.0])

    def rows(self, graph: Graph) -> str:
        """The matrix that the trees see: numbers, then 1 for each set that has the category."""
        parts = [] if self.matrix is None else [self.matrix]
        parts += [self._members(graph, f, list(known)) for f, known in self.sets.items()]
        if not parts:  # no tree looks at anything
            feature = next(iter(self.raw))
            nothing = np.zeros(len(self.bins.categories[feature] or ()) + 1, dtype=bool)
            parts = [self._members(graph, feature, [nothing.tobytes()])]
        return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)

    def _members(self, graph: Graph, feature: int, sets: list[bytes]) -> str:
        """(n, sets): whether the category is in each; one that is not known counts as a gap."""
        table = np.array([np.frombuffer(one, dtype=bool) for one in sets], dtype=np.float64).T
        known, gap = table[:-1], table[-1:]
        values = np.array([self.bins.categories[feature] or [np.nan]])
        found = graph.double(graph.add("Equal", self.raw[feature], graph.constant(values)))
        shift = known - gap if len(known) else np.zeros((1, len(sets)))
        return graph.add("Add", graph.product(found, shift), graph.constant(gap))


def table_of(model: Any, graph: Graph, matrix: str) -> GraphColumns:
    """The table where it comes as one matrix of numbers, already in double precision."""
    categorical = np.flatnonzero(model._encoder.is_categorical).tolist()
    raw = {f: graph.add("Gather", matrix, graph.constant([f]), axis=1) for f in categorical}
    place = {f: f for f in range(model.n_features_in_)}
    return GraphColumns(FeatureBins.of(model), matrix, place, raw)


def declare_matrix(
    model: Any, graph: Graph, dtype: str
) -> tuple[GraphColumns, list[ValueInfoProto]]:
    shape = [None, model.n_features_in_]
    inputs = [helper.make_tensor_value_info(MATRIX, NUMBERS[dtype], shape)]
    matrix = MATRIX if dtype == "float64" else graph.double(MATRIX)
    return table_of(model, graph, matrix), inputs


def declare_columns(
    model: Any, graph: Graph, dtype: str
) -> tuple[GraphColumns, list[ValueInfoProto]]:
    """The table where each column is an input of its own, (n, 1)."""
    categories, names = model._encoder.categories, feature_names(model)
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
