"""Answers to several questions: a column of votes for each."""

import numpy as np

from steadyboost.learners.base import Answers, Data, stacked


class Constant:
    def __init__(self, vote, importances=()):
        self.vote, self.given = vote, np.array(importances)

    def votes(self, data):
        return np.full(len(data), self.vote, dtype=np.int32)

    def importances(self, n_features):
        assert n_features == len(self.given)
        return self.given


DATA = Data(np.zeros((4, 2)))


def test_votes_are_columns_and_zeros_where_there_is_no_answer():
    votes = Answers((Constant(1), None, Constant(2))).votes(DATA)
    assert votes.tolist() == [[1, 0, 2]] * 4
    assert votes.dtype == np.int32
    assert votes.flags.f_contiguous


def test_a_column_can_be_read_without_a_copy():
    votes = stacked([np.arange(4), None], 4)
    assert votes[:, 0].flags.c_contiguous
    assert votes[:, 0].tolist() == [0, 1, 2, 3]


def test_importances_are_the_mean_over_the_answers():
    both = Answers((Constant(1, [1.0, 0.0]), None, Constant(0, [0.5, 0.5])))
    assert both.importances(2).tolist() == [0.75, 0.25]


def test_without_answers_no_feature_is_important():
    nothing = Answers((None, None))
    assert nothing.importances(3).tolist() == [0, 0, 0]
    assert not nothing.votes(DATA).any()
