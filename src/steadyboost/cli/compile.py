"""The command ``steadyboost compile``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from steadyboost.cli.boosters import booster_names, complete_booster, full_name
from steadyboost.cli.shell import console

N_ROWS = 200
# Rows that a fit with two threads shares out: more than ``SHARDING_PAYS`` over the eight columns.
N_SHARDED_ROWS = 130_000


def compile(
    boosters: Annotated[
        list[str] | None,
        typer.Argument(
            help="Boosters to compile for; all by default.",
            autocompletion=complete_booster,
            show_default=False,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the compiled kernels; set NUMBA_CACHE_DIR to it later.",
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    sparse: Annotated[bool, typer.Option("--sparse", help="Also for sparse matrices.")] = False,
) -> None:
    """Compile the kernels of the boosters ahead of time, for container images.

    For numeric tables, with two classes and with more, and for tables with categories and
    missing values; on one thread and on several.
    """
    names = [full_name(name, "boosters") for name in boosters or booster_names()]
    if cache is not None:  # before numba is imported, which reads the variable then
        cache.mkdir(parents=True, exist_ok=True)
        os.environ["NUMBA_CACHE_DIR"] = str(cache.resolve())
    _round_times()
    out, start = console(), time.perf_counter()
    for name in names:
        begin = time.perf_counter()
        _fit_all(name, sparse)
        out.print(f"{name}: {time.perf_counter() - begin:.1f} s")
    _fit_sharded()
    out.print(f"Compiled for {len(names)} boosters in {time.perf_counter() - start:.0f} s.")


def _round_times() -> None:
    """Set the times of the package's files to whole seconds, where they may be written.

    numba tells by the time of a file whether a kernel in its cache is still that of the file, and
    the layers of an image keep whole seconds only.
    """
    import steadyboost

    for path in Path(steadyboost.__path__[0]).rglob("*.py"):
        modified = int(path.stat().st_mtime)
        if path.stat().st_mtime != modified and os.access(path, os.W_OK):
            os.utime(path, (modified, modified))


def _fit_all(name: str, sparse: bool) -> None:
    """Fit a booster to each kind of table, and predict."""
    import numpy as np
    from scipy.sparse import csr_array
    from sklearn.datasets import make_classification

    import steadyboost

    X, three = make_classification(
        N_ROWS, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
    )
    mixed = X.copy()
    mixed[:, 0] = np.floor(3 * mixed[:, 0]) % 5
    mixed[::9, 1] = np.nan
    cases = [(X, three, None), (X, (three > 0).astype(int), None), (mixed, three, [0])]
    if sparse:
        cases.append((csr_array(np.where(np.abs(X) > 0.5, X, 0)), three, None))
    for table, labels, categorical in cases:
        model = getattr(steadyboost, name)(random_state=0)
        names = model.get_params(deep=False)
        model.set_params(**{"n_estimators": 2} if "n_estimators" in names else {})
        model.set_params(categorical_features=categorical).fit(table, labels)
        model.predict_proba(table)


def _fit_sharded() -> None:
    """Compile the kernels of the sharded grower."""
    import numpy as np

    from steadyboost import SAMMEClassifier

    X = np.random.default_rng(0).random((N_SHARDED_ROWS, 8))
    SAMMEClassifier(n_estimators=2, n_jobs=2).fit(X, (X[:, 0] > X[:, 1]).astype(int))
