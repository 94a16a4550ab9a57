"""Displays of boosters, their data and their errors, in one style.

A display is used as in scikit-learn: created by ``from_estimator`` or from data, drawn by
``plot(ax=None)``, with the axes and the figure in ``ax_`` and ``figure_``. Displays need
matplotlib. Pages and the demo, which must work without it, use the SVG writer in ``svg``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyboost.plots.curves import LearningCurveDisplay, NoiseCurveDisplay
    from steadyboost.plots.evaluation import (
        CalibrationDisplay,
        ConfusionMatrixDisplay,
        TransitionMatrixDisplay,
    )
    from steadyboost.plots.importance import ImportanceDisplay
    from steadyboost.plots.regions import DecisionRegionsDisplay
    from steadyboost.plots.rows import (
        MarginDistributionDisplay,
        SuspectsDisplay,
        WeightHistoryDisplay,
    )

_HOME = {
    "CalibrationDisplay": "evaluation",
    "ConfusionMatrixDisplay": "evaluation",
    "DecisionRegionsDisplay": "regions",
    "ImportanceDisplay": "importance",
    "LearningCurveDisplay": "curves",
    "MarginDistributionDisplay": "rows",
    "NoiseCurveDisplay": "curves",
    "SuspectsDisplay": "rows",
    "TransitionMatrixDisplay": "evaluation",
    "WeightHistoryDisplay": "rows",
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
