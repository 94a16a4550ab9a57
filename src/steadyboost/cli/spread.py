"""``steadyboost fit --dask``: Parquet files that need not fit into memory, on a Dask cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from steadyboost.cli.shell import Failure, told_in_one_sentence


def train_spread(
    model: Any,
    address: str,
    data: Path,
    target: str | None,
    weights: str | None,
    ignore: list[str],
    watched: Path | None,
) -> tuple[int, list[str]]:
    """Fit the model where the rows are; the number of partitions and the features."""
    if target is None:
        raise typer.BadParameter("name the column of the labels.", param_hint="'--target'")
    try:
        from steadyboost.distributed import connected
    except ImportError as error:
        raise Failure("--dask needs Dask: pip install 'steadyboost[dask]'.") from error
    with told_in_one_sentence(), connected(address):
        X, y, own = columns(data, target, weights, ignore)
        held = (None,) * 2 if watched is None else columns(watched, target, None, ignore)
        model.fit(X, y, own, X_val=held[0], y_val=held[1])
    return X.npartitions, list(X.columns)


def columns(path: Path, target: str, weights: str | None, ignore: list[str]) -> tuple:
    """Rows, labels and weights of Parquet files."""
    from steadyboost.distributed import read_parquet

    X, y = read_parquet(path, target)
    unknown = [name for name in (*ignore, *filter(None, [weights])) if name not in X.columns]
    if unknown:
        raise ValueError(f"{path} has no column {unknown[0]!r}; it has {list(X.columns)[:20]}.")
    own = None if weights is None else X[weights]
    return X.drop(columns=[*ignore, *filter(None, [weights])]), y, own
