"""DMCBoost. Zhai, Xia & Wang (2014); papers/002, Algorithms 1 and 2."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.dmcboost.margin_state import bottom_of, bottom_shares
from steadyboost.boosters.dmcboost.phases import (
    DirectSearch,
    SearchOptions,
    best_round,
    bottom_mass,
    compare_bottoms,
)
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.loop import RoundResult
from steadyboost.ensemble.model_io.fields import Check, Numbers, records, truth
from steadyboost.ensemble.rounds import Round
from steadyboost.ensemble.scores import own_score
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import check_labels
from steadyboost.learners.base import Learner
from steadyboost.parameters import LARGE, Interval, StrOptions, non_negative
from steadyboost.trees.growth.params import TreeParams

CANDIDATES = (1 / 20, 1 / 10, 1 / 5, 1 / 4, 1 / 3, 1 / 2)  # shares tried by bottom="auto"


class DMCBoostClassifier(BoostingClassifier):
    """Direct optimisation: first of the training error itself, then of the smallest margins.

    No surrogate loss is involved. Phase I is greedy coordinate descent on the 0-1 loss: trees
    whose splits and labels are chosen by the error after an exact line search over all rows.
    Phase II is coordinate ascent on the mean margin of the rows at the bottom. Where the bottom is
    large enough, it gives up on rows that cannot be classified correctly, such as those with a
    wrong label.

    Parameters
    ----------
    estimator : object, default=None
        By default trees are grown by DMCBoost itself. Another weak learner is asked to name the
        classes of weighted rows, and its answers get exact steps: in phase I by exponential
        weights, in phase II by the rows at the bottom.
    max_depth : int or None, default=3
        Maximum depth of a tree; None for no limit. Not used with another estimator.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves of a tree, which is then grown best first. Not used with another
        estimator.
    bottom : float, int or "auto", default="auto"
        The paper's n': the rows at the bottom, as a share or as a number. The more labels are
        wrong, the larger it should be. "auto" chooses from 1/20, 1/10, 1/5, 1/4, 1/3 and 1/2 on a
        held-out fifth of the rows; all share the first phase. If each of them does harm there, by
        more than the standard error of what phase I has alone, there is no second phase.
    selection : {"gradient", "line_search"}, default="gradient"
        How trees of phase II are chosen: by the slope of the objective, or by its value after a
        line search, which is the paper's way and takes far longer.
    epsilon : float, default=0.01
        Added to each step of phase II, so that it does not get stuck in a corner; a share of the
        sum of the steps of phase I.
    patience : int, default=20
        Rounds without progress after which a phase ends. Those are not part of the model.
    tol : float, default=1e-5
        Width of the bracket at which a line search of phase II ends, as a share of the sum of the
        steps of phase I; with early stopping, also the decrease of the validation error that
        counts as improvement.
    n_estimators : int, default=1000
        Maximum number of rounds of both phases.
    {shared_parameters}
    bottom_ : float
        The weight of the rows at the bottom that was used: their number, without weights.
    bottom_path_ : list of dict
        With "auto", the held-out error, mean bottom margin and rounds of each share, best first;
        the error of phase I alone, and how far the share is above it, in standard errors.
    ascends_ : bool
        Whether there is a second phase.
    bottom_set_ : ndarray
        The training rows at the bottom in the end, by their number among the rows of positive
        weight that were not set aside.

    Notes
    -----
    ``history_`` has for each round its phase, the training error (ties are errors), the mean
    bottom margin ``g``, the step and the interval from which it was taken. ``estimator_errors_``
    are the training errors of the ensemble. Weights count rows.

    References
    ----------
    .. [1] S. Zhai, T. Xia, S. Wang (2014). A multi-class boosting method with direct optimization.
       KDD, 273-282.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import DMCBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = DMCBoostClassifier(max_depth=1, bottom=0.1, n_estimators=60).fit(X, y)
    >>> model.score(X, y)
    1.0
    >>> bool(model.margins(X, y).min() > 0)
    True
    """

    stops_when_perfect = False
    needed_extra = ("phase", "margin")
    spreads = False  # a line search sorts what all rows say

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
        "bottom": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            StrOptions({"auto"}),
        ],
        "selection": [StrOptions({"gradient", "line_search"})],
        "epsilon": [non_negative()],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, LARGE, closed="right")],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        bottom: float | str = "auto",
        selection: str = "gradient",
        epsilon: float = 0.01,
        patience: int = 20,
        tol: float = 1e-5,
        n_estimators: int = 1000,
        **shared: Any,
    ):
        super().__init__(estimator, tol=tol, n_estimators=n_estimators, **shared)
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.bottom = bottom
        self.selection = selection
        self.epsilon = epsilon
        self.patience = patience

    def fitted_fields(self) -> dict[str, Check]:
        return {
            **super().fitted_fields(),
            "bottom_": Numbers((), 0),
            "bottom_path_": records,
            "ascends_": truth,
            "bottom_set_": Numbers((None,), 0, kinds="i"),
        }

    def stage_fields(self) -> dict[str, Check]:
        own = {"phase": Numbers((), 1, 2, "i"), "margin": Numbers((), kinds="f", missing=True)}
        return {**super().stage_fields(), **own}

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Section 3: n' by held-out rows."""
        self.__dict__.pop("bottom_path_", None)  # of an earlier fit
        share, self.ascends_ = self.bottom, True
        if share == "auto":
            self.bottom_path_ = compare_bottoms(self, rows, learner, CANDIDATES)
            best = self.bottom_path_[0]
            share, self.ascends_ = best["value"], not best["excess"] > 1
        self.bottom_ = bottom_mass(share, rows)

    def make_state(
        self, rows: TrainingState, learner: Learner, stages: Sequence[Stage]
    ) -> DirectSearch:
        return DirectSearch(rows, learner, self._search_options(), stages)

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: DirectSearch
    ) -> RoundResult:
        """Algorithm 1, line 3 to 6, or Algorithm 2, line 3 to 6."""
        return state.round(round_)

    def is_done(self, rows: TrainingState, stages: Sequence[Stage], state: DirectSearch) -> bool:
        return state.is_done()

    def best_round(self, stages: Sequence[Stage]) -> int:
        return best_round(stages)

    def _search_options(self) -> SearchOptions:
        growth = TreeParams("max_edge", self.max_depth, self.max_leaf_nodes)
        return SearchOptions(
            tree=growth if self.estimator is None else None,
            resample=self.resample,
            learning_rate=self.learning_rate,
            seed=self._seed,
            bottom=self.bottom_,
            gradient=self.selection == "gradient",
            epsilon=self.epsilon,
            tol=self.tol,
            patience=self.patience,
            ascends=self.ascends_,
        )

    def finish(self, rows: TrainingState, stages: Sequence[Stage], state: Any) -> None:
        """Find the rows at the bottom."""
        if rows.n_classes == 1:
            self.bottom_set_ = np.arange(len(rows))
            return
        scores = np.zeros((len(rows), self.n_classes_), order="F")
        for stage in stages:
            self.add(scores, stage, stage.answer.votes(rows.data))
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        own = score_margins(scores, rows.y)
        edge, _ = bottom_of(own, weights, self.bottom_)
        self.bottom_set_ = np.flatnonzero(bottom_shares(own, weights, edge))
        if stages[-1].extra["margin"] < 0 and stages[-1].extra["phase"] == 2:
            remedy = "Raise it, or pass bottom='auto'."
            if self.bottom == "auto":
                remedy = "It chose from up to half of the rows; use deeper trees."
            warnings.warn(
                f"The mean margin of the bottom is negative, so bottom={self.bottom!r} is too "
                "small for the noise in these labels: the second phase has degenerated. " + remedy,
                ConvergenceWarning,
                stacklevel=2,
            )

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """Margins (4) of rows: how far the label leads the others, between -1 and 1.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their labels, all of them known from training.

        Returns
        -------
        margins : ndarray of shape (n_samples,)
            Below 0 where the model says another label.
        """
        check_is_fitted(self, "stages_")
        indices = self._class_indices(check_labels(y, X), "y")
        return score_margins(self._scores(X), indices) / np.abs(self.estimator_weights_).sum()


def score_margins(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Score of each row's label minus the best score of the other labels."""
    others = scores.copy()
    others[np.arange(len(y)), y] = -np.inf
    return own_score(scores, y) - others.max(axis=1)
