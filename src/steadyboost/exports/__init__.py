"""Fitted boosters in other forms: ONNX, SHAP, treelite, text and graphviz.

Names load on first use; those that need another library say which extra has it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyboost.exports.extras import explained

if TYPE_CHECKING:
    from steadyboost.exports.graphviz import export_graphviz
    from steadyboost.exports.onnx import onnx_inputs, to_onnx
    from steadyboost.exports.shap import shap_explainer
    from steadyboost.exports.splits import encode
    from steadyboost.exports.text import export_text
    from steadyboost.exports.treelite import to_treelite

_HOME = {
    "encode": "splits",
    "export_graphviz": "graphviz",
    "export_text": "text",
    "onnx_inputs": "onnx",
    "shap_explainer": "shap",
    "to_onnx": "onnx",
    "to_treelite": "treelite",
}

__all__ = [
    "encode",
    "export_graphviz",
    "export_text",
    "onnx_inputs",
    "shap_explainer",
    "to_onnx",
    "to_treelite",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steadyboost.exports' has no attribute {name!r}")
    try:
        return getattr(import_module(f"steadyboost.exports.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        raise explained(error, name) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
