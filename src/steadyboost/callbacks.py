"""Callbacks for ``callbacks=[...]``: they see each round, and stop training by returning True."""

from steadyboost.core.callbacks import (
    Callback,
    EarlyStopping,
    Monitor,
    Progress,
    TimeLimit,
)
from steadyboost.core.checkpoint import Checkpoint
from steadyboost.core.history import History

__all__ = [
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "History",
    "Monitor",
    "Progress",
    "TimeLimit",
]
