"""AdaBoost.MH. Schapire & Singer (1999); papers/004, Algorithm 3."""

from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.labelwise import LabelResult, LabelwiseClassifier, indicator
from steadyboost.ensemble.loop import RoundResult, fit_stage
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import ROUNDING, log_odds, one_against_all, sigmoid
from steadyboost.ensemble.training_state import RowChunk, TrainingState, scale_of
from steadyboost.learners.base import Learner, Question
from steadyboost.learners.tree import Tree
from steadyboost.parameters import StrOptions
from steadyboost.trees.jit import kernel
from steadyboost.trees.parallel import split_evenly


@kernel
def _log_weights(scores, has, base, start, tops, out):
    """-psi of the rows that have a label, psi of the others, less the largest of the label.

    The arrays have a row per label; those of all chunks have this one from ``start`` on.
    """
    for label in range(len(tops)):
        top = -np.inf
        for i in range(len(base)):
            score = scores[label, i]
            log_weight = base[i] + (-score if has[label, start + i] else score)
            out[label, start + i] = log_weight
            top = log_weight if log_weight > top else top
        for i in range(len(base)):
            out[label, start + i] -= top
        tops[label] = top


@kernel
def _give_signs(has, factors, start, stop, out):
    for label in range(len(factors)):
        factor = factors[label]
        for i in range(start, stop):
            out[label, i] *= factor if has[label, i] else -factor


class AdaBoostMHClassifier(LabelwiseClassifier):
    """AdaBoost over pairs of a row and a label: does the row have the label?

    The Hamming loss counts wrong answers to all these questions, and pairs that are answered
    wrongly gain weight, as in AdaBoost. Rows may have several labels: pass an indicator matrix.

    Parameters
    ----------
    tree : {"separate", "shared"}, default="separate"
        One tree per label with one step for all, as in the paper; or one tree for all labels, whose
        leaves say yes or no to each. A shared tree is much cheaper where there are many labels,
        wants more leaves, and needs our :class:`~steadyboost.Tree` or :class:`~steadyboost.Stump`.
    max_leaf_nodes : int, default=12
        Leaves of the default tree, which grows best first to any depth.
    estimator : object, default=None
        The weak learner: one of ours or any scikit-learn classifier. By default
        ``Tree(max_depth=None, max_leaf_nodes=max_leaf_nodes)``.
    {shared_parameters}

    References
    ----------
    .. [1] R. E. Schapire, Y. Singer (1999). Improved boosting algorithms using confidence-rated
       predictions. Machine Learning 37, 297-336.
    .. [2] M. Geist (2015). Soft-max boosting. Machine Learning 100, 305-332.
    .. [3] B. Kegl (2014). The return of AdaBoost.MH: multi-class Hamming trees. ICLR.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import AdaBoostMHClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> AdaBoostMHClassifier(n_estimators=10).fit(X, y).score(X, y)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "tree": [StrOptions({"separate", "shared"})],
        "max_leaf_nodes": Tree._parameter_constraints["max_leaf_nodes"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        tree: str = "separate",
        max_leaf_nodes: int | None = 12,
        **shared: Any,
    ):
        super().__init__(estimator, **shared)
        self.tree = tree
        self.max_leaf_nodes = max_leaf_nodes

    def _default_learner(self) -> Learner:
        return Tree(max_depth=None, max_leaf_nodes=self.max_leaf_nodes)

    def _learner(self) -> Learner:
        learner = super()._learner()
        if self.tree == "shared" and not isinstance(learner, Tree):
            raise ValueError(
                f"tree='shared' cannot be grown by estimator={self.estimator!r}; pass a Tree or a "
                "Stump, or tree='separate'."
            )
        return learner

    def has_parts(self) -> bool:
        """A tree per label; a shared tree is one answer to all."""
        return self.tree == "separate"

    def worths(self, rows: TrainingState, round_: Round) -> np.ndarray:
        """w(x, y) times -c(x, y): weights are exp(-psi) where a row has the label, else exp(psi).

        They sum to one over all pairs.
        """
        k, n_chunks = self.n_classes_, len(rows.chunks)
        out, has = np.empty((k, len(rows))), indicator(rows.y, k)
        tops, sums = np.empty((n_chunks, k)), np.empty((n_chunks, k))
        blocks = split_evenly(k, min(k, rows.workers.n_threads))
        pieces = [(chunk, at) for chunk in rows.chunks for at in blocks]

        def raise_labels(piece: tuple[RowChunk, slice]) -> None:
            chunk, at = piece
            base = np.zeros(len(chunk)) if chunk.base is None else chunk.base
            own, start, number = out[at, chunk.rows], chunk.rows.start, chunk.number
            _log_weights(chunk.scores.T[at], has[at], base, start, tops[number, at], out[at])
            np.exp(own, out=own)
            own.sum(axis=1, out=sums[number, at])

        def give_signs(piece: tuple[RowChunk, slice]) -> None:
            chunk, at = piece
            factors = np.exp(tops[chunk.number, at] - top) / total
            _give_signs(has[at], factors, chunk.rows.start, chunk.rows.stop, out[at])

        rows.workers.run(raise_labels, pieces)
        # Exponents are shifted by the largest of each label and chunk, then brought to one scale.
        by_block = [scale_of(np.column_stack(own)) for own in zip(tops, sums, strict=True)]
        top, total = rows.allreduce(by_block, scale_of)
        rows.workers.run(give_signs, pieces)
        return out.T

    def steps(
        self, rows: TrainingState, votes: np.ndarray, found: list[LabelResult], error: Any
    ) -> Any:
        return self.alpha(rows, error)

    def alpha(self, rows: TrainingState, error: float) -> float | None:
        """artanh of the edge, that is half the log-odds of being right."""
        return None if error >= 0.5 - ROUNDING else -log_odds(rows.floored(error)) / 2

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: Any
    ) -> RoundResult:
        if self.tree == "shared":
            return fit_stage(self, rows, learner, round_)
        return super().boost(rows, learner, round_, state)

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """One question for all labels: leaves name those that they say yes to."""
        worths = self.worths(rows, round_)
        edges = np.column_stack([worths, np.abs(worths).sum(axis=1)])
        k = self.n_classes_
        nothing = np.zeros(len(rows), dtype=np.int32)
        # The mass as a contiguous array, as kernels take weights.
        return Question(nothing, edges[:, k].copy(), k, np.ones((1, k)), edges=edges, absent=-1.0)

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        return self.alpha(rows, error)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The exponential loss is least where psi is half the log-odds of having the label."""
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        return sigmoid(2 * scores) if self.multilabel_ else one_against_all(scores)
