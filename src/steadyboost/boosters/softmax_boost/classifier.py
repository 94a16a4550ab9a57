"""Soft-max boosting. Geist (2015); papers/004, Algorithm 2 with the choices of section 5.1."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.families.binary import SIGNS
from steadyboost.boosters.families.labelwise import LabelResult, LabelwiseClassifier
from steadyboost.boosters.softmax_boost.soft_risk import SoftRisk, draw_rows
from steadyboost.ensemble.callbacks import with_callbacks
from steadyboost.ensemble.costs import (
    check_cost_matrix,
    check_row_costs,
    over_stakes,
    stakes_of,
    weighted_by_stakes,
)
from steadyboost.ensemble.model_io.checks import MAX_SCORE
from steadyboost.ensemble.model_io.fields import Check, Numbers
from steadyboost.ensemble.rounds import Draw, Round
from steadyboost.ensemble.scores import ROUNDING, sigmoid, softmax
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Learner
from steadyboost.learners.tree import Tree
from steadyboost.parameters import LARGE, Interval, RealNotInt, StrOptions, factor

MOST_DRAWS = 2**31 - 1  # pairs of a row and a label in a round


class SoftmaxBoostClassifier(LabelwiseClassifier):
    """Minimise the expected cost of a randomised decision rule: the error, or any cost of mistakes.

    The rule g = softmax(psi) has a smooth expected cost, and each round takes a step down its
    gradient. A row whose label the scores contradict has next to no gradient, so wrong labels are
    let go.

    Parameters
    ----------
    cost_matrix : array-like of shape (k, k) or None, default=None
        ``cost_matrix[t, p]``: what it costs to answer class p where the truth is class t, in the
        order of ``classes_``. By default 1 for each mistake. Costs of each row can be passed to
        ``fit`` instead.
    row_sampling : {"stake", "uniform"}, default="stake"
        How rows are drawn where costs are unequal. "stake": in proportion to the cost of
        the most expensive answer minus that of the cheapest, and costs are divided by this stake.
        The expected cost is the same up to a factor; the scale of the costs does not matter.
        "uniform": every row alike, as Algorithm 2 is printed; costs must then be from 0 to 1.
        With 0-1 costs both are the same.
    n_samples : float, int or "all", default=1.0
        Pairs of a row and a label drawn in each round, from the rows and g: a float is a multiple
        of the number of rows (by default as many pairs as rows, as in the paper), an int is a
        number of pairs. "all" takes the gradient at all pairs, and draws nothing. Where training
        is stuck on a plateau, fewer pairs, such as 0.3, shake it loose.
    step : {"sampled", "theory"} or float, default="sampled"
        What a hypothesis h counts: its edge on the drawn pairs, as in section 5.1; its edge on all
        pairs over the number of labels, as in Theorem 1; or a number.
    max_leaf_nodes : int, default=12
        Leaves of the default tree, which grows best first to any depth.
    estimator : object, default=None
        The weak learner: one of ours or any scikit-learn classifier. By default
        ``Tree(max_depth=None, max_leaf_nodes=max_leaf_nodes)``.
    {shared_parameters}

    References
    ----------
    .. [1] M. Geist (2015). Soft-max boosting. Machine Learning 100, 305-332.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SoftmaxBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = SoftmaxBoostClassifier(n_estimators=100, random_state=0).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    scores_know_costs = True
    stops_when_perfect = False  # steps are bounded, and the rule is not sure yet
    code = -SIGNS  # a yes says that the label is too expensive

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "cost_matrix": ["array-like", None],
        "row_sampling": [StrOptions({"stake", "uniform"})],
        "n_samples": [
            Interval(Integral, 1, MOST_DRAWS, closed="both"),
            Interval(RealNotInt, 0, LARGE, closed="right"),
            StrOptions({"all"}),
        ],
        "step": [
            StrOptions({"sampled", "theory"}),
            factor(),
        ],
        "max_leaf_nodes": Tree._parameter_constraints["max_leaf_nodes"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        cost_matrix: Any = None,
        row_sampling: str = "stake",
        n_samples: float | int | str = 1.0,
        step: str | float = "sampled",
        max_leaf_nodes: int | None = 12,
        **shared: Any,
    ):
        super().__init__(estimator, **shared)
        self.cost_matrix = cost_matrix
        self.row_sampling = row_sampling
        self.n_samples = n_samples
        self.step = step  # type: ignore[method-assign, assignment]
        self.max_leaf_nodes = max_leaf_nodes

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        *,
        cost_matrix: Any = None,
        costs: Any = None,
        label_distribution: Any = None,
    ) -> "SoftmaxBoostClassifier":
        """Fit the ensemble.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Training rows; NaN or null is a missing value.
        y : array-like of shape (n_samples,) or indicator matrix of shape (n_samples, n_labels)
            Labels of any type; or which labels each row has.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Rows to watch (and to stop early on) instead of a part of X.
        cost_matrix : array-like of shape (k, k), default=None
            As the parameter of this name, for this fit.
        costs : array-like of shape (n_samples, n_labels), default=None
            What each answer costs in each row, in the order of ``classes_``; where rows have
            several labels, what being wrong about each label costs.
        label_distribution : array-like of shape (n_samples, n_classes), default=None
            Soft labels, as in :meth:`BoostingClassifier.fit
            <steadyboost.BoostingClassifier.fit>`; not with ``costs``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        held_out = None if X_val is None and y_val is None else (X_val, y_val, sample_weight_val)
        given = [cost_matrix, self.cost_matrix, costs]
        if sum(one is not None for one in given) > 1:
            raise ValueError(
                "cost_matrix (the parameter, or in fit) and costs all say what answers cost; pass "
                "one of them."
            )
        known = self.cost_matrix if cost_matrix is None else cost_matrix
        given_rows = {"costs": costs, "distribution": label_distribution}
        return self._fit(X, y, sample_weight, held_out, cost_matrix=known, **given_rows)

    def fitted_fields(self) -> dict[str, Check]:
        k = self.n_classes_
        # ``costs_`` is in files of versions before 0.3.
        return {**super().fitted_fields(), "costs_": Numbers((k, k), 0, MAX_SCORE)}

    def _default_learner(self) -> Learner:
        return Tree(max_depth=None, max_leaf_nodes=self.max_leaf_nodes)

    # Costs

    def check_cost_matrix(self) -> None:
        k = self.n_classes_
        if self.cost_matrix_ is None:
            return
        if self.multilabel_:
            raise ValueError(
                "cost_matrix is between classes, but y has several labels per row; pass to fit "
                "costs=(n_samples, n_labels), what being wrong about each label costs."
            )
        self.cost_matrix_ = known = check_cost_matrix(self.cost_matrix_, k)
        self._check_stakes(known, "cost_matrix")

    def check_costs(self, costs: Any, y: np.ndarray) -> np.ndarray | None:
        if costs is None:
            return None
        n_labels = y.shape[1] if y.ndim == 2 else len(np.unique(y))
        known = check_row_costs(costs, (len(y), n_labels))
        self._check_stakes(known if y.ndim == 1 else known[..., None] * [0, 1], "costs")
        return known

    def _check_stakes(self, costs: np.ndarray, name: str) -> None:
        """Answers that cost the same in every row leave nothing to learn."""
        stakes = stakes_of(costs)
        if costs.shape[-1] > 1 and not stakes.any():
            raise ValueError(
                f"{name} gives all answers the same cost; make the right one cheaper than the "
                "others."
            )
        if self.row_sampling == "uniform" and stakes.max() > 1:
            raise ValueError(
                f"{name} has answers that cost {stakes.max():g} more than others, but "
                'row_sampling="uniform" takes costs from 0 to 1: larger ones make the rule sure '
                'after a few rounds. Divide them by their maximum, or use row_sampling="stake".'
            )

    def row_stakes(self, y: np.ndarray, costs: np.ndarray | None = None) -> np.ndarray | None:
        if self.row_sampling == "uniform" or self.multilabel_:  # each label has its own stakes
            return None
        return super().row_stakes(y) if costs is None else stakes_of(costs)

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        if rows.costs is not None and rows.costs.shape[1] != self.n_classes_:
            raise ValueError(
                f"costs has {rows.costs.shape[1]} columns, but rows of positive weight have "
                f"{self.n_classes_} classes; drop the rows of weight 0 and their classes' columns."
            )
        return super().subproblems(rows)

    def risks(self, rows: TrainingState) -> list[SoftRisk]:
        """The risk; where rows have several labels, that of each."""
        if self.multilabel_:
            return [self._label_risk(rows, label) for label in range(self.n_classes_)]
        if rows.costs is not None:
            table = self._scaled(rows.costs)
            return [SoftRisk(rows, rows.sample_weight, table, _each_its_own(rows))]
        known = 1 - np.eye(self.n_classes_) if self.cost_matrix_ is None else self.cost_matrix_
        return [SoftRisk(rows, rows.sample_weight, self._scaled(known), rows.y)]

    def _label_risk(self, rows: TrainingState, label: int) -> SoftRisk:
        """A yes costs where the row does not have the label, a no where it does."""
        has = np.ascontiguousarray(rows.y[:, label])
        weights, wrong = rows.sample_weight, 1 - np.eye(2)
        if rows.costs is None:
            return SoftRisk(rows, weights, wrong, has, label)
        own = rows.costs[:, label]
        if self.row_sampling == "stake":
            return SoftRisk(rows, weighted_by_stakes(weights, own), wrong, has, label)
        table = own[:, None] * wrong[has]
        return SoftRisk(rows, weights, table, _each_its_own(rows), label)

    def _scaled(self, costs: np.ndarray) -> np.ndarray:
        """Costs over the stakes by which rows are drawn, if they are."""
        return costs if self.row_sampling == "uniform" else over_stakes(costs)

    # Algorithm 2

    def worths(self, rows: TrainingState, round_: Round) -> np.ndarray:
        """The gradient, or what drawn pairs tell of it: where positive, a label is too expensive.

        Targets are the signs of the centred costs, weights their sizes (section 3.3).
        """
        risks = self.risks(rows)
        if self.n_samples == "all":
            return _side_by_side([risk.gradient() for risk in risks])
        n_draws, of_rows = self._n_draws(rows.n_all), round_.rng(Draw.ROWS)
        shared = draw_rows(rows, rows.sample_weight, n_draws, of_rows)
        rng = round_.rng(Draw.LABELS)  # one after the other: the labels' draws are independent
        return _side_by_side(
            [
                risk.drawn(
                    shared
                    if risk.weights is rows.sample_weight
                    else draw_rows(rows, risk.weights, n_draws, of_rows),
                    rng,
                )
                for risk in risks
            ]
        )

    def _n_draws(self, n_rows: int) -> int:
        if isinstance(self.n_samples, Integral):
            return int(self.n_samples)
        wanted = float(self.n_samples) * n_rows
        if wanted > MOST_DRAWS:
            raise ValueError(
                f"n_samples={self.n_samples!r} of {n_rows} rows are more than {MOST_DRAWS} pairs; "
                'pass a smaller multiple, or "all".'
            )
        return max(1, round(wanted))

    def errors(self, found: list[LabelResult]) -> Any:
        if not self.multilabel_:
            return super().errors(found)
        return np.array([super(SoftmaxBoostClassifier, self).errors([one]) for one in found])

    def steps(
        self, rows: TrainingState, votes: np.ndarray, found: list[LabelResult], error: Any
    ) -> Any:
        """A step for all labels; where rows have several, each label is a problem of its own."""
        if self.n_samples == "all" and not self.resample and np.all(error >= 0.5 - ROUNDING):
            return None  # the next rounds would ask the same and be told the same
        edges = np.array([one.edge for one in found])
        edges = edges if self.multilabel_ else edges.sum()
        if self.step == "sampled":
            return _plain(edges)
        if isinstance(self.step, Real):
            return _plain(float(self.step) * np.sign(edges))
        answered = np.array([f.answer is not None for f in found])
        return _plain(self._projection(rows, votes, answered))

    def _projection(self, rows: TrainingState, votes: np.ndarray, answered: np.ndarray) -> Any:
        """<gradient, h> / |h|^2, on all pairs (Theorem 1); a label alone has yes and no."""
        gradient = _side_by_side([risk.gradient() for risk in self.risks(rows)])
        along = gradient * (answered * (2.0 * votes - 1))
        edges = rows.total(lambda chunk: along[chunk.rows].sum(axis=0))
        return edges / 2 if self.multilabel_ else edges.sum() / max(1, answered.sum())

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """g of eq. (2)."""
        return sigmoid(2 * scores) if self.multilabel_ else softmax(scores)


def _plain(steps: Any) -> Any:
    return steps if np.ndim(steps) else float(steps)


def _side_by_side(columns: list[np.ndarray]) -> np.ndarray:
    return columns[0] if len(columns) == 1 else np.asfortranarray(np.concatenate(columns, axis=1))


def _each_its_own(rows: TrainingState) -> np.ndarray:
    """Row i has the i-th of the costs."""
    return np.arange(len(rows), dtype=np.int32)
