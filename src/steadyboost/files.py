"""Files and terminals: gaps in text files, whole files or none, text that is safe to show."""

import errno
import os
import re
import secrets
import socket
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from steadyboost.interruptions import interrupts_held

# What stands for a missing value in text files, by custom of R, Weka, pandas and SQL.
GAPS = ("", "?", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL")

HOST = blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()
TEMPORARY = re.compile(r"\.steadyboost-(?P<host>[0-9a-f]{8})-(?P<pid>[0-9]+)-[0-9a-f]{16}\.tmp")


def counted(count: int, what: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


@contextmanager
def replacing(path: str | os.PathLike[str], *, holds_interrupts: bool = True) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` at the end, complete or not at all.

    An interruption (Ctrl-C) takes effect after the file is written; a second one at once. Without
    ``holds_interrupts``, for blocks that compute what they write, each takes effect at once, and
    the old file stays. Files that processes have left behind which were killed while they wrote
    are removed.
    """
    wanted = resolved(path)
    temporary = wanted.with_name(f".steadyboost-{HOST}-{os.getpid()}-{secrets.token_hex(8)}.tmp")
    with interrupts_held() if holds_interrupts else nullcontext():
        try:
            remove_abandoned(wanted.parent)
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


def resolved(path: str | os.PathLike[str]) -> Path:
    """Where a path leads: a link stays one, and what it points to is written."""
    if os.path.islink(path):
        try:
            os.stat(path)
        except FileNotFoundError:
            pass  # it points to a file that is not there yet
        except OSError as error:
            reason = "the link points to itself" if error.errno == errno.ELOOP else error.strerror
            raise OSError(error.errno, reason, os.fspath(path)) from error
    return Path(os.path.realpath(path))


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of processes of this machine that are no more."""
    if os.name != "posix":  # elsewhere asking for a process may end it
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            found = TEMPORARY.fullmatch(name)
            if found and found["host"] == HOST and not _is_alive(int(found["pid"])):
                (folder / name).unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):  # of another user; or no number of a process
        return True
    return True


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":  # elsewhere folders cannot be synced
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Text that others have written

FORMULA = "=+-@\t\r"  # a cell that begins with one of these is a formula to a spreadsheet


def printable(text: str) -> str:
    r"""Text with control characters escaped, so that a terminal shows and does not obey them.

    Also those that change the direction of writing. Ends of lines stay.

    Examples
    --------
    >>> print(printable("red\x1b[2J\u202e"))
    red\x1b[2J\u202e
    """
    return "".join(
        char if char == "\n" or unicodedata.category(char) not in HIDDEN else _escaped(char)
        for char in text
    )


HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode("ascii")


def shortened(text: str, most: int = 2000) -> str:
    """A message with the middle of it left out, and of names and cells in it, if they are long.

    Examples
    --------
    >>> shortened(f"there is no column {'x' * 3000!r}")[:60]
    "there is no column 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    >>> len(shortened("word " * 10_000))
    2000
    """
    text = re.sub(r"\S{1000,}", lambda word: f"{word[0][:80]}…{word[0][-20:]}", text)
    half = (most - 3) // 2
    return text if len(text) <= most else f"{text[: most - 3 - half]} … {text[-half:]}"


def spreadsheet_safe(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: such texts get an apostrophe in front.

    Of a list or a tuple, all cells.

    Examples
    --------
    >>> spreadsheet_safe("=cmd|' /C calc'!A0"), spreadsheet_safe("-"), spreadsheet_safe(-1.5)
    ("'=cmd|' /C calc'!A0", "'-", -1.5)
    """
    if isinstance(value, (list, tuple)):
        return [spreadsheet_safe(cell) for cell in value]
    return f"'{value}" if isinstance(value, str) and value[:1] in FORMULA and value else value
