"""Pictures of boosters, their data and what was measured, in one style that is fit for print.

Each is a display as in scikit-learn: made by ``from_estimator``, or from what it shows, drawn by
``plot(ax=None)``, with the axes and the figure in ``ax_`` and ``figure_``. They need matplotlib;
the charts in ``svg`` need nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyboost.plots.calibration import CalibrationDisplay
    from steadyboost.plots.curves import LearningCurveDisplay
    from steadyboost.plots.importance import ImportanceDisplay
    from steadyboost.plots.margins import MarginDistributionDisplay
    from steadyboost.plots.matrices import ConfusionMatrixDisplay, TransitionMatrixDisplay
    from steadyboost.plots.noise import NoiseCurveDisplay
    from steadyboost.plots.regions import DecisionRegionsDisplay
    from steadyboost.plots.suspects import SuspectsDisplay
    from steadyboost.plots.weights import WeightHistoryDisplay

_HOME = {
    "CalibrationDisplay": "calibration",
    "ConfusionMatrixDisplay": "matrices",
    "DecisionRegionsDisplay": "regions",
    "ImportanceDisplay": "importance",
    "LearningCurveDisplay": "curves",
    "MarginDistributionDisplay": "margins",
    "NoiseCurveDisplay": "noise",
    "SuspectsDisplay": "suspects",
    "TransitionMatrixDisplay": "matrices",
    "WeightHistoryDisplay": "weights",
}

__all__ = [
    "CalibrationDisplay",
    "ConfusionMatrixDisplay",
    "DecisionRegionsDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "MarginDistributionDisplay",
    "NoiseCurveDisplay",
    "SuspectsDisplay",
    "TransitionMatrixDisplay",
    "WeightHistoryDisplay",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steadyboost.plots' has no attribute {name!r}")
    try:
        return getattr(import_module(f"steadyboost.plots.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise ImportError(
            f"{name} needs matplotlib; install it by: pip install 'steadyboost[plots]'",
            name="matplotlib",
        ) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
