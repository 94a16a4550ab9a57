"""Tables on disk, and clusters to read them with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask.dataframe as dd
from distributed import Client, LocalCluster


def read_parquet(path: str | os.PathLike[str], target: str) -> tuple[Any, Any]:
    """Rows and labels of a Parquet file, or of a folder of them, as Dask collections.

    Parameters
    ----------
    path : str or path-like
        The file or the folder.
    target : str
        The column with the labels.

    Returns
    -------
    X : dask.dataframe.DataFrame
        All other columns.
    y : dask.dataframe.Series
        The labels.
    """
    if "://" not in str(path) and not Path(path).exists():
        raise ValueError(f"path={str(path)!r} does not exist; pass a Parquet file or a folder.")
    table = dd.read_parquet(str(path))
    if target not in table.columns:
        raise ValueError(
            f"target={target!r} is not a column of {str(path)!r}; it has {list(table.columns)}."
        )
    return table.drop(columns=[target]), table[target]


@contextmanager
def connected(address: str = "local", **options: Any) -> Iterator[Client]:
    """A Dask client, which is the current one inside the ``with`` block.

    Parameters
    ----------
    address : str, default="local"
        That of a scheduler, or "local" for processes on this machine.
    **options : dict
        For ``distributed.LocalCluster``, such as ``n_workers`` and ``memory_limit``.
    """
    if address != "local":
        with Client(address, direct_to_workers=True) as client:
            yield client
        return
    with (
        LocalCluster(dashboard_address=None, **options) as cluster,
        Client(cluster, direct_to_workers=True) as client,
    ):
        yield client
