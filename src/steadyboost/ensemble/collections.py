"""Dask collections: where they are met, and who takes care of them."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask itself is not needed to find out."""
    return hasattr(X, "__dask_graph__")


def dask_room() -> Any:
    """:mod:`steadyboost.distributed`, which knows the core, as the core does not know it."""
    return import_module("steadyboost.distributed")


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model and rows; for a Dask collection, a Dask array of its results."""

    @wraps(method)
    def on_any(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if is_dask(X):
            return dask_room().lazily(self, method.__name__, X, *arguments, **options)
        return method(self, X, *arguments, **options)

    return on_any
