"""The description of the parameters that all boosters share, written once."""

import re
from collections.abc import Sequence
from inspect import cleandoc

SHARED_PARAMETERS = """\
estimator : object, default=None
    The weak learner: one of ours (:class:`~steadyboost.Tree`, :class:`~steadyboost.Stump`) or
    any scikit-learn classifier. One that does not take ``sample_weight`` is trained on
    samples drawn by the weights. By default ``Tree(max_depth=3)``.
n_estimators : int, default=100
    Rounds at the most.
learning_rate : float, default=1.0
    Factor on each step.
resample : bool, default=False
    Train each round on a bootstrap drawn by the weights, instead of on weighted rows.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, multiplied with ``sample_weight``.
categorical_features : "from_dtype", array-like or None, default="from_dtype"
    Columns to split by subsets of their values: names, indices or a mask. "from_dtype" takes
    the categorical and text columns of a data frame.
max_bins : int, default=255
    Bins per numeric column, besides one for missing values.
early_stopping : bool, default=False
    Stop when the error on held-out rows has stopped falling, and keep the best round.
validation_fraction : float, default=0.1
    Share of the rows held out, where ``fit`` is not given ``X_val`` and ``y_val``.
n_iter_no_change : int, default=10
    Rounds without improvement after which to stop early.
tol : float, default=1e-7
    Decrease of the validation error that counts as improvement.
callbacks : list of Callback or None, default=None
    Called after each round; see :mod:`steadyboost.callbacks`.
warm_start : bool, default=False
    Go on from the rounds of the last ``fit``.
n_jobs : int or None, default=None
    Threads; -1 for all processors. Results do not depend on it.
verbose : int, default=0
    1 shows a progress bar.
random_state : int, RandomState or None, default=None
    Source of chance; an int gives the same model each time.

Attributes
----------
classes_ : ndarray of shape (n_classes,)
    The labels.
n_iter_ : int
    Rounds that the model holds.
estimators_ : list
    The weak hypotheses.
estimator_weights_, estimator_errors_ : ndarray of shape (n_iter_,)
    Their steps, and their weighted training errors.
feature_importances_ : ndarray of shape (n_features_in_,)
    Share of each feature in the decrease of impurity.
history_ : History
    A record per round, with whatever callbacks added.
n_features_in_ : int
    Features seen in ``fit``.
feature_names_in_ : ndarray of shape (n_features_in_,)
    Their names, where ``X`` had names that are all strings."""


STRATEGY = """\
strategy : {"ovr", "balanced", "dense", "exhaustive", "bch"} or array-like of shape (k, bits), \
default="ovr"
    What to do with more than two classes: one problem per class, against all others; or one
    per bit of a code of the classes, as in :class:`~steadyboost.ECOCClassifier` (random codes
    have 10 log2(k) bits, or as many as are different); or your own matrix of 0 and 1. All
    problems share the binned rows and are boosted side by side. Two classes are one
    problem."""

BITS = """\
bits_ : ndarray of shape (k, problems)
    On which side of each problem a class is."""


def with_shared_parameters(doc: str, without: Sequence[str] = ()) -> str:
    """Fill in the shared parameters, but for those that the booster describes or does without.

    The text loses the indentation of the source, as it does by itself from Python 3.13 on.
    """
    doc = cleandoc(doc).replace("{strategy}", STRATEGY).replace("{bits}", BITS)
    entries = re.split(r"\n(?=\w)", SHARED_PARAMETERS)
    named = {entry.split(" :")[0]: entry for entry in entries}
    others = [
        entry for name, entry in named.items() if name not in without and f"\n{name} :" not in doc
    ]
    return doc.replace("{shared_parameters}", "\n".join(others))
