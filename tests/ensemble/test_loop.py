"""The one loop, with hand-made boosters and learners whose every round is known."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from common import assert_same_model, make, problem, quiet
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from steadyboost import BoostingClassifier, SAMMEClassifier, Stump, Tree
from steadyboost.ensemble.callbacks import Callback
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.rounds import Draw, Round, Seeds
from steadyboost.ensemble.stages import Stage
from steadyboost.ensemble.training_state import TrainingState
from steadyboost.ensemble.weighting import Weighting
from steadyboost.ensemble.workers import Workers
from steadyboost.interruptions import interrupted_fits_raise
from steadyboost.learners.base import Data
from steadyboost.noise import audit

X, y = problem()
LABELS = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)


@dataclass
class Fixed:
    """An answer that gives the same votes to any rows."""

    given: np.ndarray

    def votes(self, data):
        return self.given

    def importances(self, n_features):
        return np.zeros(n_features)


@dataclass
class Script:
    """A learner that answers what it was told to."""

    lines: list
    asked: list = field(default_factory=list)
    uses_bins = False

    def answer(self, data, question, counts, seed, threads):
        votes = np.array(self.lines[len(self.asked)], dtype=np.int32)
        self.asked.append((question.weights.copy(), counts, seed))
        return Fixed(votes), votes


def boosting(lines, n_rounds=None, booster=None, weights=None, seed=0):
    booster = SAMMEClassifier() if booster is None else booster
    booster.n_classes_ = 3
    rows = TrainingState(Data(np.zeros((6, 1))), LABELS, 3, weights, Workers(1))
    return Boosting(booster, Script(lines), rows, None, Seeds(seed), n_rounds or len(lines))


ONE_WRONG = [0, 0, 1, 1, 2, 0]
OTHER_WRONG = [1, 0, 1, 1, 2, 2]
ALL_RIGHT = LABELS.tolist()
ALL_WRONG = [1, 1, 2, 2, 0, 0]


def test_seeds_are_those_of_scikit_learns_ensembles():
    state = np.random.RandomState(5)
    expected = [state.randint(np.iinfo(np.int32).max) for _ in range(4)]
    assert [Seeds(5)[t] for t in range(4)] == expected
    assert Seeds(5)[3] == expected[3]


def test_a_draw_is_a_function_of_seed_and_purpose():
    draws = [Round(0, seed).rng(Draw.ROWS).random() for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    round_ = Round(3, 7)
    of_purpose = {purpose: round_.rng(purpose).random() for purpose in Draw}
    assert of_purpose == {purpose: round_.rng(purpose).random() for purpose in Draw}
    assert len(set(of_purpose.values())) == len(Draw)


def test_a_round_weighs_asks_counts_and_adds():
    run = boosting([ONE_WRONG, OTHER_WRONG])
    run.run([])
    step = np.log(5) + np.log(2)
    assert [stage.error for stage in run.stages] == pytest.approx([1 / 6, 1 / 15])
    assert run.stages[0].step == pytest.approx(step)
    np.testing.assert_allclose(run.learner.asked[0][0], np.full(6, 1 / 6))
    np.testing.assert_allclose(run.learner.asked[1][0], np.array([1, 1, 1, 1, 1, 10]) / 15)
    expected = step * np.eye(3)[ONE_WRONG] + run.stages[1].step * np.eye(3)[OTHER_WRONG]
    np.testing.assert_allclose(run.rows.scores, expected)


def test_weights_of_the_user_are_the_first_weights():
    run = boosting([ONE_WRONG], weights=np.array([1.0, 1, 1, 1, 1, 5]))
    run.run([])
    np.testing.assert_allclose(run.learner.asked[0][0], np.array([1, 1, 1, 1, 1, 5]) / 10)
    assert run.stages[0].error == pytest.approx(0.5)


def test_each_round_gets_its_seed():
    run = boosting([ONE_WRONG, OTHER_WRONG], seed=9)
    run.run([])
    assert [seed for _, _, seed in run.learner.asked] == [Seeds(9)[0], Seeds(9)[1]]


def test_the_learning_rate_scales_each_step():
    run = boosting([ONE_WRONG], booster=SAMMEClassifier(learning_rate=0.5))
    run.run([])
    assert run.stages[0].step == pytest.approx(0.5 * np.log(10))


def test_resampling_counts_as_many_rows_as_there_are():
    run = boosting([ONE_WRONG, OTHER_WRONG], booster=SAMMEClassifier(resample=True))
    run.run([])
    for _, counts, _ in run.learner.asked:
        assert counts.sum() == 6
    assert not np.array_equal(run.learner.asked[0][1], run.learner.asked[1][1])
    np.testing.assert_allclose(run.stages[0].error, 1 / 6)  # on all rows, not on those drawn


def test_a_perfect_answer_is_the_last():
    run = boosting([ONE_WRONG, ALL_RIGHT, OTHER_WRONG])
    run.run([])
    assert [stage.error for stage in run.stages] == pytest.approx([1 / 6, 0])
    assert np.isfinite(run.stages[1].step)
    assert run.error_on(run.rows) == 0


def test_a_booster_may_go_on_after_a_perfect_answer():
    class Tireless(SAMMEClassifier):
        stops_when_perfect = False

        def step(self, question, error):
            return 1.0

    run = boosting([ALL_RIGHT, ONE_WRONG, ALL_RIGHT], booster=Tireless())
    run.run([])
    assert len(run.stages) == 3


def test_an_answer_without_edge_is_dropped_and_ends_the_run():
    run = boosting([ONE_WRONG, ALL_WRONG, OTHER_WRONG])
    run.run([])
    assert len(run.stages) == len(run.history) == 1
    np.testing.assert_allclose(run.rows.scores, np.log(10) * np.eye(3)[ONE_WRONG])


def test_a_first_answer_without_edge_is_kept_with_a_warning():
    run = boosting([ALL_WRONG, ONE_WRONG])
    with pytest.warns(ConvergenceWarning, match=r"no edge \(weighted error 1\)"):
        run.run([])
    assert [(stage.step, stage.error) for stage in run.stages] == [(1.0, pytest.approx(1))]


def test_the_history_has_what_the_question_tells():
    class Telling(SAMMEClassifier):
        weighting = Weighting

        def question(self, rows, round_):
            question = super().question(rows, round_)
            question.info["t"] = round_.t
            return question

    run = boosting([ONE_WRONG, OTHER_WRONG], booster=Telling())
    run.run([])
    assert run.history["t"] == [0, 1]
    assert run.history["round"] == [1, 2]


def test_a_negative_step_counts_against_the_vote():
    class Contrary(SAMMEClassifier):
        def step(self, question, error):
            return -2.0

    run = boosting([ALL_WRONG], booster=Contrary())
    run.run([])
    np.testing.assert_allclose(run.rows.scores, -2.0 * np.eye(3)[ALL_WRONG])


def test_a_run_that_is_done_does_nothing():
    run = boosting([ONE_WRONG], n_rounds=1)
    run.stages.append(Stage(Fixed(np.array(ONE_WRONG)), np.ones(3), 1.0, 1 / 6))
    run.run([])
    assert run.learner.asked == []
    np.testing.assert_allclose(run.rows.scores, np.eye(3)[ONE_WRONG])


# Interrupts and errors


class Interrupted(DecisionTreeClassifier):
    """A tree that is interrupted, or fails, when it is fitted for the third time."""

    calls = 0
    error = KeyboardInterrupt
    at = 3

    def fit(self, X, y, sample_weight=None):
        type(self).calls += 1
        if type(self).calls == self.at:
            raise self.error
        return super().fit(X, y, sample_weight=sample_weight)


def met_by_an_interruption():
    """What Python raises where Ctrl-C comes on the way into a compiled function."""
    error = SystemError("CPUDispatcher(...) returned a result with an exception set")
    error.__cause__ = KeyboardInterrupt()
    return error


def interrupted(at, error):
    return type("Breaking", (Interrupted,), {"at": at, "error": error})(max_depth=1)


@pytest.mark.parametrize("error", [KeyboardInterrupt, met_by_an_interruption()])
def test_an_interrupt_within_a_round_leaves_those_before_it(error):
    model = make(SAMMEClassifier, estimator=interrupted(3, error))
    with pytest.warns(UserWarning, match="Interrupted: the model holds the 2 rounds"):
        model.fit(X, y)
    tree = DecisionTreeClassifier(max_depth=1)
    assert_same_model(model, make(SAMMEClassifier, estimator=tree, n_estimators=2).fit(X, y), X)


@pytest.mark.parametrize("error", [KeyboardInterrupt, met_by_an_interruption()])
def test_an_interrupt_before_the_first_round_is_raised(error):
    model = make(SAMMEClassifier, estimator=interrupted(1, error))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "stages_")


def test_whoever_fits_several_models_ends_at_the_first_interrupt():
    model = make(SAMMEClassifier, estimator=interrupted(3, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt), interrupted_fits_raise():
        model.fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        audit(X, y, model.set_params(estimator=interrupted(6, KeyboardInterrupt)))


def test_an_error_in_a_round_is_raised_and_leaves_those_before_it():
    model = make(SAMMEClassifier, estimator=interrupted(3, ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    assert model.n_iter_ == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_a_refit_that_fails_at_once_does_not_mix_two_models(error):
    X_two, y_two = problem(k=2)
    model = make(SAMMEClassifier, estimator=Stump()).fit(X_two, y_two)
    before = model.predict_proba(X_two)
    model.set_params(estimator=interrupted(1, error))
    with pytest.raises(error):
        model.fit(X, y)
    if hasattr(model, "stages_"):
        np.testing.assert_array_equal(model.predict_proba(X_two), before)
        assert model.classes_.tolist() == [0, 1]


# Going on


def test_a_warm_start_goes_on_with_other_rounds_only():
    asked = []

    class Count(Callback):
        def on_round(self, run):
            asked.append(len(run.stages))

    model = make(SAMMEClassifier, n_estimators=2, warm_start=True, callbacks=[Count()]).fit(X, y)
    first = model.estimators_
    model.set_params(n_estimators=4).fit(X, y)
    assert asked == [1, 2, 3, 4]
    assert all(a is b for a, b in zip(first, model.estimators_, strict=False))


def test_without_a_warm_start_a_fit_begins_anew():
    model = make(SAMMEClassifier).fit(X, y)
    assert_same_model(model.fit(X, y), make(SAMMEClassifier).fit(X, y), X)
    assert len(model.history_) == 5


def test_a_warm_start_keeps_its_seed_whatever_the_random_state():
    learner = Tree(max_features=0.5)
    options = {"estimator": learner, "warm_start": True, "random_state": np.random.RandomState(3)}
    parts = make(SAMMEClassifier, n_estimators=2, **options).fit(X, y)
    parts.set_params(n_estimators=5).fit(X, y)
    whole = make(SAMMEClassifier, estimator=learner, random_state=np.random.RandomState(3))
    assert_same_model(parts, whole.fit(X, y), X)


class Late(Tree):
    """A tree that is mostly wrong in the first round, where all rows weigh the same."""

    answers_in_batches = False

    def answer(self, data, question, counts, seed, threads):
        answer, votes = super().answer(data, question, counts, seed, threads)
        if np.ptp(question.weights) > 0:
            return answer, votes
        wrong = (question.targets + 1) % question.n_answers
        wrong[:9] = question.targets[:9]
        return Fixed(wrong), wrong


def test_a_warm_start_without_edge_stays_as_it_is():
    model = make(SAMMEClassifier, n_estimators=2, warm_start=True, estimator=Late())
    with pytest.warns(ConvergenceWarning, match="no edge"):
        model.fit(X, y)
    assert quiet(model.set_params(n_estimators=9).fit, X, y).n_iter_ == 1


def test_a_warm_start_may_change_the_kind_of_learner():
    tree = DecisionTreeClassifier(max_depth=1)
    model = make(SAMMEClassifier, estimator=tree, n_estimators=2, warm_start=True).fit(X, y)
    model.set_params(estimator=Tree(), n_estimators=4).fit(X, y)
    model.set_params(estimator=tree, n_estimators=6).fit(X, y)
    assert model.n_iter_ == 6
    assert np.isfinite(model.predict_proba(X)).all()


# What a booster returns, the loop accepts


class Counting(SAMMEClassifier):
    """Keeps the number of rounds between them, and takes the best to be the second."""

    made: ClassVar[list[int]] = []  # stages from which the state was made

    def make_state(self, rows, learner, stages):
        self.made.append(len(stages))
        return [len(stages)]

    def boost(self, rows, learner, round_, state):
        state[0] += 1
        result = super().boost(rows, learner, round_, state)
        return result._replace(info={"count": state[0]})

    def is_done(self, rows, stages, state):
        assert state == [len(stages)]
        return len(stages) == 4

    def best_round(self, stages):
        return 2

    def finish(self, rows, stages, state):
        self.finished_ = len(stages), state


@pytest.fixture
def counting():
    Counting.made.clear()
    return make(Counting, estimator=Stump(), n_estimators=9, warm_start=True)


def test_state_is_made_once_and_follows_from_the_stages(counting):
    model = counting.fit(X, y)
    assert model.history_["count"] == [1, 2, 3, 4]
    assert (model.n_iter_, model.finished_) == (2, (2, None))
    model.fit(X, y)
    assert model.made == [0, 2]
    assert model.history_["count"] == [1, 2, 3, 4]


def test_a_callback_chooses_before_the_booster(counting):
    class Three(Callback):
        def on_end(self, run):
            run.keep = 3

    assert counting.set_params(callbacks=[Three()]).fit(X, y).n_iter_ == 3


def test_a_booster_that_drops_no_stage_finishes_with_its_state(counting):
    counting.best_round = len
    assert counting.fit(X, y).finished_ == (4, [4])


def test_state_is_made_again_after_an_interruption(counting):
    counting.best_round = len
    model = counting.set_params(estimator=interrupted(3, KeyboardInterrupt))
    with pytest.warns(UserWarning, match="Interrupted"):
        model.fit(X, y)
    assert model.finished_ == (2, None)


def test_a_round_without_an_edge_is_kept_only_if_it_is_the_first():
    class Hopeless(SAMMEClassifier):
        def boost(self, rows, learner, round_, state):
            result = super().boost(rows, learner, round_, state)
            return result._replace(no_edge=round_.t in self.without)

    model = make(Hopeless, n_estimators=5)
    model.without = {2}
    assert model.fit(X, y).n_iter_ == 2
    model.without = {0}
    with pytest.warns(ConvergenceWarning, match="no edge"):
        model.fit(X, y)
    assert model.n_iter_ == 1
    assert model.stages_[0].extra["no_edge"]


def test_a_booster_that_adds_in_its_own_way_says_so():
    with pytest.raises(TypeError, match="adds_votes"):

        class Doubled(BoostingClassifier):
            def add(self, scores, stage, votes):
                raise NotImplementedError


def test_the_hooks_of_the_base_must_be_given():
    with pytest.raises(NotImplementedError):
        BoostingClassifier().fit(X, y)
