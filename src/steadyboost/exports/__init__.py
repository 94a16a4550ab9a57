"""Fitted boosters in other forms: ONNX, SHAP, treelite, text and graphviz.

Names load on first use; those that need another library say which extra has it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyboost.exports.effects import class_effects
    from steadyboost.exports.onnx import onnx_inputs, to_onnx
    from steadyboost.exports.shap import shap_explainer
    from steadyboost.exports.text import export_graphviz, export_text
    from steadyboost.exports.treelite import to_treelite
    from steadyboost.exports.trees import encode

_HOME = {
    "class_effects": "effects",
    "encode": "trees",
    "export_graphviz": "text",
    "export_text": "text",
    "onnx_inputs": "onnx",
    "shap_explainer": "shap",
    "to_onnx": "onnx",
    "to_treelite": "treelite",
}

__all__ = [
    "class_effects",
    "encode",
    "export_graphviz",
    "export_text",
    "onnx_inputs",
    "shap_explainer",
    "to_onnx",
    "to_treelite",
]


_EXTRAS = {"onnx": "onnx", "skl2onnx": "onnx", "shap": "shap", "treelite": "treelite"}


def missing_extra(error: ModuleNotFoundError, what: str) -> ImportError:
    """An error that names the extra to install; the same error where no extra has the library."""
    library = (error.name or "").partition(".")[0]
    if library not in _EXTRAS:
        return error
    remedy = f"install it by: pip install 'steadyboost[{_EXTRAS[library]}]'"
    return ImportError(f"{what} needs the library {library}; {remedy}", name=library)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steadyboost.exports' has no attribute {name!r}")
    try:
        return getattr(import_module(f"steadyboost.exports.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing_extra(error, name) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
