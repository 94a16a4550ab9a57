"""Imports go one way, and the package is quick to import."""

import ast
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import numba
import pytest

import steadyboost

ROOT = Path(steadyboost.__file__).parent
LAYERS = (
    "parameters",
    "interruptions",
    "files",
    "pages",  # what any package writes pages with: it knows none of them
    "trees",
    "preprocessing",
    "learners",
    "ensemble",
    "noise",
    "boosters",
)
ON_TOP = ("lab", "cli")  # they use the library, which does not know them
NOT_PUBLIC = ("numba.core", "numba.np", "numba.extending", "llvmlite")
ALLOWED = (
    "sklearn.utils._param_validation."  # there is no other way to the messages of scikit-learn
)
MODULES = sorted(ROOT.rglob("*.py"))


def absolute(node, path):
    """The module that a ``from`` import names."""
    if not node.level:
        return node.module
    package = ("steadyboost", *path.relative_to(ROOT).parts[: -node.level])
    return ".".join([*package, node.module] if node.module else package)


@cache
def imported_by(path):
    """Every module that a file imports, wherever in the file."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.update(f"{absolute(node, path)}.{alias.name}" for alias in node.names)
    return names


def package_of(name):
    """The package (or module) of ``steadyboost`` that an import leads to, None for all others."""
    parts = name.split(".")
    if parts[0] != "steadyboost" or len(parts) == 1:
        return None
    home = steadyboost._HOME.get(parts[1])
    package = home.split(".")[1] if home else parts[1]
    is_part = (ROOT / package).is_dir() or (ROOT / f"{package}.py").exists()
    return package if is_part else None


def own_package(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_packages(path):
    """The other packages of ``steadyboost`` that a file imports from."""
    return {package_of(name) for name in imported_by(path)} - {None, own_package(path)}


def run_python(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()


def test_imports_go_one_way():
    for path in MODULES:
        own, used = own_package(path), imported_packages(path)
        if own in LAYERS:
            assert used <= set(LAYERS[: LAYERS.index(own)]), path
        above = ON_TOP[ON_TOP.index(own) :] if own in ON_TOP else ON_TOP
        assert used.isdisjoint(above), path


def test_no_packages_import_each_other():
    graph = {}
    for path in MODULES:
        if path != ROOT / "__init__.py":
            graph.setdefault(own_package(path), set()).update(imported_packages(path))
    assert set(TopologicalSorter(graph).static_order()) >= {*LAYERS, *ON_TOP}


def test_no_two_classes_have_one_name():
    sources = [path.read_text(encoding="utf-8") for path in MODULES]
    names = [name for text in sources for name in re.findall(r"^class (\w+)", text, re.MULTILINE)]
    assert [name for name, n in Counter(names).items() if n > 1] == []


def test_trees_need_numpy_and_numba_alone():
    for path in MODULES:
        if own_package(path) == "trees":
            packages = {name.split(".")[0] for name in imported_by(path)}
            others = packages - set(sys.stdlib_module_names)
            assert others <= {"numpy", "steadyboost", "numba"}, path


def private_to_others(names):
    """Those of the names that another package keeps to itself."""
    return {
        name
        for name in names
        if not name.startswith("steadyboost.")
        and any(part.startswith("_") and not part.startswith("__") for part in name.split("."))
        and not name.startswith(ALLOWED)
    }


def is_within(name, packages):
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


def test_only_public_parts_of_numba_are_imported():
    imported = {name for path in MODULES for name in imported_by(path)}
    assert [name for name in imported if is_within(name, NOT_PUBLIC)] == []


def test_only_public_names_of_other_packages_are_imported():
    users = {path.name for path in MODULES if private_to_others(imported_by(path))}
    assert users <= {"parameters.py"}


def test_one_module_knows_the_compiler():
    users = {
        str(path.relative_to(ROOT))
        for path in MODULES
        if any(is_within(name, ("numba",)) for name in imported_by(path))
    }
    assert users == {"trees/jit.py"}


@pytest.mark.parametrize(
    ("name", "is_private"),
    [
        ("sklearn.utils._param_validation.Interval", False),
        ("sklearn.utils._encode._unique", True),
        ("_thread", True),
        ("numpy._core", True),
        ("__future__.annotations", False),
        ("steadyboost._moved.install", False),
    ],
)
def test_private_names_are_told_apart(name, is_private):
    assert bool(private_to_others({name})) == is_private


@pytest.mark.parametrize(
    ("name", "is_public"),
    [
        ("numba.njit", True),
        ("numba.core.types", False),
        ("numba.core", False),
        ("numba.extending.overload", False),
        ("llvmlite", False),
        ("llvmlite.ir", False),
        ("numba.npyufunc", True),
    ],
)
def test_parts_of_numba_are_told_apart(name, is_public):
    assert is_within(name, NOT_PUBLIC) != is_public


def test_the_check_sees_imports_of_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "ensemble").mkdir()
    path = tmp_path / "ensemble" / "module.py"
    path.write_text(
        "import steadyboost.noise\n"
        "from steadyboost.lab import datasets\n"
        "from ..boosters import samme\n"
        "from . import loop\n"
        "def late():\n    from steadyboost.ensemble.training_state import RowChunk\n"
    )
    assert imported_by(path) == {
        "steadyboost.noise",
        "steadyboost.lab.datasets",
        "steadyboost.boosters.samme",
        "steadyboost.ensemble.loop",
        "steadyboost.ensemble.training_state.RowChunk",
    }


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("steadyboost.ensemble.loop.Stage", "ensemble"),
        ("steadyboost.Tree", "learners"),
        ("steadyboost.SAMMEClassifier", "boosters"),
        ("steadyboost.__version__", None),
        ("numpy.random", None),
    ],
)
def test_names_lead_to_the_package_that_they_live_in(name, package):
    assert package_of(name) == package


REPOSITORY = Path(__file__).parents[1]
OUTSIDE = [
    path
    for folder in ("benchmarks", "docs", "examples")
    for path in sorted((REPOSITORY / folder).glob("*.py"))
]


def exists(name):
    """Whether a name is that of a module, or of something in one."""
    try:
        return importlib.import_module(name) is not None
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        return hasattr(importlib.import_module(module), attribute)


def test_what_scripts_import_of_the_package_is_there():
    imported = {name for path in OUTSIDE for name in imported_by(path)}
    names = [name for name in imported if name.split(".")[0] == "steadyboost"]
    assert [name for name in names if not exists(name)] == []


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, steadyboost; print(*{name.split('.')[0] for name in sys.modules})"
    heavy = {
        "rich",
        "sklearn",
        "numba",
        "llvmlite",
        "scipy",
        "numpy",
        "pandas",
        "narwhals",
        "matplotlib",
    }
    assert heavy.isdisjoint(run_python(code))


COMPILED = """
import importlib, pkgutil, sys
from numba import njit
import steadyboost

def compiled():
    \"\"\"Functions of ours that numba has compiled in this process.\"\"\"
    modules = [m for name, m in sorted(sys.modules.items()) if name.startswith("steadyboost")]
    kinds = {value for module in modules for value in vars(module).values() if is_kernel(value)}
    return [kernel.__name__ for kernel in kinds if kernel.signatures], len(kinds)

def is_kernel(value):
    return isinstance(value, type(njit(is_kernel)))
"""
SHOW = "names, n = compiled(); print('+'.join(names) or 'none', n)"
IMPORT_ALL = """
for name in steadyboost.__all__:
    getattr(steadyboost, name)
for module in pkgutil.walk_packages(steadyboost.__path__, "steadyboost."):
    importlib.import_module(module.name)
"""


def test_importing_every_part_compiles_nothing(tmp_path):
    names, n_kernels = run_python(COMPILED + IMPORT_ALL + SHOW, NUMBA_CACHE_DIR=str(tmp_path))
    assert names == "none"
    assert int(n_kernels) > 100
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_compiling_would_be_noticed(tmp_path):
    code = """
import numpy as np
from steadyboost.trees.prediction.apply import take
take(np.zeros(1), np.zeros(1, dtype=np.int32), np.zeros(1))
"""
    names, _ = run_python(COMPILED + code + SHOW, NUMBA_CACHE_DIR=str(tmp_path))
    assert names == "take"
    assert [path for path in tmp_path.rglob("*") if path.is_file()]


def test_public_names_resolve():
    for name in steadyboost.__all__:
        assert getattr(steadyboost, name) is not None
        assert name in dir(steadyboost)


def test_public_names_all_have_a_home():
    assert set(steadyboost._HOME) == set(steadyboost.__all__) - {"__version__"}


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = steadyboost.Nothing


def test_tests_compile_to_the_folder_that_they_were_told_of():
    """It is set in conftest.py, which must come before numba does."""
    assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR


QUIET_FIT = """
import sys
sys.modules["rich"] = None  # whoever imports it gets an ImportError; scikit-learn does without
import steadyboost
steadyboost.SAMMEClassifier(n_estimators=1, early_stopping=True).fit([[0], [1]] * 9, [0, 1] * 9)
print("fitted")
"""


def test_a_fit_that_shows_nothing_does_not_load_rich():
    assert run_python(QUIET_FIT) == ["fitted"]
