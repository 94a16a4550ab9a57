"""The history: a list of records that can also be read by column."""

import pickle

import pytest

from steadyboost import SAMMEClassifier
from steadyboost.ensemble.history import History


@pytest.fixture
def history():
    return History([{"round": 1, "error": 0.3}, {"round": 2, "step": 1.5}, {"round": 3}])


def test_a_name_gives_a_column_with_gaps(history):
    assert history["round"] == [1, 2, 3]
    assert history["error"] == [0.3, None, None]


def test_a_number_gives_a_record(history):
    assert history[0] == {"round": 1, "error": 0.3}
    assert history[-1] == {"round": 3}


def test_a_slice_is_a_history(history):
    assert isinstance(history[1:], History)
    assert history[1:]["round"] == [2, 3]


def test_columns_are_in_the_order_of_their_appearance(history):
    assert history.columns == ["round", "error", "step"]


def test_an_unknown_name_lists_the_known_ones(history):
    with pytest.raises(KeyError, match=r"'loss'; recorded: \['round', 'error', 'step'\]"):
        history["loss"]


def test_records_can_be_added_to(history):
    history[-1]["note"] = "last"
    assert history["note"] == [None, None, "last"]


def test_an_empty_history_has_no_columns():
    assert History().columns == []


def test_a_pickle_is_a_history(history):
    copy = pickle.loads(pickle.dumps(history))
    assert isinstance(copy, History)
    assert copy == history


def test_a_fitted_model_has_a_record_per_round(history):
    model = SAMMEClassifier(n_estimators=3).fit([[0], [1], [2], [0]], [0, 1, 0, 1])
    assert model.history_["round"] == [1, 2, 3][: model.n_iter_]
    assert model.history_["error"] == model.estimator_errors_.tolist()
    assert model.history_["step"] == model.estimator_weights_.tolist()
