"""Every booster that can be trained on rows in several places, and tables to train it on."""

import dask.array as da
import numpy as np
from sklearn.datasets import make_classification

import steadyboost as sb

BOOSTERS = {
    "SAMME": lambda: sb.SAMMEClassifier(),
    "AdaBoost": lambda: sb.AdaBoostClassifier(),
    "AdaBoost, resampled": lambda: sb.AdaBoostClassifier(resample=True),
    "AdaBoost.M1": lambda: sb.AdaBoostM1Classifier(),
    "AdaBoost.M2": lambda: sb.AdaBoostM2Classifier(),
    "AdaBoost.MH": lambda: sb.AdaBoostMHClassifier(),
    "AdaBoost.MH, shared": lambda: sb.AdaBoostMHClassifier(tree="shared"),
    "AdaBoost.OC": lambda: sb.AdaBoostOCClassifier(),
    "AdaBoost.OC, maxcut": lambda: sb.AdaBoostOCClassifier(coloring="maxcut"),
    "MSmoothBoost": lambda: sb.MSmoothBoostClassifier(),
    "ECOC": lambda: sb.ECOCClassifier(),
    "WeightBoost": lambda: sb.WeightBoostClassifier(),
    "WeightBoost, auto": lambda: sb.WeightBoostClassifier(beta="auto"),
    "epsilon-Boost": lambda: sb.EpsilonBoostClassifier(),
    "Weight Decay": lambda: sb.WeightDecayClassifier(),
    "soft-max boosting": lambda: sb.SoftmaxBoostClassifier(),
    "soft-max boosting, all": lambda: sb.SoftmaxBoostClassifier(n_samples="all", step="theory"),
    "GD-MCBoost": lambda: sb.GDMCBoostClassifier(),
    "GD-MCBoost, vectors": lambda: sb.GDMCBoostClassifier(leaves="vector"),
    "Arc-x4": lambda: sb.ArcX4Classifier(),
    "bagging": lambda: sb.BaggingClassifier(),
    "MartiBoost": lambda: sb.MartiBoostClassifier(),
}


def table(n=360, n_classes=4, seed=0):
    """Rows with gaps, and weights with zeros."""
    rng = np.random.default_rng(seed)
    X, y = make_classification(
        n, 8, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=seed
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    weights = rng.exponential(size=n)
    weights[rng.random(n) < 0.1] = 0
    return X, y, weights


def cut(array, sizes):
    """The array in partitions of these sizes."""
    if array is None:
        return None
    return da.from_array(array, chunks=(tuple(sizes), *[-1] * (array.ndim - 1)))


def some_sizes(n, n_parts, seed=0):
    """Partitions of any size."""
    bounds = np.sort(np.random.default_rng(seed).integers(1, n, n_parts - 1))
    return np.diff([0, *bounds, n]).tolist()


def assert_same(model, twin, X, tolerance=1e-10):
    """The same trees, steps, errors and probabilities."""
    assert len(model.stages_) == len(twin.stages_)
    for name in ("estimator_weights_", "estimator_errors_", "feature_importances_"):
        np.testing.assert_allclose(
            getattr(model, name), getattr(twin, name), rtol=0, atol=tolerance
        )
    np.testing.assert_array_equal(model.classes_, twin.classes_)
    np.testing.assert_allclose(
        model.predict_proba(X), twin.predict_proba(X), rtol=0, atol=tolerance
    )
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))
