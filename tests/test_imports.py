"""Imports go one way, and the package is quick to import."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import steadyboost

ROOT = Path(steadyboost.__file__).parent
LAYERS = ("trees", "preprocessing", "learners", "ensemble", "boosters")
ON_TOP = ("lab", "cli")  # they use the library, which does not know them
MODULES = [
    pytest.param(path, id=str(path.relative_to(ROOT))) for path in sorted(ROOT.rglob("*.py"))
]


def absolute(node, path):
    """The module that a ``from`` import names."""
    if not node.level:
        return node.module
    package = ("steadyboost", *path.relative_to(ROOT).parts[: -node.level])
    return ".".join([*package, node.module] if node.module else package)


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


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize("path", MODULES)
def test_imports_go_one_way(path):
    own, used = own_package(path), imported_packages(path)
    if own in LAYERS:
        assert used <= set(LAYERS[: LAYERS.index(own)])
    above = ON_TOP[ON_TOP.index(own) :] if own in ON_TOP else ON_TOP
    assert used.isdisjoint(above)


def test_no_packages_import_each_other():
    graph = {}
    for path in ROOT.rglob("*.py"):
        if path != ROOT / "__init__.py":
            graph.setdefault(own_package(path), set()).update(imported_packages(path))
    assert set(TopologicalSorter(graph).static_order()) >= {*LAYERS, *ON_TOP}


@pytest.mark.parametrize("path", [p for p in MODULES if own_package(p.values[0]) == "trees"])
def test_trees_need_numpy_and_numba_alone(path):
    packages = {name.split(".")[0] for name in imported_by(path)}
    compiler = {"numba", "llvmlite"}  # one is the other's
    assert packages - set(sys.stdlib_module_names) <= {"numpy", "steadyboost", *compiler}


def test_the_check_sees_imports_of_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "ensemble").mkdir()
    path = tmp_path / "ensemble" / "module.py"
    path.write_text(
        "import steadyboost.noise\n"
        "from steadyboost.lab import datasets\n"
        "from ..boosters import samme\n"
        "from . import loop\n"
        "def late():\n    from steadyboost.ensemble.training_state import Rows\n"
    )
    assert imported_by(path) == {
        "steadyboost.noise",
        "steadyboost.lab.datasets",
        "steadyboost.boosters.samme",
        "steadyboost.ensemble.loop",
        "steadyboost.ensemble.training_state.Rows",
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


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, steadyboost; print(*{name.split('.')[0] for name in sys.modules})"
    heavy = {"sklearn", "numba", "llvmlite", "scipy", "numpy", "pandas", "narwhals", "matplotlib"}
    assert heavy.isdisjoint(run_python(code))


REFUSE_TO_COMPILE = """
from numba import njit
from numba.core.compiler import CompilerBase

def refuse(self, *_):
    raise AssertionError("compiled")

CompilerBase.compile_extra = refuse
"""


def test_importing_every_part_compiles_nothing():
    code = """
import pkgutil, importlib, steadyboost
for name in steadyboost.__all__:
    getattr(steadyboost, name)
for part in ("trees", "preprocessing", "learners", "ensemble", "boosters"):
    path = importlib.import_module(f"steadyboost.{part}").__path__
    for module in pkgutil.walk_packages(path, f"steadyboost.{part}."):
        importlib.import_module(module.name)
print("quiet")
"""
    assert run_python(REFUSE_TO_COMPILE + code) == ["quiet"]


def test_compiling_would_be_noticed():
    code = "try: njit(lambda x: x + 1)(1)\nexcept AssertionError as error: print(error)"
    assert run_python(REFUSE_TO_COMPILE + code) == ["compiled"]


@pytest.mark.parametrize("name", steadyboost.__all__)
def test_public_names_resolve(name):
    assert getattr(steadyboost, name) is not None
    assert name in dir(steadyboost)


def test_public_names_all_have_a_home():
    assert set(steadyboost._HOME) == set(steadyboost.__all__) - {"__version__"}


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = steadyboost.Nothing
