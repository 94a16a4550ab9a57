"""Ctrl-C is heard wherever it comes; when writes let it take effect is in test_files.py."""

import ctypes
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from steadyboost.interruptions import interrupted_fits_raise, interrupts_heard, is_at_a_lock
from steadyboost.lab.comparison import compare


def stop():
    raise KeyboardInterrupt


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("block", [interrupts_heard, interrupted_fits_raise])
def test_an_interruption_that_a_callback_has_swallowed_comes_again(block):
    before, callback = sys.unraisablehook, ctypes.CFUNCTYPE(None)(stop)

    def work():
        callback()  # ctypes prints what is raised in it, and goes on
        time.sleep(60)

    with pytest.raises(KeyboardInterrupt), block():
        work()
    assert sys.unraisablehook is before


LOCK = """
class Lock:
    def __enter__(self):
        happens()
        self.is_taken = True

    def __exit__(self, *error):
        self.is_taken = False
"""


def lock_of(module, happens):
    """A lock written in Python, as numba has, at which something happens."""
    names = {"__name__": module, "happens": happens}
    exec(LOCK, names)
    return names["Lock"]()


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("module", ["numba.core.compiler_lock", "llvmlite.binding.ffi"])
def test_an_interruption_leaves_no_lock_of_the_compiler_taken(module):
    lock, entered = lock_of(module, lambda: signal.raise_signal(signal.SIGINT)), []

    def work():
        with lock:
            entered.append(True)
            time.sleep(60)

    with pytest.raises(KeyboardInterrupt), interrupts_heard():
        work()
    assert entered
    assert not lock.is_taken


def test_locks_of_others_do_not_put_it_off():
    found = []
    for module in ("numba.core.compiler_lock", "elsewhere"):
        with lock_of(module, lambda: found.append(is_at_a_lock(sys._getframe()))):
            found.append(is_at_a_lock(sys._getframe()))
    assert found == [True, False, False, False]


@pytest.mark.usefixtures("ctrl_c")
def test_other_errors_of_callbacks_are_shown_as_ever(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: seen.append(lost.exc_type))
    with interrupts_heard():
        ctypes.CFUNCTYPE(None)(lambda: 1 / 0)()
    assert seen == [ZeroDivisionError]


@pytest.mark.parametrize(("cause", "raised"), [(stop, KeyboardInterrupt), (int, SystemError)])
def test_a_function_that_an_interruption_has_met(cause, raised):
    def work():
        try:
            cause()
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error
        raise SystemError("of another cause")

    with pytest.raises(raised), interrupts_heard():
        work()


def test_in_other_threads_nothing_changes():
    hooks = []

    def work():
        with interrupts_heard():
            hooks.append(sys.unraisablehook)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert hooks == [sys.unraisablehook]


def test_commands_end_without_a_last_search_for_garbage():
    script = "import atexit, gc, sys\nimport steadyboost.cli as m\n"
    script += "atexit.register(lambda: print(gc.get_freeze_count() > 0))\n"
    script += "sys.argv = ['steadyboost', '--version']\nm.main()"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\nTrue\n")


class Met(ClassifierMixin, BaseEstimator):
    """A classifier whose prediction an interruption meets."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def test_a_comparison_does_not_take_it_for_a_failure():
    X = np.arange(40.0)[:, None]
    with pytest.raises(KeyboardInterrupt):
        compare(X, np.arange(40) % 2, {"met": Met(), "too": Met()}, folds=2)
