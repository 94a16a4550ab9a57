"""The decorator of kernels: plain numba, with its checks, its cache and its exceptions."""

import os
import subprocess
import sys

import pytest

READ = """
import numpy as np
from steadyboost.trees.jit import kernel

@kernel
def read(values, at):
    return values[at]

try:
    read(np.arange(3), 5)
except IndexError:
    print("IndexError")
else:
    print("nothing")
"""

KERNELS = """
import numpy as np
from steadyboost.trees.jit import announce_compilation, is_compiled, kernel

@kernel
def refuse(n):
    if n > 1:
        raise ValueError("n must be 1")
    return n

@kernel
def steps(step):
    total = 0
    for k in range(0, 3, step):
        total += k
    return total

@kernel
def divide(a, b):
    return a / b
"""


def run(folder, code, **variables):
    """What a script prints, which has its kernels' source and cache in a folder of its own."""
    script = folder / "script.py"
    if not script.exists() or script.read_text() != code:
        script.write_text(code)
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | cache | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\n")[:-1], done.stderr


def test_indices_are_checked_where_numba_is_told_to(tmp_path):
    assert run(tmp_path, READ, NUMBA_BOUNDSCHECK="1")[0] == ["IndexError"]


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_errors_of_kernels_are_raised(tmp_path, disabled):
    code = KERNELS + (
        "for function, argument in ((refuse, 2), (steps, 0)):\n"
        "    try:\n        function(argument)\n"
        "    except ValueError as error:\n        print(error)\n"
        "print(divide(np.float64(1.0), 0.0))\n"
    )
    printed, errors = run(tmp_path, code, NUMBA_DISABLE_JIT=disabled)
    assert printed[0] == "n must be 1"
    assert "must not be zero" in printed[1]
    assert (printed[2], errors) == ("inf", "")


def test_a_first_compile_is_announced_once_and_never_again(tmp_path):
    code = KERNELS + (
        "for _ in range(2):\n    announce_compilation(refuse, 7)\n"
        "refuse(1)\nprint(is_compiled(refuse), is_compiled(divide))\n"
    )
    printed, errors = run(tmp_path, code)
    assert errors == "Compiling kernels for this machine, once (about 7 s).\n"
    assert printed == ["True False"]
    assert run(tmp_path, code) == (["True False"], "")
    os.utime(tmp_path / "script.py")  # as if it had changed: what is kept is of no use
    assert run(tmp_path, code)[1] == errors


def test_nothing_is_announced_where_nothing_is_compiled(tmp_path):
    code = KERNELS + "announce_compilation(refuse, 7)\n"
    assert run(tmp_path, code, NUMBA_DISABLE_JIT="1") == ([], "")


RENAMED = """
from typing import NamedTuple
from steadyboost.trees.jit import kernel

class Pair(NamedTuple):
    a: int
    b: int

@kernel
def total(pair):
    return pair.a + pair.b

print(total(Pair(1, 2)))
"""


def test_a_structure_can_be_renamed(tmp_path):
    for name in ("Pair", "Sums"):
        (tmp_path / "module.py").write_text(RENAMED.replace("Pair", name))
        assert run(tmp_path, "import module") == (["3"], "")
