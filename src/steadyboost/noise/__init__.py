"""Label noise: ways to make it, and to find it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyboost.noise.corruption import corrupt

if TYPE_CHECKING:
    from steadyboost.noise.crowd import AnnotatorTable, Consensus, ConsensusTable, consensus
    from steadyboost.noise.label_audit import LabelAudit, LabelSetAudit, audit, audit_proba
    from steadyboost.noise.label_table import LabelTable
    from steadyboost.noise.next_label import LabelQueue, next_to_label
    from steadyboost.noise.review.verdicts import (
        Verdict,
        VerdictError,
        Verdicts,
        merge_verdicts,
        read_verdicts,
    )

_HOME = {
    **dict.fromkeys(("LabelAudit", "LabelSetAudit", "audit", "audit_proba"), "label_audit"),
    "LabelTable": "label_table",
    **dict.fromkeys(("AnnotatorTable", "Consensus", "ConsensusTable", "consensus"), "crowd"),
    **dict.fromkeys(("LabelQueue", "next_to_label"), "next_label"),
    **dict.fromkeys(
        ("Verdict", "VerdictError", "Verdicts", "merge_verdicts", "read_verdicts"),
        "review.verdicts",
    ),
}
__all__ = [
    "AnnotatorTable",
    "Consensus",
    "ConsensusTable",
    "LabelAudit",
    "LabelQueue",
    "LabelSetAudit",
    "LabelTable",
    "Verdict",
    "VerdictError",
    "Verdicts",
    "audit",
    "audit_proba",
    "consensus",
    "corrupt",
    "merge_verdicts",
    "next_to_label",
    "read_verdicts",
]


def __getattr__(name: str) -> Any:
    """An audit needs scikit-learn, noise does not: it loads on first use."""
    if name in _HOME:
        module = import_module(f"steadyboost.noise.{_HOME[name]}")
        return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module 'steadyboost.noise' has no attribute {name!r}")
