"""Rows in several places give the model of rows in one: no cluster is needed to see that."""

import warnings

import pytest
from distributed_cases import BOOSTERS, assert_same, cut, some_sizes, table

import steadyboost as sb
from steadyboost.dask import fit
from steadyboost.distributed.coordinator import Coordinator, InProcessBackend

X, Y, WEIGHTS = table()
ROUNDS = 4


def both(make, n_parts, weights=None, n_workers=None, **settings):
    """The model of rows in parts, and that of all rows."""
    sizes = some_sizes(len(Y), n_parts)
    parts = [cut(array, sizes) for array in (X, Y, weights)]
    spread, local = (make().set_params(random_state=0, **settings) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit(spread, *parts, backend=InProcessBackend(n_workers or n_parts))
        local.fit(X, Y, weights)
    return spread, local


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
@pytest.mark.parametrize("name", BOOSTERS)
def test_parts_are_boosted_as_the_whole(name, n_parts):
    weights = WEIGHTS if n_parts in (2, 7) else None
    spread, local = both(BOOSTERS[name], n_parts, weights, n_estimators=ROUNDS)
    assert_same(spread, local, X)


def test_every_booster_is_tried_here_or_gathered():
    tried = {type(make()).__name__ for make in BOOSTERS.values()}
    known = {name for name in sb.__all__ if name.endswith("Classifier")} - {"BoostingClassifier"}
    spreads = {name for name in known if getattr(getattr(sb, name), "spreads", False)}
    assert tried == spreads


@pytest.mark.parametrize(
    "learner",
    [
        sb.Stump(),
        sb.Tree(max_leaf_nodes=5),
        sb.Tree(max_depth=None, min_samples_leaf=9),
        sb.Tree(max_features=0.5, max_samples=0.6),
        sb.Tree(criterion="entropy", min_weight_leaf=0.05),
    ],
)
def test_trees_of_every_kind(learner):
    spread, local = both(lambda: sb.SAMMEClassifier(learner), 3, WEIGHTS, n_estimators=ROUNDS)
    assert_same(spread, local, X)


def test_workers_of_several_partitions_are_the_same_to_the_bit():
    models = [
        both(BOOSTERS["MSmoothBoost"], 7, WEIGHTS, n, n_estimators=ROUNDS)[0] for n in (1, 2, 7)
    ]
    for other in models[1:]:
        assert (other.estimator_weights_ == models[0].estimator_weights_).all()
        assert (other.predict_proba(X) == models[0].predict_proba(X)).all()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5, 2: 0.1, 3: 1.0}])
def test_early_stopping_draws_the_rows_that_it_would_draw_here(class_weight):
    spread, local = both(
        BOOSTERS["SAMME"],
        3,
        WEIGHTS,
        n_estimators=30,
        early_stopping=True,
        n_iter_no_change=3,
        class_weight=class_weight,
    )
    assert_same(spread, local, X)
    assert spread.history_["val_error"] == pytest.approx(local.history_["val_error"])


def test_a_tree_takes_one_trip_per_level_and_trees_side_by_side_no_more(monkeypatch):
    trips = []
    monkeypatch.setattr(Coordinator, "close", lambda self: None)
    count = Coordinator._round_trip

    def counted(self, *arguments):
        trips.append(arguments[0])
        return count(self, *arguments)

    monkeypatch.setattr(Coordinator, "_round_trip", counted)
    numbers = {}
    for name in ("SAMME", "AdaBoost.MH", "AdaBoost"):
        for depth in (2, 3):
            trips.clear()
            make = BOOSTERS[name]
            both(lambda make=make, d=depth: make().set_params(estimator=sb.Tree(d)), 2,
                 n_estimators=1)  # fmt: skip
            numbers[name, depth] = len(trips)
    assert {numbers[name, 3] - numbers[name, 2] for name, _ in numbers} == {1}
    assert max(numbers.values()) <= 17
