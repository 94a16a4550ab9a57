"""Training that goes on draws what it would have drawn without a break."""

import pytest
from common import assert_same_model, make, problem

from steadyboost import SAMMEClassifier, WeightDecayClassifier
from steadyboost.ensemble.checkpoint import Checkpoint


@pytest.mark.parametrize("k", [2, 3])
def test_a_replay_asks_in_the_rounds_of_training(k):
    """What a booster remembers may depend on draws, and problems have rounds of their own."""
    asked = []

    class Watched(WeightDecayClassifier):
        def question(self, rows, round_):
            asked.append((round_.t, round_.seed))
            return super().question(rows, round_)

    X, y = problem(k=k)
    model = Watched(n_estimators=2, warm_start=True, random_state=0, n_jobs=1).fit(X, y)
    trained, n_subproblems = asked.copy(), 1 if k == 2 else k
    assert len(set(trained)) == 2 * n_subproblems
    asked.clear()
    model.set_params(n_estimators=3).fit(X, y)
    assert asked[: len(trained)] == trained


@pytest.mark.parametrize("n_sampled", [100, 10**6])
def test_a_run_without_a_seed_goes_on_with_bins_of_a_sample(n_sampled, tmp_path, monkeypatch):
    """Bins do not depend on the seed, which is known only after the file has been read."""
    monkeypatch.setattr("steadyboost.preprocessing.binner.SAMPLE_ROWS", n_sampled)
    X, y = problem()
    kept = {"callbacks": [Checkpoint(tmp_path / "run.sb")], "max_bins": 8}
    make(SAMMEClassifier, n_estimators=3, random_state=None, **kept).fit(X, y)
    model = make(SAMMEClassifier, random_state=None, **kept).fit(X, y)
    whole = make(SAMMEClassifier, random_state=model._seed, max_bins=8).fit(X, y)
    assert_same_model(model, whole, X)
    assert model.history_ == whole.history_
