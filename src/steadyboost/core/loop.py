"""The one loop: weigh, ask, count, add."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from steadyboost.core.history import History
from steadyboost.core.rows import Block, Rows
from steadyboost.core.scores import weighted_error, worth
from steadyboost.learners.base import Answer, Learner, Question

if TYPE_CHECKING:
    from steadyboost.core.callbacks import Callback
    from steadyboost.core.estimator import BoostingClassifier

PERFECT = 1e-12  # an error below this is rounding


@dataclass(frozen=True)
class Stage:
    """What one round added: an answer, what it says of each class, and how much it counts."""

    answer: Answer
    code: np.ndarray
    step: float
    error: float
    extra: dict[str, Any] = field(default_factory=dict)


class Seeds:
    """The t-th draw of scikit-learn's own sequence: round t can be repeated on its own.

    With the same ``random_state`` a scikit-learn tree gets the seed that scikit-learn's
    AdaBoostClassifier would give it.
    """

    def __init__(self, seed: int):
        self._source = np.random.RandomState(seed)
        self._drawn: list[int] = []

    def __getitem__(self, t: int) -> int:
        while len(self._drawn) <= t:
            self._drawn.append(int(self._source.randint(np.iinfo(np.int32).max)))
        return self._drawn[t]


@dataclass
class Round:
    """The number of a round, from 0, and its source of chance."""

    t: int
    seed: int

    @cached_property
    def rng(self) -> np.random.Generator:
        """Draws of the loop and the booster; the weak learner has the seed to itself."""
        return np.random.Generator(np.random.Philox(key=[self.seed, 1]))

    def draw_counts(self, weights: np.ndarray) -> np.ndarray:
        """How often each row is in a bootstrap drawn by the weights."""
        return self.rng.multinomial(len(weights), weights / weights.sum())


def only_question(rows: Rows, round_: Round) -> Question:
    """With one class there is nothing to weigh."""
    return Question(rows.y, np.full(len(rows), 1 / len(rows)), 1, np.ones(1))


@dataclass
class Boosting:
    """A training run: what callbacks see, and the loop itself."""

    booster: "BoostingClassifier"
    learner: Learner
    rows: Rows
    validation: Rows | None
    seeds: Seeds
    n_rounds: int
    stages: list[Stage] = field(default_factory=list)
    history: History = field(default_factory=History)
    keep: int | None = None  # rounds to keep, where a callback knows better than all
    question: Question | None = None  # that of the last round, with its weights
    over: bool = False  # whether the last round was the last that there can be

    def __post_init__(self) -> None:
        if self.booster.weighs_pairs and self.rows.n_classes > 1:
            self.rows.keep_raised()

    def run(self, callbacks: Sequence["Callback"]) -> None:
        """Boost until a callback stops it, no edge is left, or ``n_rounds`` are done.

        A callback that is ``outermost`` begins first, as it may bring rounds that were done
        before, and comes last in each round, as it keeps what the others have recorded.
        """
        outer = [callback for callback in callbacks if getattr(callback, "outermost", False)]
        inner = [callback for callback in callbacks if callback not in outer]
        for callback in outer:
            callback.on_begin(self)
        if self.stages and self.stages[0].extra.get("no_edge"):
            self.stages.clear()  # ask again: the learner may be a better one
            self.history.clear()
        self.replay()
        for callback in inner:
            callback.on_begin(self)
        callbacks = [*inner, *outer]
        try:
            stop = self.is_done() or len(self.stages) >= self.n_rounds
            while not stop:
                self.over = self.one_round()
                wishes = [callback.on_round(self) for callback in callbacks]
                stop = self.over or any(wishes) or len(self.stages) >= self.n_rounds
        except KeyboardInterrupt:
            if not self.stages:
                raise
            warnings.warn(
                f"Interrupted: the model holds the {len(self.stages)} rounds that were finished.",
                UserWarning,
                stacklevel=2,
            )
        finally:
            for callback in callbacks:
                callback.on_end(self)
        if self.keep is not None:
            del self.stages[self.keep :]

    def is_done(self) -> bool:
        """Whether the last round was perfect, so that nothing is left to learn."""
        ends = self.booster.stops_when_perfect or self.rows.n_classes == 1
        return ends and bool(self.stages) and self.stages[-1].error <= PERFECT

    def replay(self) -> None:
        """Bring the scores up to the stages that are there already (warm start, resume)."""
        for stage in self.stages:
            for rows in filter(None, (self.rows, self.validation)):
                self.add(rows, stage, stage.answer.votes(rows.data))

    def round(self, t: int) -> Round:
        return Round(t, self.seeds[t])

    def one_round(self) -> bool:
        """One round; whether it must be the last."""
        booster, rows, round_ = self.booster, self.rows, self.round(len(self.stages))
        step: float | None
        ask = booster.question if rows.n_classes > 1 else only_question
        self.question = question = ask(rows, round_)
        counts = round_.draw_counts(question.weights) if booster.resample else None
        answer, votes = self.learner.answer(rows.data, question, counts, round_.seed, rows.workers)
        error = self.error_of(question, votes)
        perfect = error <= PERFECT
        if rows.n_classes == 1:
            step = 1.0  # nothing to weigh: the one class is always right
        else:
            stops = perfect and booster.stops_when_perfect
            floor = max(PERFECT, 1 / (2 * rows.mass)) if stops else 0.0
            step = booster.step(question, max(error, floor))
        if step is None:
            return self.give_up(question, answer, votes, error)
        stage = Stage(answer, question.code, booster.learning_rate * step, error)
        self.accept(stage, votes, question.info)
        return self.is_done()

    def error_of(self, question: Question, votes: np.ndarray) -> float:
        """Weighted error of the votes, or the pseudoloss where sets of labels were asked for."""

        def in_block(block: Block) -> float:
            at = block.rows
            if question.edges is not None:
                return worth(question.edges[at], votes[at], question.code)
            return weighted_error(question.weights[at], votes[at], question.targets[at])

        total = float(self.rows.total(in_block))
        return total if question.edges is None else (1 - total) / 2

    def give_up(self, question: Question, answer: Answer, votes: np.ndarray, error: float) -> bool:
        """No edge is left: drop the round, but never return an empty ensemble."""
        if not self.stages:
            warnings.warn(
                f"The first weak hypothesis has no edge (weighted error {error:.3g}): the model is "
                "this hypothesis alone. Use a stronger estimator, such as a deeper tree.",
                ConvergenceWarning,
                stacklevel=2,
            )
            stage = Stage(answer, question.code, 1.0, error, {"no_edge": True})
            self.accept(stage, votes, question.info)
        return True

    def accept(self, stage: Stage, votes: np.ndarray, info: dict[str, Any]) -> None:
        self.add(self.rows, stage, votes)
        if self.validation is not None:
            self.add(self.validation, stage, stage.answer.votes(self.validation.data))
        self.stages.append(stage)
        self.history.append(
            {"round": len(self.stages), "error": stage.error, "step": stage.step, **info}
        )

    def add(self, rows: Rows, stage: Stage, votes: np.ndarray) -> None:
        def to_block(block: Block) -> None:
            own = votes[block.rows]
            self.booster.add(block.scores, stage, own)
            if block.raised is not None:
                block.raised.follow(stage.code, stage.step, own)

        rows.each(to_block)

    def proba(self, rows: Rows) -> np.ndarray:
        """Class probabilities of rows as the scores stand."""
        return np.concatenate(rows.each(lambda block: self.booster.probabilities(block.scores)))

    def error_on(self, rows: Rows) -> float:
        """Weighted share of rows that the ensemble gets wrong so far."""

        def in_block(block: Block) -> np.ndarray:
            wrong = self.booster.probabilities(block.scores).argmax(axis=1) != block.y
            weights = None if rows.sample_weight is None else rows.sample_weight[block.rows]
            if weights is None:
                return np.array([wrong.sum(), len(wrong)], dtype=float)
            return np.array([weights[wrong].sum(), weights.sum()])

        wrong, total = rows.total(in_block)
        return float(wrong / total)
