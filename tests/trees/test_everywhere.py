"""Fits work wherever numba does: without a cache, without compiling, in processes and threads.

Each test needs a process of its own, as what numba does is decided when a process starts. Those
that fit a model share the cache of all tests; those whose cache must be empty call a few kernels.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import steadyboost

PACKAGE = Path(steadyboost.__file__).parent
TIMEOUT = 300  # seconds; a process that waits for a thread that is gone would wait forever
MANY = 60_000  # rows that several threads share
BEGINNING = """
import json, os, sys, threading
import numpy as np

def probabilities(n=200, n_jobs=None):
    from steadyboost import SAMMEClassifier  # here, for a test that notes what an import warns of
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] + 0.5 * rng.normal(size=n) > 0.5)
    model = SAMMEClassifier(n_estimators=2, n_jobs=n_jobs, random_state=0).fit(X, y)
    return model.predict_proba(X[:20]).tolist()

def few_kernels():
    from steadyboost.ensemble.scores import add_votes, own_score, weighted_error
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(50, 3)), rng.integers(3, size=50).astype(np.int32)
    add_votes(scores, y[::-1].copy(), np.ones(3), 0.5)
    error = weighted_error(np.full(50, 0.02), y, y[::-1].copy())
    return [own_score(scores, y).tolist(), float(error)]
"""
FEW_KERNELS = "print(json.dumps(few_kernels()))"
ONE_FIT = "print(json.dumps(probabilities()))"


def environment(**changes):
    """The variables of this process without numba's, and with some of the test's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return {**kept, "PYTHONPATH": str(PACKAGE.parent), **changes}


def start(code, env):
    """Run code after the beginning that all share, in a new process."""
    command = [sys.executable, "-c", BEGINNING + code]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True)


def end(process):
    """What a process printed, as JSON; it must end well, and in time."""
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"no end after {TIMEOUT} s")
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.fixture(scope="session")
def warm():
    """The environment of a process that finds what other tests have compiled."""
    return environment(NUMBA_CACHE_DIR=os.environ["NUMBA_CACHE_DIR"])


@pytest.fixture(scope="session")
def expected(warm):
    return end(start(ONE_FIT, warm))


@pytest.fixture(scope="session")
def expected_of_many(warm):
    return end(start(f"print(json.dumps(probabilities({MANY})))", warm))


@pytest.fixture(scope="session")
def expected_of_few(warm):
    return end(start(FEW_KERNELS, warm))


@pytest.fixture
def nowhere_to_write(tmp_path):
    """The environment of a process without a folder for a cache, whoever runs it.

    Root may write to folders that are read-only, but cannot make a folder where a file is.
    """
    copy = tmp_path / "site" / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("a file")
    file = tmp_path / "file"
    file.write_text("a file")
    home = str(file / "home")
    return environment(PYTHONPATH=str(copy.parent), HOME=home, XDG_CACHE_HOME=home)


NOTING_WARNINGS = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    found = few_kernels()
print(json.dumps([found, [str(warning.message) for warning in caught]]))
"""


@pytest.mark.parametrize("variable", ["unset", "unusable"])
def test_without_a_cache_kernels_warn_once_and_work(variable, nowhere_to_write, expected_of_few):
    if variable == "unusable":
        nowhere_to_write["NUMBA_CACHE_DIR"] = nowhere_to_write["HOME"]
    found, messages = end(start(NOTING_WARNINGS, nowhere_to_write))
    assert found == expected_of_few
    assert sum("NUMBA_CACHE_DIR" in message for message in messages) == 1, messages


def test_it_works_without_compiling(warm, expected):
    found = end(start(ONE_FIT, {**warm, "NUMBA_DISABLE_JIT": "1"}))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def state_of(folder):
    """Every file in a folder, and when it was last written."""
    return {str(f): f.stat().st_mtime_ns for f in folder.rglob("*") if f.is_file()}


def test_two_processes_compile_into_one_empty_cache(tmp_path, expected_of_few):
    env = environment(NUMBA_CACHE_DIR=str(tmp_path))
    processes = [start(FEW_KERNELS, env) for _ in range(2)]
    assert [end(process) for process in processes] == [expected_of_few] * 2
    compiled = state_of(tmp_path)
    assert compiled
    assert end(start(FEW_KERNELS, env)) == expected_of_few
    assert state_of(tmp_path) == compiled  # the third compiles nothing


FORKING = """
first = probabilities({n}, n_jobs=2)
child = os.fork()
if child == 0:
    try:
        os._exit(0 if probabilities({n}, n_jobs=2) == first else 1)
    finally:
        os._exit(2)  # an error
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0, status
assert probabilities({n}, n_jobs=2) == first
print(json.dumps(first))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_can_fork_after_a_fit(warm, expected, expected_of_many):
    assert end(start(FORKING.format(n=200), warm)) == expected
    assert end(start(FORKING.format(n=MANY), warm)) == expected_of_many


IN_THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    small = list(pool.map(lambda _: probabilities(), range(4)))
    large = list(pool.map(lambda _: probabilities({n}, n_jobs=2), range(4)))
print(json.dumps([small, large]))
"""


def test_two_threads_can_fit_at_once(warm, expected, expected_of_many):
    small, large = end(start(IN_THREADS.format(n=MANY), warm))
    assert small == [expected] * 4
    assert large == [expected_of_many] * 4


BESIDE_PARALLEL_CODE = """
from numba import njit, prange

@njit(parallel=True)
def total(values):
    found = 0
    for i in prange(len(values)):
        found += values[i]
    return found

values = np.arange(100_000)
assert total(values) == values.sum()
fits = []
thread = threading.Thread(target=lambda: fits.append(probabilities({n}, n_jobs=2)))
thread.start()
while thread.is_alive():
    assert total(values) == values.sum()
thread.join()
fits.append(probabilities({n}, n_jobs=2))
assert total(values) == values.sum()
print(json.dumps(fits))
"""


def test_a_user_may_have_parallel_functions(warm, expected_of_many):
    assert end(start(BESIDE_PARALLEL_CODE.format(n=MANY), warm)) == [expected_of_many] * 2
