"""Modules that have moved can be had by their old names."""

import subprocess
import sys

import pytest

from steadyboost._moved import MOVED

OLD_NAMES = pytest.mark.parametrize(("old", "new"), MOVED.items())


def run_python(code):
    """What a new process prints, and what it says on its standard error."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr


@OLD_NAMES
def test_an_old_name_is_the_same_module_with_one_warning(old, new):
    code = f"""
import {old}
from steadyboost import {old.split(".")[1]} as again
import {new} as module
print({old} is module is again, module.__spec__.name)
"""
    out, warned = run_python(code)
    assert out == f"True {new}"
    assert warned.count("FutureWarning") == 1
    assert "<string>:2: FutureWarning" in warned
    assert f"{old} is now {new}." in warned


def test_names_and_modules_inside_are_the_same():
    code = """
from steadyboost.datasets import make_led
from steadyboost.datasets.breiman import make_twonorm
from steadyboost.lab.datasets import generators
print(make_led is generators.make_led, make_twonorm is generators.make_twonorm)
"""
    out, warned = run_python(code)
    assert out == "True True"
    assert warned.count("FutureWarning") == 1


def test_new_names_do_not_warn():
    code = "import steadyboost.io, steadyboost.dask, steadyboost.lab.demo, steadyboost.lab.reports"
    assert run_python(code)[1] == ""


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_what_never_was_is_still_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'steadyboost\.data'"):
        __import__("steadyboost.data")
    with pytest.raises(ModuleNotFoundError, match=r"steadyboost\.lab\.datasets\.nothing"):
        __import__("steadyboost.datasets.nothing")
