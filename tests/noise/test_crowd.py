"""The consensus of annotators: tables, golden questions, probabilities of a model, bad input."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from made_crowds import listed, made_crowd, made_proba

from steadyboost.noise import consensus


@pytest.fixture(scope="module")
def crowd():
    answers, y, accuracy = made_crowd(n=500)
    frame = pd.DataFrame(listed(answers), columns=["item", "annotator", "label"])
    return frame, y, accuracy


def test_tables_of_items_and_annotators(crowd):
    frame, _, _ = crowd
    found = consensus(frame)
    assert found.table.n_answers.tolist() == [3] * 500
    np.testing.assert_array_equal(found.labels, found.classes[found.probabilities.argmax(axis=1)])
    own = frame.label.to_numpy() == found.labels[frame.item]
    np.testing.assert_allclose(found.table.agreement, own.reshape(500, 3).mean(axis=1))
    by = found.annotators
    assert by.n_answers.sum() == len(frame)
    np.testing.assert_allclose(by.agreement, frame.assign(own=own).groupby("annotator").own.mean())
    assert ((by.low < by.accuracy) & (by.accuracy < by.high)).all()
    np.testing.assert_allclose(by.confusion.sum(axis=2), 1)
    assert (np.diff(by.worst().accuracy) >= 0).all()
    np.testing.assert_array_equal(by.confusion_of(3), by.confusion[3])


def test_long_and_wide_tables_say_the_same(crowd):
    frame, _, _ = crowd
    wide = frame.pivot(index="item", columns="annotator", values="label")
    one, other = consensus(frame), consensus(wide)
    np.testing.assert_array_equal(one.probabilities, other.probabilities)
    np.testing.assert_array_equal(one.annotators.accuracy, other.annotators.accuracy)


def test_tables_in_all_forms(crowd, tmp_path):
    found = consensus(crowd[0])
    for table in (found.table, found.annotators):
        frame = table.to_frame()
        assert list(frame.columns) == list(table.columns())
        rows = list(csv.DictReader(io.StringIO(table.to_csv())))
        assert len(rows) == len(table) == len(frame)
        table.to_csv(tmp_path / "table.csv")
        assert (tmp_path / "table.csv").read_text() == table.to_csv()
        assert table._repr_html_().count("<tr>") == min(len(table), 10) + 1
        assert repr(table.head(2)).count("\n") == 2
    assert "500 items, 1500 answers of 8 annotators" in repr(found)


def test_names_are_escaped():
    found = consensus([["<b>", "<b>"], ["a", "a"]])
    assert "&lt;b&gt;" in found.table._repr_html_()


def test_a_model_is_one_more_voice(crowd):
    frame, y, _ = crowd
    alone = consensus(frame)
    together = consensus(frame, made_proba(y, 3, 0.9))
    assert np.mean(together.labels != y) < np.mean(alone.labels != y)


def test_golden_questions(crowd):
    frame, y, _ = crowd
    truth = {item: int(y[item]) for item in range(50)}
    found = consensus(frame, truth=truth)
    listed = pd.Series([truth.get(item) for item in range(500)])
    same = consensus(frame, truth=listed.to_numpy(dtype=object))
    np.testing.assert_array_equal(found.probabilities, same.probabilities)
    np.testing.assert_array_equal(found.labels[:50], y[:50])
    golden = frame[frame.item < 50]
    right = golden.label.to_numpy() == y[golden.item]
    assert found.annotators.n_checked.sum() == 150
    assert found.annotators.n_checked_right.sum() == right.sum()


def test_notes():
    rng = np.random.default_rng(1)
    answers, _, _ = made_crowd(n=1500, k=2, low=0.9)
    frame = pd.DataFrame(listed(answers), columns=["item", "annotator", "label"])
    guesser = pd.DataFrame(
        {"item": range(1500), "annotator": 99, "label": rng.integers(2, size=1500)}
    )
    notes = consensus(pd.concat([frame, guesser])).notes
    assert notes == ["Hardly better than chance: the answers of 99."]
    assert "one answer" in consensus([["a"], ["b"], ["b"]]).notes[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth": {9: "a"}}, "item 9, which has no answers"),
        ({"truth": {0: "z"}}, "label 'z' for item 0"),
        ({"truth": ["a"]}, "1 entries for 2 items"),
        ({"pred_probs": np.full((3, 2), 0.5)}, "2 rows for 3 rows"),
        ({"pred_probs": np.full((2, 3), 1 / 3)}, "2 labels and pred_probs 3 columns"),
        ({"pred_probs": np.full((2, 2), 0.7)}, "sum"),
        ({"classes": ["a", "c"]}, "label 'b' of annotator 0 for item 1"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        consensus([["a", "a"], ["b", "a"]], **options)


def test_one_label_needs_names_of_the_others():
    with pytest.raises(ValueError, match="classes="):
        consensus([["a", "a"], ["a", "a"]])
    assert consensus([["a", "a"], ["a", "a"]], classes=["a", "b"]).labels.tolist() == ["a", "a"]


def test_an_unknown_annotator():
    with pytest.raises(ValueError, match="'eve' is not known"):
        consensus([["a", "b"], ["a", "a"]]).annotators.confusion_of("eve")
