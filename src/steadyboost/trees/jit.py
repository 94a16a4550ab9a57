"""How kernels are compiled: by numba, on first use, to its cache on disk.

Every compiled function, whether Python or another kernel calls it, has the one decorator of this
module. Kernels take arrays, numbers and named tuples of these, and write results into arguments.
"""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit

# ``nogil``: threads run kernels side by side. ``numpy``: a division by zero gives inf or nan, as in
# NumPy, and needs no branch.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


@cache
def _warn_of_no_cache() -> None:
    """Once a process, whatever the number of kernels."""
    warnings.warn(
        "Compiled kernels cannot be kept: neither the package's folder nor a cache folder of the "
        "user can be written to, so that each process compiles anew. Set the environment variable "
        "NUMBA_CACHE_DIR to a folder that can be written to.",
        UserWarning,
        stacklevel=2,
    )


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba has found no folder for its cache
        _warn_of_no_cache()
        return njit(**OPTIONS)(function)
