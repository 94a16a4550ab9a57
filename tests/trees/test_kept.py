"""Kernels come back from the disk without numba's compiler, and do what they did."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from steadyboost.trees import kept
from steadyboost.trees.jit import kernel

KERNELS = """
import numpy as np
from numba.core.runtime import rtsys
from steadyboost.trees.jit import inner, kernel, standing

@inner
def doubled(values):
    return 2 * values

@kernel
def powers(values, scale):
    if len(values) == 0:
        raise ValueError("no values")
    return np.exp(doubled(values)), (scale, len(values))

@standing
def fill(values, number):
    for i in range(len(values)):
        values[i] = number

@kernel
def powers_of_one(n):
    values = np.empty(n)
    fill(values, 1.0)
    return powers(values, 3)[0]
"""

USE = """
from kernels import fill, powers, rtsys
import numpy as np

values = np.empty(3)
fill(values, 0.5)
found, (scale, n) = powers(values, 7)
try:
    powers(values[:0], 7)
except ValueError as error:
    print(*np.round(found, 6), scale, n, error, sep=";")
print("compiles" if rtsys._init else "loads")
"""

LINK = "from kernels import powers_of_one; print(*powers_of_one(2).round(6), sep=';')"

BOOSTERS = """
import warnings
from tests.common import BOOSTERS, make, problem
from numba.core.runtime import rtsys

warnings.simplefilter("ignore")
X, y = problem()
for booster in BOOSTERS:
    print(booster.__name__, *make(booster, n_estimators=3).fit(X, y).predict_proba(X)[:4].ravel())
print("compiles" if rtsys._init else "loads")
"""


def run(code, folder, **variables):
    """What a new process prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def test_a_second_process_loads_what_the_first_compiled(folder):
    first, second = (run(USE, folder, NUMBA_CACHE_DIR="cache") for _ in range(2))
    assert first == ["2.718282;2.718282;2.718282;7;3;no values", "compiles"]
    assert second == [first[0], "loads"]


def test_what_was_loaded_may_be_part_of_what_is_compiled(folder):
    run(USE, folder, NUMBA_CACHE_DIR="cache")
    for _ in range(2):
        assert run(USE + LINK, folder, NUMBA_CACHE_DIR="cache")[-1] == "7.389056;7.389056"


def test_boosters_load_what_they_compiled():
    root, runs = Path(__file__).parents[2], []
    while len(runs) < 4 and (len(runs) < 2 or runs[-1][-1] != "loads"):
        runs.append(run(BOOSTERS, root))  # tests beside this one write to the same cache
    assert runs[-1] == [*runs[0][:-1], "loads"]


def _add_one(values):
    return values + 1


def found_again(stamps, monkeypatch):
    monkeypatch.setattr(kept, "_stamps", lambda: stamps)
    again = kernel(_add_one)
    again(np.zeros(2))
    return bool(again.stats.cache_hits)


def test_kernels_are_compiled_anew_when_the_functions_they_may_call_change(monkeypatch):
    stamps = [((uuid4().hex, 1, 2),) for _ in range(2)]  # of no run before
    found_again(stamps[0], monkeypatch)
    assert found_again(stamps[0], monkeypatch)
    assert not found_again(stamps[1], monkeypatch)


def test_every_file_of_the_trees_has_a_stamp():
    files = Path(kept.__file__).parent.glob("*.py")
    assert {name for name, *_ in kept._stamps()} == {path.name for path in files}
