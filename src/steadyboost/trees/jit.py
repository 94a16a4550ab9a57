"""The decorator of compiled functions: numba compiles them on first use and caches them on disk.

Every compiled function, whether Python or another kernel calls it, has the one decorator of this
module. Kernels take arrays, numbers and named tuples of these, and write results into arguments.
"""

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numba import config, njit

# ``nogil``: kernels run in parallel threads. ``numpy``: a division by zero gives inf or nan, as in
# NumPy, and needs no branch.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
JIT_DISABLED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined] # set when numba is imported


@cache
def _warn_of_no_cache() -> None:
    """Warn once per process, whatever the number of kernels."""
    warnings.warn(
        "Compiled kernels cannot be kept: neither the package's folder nor a cache folder of the "
        "user can be written to, so that each process compiles anew. Set the environment variable "
        "NUMBA_CACHE_DIR to a folder that can be written to.",
        UserWarning,
        stacklevel=2,
    )


@cache
def _remove_stale(folder: str, source: str) -> None:
    """Remove numba's lists of what it compiled of an older state of a source file.

    numba reads the types in a list before it compares dates, which is an error where a structure
    has been renamed since: after an update, the first fit would fail.
    """
    with suppress(OSError):
        changed, prefix = os.stat(source).st_mtime, f"{Path(source).stem}."
        for entry in os.scandir(folder):
            is_list = entry.name.startswith(prefix) and entry.name.endswith(".nbi")
            if is_list and entry.stat().st_mtime < changed:
                os.unlink(entry.path)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called."""
    if JIT_DISABLED:  # as compiled code, it does not warn of overflow or division by zero
        return np.errstate(all="ignore")(function)
    try:
        made = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # numba has found no folder for its cache
        _warn_of_no_cache()
        return njit(**OPTIONS)(function)
    _remove_stale(made.stats.cache_path, function.__code__.co_filename)
    return made


def is_compiled(kernel: Any) -> bool:
    """Whether a kernel has been compiled: in this process, or to numba's cache on disk."""
    if JIT_DISABLED or kernel.signatures:
        return True
    folder, function = kernel.stats.cache_path, kernel.py_func
    if folder is None:
        return False
    source = Path(function.__code__.co_filename)
    kept = Path(folder).glob(f"{source.stem}.{function.__name__}-*")
    made = [path.stat().st_mtime for path in kept]
    return bool(made) and max(made) >= source.stat().st_mtime


@cache
def announce_compilation(kernel: Any, seconds: int) -> None:
    """Print to standard error that the first fit on a machine has to wait for the compiler."""
    if not is_compiled(kernel):
        is_kept = kernel.stats.cache_path is not None
        where = "this machine, once" if is_kept else "this process"
        message = f"Compiling kernels for {where} (about {seconds} s)."
        print(message, file=sys.stderr, flush=True)
