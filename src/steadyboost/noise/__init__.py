"""Label noise: ways to make it, and to find it."""

from typing import TYPE_CHECKING, Any

from steadyboost.noise.corruption import corrupt

if TYPE_CHECKING:
    from steadyboost.boosters.steadyboost.label_table import LabelTable
    from steadyboost.noise.label_audit import LabelAudit, audit

__all__ = ["LabelAudit", "LabelTable", "audit", "corrupt"]


def __getattr__(name: str) -> Any:
    """An audit needs scikit-learn, noise does not: it loads on first use."""
    if name in ("LabelAudit", "LabelTable", "audit"):
        from steadyboost.noise import label_audit

        return getattr(label_audit, name)
    raise AttributeError(f"module 'steadyboost.noise' has no attribute {name!r}")
