"""SteadyBoost: boosters, forests and regressions, pooled by what rows they have not seen tell."""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from steadyboost.boosters.steadyboost.annotated import (
    fit_to_answers,
    of_one_annotator,
    read_answers,
    right_labels,
)
from steadyboost.boosters.steadyboost.booster_member import (
    ALL_ROUNDS,
    FEWEST_LEAVES,
    MOST_LEAVES,
    BoosterMember,
    BoosterParams,
    leaves_for,
)
from steadyboost.boosters.steadyboost.design import Design
from steadyboost.boosters.steadyboost.evidence import TrainingEvidence
from steadyboost.boosters.steadyboost.forest_member import ForestMember
from steadyboost.boosters.steadyboost.kernel_member import KernelMember
from steadyboost.boosters.steadyboost.label_judge import LabelJudge
from steadyboost.boosters.steadyboost.linear_member import NO_NUMBERS, LinearMember
from steadyboost.boosters.steadyboost.members import (
    Member,
    Members,
    MemberTraining,
    SharedRows,
    as_answers,
    round_of,
    some_rows,
    trees_of,
)
from steadyboost.ensemble.callbacks import with_callbacks
from steadyboost.ensemble.costs import unweighted_classes, weighted_classes
from steadyboost.ensemble.loop import RoundResult
from steadyboost.ensemble.model_io.checks import MAX_SCORE, MAX_VALUE
from steadyboost.ensemble.model_io.fields import (
    Check,
    Numbers,
    distribution,
    maybe,
    share,
    truth,
)
from steadyboost.ensemble.prediction import is_dask
from steadyboost.ensemble.rounds import Round, Seeds
from steadyboost.ensemble.soft_labels import SoftLabels, rows_of_copies
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.validation import check_labels, is_stream, n_rows
from steadyboost.ensemble.verified import Checked, check_verified, corrected
from steadyboost.learners.base import Answers, Data, Learner
from steadyboost.noise.annotations import Annotations
from steadyboost.noise.crowd import known_classes
from steadyboost.noise.noise_model import TINY, NoiseModel, Reading, fit_noise_models
from steadyboost.parameters import LARGE, Interval, StrOptions, non_negative
from steadyboost.trees.growth.params import TreeParams
from steadyboost.trees.growth.tree import GrownTree
from steadyboost.trees.prediction.leaf_sizes import reachable

RANDOM_CUTS = (False, True)  # of each forest: a random forest, then extremely randomised trees
# Leaf sizes until the end of a fit, when they are chosen: they count in what callbacks see only.
INITIAL_LEAF_SIZES = np.array([5.0, 3.0])
# Fitted attributes of the members without trees, before these are fitted.
COEFFICIENTS = ("_linear_coef", "_linear_intercept", "_kernel_coef", "_kernel_intercept")
NO_SMOOTH_MEMBERS: dict[str, Any] = {
    "_design_values": None,
    "_kernel_precision": 1.0,
    **dict.fromkeys(("_has_indicator", "_has_levels", "_landmarks", *COEFFICIENTS), NO_NUMBERS),
}


class SteadyBoostClassifier(LabelJudge):
    """Boosting that needs no clean labels and no tuning, and says which labels look wrong.

    Five boosters each leave out a fold of the rows and are early-stopped on it; beside them grow
    a random forest and a forest of extremely randomised trees. Logistic regressions, on the columns
    and on a Gaussian kernel, are fitted where borders between classes are smooth. What each says
    of rows that it has not seen decides how much it counts, how large forests' leaves are, how many
    labels are wrong, and which: probabilities are pooled so that given labels are likeliest under a
    noise model.

    Parameters
    ----------
    robustness : "auto" or float, default="auto"
        Share of wrong labels to allow for; "auto" finds it in the rows.
    n_estimators : int, default=100
        Rounds at the most: each adds a tree per class to every booster that still gains, and a
        tree to each forest.
    learning_rate : float, default=0.2
        Factor on the boosters' steps.
    max_leaf_nodes : "auto" or int, default="auto"
        Leaves of a booster's tree; "auto" takes 8 for up to 5,000 rows, and more of more rows, in
        proportion to their square root, up to 32.
    min_samples_leaf : int, default=5
        Rows that each of these leaves must have.
    l2_regularization : float, default=1.0
        Added to the curvature of each leaf.
    max_samples : float, default=0.7
        Share of the rows that each round of a booster draws.
    max_features : float, default=0.7
        Share of the features that each round of a booster draws.
    n_folds : int, default=5
        Boosters, and regressions of each kind, each of which leaves out a fold.
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
    out_of_sample_proba_ : ndarray of shape (n_samples, n_classes)
        Distribution of each row's true label by its features, from members that have not seen the
        row; NaN where it was not trained on. Model files leave it out.
    member_proba_ : ndarray of shape (n_members, n_samples, n_classes)
        What each member says of rows that it has not seen; NaN as above. Not in model files.
    background_ : ndarray or None
        Some training rows as numbers, which :func:`~steadyboost.exports.shap_explainer` compares
        others with; None for rows that were not in memory. Not in model files.
    noise_rate_interval_ : ndarray of shape (2,)
        A 90 % interval of that share.
    suspects_ : LabelTable
        Rows whose label is more likely wrong than right, the worst first.
    consensus_ : ConsensusTable
        After ``fit`` with ``annotations``: the label of each row, its probability, the number of
        answers and their agreement. Model files leave it out.
    annotators_ : AnnotatorTable
        After ``fit`` with ``annotations``: answers, accuracy and confusion matrix of each
        annotator. Model files leave it out.
    member_weights_ : ndarray of shape (5,)
        How much boosters, forest, extremely randomised trees, logistic regression and the one on a
        kernel count.
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
    needed_fields = (
        *("_n_folds", "_n_leaves", "_start", "rounds_", "leaf_sizes_"),
        *("member_weights_", "_mixture", "_mixes", "_class_factors"),
        *NO_SMOOTH_MEMBERS,
    )
    needed_extra = ("round",)
    adds_leaf_values = True
    adds_votes = False  # trees add the values of their leaves
    spreads = False  # folds are drawn, and suspects listed, over all rows
    does_without = ("estimator", "resample")
    # Numbers per row and class, or per annotator, which prediction does not need
    not_in_files = (
        *("out_of_sample_proba_", "member_proba_", "label_errors_", "background_"),
        *("consensus_", "annotators_"),
    )

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "robustness": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "max_leaf_nodes": [StrOptions({"auto"}), Interval(Integral, 2, None, closed="left")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
        "l2_regularization": [non_negative()],
        "max_samples": [Interval(Real, 0, 1, closed="right")],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "n_folds": [Interval(Integral, 2, 100, closed="both")],
        "patience": [Interval(Integral, 1, None, closed="left")],
    }

    # Of the members without trees
    _class_factors: np.ndarray  # how much more rows of each class weighed in training
    _design_values: np.ndarray | None
    _has_indicator: np.ndarray
    _has_levels: np.ndarray
    _landmarks: np.ndarray
    _kernel_precision: float

    def __init__(
        self,
        *,
        robustness: Any = "auto",
        n_estimators: int = 100,
        learning_rate: float = 0.2,
        max_leaf_nodes: Any = "auto",
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

    def fitted_fields(self) -> dict[str, Check]:
        k = self.n_classes_
        of_rows = Numbers(("rows",), 0, k - 1, "i")
        bounded = Numbers(..., -MAX_VALUE, MAX_VALUE, "f")
        return {
            **super().fitted_fields(),
            "_n_folds": Numbers((), 2, 100, "i"),
            "_n_leaves": Numbers((), FEWEST_LEAVES, MOST_LEAVES, "i"),
            "_start": Numbers((1 if k == 2 else k,), -LARGE, LARGE, "f"),
            "rounds_": Numbers(("folds",), ALL_ROUNDS, kinds="i"),
            "leaf_sizes_": Numbers((len(RANDOM_CUTS),), 0, kinds="f"),
            "member_weights_": Numbers(("members",), 0, LARGE, "f"),
            "transition_matrix_": share(k, k, missing=True),
            "_mixture": distribution(k, k),
            "_mixes": truth,
            "_class_factors": Numbers((k,), 0, MAX_SCORE, "f"),
            "_has_copies": truth,
            "label_scores_": share("rows", missing=True),
            "_given": of_rows,
            "_suggested": of_rows,
            "noise_rate_": share(missing=True),
            "noise_rate_interval_": share(2, missing=True),
            "_design_values": maybe(bounded),
            **dict.fromkeys(("_has_indicator", "_has_levels"), Numbers(..., 0, 1, "biuf")),
            **dict.fromkeys((*COEFFICIENTS, "_landmarks"), bounded),
            "_kernel_precision": Numbers((), 0, MAX_SCORE, "f"),
        }

    def updated_fields(self, values: dict[str, Any]) -> dict[str, Any]:
        """Files of 0.1.0 have three members, to which those that it did not know add nothing."""
        is_newer = values.keys() & {"_mixture", "_n_leaves", *NO_SMOOTH_MEMBERS}
        if is_newer or "member_weights_" not in values or self.n_classes_ == 1:
            return values
        gone = (*self.does_without, "_rate")
        known = {name: own for name, own in values.items() if name not in gone}
        return {
            **known,
            **NO_SMOOTH_MEMBERS,
            "_n_leaves": FEWEST_LEAVES,
            "_mixture": values.get("transition_matrix_"),
            "_class_factors": np.ones(self.n_classes_),
            "member_weights_": np.append(values["member_weights_"], [0.0, 0.0]),
        }

    def stage_fields(self) -> dict[str, Check]:
        return {**super().stage_fields(), "round": Numbers((), 0, 2**31, "i")}

    def check_stage(self, stage: Stage) -> None:
        if isinstance(stage.answer, Answers):
            self._members.check(trees_of(stage))

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
        label_distribution: Any = None,
        annotations: Any = None,
        verified: Any = None,
    ) -> "SteadyBoostClassifier":
        """Fit the ensemble to labels, to soft labels, or to the answers of several annotators.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Training rows; NaN or null is a missing value, what a sparse matrix leaves out is 0.
        y : array-like of shape (n_samples,), default=None
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights; rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : like X, y and sample_weight, default=None
            Validation rows, for early stopping and callbacks, instead of a part of X.
        cost_matrix : array-like of shape (k, k), default=None
            ``cost_matrix[t, p]``: what it costs to answer class p where the truth is class t, in
            the order of ``classes_``. Rows then weigh as much as is at stake in their class, and
            ``predict`` answers with the class of the least expected cost.
        label_distribution : array-like of shape (n_samples, n_classes), default=None
            Soft labels: probabilities of the classes of each row, which sum to 1. The columns are
            the sorted classes in ``y``; without ``y``, the names of the columns of a data frame,
            or 0, 1, ...
        annotations : array-like or data frame, or tuple of arrays, default=None
            Answers of several annotators, instead of ``y``: a column for each, with None or NaN
            where there is no answer; or a data frame with the columns item (the position of the
            row), annotator and label; see :func:`~steadyboost.noise.consensus`.
        verified : array-like of bool or of positions, or dictionary, default=None
            Rows whose label in ``y`` has been checked and is right; or a dictionary from positions
            to right labels, where ``y`` has the labels as they were given. They are never flagged,
            and show the noise model how often the members are wrong (see
            :func:`~steadyboost.noise.audit`); with ``annotations`` they are also what annotators
            are judged by, and ``y`` counts for these rows only.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        held_out = None if X_val is None and y_val is None else (X_val, y_val, sample_weight_val)
        in_memory = not (is_dask(X) or is_stream(X, y))
        if verified is not None and not in_memory:
            raise ValueError("verified is for rows in memory; X is distributed or streamed.")
        rows = {"sample_weight": sample_weight, "held_out": held_out}
        fit: Callable[..., Any] = partial(self._fit, X, cost_matrix=cost_matrix, **rows)
        if annotations is None:
            if verified is None or label_distribution is not None:
                mask = check_verified(verified, n_rows(X)) if in_memory else None
                return fit(y, distribution=label_distribution, verified=mask)
            right = corrected(verified, check_labels(y, X))
            return fit(right.y, verified=right.verified, given=right.given)
        if label_distribution is not None or self.warm_start or not in_memory:
            raise ValueError(
                "annotations cannot be used with label_distribution, warm_start=True or rows that "
                "are not in memory; pass the labels of steadyboost.noise.consensus instead."
            )
        self._validate_params()
        truth = right_labels(verified, y, n_rows(X))
        answers = read_answers(annotations, X, truth)
        return self._fit_annotated(answers, known_classes(truth, answers), fit)

    def _fit_annotated(
        self, answers: Annotations, known: np.ndarray | None, fit: Callable[..., Any]
    ) -> "SteadyBoostClassifier":
        """Consensus and model in turn; one answer for each row is the ordinary fit."""
        if answers.is_plain and known is None:
            fit(answers.classes[answers.label])
            self.consensus_, self.annotators_ = of_one_annotator(answers, self)
            return self
        verified = None if known is None else known >= 0

        def fit_soft(soft: SoftLabels) -> tuple[np.ndarray, np.ndarray]:
            fit(None, distribution=soft, verified=verified)
            return self.out_of_sample_proba_, self.classes_

        found = fit_to_answers(answers, known, fit_soft)
        self.consensus_, self.annotators_ = found.table, found.annotators
        return self

    # What it is made of

    def members(self) -> list[Member]:
        """The members, by parameters and fitted attributes, for training or prediction."""
        k = self.n_classes_
        growth = TreeParams(
            "newton",
            max_leaf_nodes=self._n_leaves if self.max_leaf_nodes == "auto" else self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2=self.l2_regularization,
            category_noise=1.0,
        )
        params = BoosterParams(
            growth, self.learning_rate, self.max_samples, self.max_features, self.patience
        )
        forests = zip(RANDOM_CUTS, self.leaf_sizes_, strict=True)
        smooth = k, self._n_folds, self._cuts, self._design
        return [
            BoosterMember(k, self._n_folds, self._start, self.rounds_, params),
            *(ForestMember(k, random_cuts, size) for random_cuts, size in forests),
            LinearMember(*smooth, self._linear_coef, self._linear_intercept),
            KernelMember(
                *smooth,
                self._kernel_coef,
                self._kernel_intercept,
                self._landmarks,
                self._kernel_precision,
            ),
        ]

    @property
    def _cuts(self) -> list[np.ndarray]:
        """Cut points of the features' bins; none before they are known."""
        binner = getattr(self, "_binner", None)
        return [] if binner is None else binner.cuts

    @property
    def _design(self) -> Design | None:
        """Columns of members without trees; None before they are known."""
        if self._design_values is None:
            return None
        assert self._binner is not None
        kinds = self._binner.n_bins, self._binner.categorical
        return Design(self._design_values, self._has_indicator, self._has_levels, *kinds)

    @property
    def _members(self) -> Members:
        return Members(self.members())

    @property
    def _noise(self) -> NoiseModel:
        return NoiseModel(self.member_weights_, self._mixture, self._mixes)

    def _keep(self, noise: NoiseModel) -> None:
        """As plain attributes, which model files can hold."""
        self.member_weights_ = noise.weights
        self._mixture, self._mixes = noise.transition, bool(noise.mixes)

    def prepare(self) -> None:
        """Until the last round is done, all members count alike."""
        self._n_leaves = leaves_for(0)
        k = self.n_classes_
        self._n_folds = self.n_folds
        self._start = np.zeros(1 if k == 2 else k)
        self._class_factors = np.ones(k)
        self.begin()
        self._keep(NoiseModel(np.full(len(self.members()), 0.5), np.eye(k), False))

    def tune(self, rows: TrainingState, learner: Learner) -> None:
        """Boosters start from the shares of the classes; their trees grow with the rows."""
        self._n_leaves = leaves_for(len(rows))
        share = np.bincount(rows.y, weights=rows.sample_weight, minlength=self.n_classes_)
        logs = np.log(np.maximum(share / share.sum(), TINY))
        self._start = logs[1:] - logs[:1] if self.n_classes_ == 2 else logs

    # Rounds: a stage has a tree for each booster and class, and one for each forest

    def n_outputs(self) -> int:
        return self._members.n_columns if self.n_classes_ > 1 else 1

    def has_parts(self) -> bool:
        return True

    def n_parts(self, t: int) -> int:
        return self._members.n_trees

    def begin(self) -> None:
        """Use all rounds, and no smooth members, until it is known which are best."""
        self.rounds_ = np.full(self._n_folds, ALL_ROUNDS)
        self.leaf_sizes_ = INITIAL_LEAF_SIZES
        for name, value in NO_SMOOTH_MEMBERS.items():
            setattr(self, name, value)

    def make_state(
        self, rows: TrainingState, learner: Learner, stages: Sequence[Stage]
    ) -> MemberTraining:
        """The members, as they are after the stages."""
        training = MemberTraining(self.members(), SharedRows.of(rows, self._seed))
        seeds = Seeds(self._seed)
        for t, stage in enumerate(stages):
            training.update(trees_of(stage), seeds.round(t))
        return training

    def boost(
        self, rows: TrainingState, learner: Learner, round_: Round, state: MemberTraining
    ) -> RoundResult:
        """A tree of each member; the error is that of the boosters on rows that they left out."""
        trees = state.grow(round_)
        state.update(trees, round_)
        boosters = next(m for m in state.members if isinstance(m, BoosterMember))
        extra = {"round": round_.t}
        stage = Stage(as_answers(trees), np.ones(1), 1.0, boosters.error(), extra)
        return RoundResult(stage, None, [], {"open_boosters": boosters.n_open(round_.t)})

    def is_done(self, rows: TrainingState, stages: Sequence[Stage], state: MemberTraining) -> bool:
        """When boosters have stopped, and forests have enough trees."""
        return state.is_done(len(stages))

    def initial_features(self) -> np.ndarray:
        """All, once the members without trees are known."""
        known = self.n_classes_ > 1 and self._design_values is not None
        return np.arange(self.n_features_in_ if known else 0)

    def add_initial_scores(self, data: Data, scores: np.ndarray) -> None:
        if self.n_classes_ > 1:
            self._members.add_initial_scores(data, scores)

    def add(self, scores: np.ndarray, stage: Stage, votes: np.ndarray) -> None:
        """Add the values of the leaves to the columns of their members."""
        if not isinstance(stage.answer, Answers):  # one class only
            super().add(scores, stage, votes)
            return
        for part, tree, column in self._members.pruned(trees_of(stage), round_of(stage)):
            width = tree.value.shape[1]
            scores[:, column : column + width] += tree.value[votes[:, part]]

    def leaf_parts(self, stages: Sequence[Stage]) -> list[tuple[GrownTree, int]] | None:
        if self.n_classes_ == 1:
            return None
        members = self._members
        return [
            (reachable(tree), column)
            for stage in stages
            for _, tree, column in members.pruned(trees_of(stage), round_of(stage))
        ]

    def pruning(self) -> tuple[Any, ...]:
        return self.rounds_, self.leaf_sizes_

    # What the members say together

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The distribution of the true label, with the weights of the classes.

        What is known of the noise is known of labels as they were given, without these weights.
        """
        if self.n_classes_ == 1:
            return np.ones((len(scores), 1))
        plain = unweighted_classes(self._members.proba(scores), self._class_factors)
        return weighted_classes(self._noise.true_proba(plain), self._class_factors)

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """Logarithms of the probabilities; with two classes their difference."""
        logs = np.log(np.maximum(self.probabilities(scores), TINY))
        return logs[:, 1] - logs[:, 0] if self.n_classes_ == 2 else logs

    def finish(
        self, rows: TrainingState, stages: Sequence[Stage], state: MemberTraining | None
    ) -> None:
        """Fit the pool and the noise model to out-of-sample probabilities of the members."""
        self.background_ = some_rows(rows.data.X)
        if self.n_classes_ == 1:
            certain = Reading(np.ones((len(rows), 1)), np.ones((1, 1)))
            self.judge(rows, [certain], rows.sample_weight)
            return
        training = self.make_state(rows, self._learner(), stages) if state is None else state
        self._class_factors = self.class_factors(rows)
        unseen = unweighted_classes(training.finish(), self._class_factors)
        weights = training.rows.weights / self._class_factors[rows.y]
        wrong = None if self.robustness == "auto" else float(self.robustness)
        checked = Checked.of(rows.y, rows.verified, rows.given)
        models = fit_noise_models(unseen, rows.y, weights, wrong, checked)
        self._keep_members(list(training.members))
        self._keep(models[0])
        self._has_copies = rows_of_copies(rows.numbers) is not None
        self.member_proba_ = np.full((len(unseen), rows.n_passed, self.n_classes_), np.nan)
        self.member_proba_[:, rows.numbers] = unseen
        self.judge(rows, [model.reading(unseen) for model in models], weights)

    def _keep_members(self, members: Sequence[Member]) -> None:
        """What members chose by rows that they have not seen, as plain attributes."""
        self.rounds_ = next(m.rounds for m in members if isinstance(m, BoosterMember))
        sizes = [m.leaf_size for m in members if isinstance(m, ForestMember)]
        self.leaf_sizes_ = np.array(sizes)
        kernel = next(m for m in members if isinstance(m, KernelMember))
        linear = next(m for m in members if type(m) is LinearMember)
        self._linear_coef, self._linear_intercept = linear.coef, linear.intercept
        self._kernel_coef, self._kernel_intercept = kernel.coef, kernel.intercept
        self._landmarks, self._kernel_precision = kernel.landmarks, kernel.precision
        assert linear.design is not None
        self._design_values = linear.design.values
        self._has_indicator = linear.design.has_indicator
        self._has_levels = linear.design.has_levels

    def training_evidence(self, X: Any) -> TrainingEvidence:
        """Why labels of training rows are doubted: members, columns and nearest rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows that the model was fitted to.

        Returns
        -------
        evidence : TrainingEvidence
            Opinions of models that have not seen the row.
        """
        check_is_fitted(self, "member_proba_")
        if self._has_copies:
            raise ValueError(
                "training_evidence needs one label for each row; this model was fitted to "
                "distributions of labels."
            )
        return TrainingEvidence(self, X)
