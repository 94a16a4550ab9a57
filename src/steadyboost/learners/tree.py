"""Histogram trees and stumps as weak learners."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator

from steadyboost.learners.base import Data, Learner, LocalPartitions, Question, Threads, sums_before
from steadyboost.parameters import Interval, StrOptions
from steadyboost.trees.data.binned import Binned
from steadyboost.trees.growth.batched import grow_weighted_trees
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree, grow_tree, sharding_pays
from steadyboost.trees.histograms.root_cache import RootHistogramCache
from steadyboost.trees.histograms.row_statistics import FixedPointSums, round_to_40_bits
from steadyboost.trees.parallel import (
    MapFunction,
    Parallelism,
    ScratchArrays,
    serial_map,
    split_evenly,
    sum_in_order,
)
from steadyboost.trees.prediction.apply import take

VOTE_ROWS = 65_536  # whose votes a thread looks up at a time: tasks must not be too short


@dataclass(frozen=True)
class TreeAnswer:
    """A grown tree and the vote of each node: its heaviest class, or the node itself."""

    tree: GrownTree
    label: np.ndarray

    def votes(self, data: Data) -> np.ndarray:
        assert data.binned is not None
        return self.votes_of_leaves(data.binned.leaves(self.tree))

    def votes_of_leaves(self, leaves: np.ndarray, run: MapFunction = serial_map) -> np.ndarray:
        out = np.empty(len(leaves), dtype=np.int32)
        blocks = split_evenly(len(leaves), max(1, len(leaves) // VOTE_ROWS))
        run(lambda at: take(self.label, leaves[at], out[at]), blocks)
        return out

    def importances(self, n_features: int) -> np.ndarray:
        sums = np.bincount(self.tree.feature, weights=self.tree.gain, minlength=n_features)
        return sums / sums.sum() if sums.sum() > 0 else sums


@dataclass(frozen=True)
class LeafAnswer(TreeAnswer):
    """A grown tree whose votes are its nodes, for boosters that add the values of leaves."""

    @classmethod
    def of(cls, tree: GrownTree) -> "LeafAnswer":
        return cls(tree, np.arange(len(tree.feature), dtype=np.int32))


def directions(sums: np.ndarray) -> np.ndarray:
    """Rows scaled to unit length; rows of zeros are left as they are."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)


def answer_by(tree: GrownTree, question: Question) -> TreeAnswer:
    """Make a tree the answer to a question; sets and vectors of labels are written to its code."""
    if question.edges is None:
        return TreeAnswer(tree, tree.label.astype(np.int32))
    worth = tree.value[:, :-1]
    if question.form == "label":
        return TreeAnswer(tree, worth.argmax(axis=1).astype(np.int32))
    if question.form == "set":
        question.code = np.where(worth > 0, 1.0, question.absent)
    else:
        question.code = directions(worth) * question.code
    return TreeAnswer(tree, np.arange(len(tree.feature), dtype=np.int32))


def sum_all(
    data: Data, masses: np.ndarray, rows: np.ndarray | None, threads: Threads
) -> float | None:
    """The sum of ``masses`` over the rows of all machines; None on a single machine."""
    if data.partitions is None:
        return None
    used = masses if rows is None else masses[rows]
    partitions = data.partitions if rows is None else data.partitions.take(rows)
    sums = [float(used[start:stop].sum()) for _, start, stop in partitions.spans]
    return float(round_to_40_bits(threads.allreduce(sums, sum_in_order, partitions.numbers)))


def sample(
    share: float, rows: np.ndarray, data: Data, rng: np.random.Generator, threads: Threads
) -> np.ndarray:
    """Draw a share of the rows of all machines without replacement; those on this machine."""
    spans = (
        LocalPartitions.one(len(rows)) if data.partitions is None else data.partitions.take(rows)
    ).spans
    sizes, numbers = [stop - start for _, start, stop in spans], [k for k, _, _ in spans]
    starts, n_all = sums_before(threads, sizes, numbers)
    n_drawn = max(1, round(share * n_all))
    drawn = np.sort(rng.choice(n_all, n_drawn, replace=False, shuffle=False))
    kept = [
        rows[first + drawn[slice(*np.searchsorted(drawn, [begin, begin + n]))] - begin]
        for (_, first, _), begin, n in zip(spans, starts, sizes, strict=True)
    ]
    return np.concatenate(kept)


MAX_POSITIVE_SHARE = 0.5  # share of rows with positive weight, up to which the others are left out
SAMPLE_ROWS = 512  # rows from which that share is estimated
ROOT_CACHE_WORDS = 25_000  # of four bins each, from which on the root's histogram is kept
ROOT_CACHE_CELLS_PER_WORD = 1.0  # at the most: it must not be larger than the data
CRITERION = {"set": "edge", "label": "max_edge", "vector": "norm"}  # of each form of a question


def make_scratch(data: Data) -> ScratchArrays:
    """Scratch arrays, kept with the rows from round to round."""
    return ScratchArrays()


def make_root(data: Data) -> RootHistogramCache:
    """The cache of the root's histogram, kept with the rows from round to round."""
    assert data.binned is not None
    return RootHistogramCache(data.binned)


def parallelism(data: Data, threads: Threads) -> Parallelism:
    """The threads to grow a tree on, one if data are small, and the allreduce of the machines."""
    assert data.binned is not None
    if data.partitions is not None:
        return Parallelism(threads.n_threads, threads.run, threads.allreduce)
    if threads.n_threads == 1 or not sharding_pays(data.binned, *data.binned.shape):
        return Parallelism()
    return Parallelism(threads.n_threads, threads.run)


def positive_weight_rows(weights: np.ndarray) -> np.ndarray | None:
    """The rows of positive weight if these seem to be few; None for all rows.

    Rows of weight zero do not change a tree but take time. A sample tells whether they are many.
    """
    some = weights[:: -(-len(weights) // SAMPLE_ROWS) or 1]
    if np.count_nonzero(some) > MAX_POSITIVE_SHARE * len(some):
        return None
    return np.flatnonzero(weights)


class Tree(BaseEstimator):
    """A weighted classification tree on binned data.

    Parameters
    ----------
    max_depth : int or None, default=3
        Maximum depth; None for no limit.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves; the tree is then grown best first.
    min_samples_leaf : int, default=1
        Minimum number of rows (of non-zero weight) in a leaf.
    min_weight_leaf : float, default=0.0
        Minimum share of the total weight in a leaf.
    criterion : {"gini", "entropy", "error"}, default="gini"
        The impurity that splits reduce.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Number or share of the features drawn at random for each tree; None for all.
    max_samples : float or None, default=None
        Share of the rows drawn at random, without replacement, for each tree.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SAMMEClassifier, Tree
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SAMMEClassifier(estimator=Tree(max_leaf_nodes=4), n_estimators=10)
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    uses_bins = True
    spreads = True  # whether distributed rows stay where they are
    answers_in_batches: ClassVar[bool] = True  # whether ``answer_each`` may stand for ``answer``

    def __init_subclass__(cls, **options: Any) -> None:
        """A subclass that answers in its own way must say whether batches of trees do so, too."""
        super().__init_subclass__(**options)
        told = "answers_in_batches" in vars(cls) or not cls.answers_in_batches
        if "answer" in vars(cls) and not told:
            raise TypeError(
                f"{cls.__name__} overrides answer, but some boosters would call answer_each; set "
                "its class attribute answers_in_batches to False."
            )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "min_weight_leaf": [Interval(Real, 0, 0.5, closed="both")],
        "criterion": [StrOptions({"gini", "entropy", "error"})],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"sqrt", "log2"}),
            None,
        ],
        "max_samples": [Interval(Real, 0, 1, closed="right"), None],
    }

    def __init__(
        self,
        max_depth: int | None = 3,
        *,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_leaf: float = 0.0,
        criterion: str = "gini",
        max_features: int | float | str | None = None,
        max_samples: float | None = None,
    ):
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.criterion = criterion
        self.max_features = max_features
        self.max_samples = max_samples

    def params(self) -> TreeParams:
        return TreeParams(
            self.criterion,
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_leaf,
            self.min_weight_leaf,
        )

    def answer(
        self,
        data: Data,
        question: Question,
        counts: np.ndarray | None,
        seed: int,
        threads: Threads,
    ) -> tuple[TreeAnswer, np.ndarray]:
        """Grow a tree; votes are those of the leaves to which growth has assigned the rows."""
        assert data.binned is not None
        weights = question.weights if counts is None else counts.astype(float)
        rows, features = self._draw(data, counts, seed, threads)
        drawn = rows is not None
        # With a given scale the root's histogram is kept, which needs all rows.
        if rows is None and question.fixed_point_scale is None:
            rows = positive_weight_rows(weights)
        params, scratch = self.params(), data.once(make_scratch)
        parallel = parallelism(data, threads)
        if question.edges is None:
            labelled = question.targets, weights, question.n_answers
            total, scale = question.total, question.fixed_point_scale
            # The question's total and scale are those of all rows, not of drawn ones.
            if total is None or drawn:
                total, scale = sum_all(data, weights, rows, threads), None
            options: Any = {"total": total, "fixed_point_scale": scale, "scratch": scratch}
            if scale is not None and self._keeps_root(data, question.n_answers, rows, features):
                options |= {"n_threads": parallel.n_threads, "run": parallel.run}
                sums = data.once(make_root).set(*labelled, **options)
            else:
                sums = FixedPointSums.of_labels(*labelled, rows, run=threads.run, **options)
        else:
            params = replace(params, criterion=CRITERION[question.form])
            edges = question.edges if counts is None else question.edges * counts[:, None]
            sums = FixedPointSums.of_channels(edges, sum_all(data, np.abs(edges), None, threads))
        tree, leaves = grow_tree(
            data.binned,
            sums,
            params,
            rows=rows,
            features=features,
            parallel=parallel,
            scratch=scratch,
        )
        answer = answer_by(tree, question)
        return answer, answer.votes_of_leaves(leaves, parallel.run)

    def _keeps_root(
        self, data: Data, n_labels: int, rows: np.ndarray | None, features: np.ndarray | None
    ) -> bool:
        """Whether the histogram of all rows is worth keeping for the next round."""
        every = rows is None and features is None and data.partitions is None
        if not every or self.min_samples_leaf > 1 or not isinstance(data.binned, Binned):
            return False
        n_words, n_cells = data.binned.packed.size, int(data.binned.offsets[-1]) * n_labels
        return n_words >= ROOT_CACHE_WORDS and n_cells <= ROOT_CACHE_CELLS_PER_WORD * n_words

    @property
    def draws(self) -> bool:
        """Whether rows or features are drawn at random."""
        return self.max_samples is not None or self.max_features is not None

    def answer_each(
        self, data: Data, targets: np.ndarray, weights: np.ndarray, threads: Threads
    ) -> tuple[list[TreeAnswer], np.ndarray]:
        """As ``answer``, without draws, to many yes-or-no questions; votes are (questions, n).

        Targets are those of each question, or one row for all of them.
        """
        assert data.binned is not None
        grown, votes = grow_weighted_trees(
            data.binned, targets, weights, self.params(), threads.n_threads, threads.run
        )
        return [TreeAnswer(tree, label) for tree, label in grown], votes

    def _draw(
        self, data: Data, counts: np.ndarray | None, seed: int, threads: Threads
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Rows and features to learn from, None for all."""
        rows = None if counts is None else np.flatnonzero(counts)
        features = None
        if self.draws:
            rng = np.random.default_rng(seed)
            if self.max_samples is not None and self.max_samples < 1:
                rows = np.arange(len(data)) if rows is None else rows
                rows = sample(self.max_samples, rows, data, rng, threads)
            n_features = data.n_features
            n_drawn = self._n_features(n_features)
            if n_drawn < n_features:
                features = np.sort(rng.choice(n_features, n_drawn, replace=False))
        return rows, features

    def _n_features(self, n_features: int) -> int:
        wanted = self.max_features
        if wanted is None:
            return n_features
        if isinstance(wanted, str):
            root = np.sqrt(n_features) if wanted == "sqrt" else np.log2(n_features)
            return max(1, int(root))
        if isinstance(wanted, Integral):
            return min(int(wanted), n_features)
        return max(1, int(wanted * n_features))


class Stump(Tree):
    """A tree of one split.

    Parameters
    ----------
    min_samples_leaf, min_weight_leaf, criterion, max_features, max_samples
        As in :class:`Tree`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from steadyboost import SAMMEClassifier, Stump
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SAMMEClassifier(estimator=Stump(), n_estimators=20).fit(X, y)
    >>> len(model.estimators_)
    20
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: rule
        for name, rule in Tree._parameter_constraints.items()
        if name not in ("max_depth", "max_leaf_nodes")
    }

    def __init__(
        self,
        *,
        min_samples_leaf: int = 1,
        min_weight_leaf: float = 0.0,
        criterion: str = "gini",
        max_features: int | float | str | None = None,
        max_samples: float | None = None,
    ):
        super().__init__(
            max_depth=1,
            min_samples_leaf=min_samples_leaf,
            min_weight_leaf=min_weight_leaf,
            criterion=criterion,
            max_features=max_features,
            max_samples=max_samples,
        )


def answers_at_once(learner: Learner) -> TypeGuard[Tree]:
    """Whether a learner's ``answer_each`` stands for its ``answer``."""
    return isinstance(learner, Tree) and learner.answers_in_batches and not learner.draws
