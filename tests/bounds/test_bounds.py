"""Every theorem holds in every round on real data, clean and noisy; the misprinted one does not."""

import numpy as np
import pytest
from combinations import pairwise
from common import Recording, make, problem
from reference.output_codes import msmooth_boost, real_data
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_multilabel_classification,
)
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB

from steadyboost import (
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostMHClassifier,
    AdaBoostOCClassifier,
    BaggingClassifier,
    MartiBoostClassifier,
    MSmoothBoostClassifier,
    SAMMEClassifier,
    SoftmaxBoostClassifier,
    Stump,
    Tree,
    WeightBoostClassifier,
    bounds,
)
from steadyboost.ensemble.weighting import Weighting
from steadyboost.lab.datasets import make_long_servedio
from steadyboost.noise import corrupt

SETS = ("iris", "wine", "digits", "breast_cancer", "glass", "vehicle")
ROUNDS = 20

NOISE = (0.0, 0.2)
WEAK = [Stump(), Tree(2)]
each_learner = pytest.mark.parametrize("learner", WEAK, ids=["stump", "tree"])


@pytest.fixture
def rows_of(request):
    """A function of the name of a real data set and of the share of labels made wrong."""

    def rows(name, noise):
        folder = name in ("glass", "vehicle") and request.getfixturevalue("from_folder")
        X, y = real_data(name, folder)
        return X, corrupt(y, noise, random_state=0)[0] if noise else y

    return rows


def below(lower, upper):
    """No larger in any round, but for rounding."""
    return bool((np.asarray(lower) <= np.asarray(upper) * (1 + 1e-9)).all())


@pairwise(name=SETS, noise=NOISE, learner=WEAK, alpha=["pseudoloss", "error"])
def test_theorem_1_of_schapire(rows_of, name, noise, learner, alpha):
    data = rows_of(name, noise)
    params = {"estimator": learner, "alpha": alpha, "n_estimators": ROUNDS}
    model = make(AdaBoostOCClassifier, **params).fit(*data)
    product, exponential = bounds.oc_bound(model)
    assert below(bounds.training_error(model, *data), product)
    assert below(product, exponential)
    assert np.isfinite([product, exponential]).all()


@pytest.mark.parametrize("alpha", ["pseudoloss", "error"])
def test_its_product_is_the_printed_one_at_the_papers_steps(alpha):
    X, y = load_wine(return_X_y=True)
    model = make(AdaBoostOCClassifier, estimator=Stump(), alpha=alpha, n_estimators=20).fit(X, y)
    gain = (0.5 - model.estimator_errors_) * model.history_["U"]
    product, exponential = bounds.oc_bound(model)
    np.testing.assert_allclose(product, 2 * np.cumprod(np.sqrt(1 - 4 * gain**2)), rtol=1e-12)
    np.testing.assert_allclose(exponential, 2 * np.exp(-2 * np.cumsum(gain**2)), rtol=1e-12)


@pairwise(name=SETS, noise=NOISE, learner=WEAK)
def test_theorem_11_of_freund_and_schapire(rows_of, name, noise, learner):
    data = rows_of(name, noise)
    model = make(AdaBoostM2Classifier, estimator=learner, n_estimators=ROUNDS).fit(*data)
    product, exponential = bounds.m2_bound(model)
    assert below(bounds.training_error(model, *data), product)
    assert below(product, exponential)
    loss = model.estimator_errors_
    assert loss.min() > 0
    expected = (model.n_classes_ - 1) * np.cumprod(2 * np.sqrt(loss * (1 - loss)))
    np.testing.assert_allclose(product, expected, rtol=1e-9)


@pytest.mark.parametrize("rate", [0.2, 0.7, 2.5])
def test_both_hold_for_other_steps(rate):
    X, y = problem(k=4)
    params = {"estimator": Stump(), "learning_rate": rate, "n_estimators": 60}
    oc = make(AdaBoostOCClassifier, **params).fit(X, y)
    m2 = make(AdaBoostM2Classifier, **params).fit(X, y)
    for model, bound in ((oc, bounds.oc_bound(oc)), (m2, bounds.m2_bound(m2))):
        assert below(bounds.training_error(model, X, y), bound.product)
        assert below(bound.product, bound.exponential)


def test_both_hold_where_a_perfect_error_was_clipped():
    X, y = load_iris(return_X_y=True)
    oc = make(AdaBoostOCClassifier, estimator=Tree(None), alpha="error", n_estimators=30).fit(X, y)
    m2 = make(AdaBoostM2Classifier, estimator=Tree(None), n_estimators=3).fit(X, y)
    for model, bound in ((oc, bounds.oc_bound(oc)), (m2, bounds.m2_bound(m2))):
        assert model.estimator_errors_.min() < 1e-12
        assert below(bounds.training_error(model, X, y), bound.product)


def test_theorem_11_with_soft_hypotheses():
    X, y = problem(k=4)
    model = make(AdaBoostM2Classifier, estimator=GaussianNB(), n_estimators=20).fit(X, y)
    assert below(bounds.training_error(model, X, y), bounds.m2_bound(model).product)


@pairwise(name=SETS, noise=NOISE, learner=WEAK, smoothing=[0.0, 0.1, 0.5, 1.0, 3.0])
def test_theorems_1_and_2_of_jin_and_zhang(rows_of, name, noise, learner, smoothing):
    data = rows_of(name, noise)
    params = {"estimator": learner, "smoothing": smoothing, "n_estimators": ROUNDS}
    model = make(MSmoothBoostClassifier, **params).fit(*data)
    tau, product, weaker = bounds.msmooth_bound(model, *data)
    assert below(bounds.training_error(model, *data), tau)
    assert below(tau, product)
    assert below(product, weaker)
    for theta in (0, 0.1):
        bound = bounds.msmooth_margin_bound(model, *data, theta)
        assert below(bounds.training_error(model, *data, theta=theta), bound)
    if smoothing == 0:
        np.testing.assert_allclose(tau, product, rtol=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("rate", [0.2, 0.7, 2.5])
def test_they_hold_for_other_steps(rate, smoothing):
    X, y = problem(k=4)
    params = {"smoothing": smoothing, "learning_rate": rate, "n_estimators": 40}
    model = make(MSmoothBoostClassifier, estimator=Stump(), **params).fit(X, y)
    tau, product, weaker = bounds.msmooth_bound(model, X, y)
    assert below(bounds.training_error(model, X, y), tau)
    assert below(tau, product)
    assert below(product, weaker)
    margin_error = bounds.training_error(model, X, y, theta=0.2)
    assert below(margin_error, bounds.msmooth_margin_bound(model, X, y, 0.2))
    if smoothing == 0:
        np.testing.assert_allclose(tau, product, rtol=1e-9)


def test_tau_and_v_follow_from_the_papers_mu():
    X, y = load_wine(return_X_y=True)
    learner, lam, n, k = Recording(1), 0.4, len(y), 3
    params = {"estimator": learner, "smoothing": lam, "n_estimators": 15}
    model = make(MSmoothBoostClassifier, **params).fit(X, y)
    colorings = np.array(model.history_["coloring"])
    trace = msmooth_boost(learner.votes, colorings, y, k, lam)
    wrong = np.arange(k) != y[:, None]
    mass = [np.where(wrong, r.mu, 0) for r in trace]
    apart = [mu * (c != c[y][:, None]) for mu, c in zip(mass, colorings, strict=True)]
    own = [r.mu[np.arange(n), y][:, None] for r in trace]
    v = [(a * o).sum() / m.sum() for a, o, m in zip(apart, own, mass, strict=True)]
    tau = [(1 + lam) / n * m.sum() for m in mass]
    error = model.estimator_errors_
    factors = 1 - np.array(v) * (1 - 2 * np.sqrt(error * (1 - error)))
    found = bounds.msmooth_bound(model, X, y)
    assert tau[0] == pytest.approx((1 + lam) * (k - 1) / (1 + lam * (k - 1)))
    np.testing.assert_allclose(found.tau[:-1], tau[1:], rtol=1e-10)
    np.testing.assert_allclose(found.product, tau[0] * np.cumprod(factors), rtol=1e-10)


def test_the_printed_theorem_1_fails_and_the_corrected_one_does_not():
    failures = 0
    for smoothing in (0.0, 0.1, 0.5):
        for load in (load_iris, load_wine):
            X, y = load(return_X_y=True)
            params = {"estimator": Stump(), "smoothing": smoothing, "n_estimators": 30}
            model = make(MSmoothBoostClassifier, **params).fit(X, y)
            error = bounds.training_error(model, X, y)
            failures += (error > bounds.msmooth_bound(model, X, y, printed=True).weaker).sum()
            assert below(error, bounds.msmooth_bound(model, X, y).weaker)
    assert failures > 0


def test_the_printed_forms_are_those_of_the_paper():
    X, y = load_wine(return_X_y=True)
    params = {"estimator": Stump(), "smoothing": 0.0, "n_estimators": 10}
    model = make(MSmoothBoostClassifier, **params).fit(X, y)
    v, g = np.array(model.history_["U"]), 1 - 2 * model.estimator_errors_  # v = U without lambda
    found = bounds.msmooth_bound(model, X, y, printed=True)
    theorem = np.cumprod(1 - v * g**2)
    np.testing.assert_allclose(found.weaker, theorem, rtol=1e-9)
    np.testing.assert_allclose(found.product, np.cumprod(1 - v / 2 * (1 - np.sqrt(1 - g**2))))
    theta = 0.05
    expected = np.cumprod(((1 + g) / (1 - g)) ** (4 * theta)) * theorem
    printed = bounds.msmooth_margin_bound(model, X, y, theta, printed=True)
    np.testing.assert_allclose(printed, expected, rtol=1e-9)


def test_user_weights_count_as_copies():
    X, y = problem(k=3)
    copies = np.random.default_rng(0).integers(1, 4, size=len(y))
    many = np.repeat(np.arange(len(y)), copies)
    params = {"estimator": Stump(), "smoothing": 0.3, "n_estimators": 20}
    weighted = make(MSmoothBoostClassifier, **params).fit(X, y, copies)
    copied = make(MSmoothBoostClassifier, **params).fit(X[many], y[many])
    for function in (bounds.msmooth_bound, bounds.training_error):
        found, expected = function(weighted, X, y, copies), function(copied, X[many], y[many])
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_a_thousand_rounds_keep_the_order():
    X, y = load_iris(return_X_y=True)
    for smoothing in (0.0, 0.5):
        params = {"estimator": Stump(), "smoothing": smoothing, "n_estimators": 1000}
        model = make(MSmoothBoostClassifier, **params).fit(X, y)
        tau, product, weaker = bounds.msmooth_bound(model, X, y)
        assert np.isfinite([tau, product, weaker]).all()
        assert below(tau, product)


def test_a_model_that_stopped_early_has_its_own_rounds():
    X, y = problem(n=400, k=4, noise=0.3)
    params = {"early_stopping": True, "n_estimators": 200, "n_iter_no_change": 3}
    model = make(AdaBoostOCClassifier, **params).fit(X, y)
    assert len(bounds.oc_bound(model).product) == model.n_iter_ < 200


# Margins


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize(
    "booster",
    [
        AdaBoostOCClassifier,
        MSmoothBoostClassifier,
        AdaBoostM2Classifier,
        SAMMEClassifier,
        BaggingClassifier,
    ],
)
def test_margins_are_between_minus_one_and_one_and_tell_right_from_wrong(booster, k):
    X, y = problem(k=k, noise=0.3)
    names = np.array(list("abcde"))[y]
    model = make(booster, n_estimators=8).fit(X, names)
    found = bounds.margins(model, X, names)
    assert (np.abs(found) <= 1 + 1e-12).all()
    assert found.min() < 0 < found.max()
    np.testing.assert_array_equal(found[found != 0] > 0, (model.predict(X) == names)[found != 0])
    assert np.mean(found <= 0) == bounds.training_error(model, X, names)[-1]


def test_margins_of_votes_are_shares_of_votes():
    X, y = problem(k=3)
    model = make(BaggingClassifier, n_estimators=15).fit(X, y)
    shares = model.predict_proba(X)
    rivals = np.where(np.arange(3) == y[:, None], -1, shares).max(axis=1)
    expected = shares[np.arange(len(y)), y] - rivals
    np.testing.assert_allclose(bounds.margins(model, X, y), expected, atol=1e-12)


def test_one_hypothesis_leads_by_all_or_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    for booster in (AdaBoostOCClassifier, MSmoothBoostClassifier, AdaBoostM1Classifier):
        model = make(booster, estimator=Stump(), n_estimators=1).fit(X, y)
        assert set(bounds.margins(model, X, y).round(12)) == {-1.0, 1.0}


def test_the_margin_distribution_is_cumulative():
    X, y = problem(k=3)
    model = make(AdaBoostOCClassifier, n_estimators=20).fit(X, y)
    found = bounds.margins(model, X, y)
    theta, share = bounds.margin_distribution(model, X, y)
    assert (np.diff([theta, share]) >= 0).all()
    assert share[-1] == 1
    theta, share = bounds.margin_distribution(model, X, y, [-1.1, 0, 0.2, 1])
    np.testing.assert_array_equal(share, [np.mean(found <= t) for t in theta])
    assert share[0] == 0


# What is refused


@pytest.mark.parametrize(
    ("function", "args", "needed"),
    [
        (bounds.oc_bound, 0, "AdaBoostOCClassifier"),
        (bounds.m2_bound, 0, "AdaBoostM2Classifier"),
        (bounds.msmooth_bound, 2, "MSmoothBoostClassifier"),
        (bounds.training_error, 2, "BoostingClassifier"),
        (bounds.margins, 2, "BoostingClassifier"),
    ],
)
def test_a_model_of_another_kind_is_refused(function, args, needed):
    X, y = problem()
    wrong = Tree() if needed == "BoostingClassifier" else make(SAMMEClassifier).fit(X, y)
    with pytest.raises(TypeError, match=f"needs a fitted {needed}; got {type(wrong).__name__}"):
        function(wrong, *(X, y)[:args])


def test_what_cannot_be_bounded_is_refused():
    X, y = problem()
    with pytest.raises(NotFittedError):
        bounds.oc_bound(AdaBoostOCClassifier())
    with pytest.raises(ValueError, match="one class only"):
        bounds.training_error(make(SAMMEClassifier).fit(X, np.zeros(len(y))), X, y)

    class Doubling(SAMMEClassifier):
        weighting = Weighting
        adds_votes = False

        def add(self, scores, stage, votes):
            scores *= 2
            super().add(scores, stage, votes)

    with pytest.raises(TypeError, match="Doubling has no vote margins"):
        bounds.margins(Doubling(random_state=0).fit(X, y), X, y)


@pairwise(
    name=SETS, noise=NOISE, learner=WEAK, booster=[AdaBoostOCClassifier, AdaBoostM2Classifier]
)
def test_small_margins_are_as_rare_as_their_bound_says(rows_of, name, noise, learner, booster):
    data = rows_of(name, noise)
    model = make(booster, estimator=learner, n_estimators=ROUNDS).fit(*data)
    for theta in (-0.3, 0.0, 0.1, 0.5):
        bound = bounds.margin_bound(model, theta)
        assert below(bounds.training_error(model, *data, theta=theta), bound)
    other = bounds.oc_bound if booster is AdaBoostOCClassifier else bounds.m2_bound
    np.testing.assert_allclose(bounds.margin_bound(model, 0), other(model).product, rtol=1e-12)


def test_the_margin_bound_is_the_printed_one_at_the_papers_steps():
    """(k - 1) prod (1 - 2 gamma U)^(1/2 - theta) (1 + 2 gamma U)^(1/2 + theta), of half margins."""
    X, y = load_wine(return_X_y=True)
    model = make(AdaBoostOCClassifier, estimator=Stump(), n_estimators=20).fit(X, y)
    g, theta = 2 * (0.5 - model.estimator_errors_) * model.history_["U"], 0.07
    expected = 2 * np.cumprod((1 - g) ** (0.5 - theta) * (1 + g) ** (0.5 + theta))
    np.testing.assert_allclose(bounds.margin_bound(model, 2 * theta), expected, rtol=1e-9)


@pairwise(name=SETS, noise=NOISE, learner=WEAK, tree=["separate", "shared"], rate=[0.3, 1.0, 2.0])
def test_hamming_loss_of_adaboost_mh(rows_of, name, noise, learner, tree, rate):
    data = rows_of(name, noise)
    params = {"tree": tree, "learning_rate": rate, "n_estimators": ROUNDS}
    model = make(AdaBoostMHClassifier, estimator=learner, **params).fit(*data)
    product, exponential = bounds.mh_bound(model)
    assert below(bounds.hamming_loss(model, *data), product)
    assert below(product, exponential)


def test_hamming_loss_of_sets_of_labels_with_weights():
    X, Y = make_multilabel_classification(200, n_classes=4, random_state=0)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(Y))
    model = make(AdaBoostMHClassifier, estimator=Stump(), n_estimators=30)
    model.fit(X, Y, sample_weight=weights)
    loss = bounds.hamming_loss(model, X, Y, weights)
    assert below(loss, bounds.mh_bound(model).product)
    by_hand = np.average((model.predict(X) != Y).mean(axis=1), weights=weights)
    assert loss[-1] == pytest.approx(by_hand)


@pairwise(
    name=SETS,
    noise=NOISE,
    options=[{}, {"n_samples": "all", "step": "theory"}],
    costly=[False, True],
)
def test_theorem_1_of_geist(rows_of, name, noise, options, costly):
    X, y = rows_of(name, noise)
    k = len(np.unique(y))
    costs = 9 * np.random.default_rng(0).random((k, k)) * (1 - np.eye(k)) if costly else None
    model = make(SoftmaxBoostClassifier, cost_matrix=costs, n_estimators=ROUNDS, **options)
    model.fit(X, y)
    for printed in (False, True):
        found = bounds.softmax_bound(model, X, y, printed=printed)
        assert below(found.risk, found.risk_bound)
        if options:
            assert below(found.risk_bound[1:], found.risk[:-1])
            assert below(found.gradient, found.gradient_bound)
        else:
            assert np.isnan(found.gradient_bound).all()


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_theorem_1_of_geist_at_other_rates_and_weights(rate):
    X, y = problem(k=4)
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    params = {"n_samples": "all", "step": "theory", "learning_rate": rate, "n_estimators": 40}
    model = make(SoftmaxBoostClassifier, **params).fit(X, y, sample_weight=weights)
    found = bounds.softmax_bound(model, X, y, weights)
    assert below(found.risk, found.risk_bound)
    assert below(found.gradient, found.gradient_bound)
    assert np.isnan(bounds.softmax_bound(model, X, y, printed=True).gradient_bound).all() == (
        rate > 2
    )


@pytest.mark.parametrize("normalize", [None, 0.1])
@pytest.mark.parametrize("regularizer", ["exponential", "inverse_polynomial"])
@each_learner
def test_eq_6_of_jin_2003(learner, regularizer, normalize):
    X, y = load_breast_cancer(return_X_y=True)
    y = corrupt(y, 0.2, random_state=0)[0]
    weights = np.random.default_rng(0).uniform(0.1, 3, len(y))
    params = {"regularizer": regularizer, "normalize": normalize, "n_estimators": 40}
    for own in (None, weights):
        model = make(WeightBoostClassifier, estimator=learner, **params)
        model.fit(X, y, sample_weight=own)
        error, cost, product = bounds.weightboost_error_bound(model, X, y, own)
        assert below(error, cost)
        assert below(cost, product)
        assert cost[0] == pytest.approx(product[0], rel=1e-9)
        assert error[-1] == pytest.approx(1 - model.score(X, y, own))


@pytest.mark.parametrize("noise", [0.0, 0.2])
@each_learner
def test_martingale_boosting_drifts_to_the_right_side(noise, learner):
    toy = make_long_servedio(300, noise=noise, random_state=0)
    for X, y in (toy, load_breast_cancer(return_X_y=True)):
        model = make(MartiBoostClassifier, estimator=learner, n_layers=25).fit(X, y)
        found = bounds.martiboost_bound(model, X, y)
        assert below(found.random_error, found.bound)
        assert below(found.majority_error, 2 * found.bound)
        assert noise or found.bound[-1] < found.bound[0]
        balanced = np.mean([np.mean(model.predict(X[y == c]) != c) for c in np.unique(y)])
        assert found.majority_error[-1] == pytest.approx(balanced)


@pytest.mark.parametrize(
    ("bound", "booster"),
    [
        (bounds.weightboost_error_bound, WeightBoostClassifier),
        (bounds.martiboost_bound, MartiBoostClassifier),
    ],
)
def test_bounds_of_two_classes_refuse_more(bound, booster):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="The model has 3 classes"):
        bound(make(booster).fit(X, y), X, y)
