"""Artificial problems, and the data sets of the papers.

Generators need NumPy only; `load` finds a real data set wherever it can be had.
"""

from steadyboost.lab.datasets.generators import (
    make_led,
    make_long_servedio,
    make_madelon_like,
    make_poker,
    make_ringnorm,
    make_twonorm,
    make_waveform,
    poker_label,
)
from steadyboost.lab.datasets.krkopt import make_krkopt
from steadyboost.lab.datasets.readers import DatasetNotFound
from steadyboost.lab.datasets.sources import DatasetRecord, available, human_labels, load, reuters

__all__ = [
    "DatasetNotFound",
    "DatasetRecord",
    "available",
    "human_labels",
    "load",
    "make_krkopt",
    "make_led",
    "make_long_servedio",
    "make_madelon_like",
    "make_poker",
    "make_ringnorm",
    "make_twonorm",
    "make_waveform",
    "poker_label",
    "reuters",
]
