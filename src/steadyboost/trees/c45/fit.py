"""C4.5, release 8, for weighted cases.

The parts: `cases` (cases and nodes), `split` (the choice of a test), `grow`,
`prune` and `tree` (prediction and printing). This module puts them together.

Where this differs from Quinlan's program: arithmetic is in double precision; two values of a
continuous attribute are different if they are not equal (the program wants a gap of 1e-5, which
depends on the unit); ties, and counts of cases against their minimum, forgive rounding; the
number of cases that decides which attributes have "very many values" is their weight. Grouping
of discrete values, soft thresholds, windowing and rules are left out.

References
----------
Quinlan, J. R. (1993). C4.5: Programs for Machine Learning. Morgan Kaufmann.
Quinlan, J. R. (1996). Improved use of continuous attributes in C4.5. Journal of Artificial
Intelligence Research, 4, 77-90.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from steadyboost.trees.c45.cases import SparseCases, TrainingData
from steadyboost.trees.c45.grow import grow
from steadyboost.trees.c45.prune import prune as prune_nodes
from steadyboost.trees.c45.split import C45Params
from steadyboost.trees.c45.tree import C45Tree, columns_of

__all__ = ["C45Options", "C45Tree", "grow_c45", "presort"]

# An attribute has very many values if it has this many per training case.
MANY_VALUES = 0.3


def presort(X: ArrayLike, n_values: ArrayLike) -> NDArray[np.int32]:
    """Sort the rows by each continuous attribute.

    Parameters
    ----------
    X : array (n_rows, n_features)
        Cases; NaN is a missing value.
    n_values : array (n_features,)
        Number of values of a discrete attribute, 0 for a continuous one.

    Returns
    -------
    int32 array (n_continuous, n_rows)
        Rows by ascending value, missing values last. It serves every tree on the same rows,
        whatever their weights.
    """
    continuous = columns_of(X)[np.asarray(n_values) == 0]
    return np.argsort(continuous, axis=1, kind="stable").astype(np.int32)


@dataclass(frozen=True)
class C45Options:
    """How a tree is grown and pruned.

    Attributes
    ----------
    min_cases : float, default=2
        At least two branches of a test must have this weight.
    confidence : float, default=0.25
        C4.5's CF, in (0, 1]: the smaller, the more is pruned.
    prune : bool, default=True
        Whether to prune.
    subtree_raising : bool, default=True
        Whether pruning may replace a test by its largest branch.
    mdl_correction : bool, default=True
        Whether the gain of a threshold is lowered by log2(number of cuts) / weight of the node.
    gain_ratio : bool, default=True
        Whether to choose tests by gain ratio rather than by gain.
    """

    min_cases: float = 2.0
    confidence: float = 0.25
    prune: bool = True
    subtree_raising: bool = True
    mdl_correction: bool = True
    gain_ratio: bool = True

    def __post_init__(self) -> None:
        if not (self.min_cases > 0 and 0 < self.confidence <= 1):
            raise ValueError("min_cases must be positive and confidence in (0, 1]")

    def params(self, total_weight: float) -> C45Params:
        """As the kernels of growth take them."""
        choice = float(self.min_cases), bool(self.mdl_correction), bool(self.gain_ratio)
        return C45Params(*choice, MANY_VALUES * total_weight)


def grow_c45(
    X: ArrayLike | SparseCases,
    n_values: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike,
    n_classes: int,
    options: C45Options | None = None,
    order: NDArray[np.int32] | None = None,
) -> C45Tree:
    """Grow a C4.5 decision tree.

    Parameters
    ----------
    X : array (n_rows, n_features)
        Cases; NaN is a missing value, and so is a discrete value out of range. A Fortran-ordered
        float64 array is used as it is, others are copied. `SparseCases` are continuous.
    n_values : array (n_features,)
        Number of values of a discrete attribute, coded 0, 1, ...; 0 for a continuous one.
    y : int array (n_rows,)
        Classes 0 to ``n_classes - 1``.
    weights : float array (n_rows,)
        Weights, not negative. They are counts of cases, so let them add up to the number of
        rows. Rows of weight zero have no influence at all.
    n_classes : int
        Number of classes.
    options : C45Options, optional
        How the tree is grown and pruned; C4.5's defaults if not given.
    order : int32 array, optional
        `presort` of X, to be made once for many trees.

    Returns
    -------
    C45Tree
        A single leaf if there is nothing to split on.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0]]
    >>> tree = grow_c45(X, [0], [0, 0, 1, 1], [1.0] * 4, 2, C45Options(mdl_correction=False))
    >>> print(tree.to_text(["size"], ["small", "large"]))
    size <= 2 : small (2.0/1.0)
    size > 2 : large (2.0/1.0)
    """
    row_weights = np.array(weights, np.float64)
    sparse = X.with_scratch(int(n_classes)) if isinstance(X, SparseCases) else None
    columns = np.empty((0, 0)) if isinstance(X, SparseCases) else columns_of(X)
    labelled = np.array(n_values, np.int64), np.array(y, np.int64), int(n_classes)
    data = TrainingData(columns, *labelled, sparse)
    _check(data, row_weights)
    order = _checked_order(data, order)
    options = options or C45Options()
    nodes = grow(data, order, row_weights, options.params(float(row_weights.sum())))
    if options.prune:
        raising = bool(options.subtree_raising)
        prune_nodes(data, nodes, row_weights, float(options.confidence), raising)
    return C45Tree.from_nodes(nodes, data.n_values.size)


def _check(data: TrainingData, weights: NDArray) -> None:
    """Raise an error for what the compiled code does not check."""
    n_features, n_rows = data.shape
    if data.n_values.shape != (n_features,) or (data.n_values < 0).any():
        raise ValueError("n_values must be one number, 0 or more, for each column of X")
    if data.sparse is not None and data.n_values.any():
        raise ValueError("the attributes of SparseCases are continuous: n_values must be 0")
    if data.labels.shape != (n_rows,) or weights.shape != (n_rows,):
        raise ValueError("y and weights must have one entry for each row of X")
    if n_rows and not 0 <= data.labels.min() <= data.labels.max() < data.n_classes:
        raise ValueError("y must be from 0 to n_classes - 1")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative")


def _checked_order(data: TrainingData, order: NDArray[np.int32] | None) -> NDArray[np.int32]:
    """Return the order of the rows, made now or of the right shape and kind."""
    if data.sparse is not None:
        return np.empty((0, data.labels.size), np.int32)  # its entries are in order
    if order is None:
        return presort(data.columns.T, data.n_values)
    if order.shape != ((data.n_values == 0).sum(), data.labels.size):
        raise ValueError("order must be presort(X, n_values)")
    return np.require(order, np.int32, ["C", "W"])
