"""What SteadyBoost says of its training rows, by models that have not seen them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from steadyboost import SteadyBoostClassifier
from steadyboost.boosters.steadyboost.booster_member import BoosterMember
from steadyboost.boosters.steadyboost.forest_member import ForestMember


def problem(n_classes=3, weightless=()):
    X, y = make_classification(
        120, 6, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0
    )
    X[::11, 1] = np.nan
    weights = np.ones(len(y))
    weights[list(weightless)] = 0
    model = SteadyBoostClassifier(n_estimators=12, n_folds=3, random_state=0)
    return X, y, model.fit(X, y, sample_weight=weights)


@pytest.fixture(scope="module", params=[(2, ()), (3, (4, 50))], ids=["two", "three"])
def fitted(request):
    X, y, model = problem(*request.param)
    return X, y, model, model.training_evidence(X)


def member(evidence, kind, nth=0):
    found = [k for k, place in enumerate(evidence.places) if isinstance(place.member, kind)]
    return found[nth]


def test_proximities_give_the_out_of_bag_shares(fitted):
    """The mean of the two forests' opinions is the mean of the labels by proximity."""
    _, y, model, evidence = fitted
    rows = evidence.trained[[7, 3, 30, 90]]
    near = evidence.proximities(rows)
    forests = [member(evidence, ForestMember, nth) for nth in (0, 1)]
    expected = np.mean([model.member_proba_[k, rows] for k in forests], axis=0)
    np.testing.assert_allclose(near @ np.eye(model.n_classes_)[y], expected)
    np.testing.assert_allclose(near.sum(axis=1), 1)
    assert near[np.arange(4), rows].sum() == 0  # no row is near itself


def test_contributions_add_up_to_what_members_say(fitted):
    _, y, model, evidence = fitted
    k, rows = model.n_classes_, evidence.trained[[40, 5, 77]]
    towards, against = (y[rows] + 1) % k, y[rows]
    found = evidence.contributions(rows, towards, against)
    assert found.shape == (3, 6)
    total, at = np.zeros(3), np.arange(3)
    for number, place in enumerate(evidence.places):
        if not isinstance(place.member, BoosterMember | ForestMember):
            continue
        logs = np.log(np.maximum(model.member_proba_[number, rows], 1e-3))
        total += model.member_weights_[number] * (logs[at, towards] - logs[at, against])
    # What is left is where the paths begin, which is the same for all rows of the same classes.
    again = evidence.contributions(rows, against, towards)
    np.testing.assert_allclose(found, -again)
    start = total - found.sum(axis=1)
    assert np.abs(start).max() < 1.5


def test_a_column_that_decides_speaks_for_the_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 2] > 0).astype(int)
    y[:5] = 1 - y[:5]
    model = SteadyBoostClassifier(n_estimators=15, random_state=0).fit(X, y)
    rows = np.arange(5)
    found = model.training_evidence(X).contributions(rows, 1 - y[rows], y[rows])
    assert (found.argmax(axis=1) == 2).all()
    assert (found[:, 2] > 3 * np.abs(np.delete(found, 2, axis=1)).max(axis=1)).all()


def test_dates_have_one_contribution():
    days = np.random.default_rng(0).integers(0, 700, 80)
    X = pd.DataFrame({"size": 1.0, "born": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")})
    model = SteadyBoostClassifier(n_estimators=3, random_state=0).fit(X, days > 350)
    found = model.training_evidence(X).contributions(
        np.arange(4), np.ones(4, int), np.zeros(4, int)
    )
    assert found.shape == (4, 2)
    assert found[:, 1].all()


def test_rows_may_come_in_any_order(fitted):
    _, y, model, evidence = fitted
    rows = evidence.trained[[60, 2, 33]]
    towards, against = (y[rows] + 1) % model.n_classes_, y[rows]
    whole = evidence.contributions(rows, towards, against)
    for k in range(3):
        one = evidence.contributions(rows[[k]], towards[[k]], against[[k]])
        np.testing.assert_allclose(one[0], whole[k])


def test_members_have_names(fitted):
    _, _, model, evidence = fitted
    assert len(evidence.member_names) == len(model.member_proba_) == len(model.member_weights_)
    assert {"gradient boosters", "random forest", "extremely randomised trees"} <= set(
        evidence.member_names
    )


def test_rows_without_weight_are_not_judged():
    X, _, model = problem(3, (4, 50))
    evidence = model.training_evidence(X)
    assert evidence.was_trained_on(np.array([3, 4, 50])).tolist() == [True, False, False]
    assert np.isnan(model.member_proba_[:, 4]).all()


def test_distributions_of_labels_have_no_such_evidence():
    X, y, _ = problem(2)
    soft = np.eye(2)[y] * 0.9 + 0.05
    model = SteadyBoostClassifier(n_estimators=2, random_state=0).fit(X, label_distribution=soft)
    with pytest.raises(ValueError, match="one label for each row"):
        model.training_evidence(X)
