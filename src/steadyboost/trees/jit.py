"""How kernels are compiled: on first use, to a cache on disk, without the interpreter's lock."""

from typing import Any

from numba import njit

kernel = njit(cache=True, nogil=True, error_model="numpy")

# Called by kernels only: without the wrappers that Python needs, these compile in half the time.
_bare: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(nogil=True, error_model="numpy", _nrt=True, **_bare)

# Small and in the innermost loops: array arguments cost more than the work unless inlined.
inlined = njit(nogil=True, error_model="numpy", forceinline=True, **_bare)

# Without counts of references, which take most of the time where nodes have few rows: for what
# allocates no array, returns none, and gets none from what it calls.
plain = njit(nogil=True, error_model="numpy", _nrt=False, **_bare)
plainly = njit(
    nogil=True, error_model="numpy", forceinline=True, _nrt=False, **_bare
)  # and inlined


def shared(function: Any, inside: Any = inner) -> Any:
    """A kernel that other kernels call too: these take ``.bare``, which compiles in less time."""
    dispatcher: Any = kernel(function)
    dispatcher.bare = inside(function)
    return dispatcher
