"""How kernels are compiled: on first use, to a cache on disk, without the interpreter's lock.

What the first fit needs has conditions where ``min`` and ``max`` would do: those are functions of
their own to numba, to be compiled for each pair of types.
"""

from typing import Any

from numba import njit

from steadyboost.trees.compiler import KernelCompiler, PartCompiler
from steadyboost.trees.kept import KernelCache

# No kernel is passed to another as an argument, so none needs the wrapper for that.
_all: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _kept(**options: Any) -> Any:
    """A decorator of functions that Python calls."""
    compiled = njit(**_all, **options, pipeline_class=KernelCompiler)

    def decorate(function: Any) -> Any:
        dispatcher: Any = compiled(function)
        dispatcher._cache = KernelCache(function)
        return dispatcher

    return decorate


kernel = _kept()

# Called by kernels only.
_bare = {**_all, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
_counting, _plain = {**_bare, "_nrt": True}, {**_bare, "_nrt": False}
inner = njit(**_counting)

# Without counts of references, which take most of the time where nodes have few rows: for what
# allocates no array, returns none, and gets none from what it calls.
plain = njit(**_plain)

# So, too, and called from Python.
standing = _kept(_nrt=False)

# So, too, and small and in the innermost loops, where array arguments cost more than the work.
inlined = njit(forceinline=True, **_plain)


def shared(function: Any, inside: Any = inner, outside: Any = kernel) -> Any:
    """A kernel that other kernels call too: these take ``.bare``, which compiles in less time."""
    dispatcher: Any = outside(function)
    dispatcher.bare = inside(function)
    return dispatcher
