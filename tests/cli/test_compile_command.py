"""Kernels that are compiled ahead of time are all that a later process needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import steadyboost

FIT = """
import numpy as np
from steadyboost import SAMMEClassifier
X = np.random.default_rng(0).random((300, 5))
y = (X[:, 0] + X[:, 1] > 1).astype(int) + (X[:, 2] > 0.8)
print(SAMMEClassifier(n_estimators=3, random_state=0).fit(X, y).score(X, y))
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A copy of the package as an image has it, with kernels that were compiled for one booster."""
    root = tmp_path_factory.mktemp("image")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(steadyboost.__file__).parent, root / "steadyboost", ignore=ignore)
    done = run(root, "-m", "steadyboost.cli", "compile", "samme", "--cache", str(root / "kernels"))
    assert done.returncode == 0, done.stderr
    return root, done


def run(root, *arguments, **variables):
    own = {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment | own | variables,
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
    )


def files_of(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_it_says_what_it_compiles(image):
    _, done = image
    assert "SAMMEClassifier" in done.stdout
    assert "Compiled for 1 boosters" in done.stdout
    assert done.stderr.count("Compiling kernels for this machine, once") == 1


def test_the_second_process_compiles_nothing(image):
    root, _ = image
    before = files_of(root / "kernels")
    assert before
    done = run(root, "-c", FIT, NUMBA_CACHE_DIR=str(root / "kernels"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert files_of(root / "kernels") == before


def test_layers_that_keep_whole_seconds_need_no_second_compile(image):
    root, _ = image
    times = [path.stat().st_mtime for path in (root / "steadyboost").rglob("*.py")]
    assert all(time == int(time) for time in times)


def test_unknown_boosters_are_refused(image):
    root, _ = image
    done = run(root, "-m", "steadyboost.cli", "compile", "nonesuch")
    assert done.returncode != 0
    assert "nonesuch" in done.stderr
