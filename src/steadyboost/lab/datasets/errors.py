"""Errors of the data set loaders."""

from __future__ import annotations

from collections.abc import Sequence


class DatasetNotFound(LookupError):
    """No source could give a data set; the message lists those tried and the remedy.

    Examples
    --------
    >>> from steadyboost.lab.datasets import DatasetNotFound
    >>> issubclass(DatasetNotFound, LookupError)
    True
    """

    def __init__(self, what: str, tried: Sequence[str], remedy: str) -> None:
        lines = "".join(f"\n  - {reason}" for reason in tried)
        super().__init__(f"{what} cannot be had. Tried:{lines}\nRemedy: {remedy}.")


class Unavailable(Exception):
    """One source does not have what was asked for; the message says why."""
