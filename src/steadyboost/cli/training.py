"""The table that ``fit``, ``compare`` and ``audit`` begin with."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from steadyboost.cli.outputs import refuse
from steadyboost.cli.shell import Failure, told_in_one_sentence

if TYPE_CHECKING:
    import numpy as np

    from steadyboost.io import Table


@dataclass(frozen=True)
class Training:
    """Rows to learn from and their classes."""

    table: Table
    y: np.ndarray

    @property
    def categories(self) -> Any:
        """For the parameter ``categorical_features``: columns by name where types do not tell."""
        return [*self.table.found.categorical] if self.table.codes else "from_dtype"


def read_training(
    data: Path,
    target: str | None,
    ignore: Collection[str] | None,
    categorical: Collection[str] | None,
    weights: str | None = None,
    *,
    quiet: bool = False,
) -> Training:
    """Read the rows and say what was found in them."""
    from steadyboost.io import as_classes, has_own_labels, read_table

    if target is None and not has_own_labels(data):
        refuse("--target", "name the column of the labels.")
    column = target or "label"
    with told_in_one_sentence():
        table = read_table(
            data,
            target=target,
            weights=weights,
            ignore=ignore or (),
            categorical=categorical or (),
        )
        y = as_classes(data, column, table.labels)
    if (y == y[0]).all():
        raise Failure(
            f"{data}: column {column!r} is {y[0]} in all rows; there is nothing to learn."
        )
    if not quiet:
        typer.echo("\n".join(table.found.sentences()))
    return Training(table, y)
