"""Layers of MartiBoost: pure nodes, ends, continuations, files."""

from dataclasses import dataclass

import numpy as np
import pytest
from common import assert_same_model, assert_usable, make, problem
from model_files import edited, pack, unpack
from sklearn.exceptions import ConvergenceWarning

from steadyboost import MartiBoostClassifier, ModelFileError, Stump, Tree, load
from steadyboost.callbacks import Callback
from steadyboost.ensemble.checkpoint import Checkpoint

ROWS, LABELS = np.arange(8.0)[:, None], np.array([1, 1, 1, 1, 0, 0, 0, 0])
INVERSE = 1 - LABELS
ONE_WRONG_EACH = np.array([1, 1, 1, 0, 0, 0, 0, 1])


@dataclass
class Told:
    """Votes by the number of a row."""

    by_row: np.ndarray

    def votes(self, data):
        return self.by_row[data.X[:, 0].astype(int)].astype(np.int32)

    def importances(self, n_features):
        return np.ones(n_features) / n_features


class Script(Tree):
    """A learner that votes as it is told, node by node."""

    answers_in_batches = False

    def __init__(self, script=()):
        super().__init__()
        self.script = script

    def answer(self, data, question, counts, seed, threads):
        answer = Told(self.script[self.asked])
        self.asked += 1
        return answer, answer.votes(data)

    def __sklearn_clone__(self):
        return self


def scripted(script, asked=0):
    learner = Script(script)
    learner.asked = asked
    return learner


# After three layers a row of each class is alone at a node of the other side; layer 3 has no node
# with both classes, but in layer 4 the two rows meet again.
ASTRAY = [ONE_WRONG_EACH, LABELS, LABELS, INVERSE, LABELS]


def test_a_layer_may_have_pure_nodes_only():
    model = make(MartiBoostClassifier, estimator=scripted(ASTRAY), n_layers=8).fit(ROWS, LABELS)
    assert model.history_["hypotheses"] == [1, 2, 1, 0, 1]
    assert model.history_["error"] == pytest.approx([0.25, 0, 0.25, 0, 0])
    assert all(answer is None for answer in model.stages_[3].answer.answers)
    np.testing.assert_array_equal(model.predict(ROWS), LABELS)
    assert_usable(model, ROWS)


@pytest.mark.parametrize("n_layers", [1, 2, 3, 4])
def test_a_warm_start_goes_on_from_any_layer(n_layers):
    whole = make(MartiBoostClassifier, estimator=scripted(ASTRAY), n_layers=5).fit(ROWS, LABELS)
    parts = make(MartiBoostClassifier, estimator=scripted(ASTRAY), n_layers=n_layers)
    parts.set_params(warm_start=True).fit(ROWS, LABELS)
    assert_same_model(parts.set_params(n_layers=5).fit(ROWS, LABELS), whole, ROWS)
    assert parts.history_ == whole.history_


def test_a_perfect_hypothesis_ends_it():
    model = make(MartiBoostClassifier, estimator=scripted([LABELS])).fit(ROWS, LABELS)
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.predict_proba(ROWS)[:, 1], LABELS, atol=1e-299)


def test_problems_that_have_ended_keep_their_place():
    X = np.repeat(np.arange(4.0), 30)[:, None]
    y = np.repeat([0, 0, 1, 2], 30)
    y[::7] = 1
    model = make(MartiBoostClassifier, n_layers=6).fit(X, np.where(y == 2, 2, y))
    assert [len(stage.answer.answers) for stage in model.stages_] == [
        3 * (t + 1) for t in range(model.n_iter_)
    ]
    assert_usable(model, X)


def test_no_edge_at_the_root_is_told_and_asked_again():
    model = make(MartiBoostClassifier, estimator=scripted([INVERSE]), warm_start=True)
    with pytest.warns(ConvergenceWarning, match="no edge"):
        model.fit(ROWS, LABELS)
    assert model.n_iter_ == 1
    model.set_params(estimator=Stump()).fit(ROWS, LABELS)
    assert (model.predict(ROWS) == LABELS).all()


def test_layers_are_rounds():
    X, y = problem(k=2)
    by_layers = make(MartiBoostClassifier, n_layers=4, n_estimators=9).fit(X, y)
    assert_same_model(by_layers, make(MartiBoostClassifier, n_estimators=4).fit(X, y), X)
    by_layers.set_params(warm_start=True, n_layers=3)
    with pytest.raises(ValueError, match="n_layers=3 is below the 4 rounds"):
        by_layers.fit(X, y)
    with pytest.raises(ValueError, match=r"'n_layers' parameter of .* Got 0 instead"):
        make(MartiBoostClassifier, n_layers=0).fit(X, y)


def test_the_fitted_model_does_not_depend_on_its_parameters():
    X, y = problem(k=2)
    model = make(MartiBoostClassifier, n_layers=5).fit(X, y)
    before = model.predict_proba(X)
    for n_layers in (2, 10**9):
        np.testing.assert_array_equal(model.set_params(n_layers=n_layers).predict_proba(X), before)


def test_the_sizes_of_the_classes_do_not_matter():
    X, y = problem(k=2)
    plain = make(MartiBoostClassifier).fit(X, y)
    weighted = make(MartiBoostClassifier, class_weight={0: 1.0, 1: 1e6}).fit(X, y)
    np.testing.assert_allclose(weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-8)


def test_importances_count_by_the_mass_of_the_nodes():
    X, y = problem(k=2)
    model = make(MartiBoostClassifier).fit(np.column_stack([X, np.zeros(len(X))]), y)
    expected = np.zeros(7)
    for stage in model.stages_:
        for mass, answer in zip(stage.extra["mass"], stage.answer.answers, strict=True):
            if answer is not None:
                expected += mass * answer.importances(7)
    np.testing.assert_allclose(model.feature_importances_, expected / expected.sum())
    assert model.feature_importances_[-1] == 0


def test_callbacks_see_weights_that_sum_to_one():
    sums = []

    class Watch(Callback):
        def on_round(self, run):
            sums.append(run.weights.sum())

    X, y = make_mixed()
    make(MartiBoostClassifier, callbacks=[Watch()]).fit(X, y)
    np.testing.assert_allclose(sums, 1)


def make_mixed():
    """Rows of both classes everywhere: no node is pure."""
    X = np.repeat(np.random.default_rng(0).normal(size=(50, 3)), 2, axis=0)
    return X, np.arange(100) % 2 ^ (np.arange(100) % 7 == 0)


# Files


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("depth", [1, None])
def test_a_file_holds_it(k, depth, tmp_path):
    X, y = problem(k=max(k, 2))
    y = y if k > 1 else np.zeros_like(y)
    model = make(MartiBoostClassifier, estimator=Tree(max_depth=depth), n_estimators=7).fit(X, y)
    model.save(tmp_path / "model.sb")
    loaded = load(tmp_path / "model.sb")
    assert_same_model(loaded, model, X)
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    one, other = (m.set_params(warm_start=True, n_estimators=9).fit(X, y) for m in (loaded, model))
    assert_same_model(one, other, X)


def test_a_checkpoint_goes_on_to_more_layers(tmp_path):
    X, y = problem(k=2)
    kept = [Checkpoint(tmp_path / "kept.sb", every=2)]
    make(MartiBoostClassifier, n_layers=3, callbacks=kept).fit(X, y)
    resumed = make(MartiBoostClassifier, n_layers=6, callbacks=kept).fit(X, y)
    assert_same_model(resumed, make(MartiBoostClassifier, n_layers=6).fit(X, y), X)


def drop_a_part(document):
    document["stages"][2]["many"].pop()


def add_a_part(document):
    document["stages"][1]["many"].append(None)


def flatten_routes(document):
    document["stages"][1]["extra"]["routes"]["$column"] = ["float64", 4]


def forget_mass(document):
    del document["stages"][0]["extra"]["mass"]


def promise_layers(document):
    document["stages"] = document["stages"][:1]


@pytest.mark.parametrize(
    "change", [drop_a_part, add_a_part, flatten_routes, forget_mass, promise_layers]
)
def test_other_files_are_refused(change, tmp_path):
    X, y = make_mixed()
    path = tmp_path / "model.sb"
    make(MartiBoostClassifier, n_layers=3).fit(X, y).save(path)
    path.write_bytes(edited(path.read_bytes(), change))
    with pytest.raises(ModelFileError, match="is not a SteadyBoost model file"):
        load(path)


@pytest.mark.parametrize("value", [-1e-3, 1 + 1e-9, np.nan, np.inf])
@pytest.mark.parametrize("name", ["routes", "mass"])
def test_routes_and_mass_must_be_probabilities(name, value, tmp_path):
    X, y = make_mixed()
    path = tmp_path / "model.sb"
    model = make(MartiBoostClassifier, n_layers=3).fit(X, y)
    model.save(path)
    members = unpack(path.read_bytes())
    column = f"extra.{name}.float64.npy"
    last = np.array(value, dtype="<f8").tobytes()
    path.write_bytes(pack({**members, column: members[column][: -len(last)] + last}))
    with pytest.raises(ModelFileError, match=f"{name} is not from 0 to 1"):
        load(path)
    model.stages_[1].extra[name].flat[0] = value
    with pytest.raises(ModelFileError, match=f"{name} is not from 0 to 1"):
        model.save(tmp_path / "damaged.sb")
    assert not (tmp_path / "damaged.sb").exists()


@pytest.mark.parametrize("name", ["routes", "mass"])
def test_every_node_has_routes_and_mass(name, tmp_path):
    X, y = make_mixed()
    model = make(MartiBoostClassifier, n_layers=3).fit(X, y)
    model.stages_[1].extra[name] = model.stages_[1].extra[name][:-1]
    with pytest.raises(ModelFileError, match="an entry per part"):
        model.save(tmp_path / "model.sb")
