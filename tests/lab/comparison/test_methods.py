"""Names of methods, and peers that read every kind of table."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import steadyboost
from steadyboost.lab.comparison import compare, methods
from steadyboost.lab.comparison.methods import PEERS, Features, choose, known_methods


def names(wanted):
    return [method.name for method in choose(wanted)]


def test_every_booster_is_known():
    ours = [name for name, method in known_methods().items() if method.is_ours]
    exported = [name for name in steadyboost.__all__ if name.endswith("Classifier")]
    assert len(ours) == len(exported) - 1


def test_names_may_be_written_in_many_ways():
    wanted = ["samme", "AdaBoostM1Classifier", "gd-mcboost", "random_forest", "SAMME"]
    assert names(wanted) == ["SAMME", "AdaBoost.M1", "GD-MCBoost", "RandomForest"]


def test_groups_leave_out_what_is_not_installed(monkeypatch):
    assert set(names(None)) <= set(names(["all"]))
    assert "MartiBoost" in names(["ours"])
    assert "MartiBoost" not in names(["peers"])
    monkeypatch.setattr(methods, "find_spec", lambda name: None if name == "lightgbm" else name)
    assert "LightGBM" not in names(["peers"])
    with pytest.raises(ValueError, match="'lightgbm', but lightgbm is not installed; pip install"):
        names(["lightgbm", "samme"])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (["samme", "nonsense"], "'nonsense', which is not known; Known are"),
        (["samme", "randomforst"], "did you mean 'RandomForest'"),
        (["samme"], r"leaves 1 method\(s\)"),
        ({}, r"leaves 0 method\(s\)"),
    ],
)
def test_what_cannot_be_compared_is_refused(wanted, words):
    with pytest.raises(ValueError, match=words):
        names(wanted)


@pytest.fixture(scope="module")
def mixed():
    """Numbers, text and gaps; the label follows from the text."""
    rng = np.random.default_rng(0)
    town = rng.choice(["Aachen", "Bonn", "Cham"], 300)
    X = pd.DataFrame({"size": rng.normal(size=300), "town": town, "age": rng.normal(size=300)})
    X.loc[::9, "size"] = np.nan
    X.loc[4, "town"] = None
    return X, np.where(town == "Bonn", "yes", "no")


INSTALLED = [name for name, _, package in PEERS if find_spec(package)]


@pytest.mark.parametrize("peer", [name for name in INSTALLED if name != "CatBoost"])
def test_peers_read_categories_and_gaps(peer, mixed):
    found = compare(*mixed, [peer, "SAMME"], folds=2, n_jobs=1)
    assert found.remarks() == []
    assert all(standing.error < 0.1 for standing in found.standings)


@pytest.mark.skipif("CatBoost" not in INSTALLED, reason="needs CatBoost")
def test_catboost_reads_categories_and_gaps(mixed):
    X, y = mixed
    features = Features.read(X)
    model = known_methods()["CatBoost"].build(features, 0, 1)
    model.set_params(intime__iterations=10).fit(features.numbers, y)
    assert model.score(features.numbers, y) > 0.9


def test_numbers_can_be_said_to_be_categories(mixed):
    X, _ = mixed
    codes = X["town"].map({"Aachen": 1, "Bonn": 2, "Cham": 3}).to_numpy()[:, None]
    features = Features.read(codes, categorical_features=[0])
    assert features.categories == [0]
    model = known_methods()["SAMME"].build(features, 0, None)
    assert model.categorical_features == [0]


def test_sparse_rows_can_be_compared():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((60, 4)) * (rng.random((60, 4)) > 0.5))
    y = X.toarray()[:, 0] > 0
    found = compare(X, y, ["SAMME", "RandomForest"], folds=2)
    assert all(standing.error < 0.1 for standing in found.standings)


@pytest.mark.skipif("CatBoost" not in INSTALLED, reason="needs CatBoost")
def test_catboost_makes_fewer_rounds_for_many_classes():
    rng = np.random.default_rng(0)
    features = Features.read(rng.normal(size=(60, 2)))
    model = known_methods()["CatBoost"].build(features, 0, 1)
    model.fit(features.numbers, np.arange(60) % 20)
    assert model.tree_count_ == 100
