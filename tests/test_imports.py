"""Imports go one way, and the package is quick to import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import steadyboost

ROOT = Path(steadyboost.__file__).parent
LAYERS = ("trees", "learners", "core", "boosters")
MODULES = [
    pytest.param(path, layer, id=str(path.relative_to(ROOT)))
    for layer in LAYERS
    for path in sorted((ROOT / layer).rglob("*.py"))
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


def room_of(name):
    """The part of the package that an import leads to, None where it is none of its parts."""
    parts = name.split(".")
    if parts[0] != "steadyboost" or len(parts) == 1:
        return None
    home = steadyboost._HOME.get(parts[1])
    room = home.split(".")[1] if home else parts[1]
    is_part = (ROOT / room).is_dir() or (ROOT / f"{room}.py").exists()
    return room if is_part else None


def run_python(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()


@pytest.mark.parametrize(("path", "layer"), MODULES)
def test_imports_go_one_way(path, layer):
    below = LAYERS[: LAYERS.index(layer) + 1]
    rooms = {name: room_of(name) for name in imported_by(path)}
    assert {name for name, room in rooms.items() if room and room not in below} == set()


@pytest.mark.parametrize("path", [p.values[0] for p in MODULES if p.values[1] == "trees"])
def test_trees_need_numpy_and_numba_alone(path):
    packages = {name.split(".")[0] for name in imported_by(path)}
    compiler = {"numba", "llvmlite"}  # one is the other's
    assert packages - set(sys.stdlib_module_names) <= {"numpy", "steadyboost", *compiler}


def test_the_check_sees_imports_of_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "core").mkdir()
    path = tmp_path / "core" / "module.py"
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
    ("name", "room"),
    [
        ("steadyboost.ensemble.loop.Stage", "core"),
        ("steadyboost.Tree", "learners"),
        ("steadyboost.SAMMEClassifier", "boosters"),
        ("steadyboost.__version__", None),
        ("numpy.random", None),
    ],
)
def test_names_lead_to_the_room_that_they_live_in(name, room):
    assert room_of(name) == room


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
for part in ("trees", "learners", "core", "boosters"):
    path = importlib.import_module(f"steadyboost.{part}").__path__
    for module in pkgutil.iter_modules(path, f"steadyboost.{part}."):
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
