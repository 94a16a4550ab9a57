"""GD-MCBoost. Saberian & Vasconcelos (2011); papers/002, section 3."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.output_codes import CLIP, PairDistribution
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import ROUNDING, log_odds, softmax
from steadyboost.ensemble.training_state import RowChunk, TrainingState
from steadyboost.ensemble.weighting import PairWeighting
from steadyboost.learners.base import Question
from steadyboost.parameters import StrOptions
from steadyboost.trees.jit import kernel

LARGEST_STEP = -float(np.log(CLIP)) / 2  # up to which the least risk is sought
STEP_TOLERANCE = 1e-12  # of Newton's method: steps are of the order of 1


@kernel
def _named(edges, votes, y, out):
    """Worth of the right labels that are named, and cost of the wrong ones."""
    for i in range(len(y)):
        if votes[i] == y[i]:
            out[0] += edges[i, y[i]]
        else:
            out[1] -= edges[i, votes[i]]


@kernel
def _slopes(step, edges, y, code, votes, out):
    """First and second derivative of the risk along vectors, of which row i has code[votes[i]].

    A pair of row i and label l grows by exp(step (v_l - v_y)); the factor of v_y is that of the
    whole row, and the difference hides the row's own label.
    """
    factors = np.exp(step * code)
    for i in range(len(y)):
        vote, own = votes[i], code[votes[i], y[i]]
        slope, curvature = 0.0, 0.0
        for c in range(code.shape[1]):
            apart = code[vote, c] - own
            change = -edges[i, c] * factors[vote, c] * apart
            slope += change
            curvature += change * apart
        out[0] += slope / factors[vote, y[i]]
        out[1] += curvature / factors[vote, y[i]]


def least(derivatives: Callable[[float], np.ndarray], largest: float) -> float:
    """Where a convex function that falls at 0 is least, up to ``largest``.

    Newton's steps; one that leaves the bracket is replaced by the bracket's middle.
    """
    low, high, step = 0.0, np.inf, 0.0
    while high - low > STEP_TOLERANCE:
        slope, curvature = derivatives(step)
        low, high = (step, high) if slope < 0 else (low, step)
        after = min(step - slope / curvature, largest)
        if abs(after - step) <= STEP_TOLERANCE:
            return float(after)
        step = after if low < after < high else (low + high) / 2
    return float(step)


class GDMCBoostClassifier(BoostingClassifier):
    """Gradient descent on a risk of multi-class margins, over the corners of a simplex.

    Each class is a corner of a regular simplex, its codeword, and a model points somewhere in that
    space. A row's risk is the sum, over its wrong labels, of the exponential of minus half the
    margin, by which the model points more towards the row's own corner than towards the wrong one.
    Each round's tree goes the way in which the risk falls fastest, as far as it falls.

    With codewords at the leaves the model is a weighted vote. It has the weights of pairs and the
    edges of :class:`~steadyboost.AdaBoostM2Classifier`, but a leaf names one label, and the step
    has the least risk along the hypothesis. With two classes it is AdaBoost.

    Parameters
    ----------
    leaves : {"codeword", "vector"}, default="codeword"
        What a leaf adds: the codeword of one class, that of most worth; or a vector of the same
        length in the direction of the leaf's gradient. A scikit-learn learner trains on the
        classes, and adds the codeword of the class that it predicts, or the mean of the codewords
        by its probabilities.
    {shared_parameters}

    References
    ----------
    .. [1] M. J. Saberian, N. Vasconcelos (2011). Multiclass boosting: theory and algorithms. NIPS.
    .. [2] S. Zhai, T. Xia, S. Wang (2014). A multi-class boosting method with direct optimization.
       KDD.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import GDMCBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = GDMCBoostClassifier(leaves="vector", n_estimators=10, random_state=0)
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    weighting = PairWeighting

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "leaves": [StrOptions({"codeword", "vector"})],
    }

    def __init__(self, estimator: Any = None, *, leaves: str = "codeword", **shared: Any):
        super().__init__(estimator, **shared)
        self.leaves = leaves

    def question(self, rows: TrainingState, round_: Round) -> Question:
        """What label l is worth in row i, <Y_l, w_i>, over k / (2k - 2) times the risk.

        Scores are half of <F, Y_l>, up to a constant of the row: in these units codeword l adds
        one to label l, and codewords less their constant have length sqrt(1 - 1/k).
        """
        k, pairs = self.n_classes_, PairDistribution(rows)
        edges = pairs.edges()
        info = {"log_risk": pairs.log_total - float(np.log(rows.total_weight))}
        form = "label" if self.leaves == "codeword" else "vector"
        code = np.full(k, 1.0 if form == "label" else np.sqrt(1 - 1 / k))
        return Question(rows.y, edges[:, k].copy(), k, code, info, edges=edges, form=form)

    def step_on(
        self, rows: TrainingState, question: Question, votes: np.ndarray, error: float
    ) -> float | None:
        """Where the risk is least along the hypothesis.

        If it falls for ever, the hypothesis counts as one that is wrong in half a row.
        """
        along = self.along_labels if question.form == "label" else self.along_vectors
        step = along(rows, question, votes)
        return -log_odds(rows.floored(0.0)) / 2 if step == LARGEST_STEP else step

    def along_labels(
        self, rows: TrainingState, question: Question, votes: np.ndarray
    ) -> float | None:
        """Least of right exp(-step) + wrong exp(step) + the pairs that stay as they are."""

        assert question.edges is not None
        edges = question.edges

        def of_chunk(chunk: RowChunk) -> np.ndarray:
            out = np.zeros(2)
            _named(edges[chunk.rows], votes[chunk.rows], chunk.y, out)
            return out

        right, wrong = rows.total(of_chunk)
        if right - wrong <= ROUNDING:
            return None
        return LARGEST_STEP if wrong <= CLIP * right else float(np.log(right / wrong)) / 2

    def along_vectors(
        self, rows: TrainingState, question: Question, votes: np.ndarray
    ) -> float | None:
        """A line search by Newton's method."""

        assert question.edges is not None
        edges = question.edges

        def of_chunk(chunk: RowChunk, step: float) -> np.ndarray:
            out, at, own = np.zeros(2), chunk.rows, votes[chunk.rows]
            code = question.code
            if votes.ndim == 2:  # each row has a vector of its own
                code, own = np.ascontiguousarray(own), np.arange(len(own), dtype=np.int32)
            _slopes(step, edges[at], chunk.y, code, own, out)
            return out

        def derivatives(step: float) -> np.ndarray:
            return rows.total(lambda chunk: of_chunk(chunk, step))

        if derivatives(0.0)[0] >= -ROUNDING:
            return None
        return least(derivatives, LARGEST_STEP)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The risk is least where the scores are half the log-probabilities."""
        return softmax(2 * scores)
