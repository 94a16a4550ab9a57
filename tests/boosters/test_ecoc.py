"""ECOC against the nearest codeword, found by counting bits."""

import numpy as np
import pytest
from common import Recording, make, problem
from reference.output_codes import ecoc, real_data
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB

from steadyboost import ECOCClassifier, Stump, Tree
from steadyboost.ensemble.codes.codes import code_distance, exhaustive_code

DECODINGS = ("hamming", "weighted")
each_decoding = pytest.mark.parametrize("decoding", DECODINGS)


@pytest.fixture(params=["iris", "wine", "glass", "vehicle"])
def data(request):
    folder = request.param in ("glass", "vehicle") and request.getfixturevalue("from_folder")
    return real_data(request.param, folder)


def assert_nearest(model, votes, X, y):
    """Errors, steps and predictions by the book; scores are the bits that agree."""
    weighted = model.decoding == "weighted"
    errors, counts, distances = ecoc(votes, model.code_, y, weighted)
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-12)
    np.testing.assert_allclose(model.estimator_weights_, counts, rtol=1e-10)
    np.testing.assert_allclose(np.sum(counts) - model._scores(X), distances, atol=1e-9)
    clear = np.diff(np.partition(distances, 1, axis=1)[:, :2])[:, 0] > 1e-9
    nearest = distances.argmin(axis=1)
    found = model.predict(X)
    np.testing.assert_array_equal(found[clear], nearest[clear])
    if not weighted:
        np.testing.assert_array_equal(found, nearest)  # the first of equals


@each_decoding
@pytest.mark.parametrize("depth", [1, 3])
def test_the_nearest_codeword_wins(data, depth, decoding):
    X, y = data
    learner = Recording(depth)
    model = make(ECOCClassifier, estimator=learner, decoding=decoding, n_estimators=15).fit(X, y)
    assert model.code_.shape == (len(set(y)), 15)
    assert_nearest(model, learner.votes, X, y)
    np.testing.assert_allclose(learner.weights, 1 / len(y), rtol=1e-12)


@each_decoding
@pytest.mark.parametrize("code", ["balanced", "dense", "bch", "exhaustive"])
def test_every_kind_of_code(code, decoding):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    learner = Recording(2)
    if code == "exhaustive":
        X, y = X[y < 5], y[y < 5]
    bits = 15 if code == "exhaustive" else 31
    params = {"code": code, "decoding": decoding, "n_estimators": 31}
    model = make(ECOCClassifier, estimator=learner, **params).fit(X, y)
    assert model.n_iter_ == model.code_.shape[1] == bits
    assert model.code_distance_ == code_distance(model.code_)
    differ = [(a != b).sum() for i, a in enumerate(model.code_) for b in model.code_[:i]]
    assert model.code_distance_.row_min == min(differ) > 0
    assert model.code_distance_.n_correctable == (min(differ) - 1) // 2
    assert_nearest(model, learner.votes, X, y)


def test_balanced_codes_split_evenly_and_follow_the_seed():
    X, y = problem(k=5)
    codes = [
        make(ECOCClassifier, estimator=Stump(), n_estimators=20, random_state=s).fit(X, y).code_
        for s in (0, 0, 1)
    ]
    assert set(codes[0].sum(axis=0)) == {3}
    np.testing.assert_array_equal(codes[0], codes[1])
    assert (codes[0] != codes[2]).any()


@each_decoding
@pytest.mark.parametrize("code", ["balanced", "dense", "bch", "exhaustive", [[0], [1]]])
def test_two_classes_are_one_bit(code, decoding):
    X, y = problem(k=2)
    learner = Recording(2)
    model = make(ECOCClassifier, estimator=learner, code=code, decoding=decoding).fit(X, y)
    assert model.n_iter_ == 1
    targets = model.code_[:, 0]
    np.testing.assert_array_equal(targets[model.predict(X)], learner.votes[0])


def test_one_class_is_itself():
    X, y = problem()
    model = make(ECOCClassifier).fit(X, np.full(len(y), "only"))
    assert model.n_iter_ == 1
    assert set(model.predict(X)) == {"only"}


@each_decoding
def test_a_users_matrix(decoding):
    X, y = load_iris(return_X_y=True)
    code = np.array([[1, -1, -1, 1], [-1, 1, -1, 1], [-1, -1, 1, -1]])
    learner = Recording(2)
    model = make(ECOCClassifier, estimator=learner, code=code, decoding=decoding).fit(X, y)
    np.testing.assert_array_equal(model.code_, (code > 0).astype(int))
    assert_nearest(model, learner.votes, X, y)


def test_one_bit_per_class_is_one_against_all():
    X, y = load_wine(return_X_y=True)
    one = GaussianNB()
    model = make(ECOCClassifier, estimator=one, code=np.eye(3)).fit(X, y)
    for l, fitted in enumerate(model.estimators_):
        np.testing.assert_array_equal(fitted.predict(X), one.fit(X, y == l).predict(X))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"code": [[0, 1], [1, 0]]}, r"pass \(3, n_bits\)"),
        ({"code": [[0, 1], [1, 1], [1, 1]]}, "column 1 is constant"),
        ({"code": [[0, 1], [1, 0], [1, 0]]}, "row 2 repeats"),
        ({"code": [[0, 2], [1, 0], [1, 1]]}, "use only 0 and 1"),
        ({"code": "morse"}, "code"),
        ({"decoding": "loss"}, "decoding"),
        ({"n_estimators": 1}, "n_estimators=1 is n_bits.*n_bits=1; pass at least"),
        ({"code": "bch", "n_estimators": 5}, "n_estimators=5 is n_bits.*n_bits=5"),
    ],
)
def test_what_cannot_be_a_code_is_refused(params, message):
    X, y = problem(k=3)
    with pytest.raises(ValueError, match=message):
        make(ECOCClassifier, **params).fit(X, y)


def test_too_many_classes_for_all_splits():
    X, y = problem(n=240, k=12)
    with pytest.raises(ValueError, match="use dense_random_code above 11"):
        make(ECOCClassifier, code="exhaustive").fit(X, y)


def test_a_warm_start_with_all_bits_learnt_adds_none():
    X, y = problem(k=4)
    model = make(ECOCClassifier, code="exhaustive", n_estimators=5, warm_start=True).fit(X, y)
    before = model.decision_function(X)
    assert model.fit(X, y).n_iter_ == 7
    np.testing.assert_array_equal(model.decision_function(X), before)


@each_decoding
def test_correctable_errors_are_corrected(decoding):
    """Any bits wrong, up to n_correctable of them, leave the codeword the nearest."""
    X, y = np.repeat(np.arange(5.0), 4)[:, None], np.repeat(np.arange(5), 4)
    model = make(ECOCClassifier, estimator=Tree(None), code="exhaustive", decoding=decoding)
    model.fit(X, y)
    assert model.score(X, y) == 1
    n_bits, reach = model.code_.shape[1], model.code_distance_.n_correctable
    assert reach == 3
    rng = np.random.default_rng(0)
    for word in exhaustive_code(5):
        flips = rng.choice(n_bits, reach, replace=False)
        said = word.copy()
        said[flips] ^= 1
        distances = (model.code_ != said).sum(axis=1)
        assert (distances == distances.min()).sum() == 1
        np.testing.assert_array_equal(model.code_[distances.argmin()], word)


@each_decoding
def test_probabilities_rank_as_the_scores(decoding):
    X, y = load_digits(return_X_y=True)
    model = make(ECOCClassifier, decoding=decoding, n_estimators=20).fit(X, y)
    proba, scores = model.predict_proba(X), model.decision_function(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (np.take_along_axis(proba, scores.argsort(axis=1), 1)[:, 1:] > 0).all()
    best = np.take_along_axis(scores, proba.argmax(axis=1)[:, None], 1)[:, 0]
    np.testing.assert_allclose(best, scores.max(axis=1), atol=1e-9)
