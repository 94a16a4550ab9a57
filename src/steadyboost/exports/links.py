"""From scores to probabilities, said in a few words that other formats know, too."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyboost.boosters.adaboost_m2 import AdaBoostM2Classifier
from steadyboost.boosters.adaboost_mh import AdaBoostMHClassifier
from steadyboost.boosters.ecoc import ECOCClassifier
from steadyboost.boosters.families.binary import BinaryBoostingClassifier
from steadyboost.boosters.families.output_codes import OutputCodeClassifier
from steadyboost.boosters.families.voting import VotingClassifier
from steadyboost.boosters.gdmcboost import GDMCBoostClassifier
from steadyboost.boosters.softmax_boost import SoftmaxBoostClassifier
from steadyboost.ensemble.hooks import Hooks
from steadyboost.ensemble.prediction import FittedBooster


@dataclass(frozen=True)
class Link:
    """A function of ``scores @ matrix``.

    ``"softmax"``, ``"sigmoid"``, ``"shares"`` (of their sum), or ``"against"``: each class against
    all others, from half the log-odds, then normalised.
    """

    kind: str
    matrix: np.ndarray


def _softmax(factor: float, model: Any) -> Link:
    return Link("softmax", factor * np.eye(model.n_outputs()))


def _binary(model: Any) -> Link:
    """With one class there is one problem, and nothing to be unsure of."""
    if model.n_classes_ == 1:
        return _softmax(1.0, model)
    if model._is_ovr():
        return Link("against", np.eye(model.n_outputs()))
    return Link("softmax", 2.0 * model.bits_.T)


def _labelwise(one_label: str, factor: float, model: Any) -> Link:
    """Sets of labels have a probability each; classes share one."""
    if model.multilabel_:
        return Link("sigmoid", 2.0 * np.eye(model.n_outputs()))
    return Link(one_label, factor * np.eye(model.n_outputs()))


def _ecoc(model: Any) -> Link:
    return _softmax(2.0 if model.decoding == "weighted" else model._bit_log_odds, model)


LINKS: dict[Callable, Callable[[Any], Link]] = {
    Hooks.probabilities: lambda model: _softmax(1.0, model),
    OutputCodeClassifier.probabilities: lambda model: _softmax(2.0, model),
    AdaBoostM2Classifier.probabilities: lambda model: _softmax(2.0, model),
    GDMCBoostClassifier.probabilities: lambda model: _softmax(2.0, model),
    ECOCClassifier.probabilities: _ecoc,
    VotingClassifier.probabilities: lambda model: Link("shares", np.eye(model.n_outputs())),
    BinaryBoostingClassifier.probabilities: _binary,
    AdaBoostMHClassifier.probabilities: lambda model: _labelwise("against", 1.0, model),
    SoftmaxBoostClassifier.probabilities: lambda model: _labelwise("softmax", 1.0, model),
}


def link_of(model: FittedBooster) -> Link:
    """The link of a booster, found by its own ``probabilities``, so that none is guessed."""
    rule = LINKS.get(type(model).probabilities)
    if rule is None:
        raise ValueError(
            f"{type(model).__name__}.probabilities is not known to the exports; add it to "
            "steadyboost.exports.links.LINKS."
        )
    return rule(model)


def decision_matrix(model: FittedBooster) -> np.ndarray:
    """What scores are multiplied by to give ``decision_function``, where it is linear in them."""
    points = np.eye(model.n_outputs())
    decided, thrice = model.decision(points), model.decision(3 * points)
    if not np.allclose(3 * decided, thrice):
        raise ValueError(
            f"The decision function of {type(model).__name__} is not linear in the sums over its "
            "trees, which this form needs; to_onnx does without."
        )
    return decided[:, None] if decided.ndim == 1 else decided
