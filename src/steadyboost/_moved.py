"""Old names of modules that have moved: they still work, with a warning that names the new one."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "steadyboost.comparison": "steadyboost.lab.comparison",
    "steadyboost.datasets": "steadyboost.lab.datasets",
    "steadyboost.demo": "steadyboost.lab.demo",
    "steadyboost.experiments": "steadyboost.lab.experiments",
    "steadyboost.reports": "steadyboost.lab.reports",
    "steadyboost.tables": "steadyboost.io",
}
MERGED = {  # modules inside of these, as of version 0.1.0
    "steadyboost.lab.comparison.features": "steadyboost.lab.comparison.methods",
    "steadyboost.lab.comparison.peers": "steadyboost.lab.comparison.methods",
    "steadyboost.lab.comparison.trial": "steadyboost.lab.comparison.run",
    "steadyboost.lab.datasets.breiman": "steadyboost.lab.datasets.generators",
    "steadyboost.lab.datasets.poker": "steadyboost.lab.datasets.generators",
    "steadyboost.lab.datasets.errors": "steadyboost.lab.datasets.readers",
    "steadyboost.lab.datasets.folder": "steadyboost.lab.datasets.readers",
    "steadyboost.lab.datasets.frames": "steadyboost.lab.datasets.readers",
    "steadyboost.io.errors": "steadyboost.io.columns",
    "steadyboost.io.frames": "steadyboost.io.formats",
    "steadyboost.io.reading": "steadyboost.io.table",
}


class MovedModules:
    """Finds modules by their old names, and gives the very module that has the new one."""

    @staticmethod
    def new_name(name: str) -> str | None:
        """What a module, or a module inside of one that has moved, is called now."""
        top = ".".join(name.split(".")[:2])
        new = MOVED[top] + name[len(top) :] if top in MOVED else None
        return MERGED.get(new, new) if new else None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return None if self.new_name(name) is None else ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """An empty module, until :meth:`exec_module` puts the other in its place."""

    def exec_module(self, module: ModuleType) -> None:
        old = module.__name__
        new = self.new_name(old)
        assert new is not None
        if old in MOVED:  # not for each module inside
            warnings.warn(f"{old} is now {new}.", FutureWarning, stacklevel=2)
        sys.modules[old] = import_module(new)


def install() -> None:
    """Look here first: the folder of a moved package would else be read a second time."""
    sys.meta_path.insert(0, MovedModules())  # type: ignore[arg-type]
