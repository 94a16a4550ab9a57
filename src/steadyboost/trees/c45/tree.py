"""A grown C4.5 tree: what it predicts and how it is printed.

A case with a missing value goes down every branch, weighted by the part of the training cases
that went there, and the class distributions of the leaves it reaches are added up.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steadyboost.trees.c45.cases import (
    ATTRIBUTE,
    BRANCHES,
    CASES,
    ERRORS,
    FIRST,
    MAJORITY,
    MISSING,
    THRESHOLD,
    TIE,
    Nodes,
    branch_of,
)
from steadyboost.trees.jit import kernel


def columns_of(X: ArrayLike) -> NDArray[np.float64]:
    """Return the columns of a table, contiguous; Fortran-ordered tables are not copied."""
    # Read-only arrays would make numba compile everything a second time.
    return np.require(np.asarray(X, np.float64).T, requirements=["C", "W"])


class PredictionArrays(NamedTuple):
    """The arrays of a tree that prediction needs, as in `C45Tree`."""

    attribute: np.ndarray
    threshold: np.ndarray
    first_child: np.ndarray
    n_branches: np.ndarray
    class_weights: np.ndarray
    cases: np.ndarray
    majority: np.ndarray


@kernel
def add_leaf(tree, node, part, out, i):
    """Add the class distribution of a leaf; a leaf without cases stands for its class."""
    if tree.cases[node] > 0.0:
        for c in range(out.shape[1]):
            out[i, c] += part * tree.class_weights[node, c] / tree.cases[node]
    else:
        out[i, tree.majority[node]] += part


@kernel
def add_shares(tree, columns, waiting, parts, out):
    """Add the class distribution of each case to its row of ``out``.

    ``waiting`` and ``parts`` are scratch: the nodes a case has yet to visit, and the part of it
    that does. It visits a node at most once.
    """
    for i in range(columns.shape[1]):
        waiting[0], parts[0], n = 0, 1.0, 1
        while n > 0:
            n -= 1
            node, part = waiting[n], parts[n]
            f, first, n_branches = (
                tree.attribute[node],
                tree.first_child[node],
                tree.n_branches[node],
            )
            if f < 0:
                add_leaf(tree, node, part, out, i)
                continue
            b = branch_of(columns[f, i], tree.threshold[node], n_branches)
            if b != MISSING:
                waiting[n], parts[n] = first + b, part
                n += 1
                continue
            for child in range(first, first + n_branches):
                if tree.cases[child] > 0.0:
                    waiting[n] = child
                    parts[n] = part * tree.cases[child] / tree.cases[node]
                    n += 1


@kernel
def list_reachable(links, found):
    """List the nodes that the root leads to, level by level, branches together; return how many."""
    found[0] = 0
    i, n = 0, 1
    while i < n:
        first = links[found[i], FIRST]
        for b in range(links[found[i], BRANCHES]):
            found[n] = first + b
            n += 1
        i += 1
    return n


@dataclass(frozen=True)
class C45Tree:
    """A decision tree in flat arrays; node 0 is the root.

    Attributes
    ----------
    attribute : int64 array (n_nodes,)
        Tested attribute, -1 for a leaf.
    threshold : float64 array (n_nodes,)
        Values up to it go to the first of two branches; NaN if the test has one branch for each
        value of a discrete attribute.
    first_child, n_branches : int64 arrays (n_nodes,)
        The branches of a node are the nodes from ``first_child`` on; -1 and 0 for a leaf.
    class_weights : float64 array (n_nodes, n_classes)
        Weight of the training cases by class.
    cases : float64 array (n_nodes,)
        Weight of the training cases.
    majority : int64 array (n_nodes,)
        Class of most weight; in a node without cases, that of the node above.
    errors : float64 array (n_nodes,)
        Weight of the training cases that the subtree gets wrong; of a pruned tree, C4.5's
        estimate of the errors.
    n_features : int
        Number of attributes.
    """

    attribute: NDArray[np.int64]
    threshold: NDArray[np.float64]
    first_child: NDArray[np.int64]
    n_branches: NDArray[np.int64]
    class_weights: NDArray[np.float64]
    cases: NDArray[np.float64]
    majority: NDArray[np.int64]
    errors: NDArray[np.float64]
    n_features: int

    @classmethod
    def from_nodes(cls, nodes: Nodes, n_features: int) -> C45Tree:
        """Keep the nodes that the root leads to."""
        keep = np.empty(len(nodes.links), np.int64)
        keep = keep[: list_reachable(nodes.links, keep)]
        links, values = nodes.links[keep].T.copy(), nodes.values[keep].T.copy()
        place = np.empty(nodes.links.shape[0], np.int64)
        place[keep] = np.arange(keep.size)
        first = np.where(links[ATTRIBUTE] >= 0, place[links[FIRST]], -1)
        return cls(
            attribute=links[ATTRIBUTE],
            threshold=values[THRESHOLD],
            first_child=first,
            n_branches=links[BRANCHES],
            class_weights=nodes.weights[keep],
            cases=values[CASES],
            majority=links[MAJORITY],
            errors=values[ERRORS],
            n_features=n_features,
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.attribute.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves, those without cases included."""
        return int((self.attribute < 0).sum())

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        level = np.zeros(self.n_nodes, np.int64)
        for node in np.flatnonzero(self.attribute >= 0):
            first = self.first_child[node]
            level[first : first + self.n_branches[node]] = level[node] + 1
        return int(level.max())

    def lean(self) -> tuple[C45Tree, NDArray[np.int64]]:
        """Return the tree on the attributes alone that it tests, and which these are."""
        used = np.unique(self.attribute[self.attribute >= 0])
        places = np.where(self.attribute >= 0, np.searchsorted(used, self.attribute), -1)
        return replace(self, attribute=places, n_features=used.size), used

    def distribution(self, X: ArrayLike) -> NDArray[np.float64]:
        """Class distribution of each case.

        Parameters
        ----------
        X : array (n_rows, n_features)
            Cases; NaN, and a discrete value out of range, is missing. Fortran order is fastest.

        Returns
        -------
        float64 array (n_rows, n_classes)
            Rows sum to one.
        """
        columns = columns_of(X)
        if columns.shape[0] != self.n_features:
            raise ValueError(
                f"X has {columns.shape[0]} columns, the tree expects {self.n_features}"
            )
        out = np.zeros((columns.shape[1], self.class_weights.shape[1]))
        tree = PredictionArrays(*(getattr(self, name) for name in PredictionArrays._fields))
        add_shares(tree, columns, np.empty(self.n_nodes, np.int64), np.empty(self.n_nodes), out)
        return out

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Most likely class of each case, the lowest of several."""
        shares = self.distribution(X)
        return (shares >= shares.max(axis=1, keepdims=True) - TIE).argmax(axis=1)

    def to_text(
        self,
        feature_names: Sequence[str],
        class_names: Sequence[str],
        value_names: Sequence[Sequence[str] | None] | None = None,
    ) -> str:
        """Print the tree as C4.5 does.

        Parameters
        ----------
        feature_names, class_names : sequences of str
            Names.
        value_names : sequence, optional
            For each attribute the names of its values, or None; codes are printed otherwise.

        Returns
        -------
        str
            One line per branch, leaves before subtrees. ``(N/E)`` after a leaf is the weight of
            its cases and, if not zero, its errors.
        """
        lines = []
        stack = [(0, "", "")]
        while stack:
            node, indent, test = stack.pop()
            if self.attribute[node] < 0:
                lines.append(f"{indent}{test}{self._leaf_text(node, class_names)}")
                continue
            if test:
                lines.append(f"{indent}{test.rstrip()}")
                indent += "|   "
            first, n_branches = self.first_child[node], self.n_branches[node]
            branches = range(first, first + n_branches)
            for child in sorted(branches, key=lambda b: self.attribute[b] >= 0)[::-1]:
                text = self._test_text(node, child - first, feature_names, value_names)
                stack.append((child, indent, text))
        return "\n".join(lines)

    def _leaf_text(self, node: int, class_names: Sequence[str]) -> str:
        wrong = f"/{self.errors[node]:.1f}" if self.errors[node] > 0.0 else ""
        return f"{class_names[self.majority[node]]} ({self.cases[node]:.1f}{wrong})"

    def _test_text(self, node, branch, feature_names, value_names) -> str:
        f, threshold = self.attribute[node], self.threshold[node]
        if not np.isnan(threshold):
            return f"{feature_names[f]} {'<=' if branch == 0 else '>'} {threshold:g} : "
        names = None if value_names is None else value_names[f]
        return f"{feature_names[f]} = {branch if names is None else names[branch]}: "
