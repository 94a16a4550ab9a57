"""What to have annotated next: expected information, by a slow twin and by simulation."""

import math

import numpy as np
import pandas as pd
import pytest
from made_crowds import listed, made_crowd, made_proba

from steadyboost.noise import consensus, next_to_label
from steadyboost.noise.crowd_model import PRIORS, fit_crowd
from steadyboost.noise.next_label import expected_information


def entropy(shares):
    return -sum(p * math.log(p) for p in shares if p > 0)


def test_the_value_is_the_expected_fall_of_the_entropy():
    answers, _, _ = made_crowd(n=20)
    model = fit_crowd(answers)
    for item, found in enumerate(expected_information(model)):
        guess = PRIORS.guesses * model.hard[item]
        matrix = (1 - guess) * model.group + guess / 3
        prior, expected = model.posterior[item], 0.0
        for label in range(3):
            joint = [prior[j] * matrix[j][label] for j in range(3)]
            total = sum(joint)
            expected += total * entropy([p / total for p in joint])
        assert found == pytest.approx(entropy(prior) - expected, abs=1e-9)


def test_uncertain_rows_come_first_and_unlabelled_ones_with_them():
    answers, y, _ = made_crowd(n=300, per_item=3)
    frame = pd.DataFrame(listed(answers), columns=["item", "annotator", "label"])
    proba = made_proba(y, 3, 0.5)
    queue = next_to_label(frame[frame.item >= 40], proba, batch_size=60)
    assert len(queue) == len(set(queue.item)) == 60
    assert (np.diff(queue.value) <= 0).all()
    assert np.mean(queue.n_answers == 0) > 0.4
    assert (next_to_label(frame, proba, batch_size=10**6).item.size) == 300


def test_known_rows_are_left_out():
    answers = [["a", "a"], ["a", "b"], ["b", "a"], ["b", "b"]]
    assert 1 not in next_to_label(answers, truth={1: "a"}).item


def test_answers_are_worth_more_than_random_ones():
    answers, y, _ = made_crowd(n=400, k=3, n_annotators=30, per_item=2, low=0.75, high=0.85)
    frame = pd.DataFrame(listed(answers), columns=["item", "annotator", "label"])
    rng = np.random.default_rng(0)

    def after(choose):
        known = frame
        for _ in range(6):
            items = choose(known)
            label = np.where(
                rng.random(60) < 0.8, y[items], (y[items] + rng.integers(1, 3, 60)) % 3
            )
            by = 1000 + len(known) + np.arange(60) // 30  # new annotators
            more = pd.DataFrame({"item": items, "annotator": by, "label": label})
            known = pd.concat([known, more])
        return np.mean(consensus(known).labels == y)

    ours = after(lambda known: next_to_label(known, batch_size=60).item)
    random = after(lambda known: rng.choice(400, 60, replace=False))
    assert ours > random + 0.02


@pytest.mark.parametrize("size", [0, 1.5, True])
def test_bad_batch_sizes(size):
    with pytest.raises(ValueError, match="batch_size"):
        next_to_label([["a", "b"]], batch_size=size)
