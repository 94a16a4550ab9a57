"""Collections of every kind: frames, sparse blocks, partitions that lack what others have."""

from itertools import pairwise

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed_cases import assert_same, cut, some_sizes, table
from scipy.sparse import csr_matrix

import steadyboost as sb
from steadyboost.callbacks import Checkpoint, Monitor
from steadyboost.dask import fit, read_parquet
from steadyboost.distributed.coordinator import InProcessBackend

X, Y, WEIGHTS = table(n=240)


def model(**settings):
    return sb.SAMMEClassifier(n_estimators=4, random_state=0).set_params(**settings)


def frame(n=240, seed=3):
    """Numbers, text, categories and gaps; the rare values come last."""
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "number": np.round(rng.normal(size=n), 2),
            "text": rng.choice(["red", "green", "blue"], n),
            "kind": pd.Categorical(rng.choice(list("uvw"), n)),
            "late": np.where(np.arange(n) < n // 2, np.nan, rng.integers(0, 9, n)),
        }
    )
    made.loc[n - 5 :, "text"] = "rare"
    made.loc[rng.choice(n, 20), "text"] = None
    label = np.where(made["number"] + (made["text"] == "red") > 0.5, "yes", "no")
    made["label"] = np.where(made.index >= n - 8, "at the end", label)
    return made


def in_parts(made, sizes):
    """A Dask frame whose divisions are not known."""
    bounds = np.cumsum([0, *sizes])
    return dd.from_map(lambda span: made.iloc[slice(*span)], list(pairwise(bounds.tolist())))


@pytest.mark.parametrize("sizes", [[240], [100, 0, 130, 10], [1, 238, 1], [40] * 6])
def test_frames_with_values_and_labels_that_partitions_lack(sizes):
    made = frame()
    parts = in_parts(made, sizes)
    rows, labels = parts.drop(columns="label"), parts["label"]
    assert not rows.known_divisions
    spread = fit(model(), rows, labels, backend=InProcessBackend(3))
    local = model().fit(made.drop(columns="label"), made["label"])
    assert_same(spread, local, made.drop(columns="label"))
    assert spread._encoder == local._encoder
    np.testing.assert_array_equal(spread._binner.has_missing, local._binner.has_missing)
    for own, other in zip(spread._binner.cuts, local._binner.cuts, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
    assert list(spread.feature_names_in_) == ["number", "text", "kind", "late"]
    np.testing.assert_array_equal(
        spread.predict(rows).compute(), local.predict(made.drop(columns="label"))
    )


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_sparse_blocks(weights):
    dense = np.where(np.random.default_rng(0).random(X.shape) < 0.7, 0, np.nan_to_num(X))
    sizes = some_sizes(240, 4)
    blocks = cut(dense, sizes).map_blocks(csr_matrix)
    spread = fit(model(), blocks, cut(Y, sizes), cut(weights, sizes), backend=InProcessBackend(3))
    assert_same(spread, model().fit(csr_matrix(dense), Y, weights), csr_matrix(dense))


def test_chunks_that_differ_or_are_unknown():
    columns = da.from_array(X, chunks=(70, 3))
    spread = fit(model(), columns, da.from_array(Y, chunks=50), backend=InProcessBackend(2))
    assert_same(spread, model().fit(X, Y), X)
    known = da.from_array(np.arange(240), chunks=80) >= 0
    unknown = cut(X, [80, 80, 80])[known], cut(Y, [80, 80, 80])[known]
    assert np.isnan(unknown[0].shape[0])
    assert_same(fit(model(), *unknown, backend=InProcessBackend(3)), model().fit(X, Y), X)


def test_sets_of_labels_and_costs():
    sizes, rng = some_sizes(240, 3), np.random.default_rng(0)
    several = (rng.random((240, 3)) < 0.4).astype(int)
    costs = rng.random((240, 4))
    made = sb.AdaBoostMHClassifier(n_estimators=3), sb.AdaBoostMHClassifier(n_estimators=3)
    fit(made[0], cut(X, sizes), cut(several, sizes), backend=InProcessBackend(3))
    made[1].fit(X, several)
    np.testing.assert_allclose(made[0].predict_proba(X), made[1].predict_proba(X), atol=1e-10)
    made = [sb.SoftmaxBoostClassifier(n_estimators=3, random_state=0) for _ in range(2)]
    fit(made[0], cut(X, sizes), cut(Y, sizes), costs=cut(costs, sizes), backend=InProcessBackend(3))
    made[1].fit(X, Y, costs=costs)
    np.testing.assert_allclose(made[0].predict_proba(X), made[1].predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("booster", [sb.SAMMEClassifier, sb.SoftmaxBoostClassifier])
def test_costs_of_classes(booster, early_stopping):
    costs = np.random.default_rng(0).uniform(1, 9, (4, 4)) * (1 - np.eye(4))
    made = [
        booster(n_estimators=4, early_stopping=early_stopping, random_state=0) for _ in range(2)
    ]
    parts = [cut(array, [90, 150]) for array in (X, Y)]
    made[0].fit(*parts, cost_matrix=costs)
    made[1].fit(X, Y, cost_matrix=costs)
    np.testing.assert_allclose(made[0].predict_proba(X), made[1].predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(made[0].predict(parts[0]).compute(), made[1].predict(X))
    if early_stopping:
        np.testing.assert_allclose(made[0].history_["val_error"], made[1].history_["val_error"])


def test_without_a_cluster_the_rows_are_boosted_here(tmp_path):
    parts = [cut(array, [100, 140]) for array in (X, Y)]
    spread = model(callbacks=[Monitor()]).fit(*parts)
    local = model(callbacks=[Monitor()]).fit(X, Y)
    assert_same(spread, local, X)
    assert spread.history_["train_error"] == local.history_["train_error"]
    spread.save(tmp_path / "spread.sb")
    assert_same(sb.load(tmp_path / "spread.sb"), local, X)


def test_metrics_see_rows_in_their_order():
    seen = []
    monitor = Monitor({"rows": lambda y, proba: seen.append((y, proba)) or 0.0})
    spread = model(callbacks=[monitor], n_estimators=1)
    fit(spread, cut(X, [90, 150]), cut(Y, [90, 150]), backend=InProcessBackend(2))
    np.testing.assert_array_equal(seen[0][0], Y)
    np.testing.assert_allclose(seen[0][1], spread.predict_proba(X), atol=1e-10)


def test_training_goes_on_where_it_was_left(tmp_path):
    parts = [cut(array, [90, 150]) for array in (X, Y)]
    whole = model(n_estimators=8).fit(X, Y)
    warm = model(warm_start=True).fit(*parts)
    assert_same(warm.set_params(n_estimators=8).fit(*parts), whole, X)
    kept = [Checkpoint(tmp_path / "kept.sb")]
    model(callbacks=kept).fit(*parts)
    assert_same(model(callbacks=kept, n_estimators=8).fit(*parts), whole, X)
    with pytest.raises(ValueError, match="training rows"):
        model(callbacks=kept).fit(*(cut(array[::-1], [90, 150]) for array in (X, Y)))


def test_one_class_and_no_edge():
    ones = np.zeros(240, dtype=int)
    assert (fit(model(), cut(X, [90, 150]), cut(ones, [90, 150])).predict(X) == 0).all()
    noise = np.random.default_rng(0).integers(0, 2, 240)
    flat = cut(np.zeros((240, 2)), [90, 150])
    with pytest.warns(UserWarning, match="no edge"):
        fit(sb.AdaBoostM1Classifier(), flat, cut(noise[::-1] * 0 + np.arange(240) % 2, [90, 150]))


def test_parquet(tmp_path):
    made = frame()
    for k, start in enumerate(range(0, 240, 80)):
        made.iloc[start : start + 80].to_parquet(tmp_path / f"part-{k}.parquet")
    rows, labels = read_parquet(tmp_path, "label")
    spread = model().fit(rows, labels)
    plain = made.drop(columns="label")
    assert_same(spread, model().fit(plain, made["label"]), plain)


BAD = [
    (lambda: (cut(X, [240]), Y), "y is of type ndarray"),
    (lambda: (cut(X, [240]), None), "requires y"),
    (lambda: (in_parts(frame(), [240])[["number"]], cut(Y, [100, 140])), "y has 2 partitions"),
    (lambda: (cut(X, [100, 140]), in_parts(frame(), [140, 100])["label"]), "in partition [01]"),
    (lambda: (cut(X, [240]), cut(Y, [240]), cut(-WEIGHTS, [240])), "[Nn]egative"),
    (lambda: (cut(X, [240]), cut(Y, [240]), cut(0 * WEIGHTS, [240])), "positive weight"),
    (lambda: (cut(np.where(X > 1, np.inf, X), [240]), cut(Y, [240])), "infinity"),
    (lambda: (cut(X, [240]), cut(np.where(Y, 0.5, 0.25), [240])), "continuous"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_collections_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        model().fit(*arguments())


@pytest.mark.parametrize(
    "made",
    [
        sb.SAMMEClassifier(sb.C45()),
        sb.BaggingClassifier(oob_score=True),
    ],
)
def test_what_needs_all_rows_at_once_says_so(made):
    with pytest.raises(ValueError, match=r"X\.compute|X_val"):
        made.fit(cut(X, [240]), cut(Y, [240]))


def test_other_columns_are_refused_when_predicting():
    fitted = model().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        fitted.predict(cut(X[:, :3], [240]))
