"""SteadyBoost: cross-fitted boosters and forests, pooled by what rows they have not seen tell."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from steadyboost.boosters.steadyboost.crossfit import (
    CrossFit,
    Sampling,
    Shape,
    as_answers,
    replayed,
    trees_of,
)
from steadyboost.boosters.steadyboost.forests import USUAL_SIZES
from steadyboost.boosters.steadyboost.label_table import LabelTable
from steadyboost.boosters.steadyboost.noise_model import TINY, NoiseModel, fit_noise_model
from steadyboost.ensemble.estimator import BoostingClassifier
from steadyboost.ensemble.loop import Boosting, Round
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.learners.base import Learner, Question
from steadyboost.learners.many import Answers
from steadyboost.parameters import Interval, StrOptions
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree


class SteadyBoostClassifier(BoostingClassifier):
    """Boosting that needs no clean labels and no tuning, and says which labels look wrong.

    Five boosters each leave out a fold of the rows and stop when the fold says so; beside them grow
    a random forest and a forest of extremely randomised trees. What each says of rows that it has
    not seen decides how much it counts, how large forests' leaves are, how many labels are wrong,
    and which: probabilities are pooled so that given labels are likeliest under a noise model.

    Parameters
    ----------
    robustness : "auto" or float, default="auto"
        Share of wrong labels to allow for; "auto" finds it in the rows.
    n_estimators : int, default=100
        Rounds at the most: each adds a tree per class to every booster that still gains, and a
        tree to each forest.
    learning_rate : float, default=0.2
        Factor on the boosters' steps.
    max_leaf_nodes : int, default=8
        Leaves of a booster's tree.
    min_samples_leaf : int, default=5
        Rows that each of these leaves must have.
    l2_regularization : float, default=1.0
        Added to the curvature of each leaf.
    max_samples : float, default=0.7
        Share of the rows that each round of a booster draws.
    max_features : float, default=0.7
        Share of the features that each round of a booster draws.
    n_folds : int, default=5
        Boosters, each of which leaves out a fold.
    patience : int, default=8
        Rounds without a gain on its fold after which a booster stops.
    max_bins : int, default=63
        Bins per numeric column, besides one for missing values.
    {shared_parameters}
    noise_rate_ : float
        Estimated share of wrong labels.
    transition_matrix_ : ndarray of shape (n_classes, n_classes)
        Estimated probability that a true class (row) is given as each class (column).
    label_scores_ : ndarray of shape (n_samples,)
        Probability that each row's label is right, from members that have not seen the row; NaN
        where it was not trained on (weight 0, or held out for early stopping).
    suspects_ : LabelTable
        Rows for which another label is likelier than the given one, the worst first.
    member_weights_ : ndarray of shape (3,)
        How much boosters, forest and extremely randomised trees count.
    rounds_ : ndarray of shape (n_folds,)
        Rounds of each booster that count.
    leaf_sizes_ : ndarray of shape (2,)
        Least weight of the leaves of both forests, where a row weighs 1 on average.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.
    .. [2] P. Geurts, D. Ernst, L. Wehenkel (2006). Extremely randomized trees. Machine Learning 63.
    .. [3] G. Patrini et al. (2017). Making deep neural networks robust to label noise. CVPR.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from steadyboost import SteadyBoostClassifier
    >>> from steadyboost.noise import corrupt
    >>> X, y = load_wine(return_X_y=True)
    >>> noisy, is_wrong = corrupt(y, 0.2, random_state=0)
    >>> model = SteadyBoostClassifier(random_state=0).fit(X[::2], noisy[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    >>> bool(is_wrong[::2][model.suspects_.row].mean() > 0.9)
    True
    """

    stops_when_perfect = False
    spreads = False  # folds are drawn, and suspects listed, over all rows
    does_without = ("estimator", "resample")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BoostingClassifier._parameter_constraints,
        "robustness": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "n_folds": [Interval(Integral, 2, 100, closed="both")],
        "patience": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        robustness: Any = "auto",
        n_estimators: int = 100,
        learning_rate: float = 0.2,
        max_leaf_nodes: int = 8,
        min_samples_leaf: int = 5,
        l2_regularization: float = 1.0,
        max_samples: float = 0.7,
        max_features: float = 0.7,
        n_folds: int = 5,
        patience: int = 8,
        max_bins: int = 63,
        **shared: Any,
    ):
        super().__init__(
            n_estimators=n_estimators, learning_rate=learning_rate, max_bins=max_bins, **shared
        )
        self.robustness = robustness
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_samples = max_samples
        self.max_features = max_features
        self.n_folds = n_folds
        self.patience = patience

    # What a stage is: a tree for each booster and class, and one for each forest

    @property
    def _shape(self) -> Shape:
        return Shape(self.n_classes_, self._n_folds)

    def n_outputs(self) -> int:
        return self._shape.n_columns if self.n_classes_ > 1 else 1

    def n_parts(self, t: int) -> int:
        return self._shape.n_parts

    def prepare(self) -> None:
        """Until the last round is done, all members count alike."""
        k = self.n_classes_
        self._n_folds = self.n_folds
        self._start = np.zeros(self._shape.width)
        self._keep(NoiseModel(np.full(1 + len(USUAL_SIZES), 0.5), 0.0, np.eye(k), False))
        self._forget()

    def _forget(self) -> None:
        """All rounds count, until it is known which do."""
        self.rounds_, self.leaf_sizes_ = np.full(self._n_folds, -1), USUAL_SIZES

    def _keep(self, noise: NoiseModel) -> None:
        """As plain attributes, which model files can hold."""
        self.member_weights_, self._rate = noise.weights, float(noise.rate)
        self.transition_matrix_, self._mixes = noise.transition, bool(noise.mixes)

    @property
    def _noise(self) -> NoiseModel:
        weights, matrix = self.member_weights_, self.transition_matrix_
        return NoiseModel(weights, self._rate, matrix, self._mixes)

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Boosters start from the shares of the classes."""
        share = np.bincount(rows.y, weights=rows.sample_weight, minlength=self.n_classes_)
        logs = np.log(np.maximum(share / share.sum(), TINY))
        self._start = logs[1:] - logs[:1] if self.n_classes_ == 2 else logs

    def subproblems(self, rows: TrainingState) -> list[TrainingState]:
        self._forget()
        return super().subproblems(rows)

    def _members(self, run: Boosting) -> CrossFit:
        growth = TreeParams(
            "newton",
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2=self.l2_regularization,
        )
        sampling = Sampling(
            growth, self.learning_rate, self.max_samples, self.max_features, self.patience
        )
        cross = CrossFit(run.rows, self._shape, self._start, sampling, self._seed)
        return replayed(cross, run)

    def boost(self, run: Boosting, round_: Round) -> bool:
        if run.booster_state is None:
            run.booster_state = self._members(run)
            run.questions = [
                Question(run.rows.y, run.booster_state.mass, self.n_classes_, np.ones(1))
            ]
        trees = run.booster_state.grow(round_)
        run.booster_state.update_scores(trees, round_.t)
        error = run.booster_state.error()
        stage = Stage(as_answers(trees), np.ones(1), 1.0, error, {"round": round_.t})
        firsts = (trees[self._shape.booster(fold).start] for fold in range(self._n_folds))
        n_open = sum(tree is not None for tree in firsts)
        run.accept(stage, None, {"open_boosters": n_open})
        return False

    def is_done(self, run: Boosting) -> bool:
        """Forests always have use for another tree; a single class has none for any."""
        return self.n_classes_ == 1 and super().is_done(run)

    def _active(self, stage: Stage) -> list[tuple[int, GrownTree, int]]:
        """Parts of a stage that count, with their trees and first columns."""
        shape, t, trees = self._shape, int(stage.extra["round"]), trees_of(stage)
        shape.check_widths(trees)
        late = [f for f, last in enumerate(self.rounds_) if 0 <= last <= t]
        dropped = {part for fold in late for part in range(*shape.booster(fold).indices(10**9))}
        sized = shape.sized(trees, self.leaf_sizes_)
        parts = enumerate(zip(sized, shape.first_columns(), strict=True))
        return [
            (p, tree, column)
            for p, (tree, column) in parts
            if tree is not None and p not in dropped
        ]

    def add(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Add the values of the leaves to the columns of their members."""
        if not isinstance(stage.answer, Answers):  # one class only
            super().add(scores, stage, votes)
            return
        for part, tree, column in self._active(stage):
            width = tree.value.shape[1]
            scores[:, column : column + width] += tree.value[votes[:, part]]

    def leaf_parts(self, stages: Sequence[Stage]) -> list[tuple[GrownTree, int]] | None:
        if self.n_classes_ == 1:
            return None
        return [(tree, column) for stage in stages for _, tree, column in self._active(stage)]

    # What the members say together

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The distribution of the true label."""
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        return self._noise.true_proba(self._shape.member_proba(scores, self._start))

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """Logarithms of the probabilities; with two classes their difference."""
        logs = np.log(np.maximum(self.probabilities(scores), TINY))
        return logs[:, 1] - logs[:, 0] if self.n_classes_ == 2 else logs

    def finish(self, run: Boosting) -> None:
        """Fit the pool and the noise model to what members say of rows that they have not seen."""
        rows = run.rows
        if self.n_classes_ == 1:
            sure = np.ones((len(rows), 1))
            self._judge(rows, sure, sure)
            return
        members = run.booster_state
        if members is None or members.n_rounds != len(run.stages):
            members = self._members(run)
        unseen, self.leaf_sizes_ = members.unseen_proba(run)
        wrong = None if self.robustness == "auto" else float(self.robustness)
        noise = fit_noise_model(unseen, rows.y, members.mass, wrong)
        self._keep(noise)
        self.rounds_ = members.rounds()
        proba = noise.true_proba(unseen)
        self._judge(rows, proba, noise.by_label(proba, rows.y))

    def _judge(self, rows: TrainingState, proba: np.ndarray, posterior: np.ndarray) -> None:
        """Keep how likely each given label is right, and which one is likeliest.

        ``proba`` is the distribution of the true label by the features, ``posterior`` by the
        given label, too.
        """
        n, own = rows.n_passed, posterior[np.arange(len(rows)), rows.y]
        self.label_scores_ = np.full(n, np.nan)
        self.label_scores_[rows.numbers] = own
        self._given = np.zeros(n, dtype=np.int32)
        self._given[rows.numbers] = rows.y
        self._suggested = self._given.copy()
        self._suggested[rows.numbers] = posterior.argmax(axis=1)
        weights = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
        self.noise_rate_ = float(1 - np.average(own, weights=weights))

    @property
    def labels_(self) -> LabelTable:
        """All training rows, the least credible label first."""
        given, suggested = self.classes_[self._given], self.classes_[self._suggested]
        return LabelTable.ranked(given, suggested, self.label_scores_)

    @property
    def suspects_(self) -> LabelTable:
        """Rows for which another label is likelier than the given one, the worst first."""
        return self.labels_.disputed()
