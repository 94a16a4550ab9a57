"""What tests in ``tests`` and doctests in ``src`` share: a folder for compiled kernels, one thread.

numba keeps what it compiles by the time stamp of the file that a function is in, and does not see
that another file, whose functions are compiled into it, has changed. Here the folder's name has a
hash of all sources: other sources are another folder. The variable is set before numba is imported;
processes that tests start, those of pytest-xdist among them, inherit it.
"""

import hashlib
import os
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent / "src" / "steadyboost"


def hash_of(folder: Path) -> str:
    """Of the names and contents of all Python files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


if "NUMBA_CACHE_DIR" not in os.environ:
    user = getattr(os, "getuid", lambda: "user")()  # the folder of another could not be written to
    name = f"steadyboost-kernels-{user}-{hash_of(SOURCES)}"
    os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / name)

# Tables are small, and the processes of pytest-xdist share the processors: further threads of BLAS
# and OpenMP would spend their time waiting.
os.environ.setdefault("OMP_NUM_THREADS", "1")
