"""Callbacks for ``callbacks=[...]``: they see each round, and stop training by returning True."""

from steadyboost.ensemble.callbacks import (
    Callback,
    EarlyStopping,
    Monitor,
    Progress,
    TimeLimit,
)
from steadyboost.ensemble.checkpoint import Checkpoint
from steadyboost.ensemble.history import History

__all__ = [
    "Callback",
    "Checkpoint",
    "EarlyStopping",
    "History",
    "Monitor",
    "Progress",
    "TimeLimit",
]
