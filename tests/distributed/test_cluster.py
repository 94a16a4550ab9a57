"""Real processes: the same model, also where workers die in the middle of a round."""

import os
import signal
import time

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed_cases import assert_same, cut, table

import steadyboost as sb
from steadyboost.callbacks import Callback, Checkpoint
from steadyboost.distributed.coordinator import Coordinator

X, Y, WEIGHTS = table(n=900)
SIZES = [200, 100, 0, 350, 250]
PARTS = [cut(array, SIZES) for array in (X, Y, WEIGHTS)]
PATIENCE = 60  # seconds after which something is said to be left


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, direct_to_workers=True) as made,
    ):
        yield made


def model(**settings):
    return sb.SAMMEClassifier(n_estimators=8, random_state=0).set_params(**settings)


def left_running(client):
    """Actors and task threads on the workers, after a moment to go."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = client.run(
            lambda dask_worker: (
                len(dask_worker.state.actors),
                [
                    t.name
                    for t in __import__("threading").enumerate()
                    if "steadyboost task" in t.name
                ],
            )
        )
        if all(actors == 0 and not names for actors, names in found.values()):
            return {}
        time.sleep(0.1)
    return found


def kill_at(monkeypatch, client, trip, workers=1):
    """Kill -9 workers before the given trip; returns a list of those that were."""
    killed, n_trips = [], [0]
    plain = Coordinator._round_trip

    def deadly(self, *arguments):
        n_trips[0] += 1
        if n_trips[0] == trip:
            pids = client.run(os.getpid)
            for address in sorted(pids)[:workers]:
                os.kill(pids[address], signal.SIGKILL)
                killed.append(address)
        return plain(self, *arguments)

    monkeypatch.setattr(Coordinator, "_round_trip", deadly)
    return killed


@pytest.mark.parametrize("booster", [sb.SAMMEClassifier, sb.AdaBoostMHClassifier])
def test_workers_give_the_model_of_one_process(client, booster):
    spread, local = (booster(n_estimators=6, random_state=0) for _ in range(2))
    spread.fit(*PARTS)
    assert_same(spread, local.fit(X, Y, WEIGHTS), X)
    assert left_running(client) == {}


def test_predictions_are_made_on_the_workers(client):
    fitted = model().fit(*PARTS[:2])
    lazy = fitted.predict_proba(PARTS[0])
    assert lazy.shape == (900, 4)
    np.testing.assert_array_equal(lazy.compute(), fitted.predict_proba(X))
    np.testing.assert_array_equal(fitted.predict(PARTS[0]).compute(), fitted.predict(X))


def test_validation_rows_and_progress(client, capsys):
    held, parts = slice(0, 300), slice(300, 900)
    sizes = [150, 150], [250, 350]
    settings = {"early_stopping": True, "n_iter_no_change": 2, "verbose": 1, "n_estimators": 20}
    spread, local = model(**settings), model(**settings)
    spread.fit(
        cut(X[parts], sizes[1]),
        cut(Y[parts], sizes[1]),
        X_val=cut(X[held], sizes[0]),
        y_val=cut(Y[held], sizes[0]),
    )
    assert "SAMMEClassifier: round" in capsys.readouterr().err
    local.fit(X[parts], Y[parts], X_val=X[held], y_val=Y[held])
    assert_same(spread, local, X)


@pytest.mark.parametrize("booster", [sb.SAMMEClassifier, sb.WeightDecayClassifier])
def test_a_worker_that_is_killed_changes_nothing(client, booster, monkeypatch):
    whole = booster(n_estimators=5, random_state=0).fit(*PARTS)
    killed = kill_at(monkeypatch, client, trip=31)
    other = booster(n_estimators=5, random_state=0).fit(*PARTS)
    assert len(killed) == 1
    assert (other.estimator_weights_ == whole.estimator_weights_).all()
    assert (other.predict_proba(X) == whole.predict_proba(X)).all()
    client.wait_for_workers(2)  # a nanny brings it back


class Interrupt(Callback):
    def on_round(self, run):
        if len(run.stages) == 3:
            raise TimeoutError("enough")


def test_a_fit_that_is_cancelled_leaves_nothing_running(client):
    stopped = model(callbacks=[Interrupt()])
    with pytest.raises(TimeoutError, match="enough"):
        stopped.fit(*PARTS)
    assert stopped.n_iter_ == 3
    assert left_running(client) == {}
    assert not client.processing() or not any(client.processing().values())


def test_rounds_are_kept_when_all_workers_are_lost(tmp_path, monkeypatch):
    kept = tmp_path / "kept.sb"
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, direct_to_workers=True) as client,
        dask.config.set({"steadyboost.patience": "1s"}),
    ):

        class Lose(Callback):
            def on_round(self, run):
                if len(run.stages) == 4:
                    cluster.scale(0)
                    client.sync(cluster._correct_state)

        lost = model(callbacks=[Checkpoint(kept, every=100), Lose()])
        with pytest.raises(RuntimeError, match="All workers are lost"):
            lost.fit(*PARTS)
    assert len(sb.load(kept).stages_) == 4
    resumed = model(callbacks=[Checkpoint(kept)]).fit(*PARTS)
    assert_same(resumed, model().fit(X, Y, WEIGHTS), X)
