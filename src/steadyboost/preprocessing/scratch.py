"""Arrays on disk, for what need not be in memory: files without a name, mapped into memory.

The system frees a file without a name when the last process that has it open ends. Nothing is left
to clean up, not even after a kill.
"""

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

VARIABLE = "STEADYBOOST_SCRATCH"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ZERO_BYTES = 1 << 20  # bytes of zeros written at a time where the system cannot reserve space


def scratch_folder() -> Path:
    """Where files on disk go: the folder that the environment names, or that of the system."""
    named = os.environ.get(VARIABLE)
    folder = Path(named or tempfile.gettempdir())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ValueError(
            f"{VARIABLE}={named!r} is not a folder that can be written to; "
            "name one with room for the bins, a byte for each number."
        )
    return folder


def scratch_file() -> IO[bytes]:
    """A file without a name, in the scratch folder."""
    return tempfile.TemporaryFile(prefix="steadyboost-", dir=scratch_folder())


@contextmanager
def explain_full_disk(what: str, n_bytes: int | None = None) -> Iterator[None]:
    """Raise an error that says what needs how much space, and what to do, if the disk is full."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        folder = scratch_folder()
        free = shutil.disk_usage(folder).free
        needed = "" if n_bytes is None else f" take {n_bytes / 1e6:,.1f} MB"
        raise OSError(
            error.errno,
            f"{what}{needed or ' do not fit'}, but {folder} has {free / 1e6:,.1f} MB left; "
            f"free some, or set {VARIABLE} to a folder with more room",
        ) from error


def mapped_array(shape: tuple[int, ...], dtype: Any, what: str) -> np.ndarray:
    """An array of zeros on disk, which lives as long as it is used; ``what`` is for errors."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if not n_bytes:
        return np.zeros(shape, dtype=dtype)
    with explain_full_disk(what, n_bytes), scratch_file() as file:
        reserve(file, n_bytes)
        mapped = mmap.mmap(file.fileno(), n_bytes)
    return np.frombuffer(mapped, dtype=dtype).reshape(shape)


def reserve(file: IO[bytes], n_bytes: int) -> None:
    """Give a file its size and its place on disk.

    A file with holes would take its place when its pages are first written to, and a full disk
    would then end the process by a signal instead of an error.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, n_bytes)
        return
    for start in range(0, n_bytes, ZERO_BYTES):
        file.write(bytes(min(ZERO_BYTES, n_bytes - start)))
    file.flush()
