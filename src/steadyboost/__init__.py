"""SteadyBoost: boosting that stays steady when labels are wrong.

Public names load on first use, so that ``import steadyboost`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyboost import _moved

__version__ = "0.2.0"

if TYPE_CHECKING:
    from steadyboost.boosters.adaboost import AdaBoostClassifier
    from steadyboost.boosters.adaboost_m1 import AdaBoostM1Classifier
    from steadyboost.boosters.adaboost_m2 import AdaBoostM2Classifier
    from steadyboost.boosters.adaboost_mh import AdaBoostMHClassifier
    from steadyboost.boosters.adaboost_oc import AdaBoostOCClassifier
    from steadyboost.boosters.arc_x4 import ArcX4Classifier
    from steadyboost.boosters.bagging import BaggingClassifier
    from steadyboost.boosters.dmcboost import DMCBoostClassifier
    from steadyboost.boosters.ecoc import ECOCClassifier
    from steadyboost.boosters.epsilon_boost import EpsilonBoostClassifier
    from steadyboost.boosters.gdmcboost import GDMCBoostClassifier
    from steadyboost.boosters.martiboost import MartiBoostClassifier
    from steadyboost.boosters.msmooth import MSmoothBoostClassifier
    from steadyboost.boosters.samme import SAMMEClassifier
    from steadyboost.boosters.softmax_boost import SoftmaxBoostClassifier
    from steadyboost.boosters.steadyboost import SteadyBoostClassifier
    from steadyboost.boosters.weight_decay import WeightDecayClassifier
    from steadyboost.boosters.weightboost import WeightBoostClassifier
    from steadyboost.ensemble.estimator import BoostingClassifier
    from steadyboost.ensemble.model_io.file import ModelFileError, load
    from steadyboost.learners.attribute_test import AttributeTest
    from steadyboost.learners.c45 import C45
    from steadyboost.learners.decision_rule import DecisionRule
    from steadyboost.learners.tree import Stump, Tree

_HOME = {
    "AdaBoostClassifier": "steadyboost.boosters.adaboost",
    "AdaBoostM1Classifier": "steadyboost.boosters.adaboost_m1",
    "AdaBoostM2Classifier": "steadyboost.boosters.adaboost_m2",
    "AdaBoostMHClassifier": "steadyboost.boosters.adaboost_mh",
    "AdaBoostOCClassifier": "steadyboost.boosters.adaboost_oc",
    "ArcX4Classifier": "steadyboost.boosters.arc_x4",
    "AttributeTest": "steadyboost.learners.attribute_test",
    "BaggingClassifier": "steadyboost.boosters.bagging",
    "BoostingClassifier": "steadyboost.ensemble.estimator",
    "C45": "steadyboost.learners.c45",
    "DMCBoostClassifier": "steadyboost.boosters.dmcboost",
    "DecisionRule": "steadyboost.learners.decision_rule",
    "ECOCClassifier": "steadyboost.boosters.ecoc",
    "EpsilonBoostClassifier": "steadyboost.boosters.epsilon_boost",
    "GDMCBoostClassifier": "steadyboost.boosters.gdmcboost",
    "MSmoothBoostClassifier": "steadyboost.boosters.msmooth",
    "MartiBoostClassifier": "steadyboost.boosters.martiboost",
    "ModelFileError": "steadyboost.ensemble.model_io.file",
    "SAMMEClassifier": "steadyboost.boosters.samme",
    "SoftmaxBoostClassifier": "steadyboost.boosters.softmax_boost",
    "SteadyBoostClassifier": "steadyboost.boosters.steadyboost",
    "Stump": "steadyboost.learners.tree",
    "Tree": "steadyboost.learners.tree",
    "WeightBoostClassifier": "steadyboost.boosters.weightboost",
    "WeightDecayClassifier": "steadyboost.boosters.weight_decay",
    "load": "steadyboost.ensemble.model_io.file",
}

__all__ = [
    "C45",
    "AdaBoostClassifier",
    "AdaBoostM1Classifier",
    "AdaBoostM2Classifier",
    "AdaBoostMHClassifier",
    "AdaBoostOCClassifier",
    "ArcX4Classifier",
    "AttributeTest",
    "BaggingClassifier",
    "BoostingClassifier",
    "DMCBoostClassifier",
    "DecisionRule",
    "ECOCClassifier",
    "EpsilonBoostClassifier",
    "GDMCBoostClassifier",
    "MSmoothBoostClassifier",
    "MartiBoostClassifier",
    "ModelFileError",
    "SAMMEClassifier",
    "SoftmaxBoostClassifier",
    "SteadyBoostClassifier",
    "Stump",
    "Tree",
    "WeightBoostClassifier",
    "WeightDecayClassifier",
    "__version__",
    "load",
]

_moved.install()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'steadyboost' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
