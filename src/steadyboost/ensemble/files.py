"""Writing files so that a half-written one never has the file's name."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` at the end, complete or not at all."""
    wanted = Path(os.path.realpath(path))  # a link stays one
    temporary = wanted.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, wanted)
        _sync_folder(wanted.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(output: Path, text: str) -> None:
    """All of the text or none of it."""
    with replacing(output) as file:
        file.write(text.encode())


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere folders cannot be synced
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
