"""Grown trees as answers."""

from dataclasses import dataclass

import numpy as np

from steadyboost.learners.base import Data, Question
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.histograms.row_statistics import Run, one_by_one, parts
from steadyboost.trees.prediction.apply import take

TAKEN_ROWS = 65_536  # whose votes a thread looks up at a time


@dataclass(frozen=True)
class TreeAnswer:
    """A grown tree and the vote of each node: its heaviest class, or the node itself."""

    tree: GrownTree
    label: np.ndarray

    def votes(self, data: Data) -> np.ndarray:
        assert data.binned is not None
        return self.votes_of_leaves(data.binned.leaves(self.tree))

    def votes_of_leaves(self, leaves: np.ndarray, run: Run = one_by_one) -> np.ndarray:
        out = np.empty(len(leaves), dtype=np.int32)
        blocks = parts(len(leaves), max(1, len(leaves) // TAKEN_ROWS))
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
    """Rows scaled to length one; those of zeros stay."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)


def answer_by(tree: GrownTree, question: Question) -> TreeAnswer:
    """A tree as the answer to a question; sets and vectors, where asked for, go to its code."""
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
