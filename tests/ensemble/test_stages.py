"""A stage of several problems is the stages of each of them."""

import numpy as np

from steadyboost.ensemble.stages import Stage
from steadyboost.learners.base import Answers

CODE = np.array([[-1.0], [1.0]])


class Fixed:
    """An answer of which only the identity matters."""


def stages(n):
    return [Stage(Fixed(), CODE, t + 0.5, t / 10, {"normalizer": t + 2.0}) for t in range(n)]


def test_a_stage_of_one_problem_is_its_only_part():
    (stage,) = stages(1)
    assert stage.parts == [stage]
    assert Stage.joined([stage]) is stage


def test_parts_that_are_joined_can_be_taken_apart():
    parts = stages(3)
    joined = Stage.joined(parts)
    assert joined.answer == Answers(tuple(part.answer for part in parts))
    assert joined.step.tolist() == [0.5, 1.5, 2.5]
    assert joined.error.tolist() == [0, 0.1, 0.2]
    assert joined.extra["normalizer"].tolist() == [2, 3, 4]
    for part, original in zip(joined.parts, parts, strict=True):
        assert part.answer is original.answer
        assert part.code is CODE
        assert (part.step, part.error) == (original.step, original.error)
        assert part.extra == original.extra


def test_a_problem_that_had_ended_has_no_part_and_counts_for_nothing():
    first, _, last = stages(3)
    joined = Stage.joined([first, None, last])
    assert joined.step.tolist() == [0.5, 0, 2.5]
    assert joined.extra["normalizer"].tolist() == [2, 0, 4]
    assert [part is None for part in joined.parts] == [False, True, False]
    assert joined.parts[2].step == 2.5


def test_an_array_has_the_numbers_of_the_parts():
    stage = Stage(Answers((Fixed(), Fixed())), CODE, np.array([0.25, 0.5]), 0.1, {"word": "x"})
    assert [part.step for part in stage.parts] == [0.25, 0.5]
    assert all(type(part.step) is float for part in stage.parts)
    assert [part.extra for part in stage.parts] == [{"word": "x"}] * 2


def test_answers_with_one_step_are_one_hypothesis():
    stage = Stage(Answers((Fixed(), Fixed())), CODE, 0.25, 0.1)
    assert stage.parts == [stage]


def test_parts_are_made_once():
    joined = Stage.joined(stages(2))
    assert joined.parts is joined.parts
