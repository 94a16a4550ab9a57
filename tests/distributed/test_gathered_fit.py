"""Boosters that must see all rows at once: the model of one machine, by bins that are gathered."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed_cases import cut, some_sizes, table
from scipy.sparse import csr_matrix

import steadyboost as sb
from steadyboost.dask import audit, label_frame
from steadyboost.distributed import coordinator
from steadyboost.preprocessing import scratch

X, Y, WEIGHTS = table()
GATHERED = {
    "DMCBoost": lambda **p: sb.DMCBoostClassifier(bottom=0.25, **p),
    "DMCBoost, auto": lambda **p: sb.DMCBoostClassifier(**p),
    "SteadyBoost": lambda **p: sb.SteadyBoostClassifier(**p),
    "attribute tests": lambda **p: sb.SAMMEClassifier(sb.AttributeTest(), **p),
    "decision rules": lambda **p: sb.SAMMEClassifier(sb.DecisionRule(), **p),
}


def both(make, sizes, weights=None, **params):
    """A model of a collection, and the model of the same rows in memory."""
    spread, local = (make(n_estimators=4, random_state=0, **params) for _ in range(2))
    spread.fit(cut(X, sizes), cut(Y, sizes), cut(weights, sizes))
    return spread, local.fit(X, Y, weights)


def assert_identical(spread, local, rows=X):
    np.testing.assert_array_equal(spread.classes_, local.classes_)
    assert len(spread.stages_) == len(local.stages_)
    np.testing.assert_array_equal(spread.predict_proba(rows), local.predict_proba(rows))


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("name", GATHERED)
def test_the_model_is_that_of_one_machine_to_the_bit(name, weights):
    assert_identical(*both(GATHERED[name], some_sizes(len(X), 5), weights))


def test_all_boosters_are_distributed_or_gathered():
    known = {name for name in sb.__all__ if name.endswith("Classifier")} - {"BoostingClassifier"}
    gathered = {name for name in known if not getattr(sb, name).spreads}
    assert gathered == {"DMCBoostClassifier", "SteadyBoostClassifier"}


@pytest.mark.parametrize(
    "params", [{"early_stopping": True}, {"class_weight": "balanced"}, {"n_jobs": 2}], ids=str
)
def test_parameters_that_choose_rows(params):
    spread, local = both(GATHERED["SteadyBoost"], [100, 0, 260], WEIGHTS, **params)
    assert_identical(spread, local)
    assert list(spread.history_) == list(local.history_)
    np.testing.assert_array_equal(spread.label_scores_, local.label_scores_)


def test_validation_rows_of_their_own():
    held, held_y, _ = table(seed=1)
    spread, local = (
        sb.DMCBoostClassifier(n_estimators=6, bottom=0.25, early_stopping=True) for _ in range(2)
    )
    parts = {"X_val": cut(held, [300, 60]), "y_val": cut(held_y, [300, 60])}
    spread.fit(cut(X, [180, 180]), cut(Y, [180, 180]), **parts)
    local.fit(X, Y, X_val=held, y_val=held_y)
    assert_identical(spread, local)
    assert list(spread.history_) == list(local.history_)


def test_a_warm_start_goes_on():
    sizes = [100, 260]
    whole, model = (sb.SteadyBoostClassifier(random_state=0, n_estimators=n) for n in (6, 2))
    whole.fit(cut(X, sizes), cut(Y, sizes))
    model.set_params(warm_start=True).fit(cut(X, sizes), cut(Y, sizes))
    model.set_params(n_estimators=6).fit(cut(X, sizes), cut(Y, sizes))
    assert_identical(model, whole)


def test_sparse_rows_are_gathered_in_memory():
    sparse = np.where(np.abs(np.nan_to_num(X)) < 1, 0, X)
    sparse = np.nan_to_num(sparse)
    parts = da.from_array(sparse, chunks=(100, -1)).map_blocks(csr_matrix)
    spread, local = (sb.SteadyBoostClassifier(n_estimators=3, random_state=0) for _ in range(2))
    spread.fit(parts, da.from_array(Y, chunks=100))
    assert_identical(spread, local.fit(csr_matrix(sparse), Y), sparse)


def test_frames_with_categories_that_a_partition_lacks():
    frame = pd.DataFrame({"number": X[:, 0], "text": np.array(list("abcd"))[Y], "other": X[:, 1]})
    frame.loc[:100, "text"] = "a"
    names = np.array(["one", "two", "three", "four"], dtype=object)[Y]
    spread, local = (sb.SteadyBoostClassifier(n_estimators=3, random_state=0) for _ in range(2))
    y = pd.Series(names)
    spread.fit(dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3))
    assert_identical(spread, local.fit(frame, names), frame)


def test_bins_that_do_not_fit_on_the_disk_are_told(monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(scratch, "reserve", full)
    model = sb.SteadyBoostClassifier(n_estimators=2)
    with pytest.raises(OSError, match=r"bins of 360 rows take .* STEADYBOOST_SCRATCH"):
        model.fit(cut(X, [180, 180]), cut(Y, [180, 180]))
    assert not hasattr(model, "stages_")


# The label audit


def test_the_audit_of_a_collection_is_lazy_and_that_of_its_rows():
    sizes = some_sizes(len(X), 4)
    found = audit(cut(X, sizes), cut(Y, sizes), cut(WEIGHTS, sizes), n_estimators=4, random_state=0)
    assert isinstance(found, dd.DataFrame)
    assert found.npartitions == 4
    assert list(found.columns) == ["given", "suggested", "score", "suspect"]
    local = sb.SteadyBoostClassifier(n_estimators=4, random_state=0).fit(X, Y, WEIGHTS)
    computed = found.compute()
    np.testing.assert_array_equal(computed.given, Y)
    np.testing.assert_array_equal(computed.score, local.label_scores_)
    suspects = np.sort(local.suspects_.row)
    np.testing.assert_array_equal(np.flatnonzero(computed.suspect), suspects)
    assert computed.score.isna().sum() == (WEIGHTS == 0).sum()


def test_the_audit_keeps_the_index_and_the_type_of_the_labels():
    names = pd.Series(np.array(["no", "yes"])[(X[:, 0] > 0) * 1], index=np.arange(len(X)) + 7)
    y = dd.from_pandas(names, npartitions=3)
    rows = dd.from_pandas(pd.DataFrame(X, index=names.index).rename(columns=str), npartitions=3)
    model = sb.SteadyBoostClassifier(n_estimators=3, random_state=0).fit(rows, y)
    found = label_frame(model, y)
    assert set(found.given.compute()) == {"no", "yes"}
    assert found.compute().index.tolist() == names.index.tolist()
    assert found.dtypes["score"].kind == "f"
    with pytest.raises(ValueError, match="fitted to 360"):
        label_frame(model, y.partitions[:2])


# Real processes


def test_a_worker_that_is_lost_is_replaced(monkeypatch):
    """Killed when the first partition has been gathered: its own ones are computed again."""
    sizes = [60] * 6
    local = sb.SteadyBoostClassifier(n_estimators=3, random_state=0).fit(X, Y)
    killed = []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        plain = coordinator.ClusterBackend.gather

        def deadly(self, tasks):
            sizes, parts = plain(self, tasks)

            def each():
                yield next(parts)
                pids = client.run(os.getpid)
                victim = sorted(pids)[0]
                os.kill(pids[victim], signal.SIGKILL)
                killed.append(victim)
                yield from parts

            return sizes, each()

        monkeypatch.setattr(coordinator.ClusterBackend, "gather", deadly)
        spread = sb.SteadyBoostClassifier(n_estimators=3, random_state=0)
        spread.fit(cut(X, sizes), cut(Y, sizes))
        assert_identical(spread, local)
        assert len(killed) == 1
