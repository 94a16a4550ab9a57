"""Dask collections: how they are recognised, and passed on to :mod:`steadyboost.distributed`."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any


def is_dask(X: Any) -> bool:
    """Whether X is a Dask collection; Dask itself is not needed to find out."""
    return hasattr(X, "__dask_graph__")


def distributed_package() -> Any:
    """:mod:`steadyboost.distributed`, imported when it is needed, as it imports this package."""
    return import_module("steadyboost.distributed")


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a model and rows; for a Dask collection, a Dask array of its results."""

    @wraps(method)
    def on_any(self: Any, X: Any, *arguments: Any, **options: Any) -> Any:
        if is_dask(X):
            return distributed_package().lazily(self, method.__name__, X, *arguments, **options)
        return method(self, X, *arguments, **options)

    return on_any
