"""Model files of the command line: a model, and what its columns were called."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from steadyboost.cli.shell import Failure, told_in_one_sentence

if TYPE_CHECKING:
    from steadyboost.io import Table


@dataclass(frozen=True)
class Model:
    """A fitted booster and the notes in its file."""

    booster: Any
    path: Path
    target: str | None

    @property
    def kinds(self) -> dict[str, str] | None:
        """What each column holds, by its name; None where the columns had no names."""
        names = getattr(self.booster, "feature_names_in_", None)
        if names is None:
            return None
        kept = zip(names, self.booster._encoder.categories, strict=True)
        return {str(name): _kind(categories) for name, categories in kept}

    def read(self, path: Path, target: str | None = None, keep: Collection[str] = ()) -> Table:
        """The columns that the model needs, as it needs them; and the labels, if asked for."""
        from steadyboost.io import read_table

        with told_in_one_sentence():
            table = read_table(
                path,
                target=target,
                keep=keep,
                features=self.kinds,
                n_features=self.booster.n_features_in_,
            )
        if self.kinds is None:
            return self._unnamed(path, table)
        for sentence in self.news(table):
            typer.echo(f"note: {sentence}", err=True)
        return table

    def news(self, table: Table) -> list[str]:
        """What a table has that the model has not seen."""
        import narwhals.stable.v2 as nw

        frame = nw.from_native(table.X)
        told = []
        for name, known in zip(frame.columns, self.booster._encoder.categories, strict=True):
            values = frame[name].drop_nulls()
            if known and values.dtype == nw.String:
                new = values.filter(~values.is_in(known))
                told += [_unknown(name, new[0], len(new))] if len(new) else []
        return told

    def _unnamed(self, path: Path, table: Table) -> Table:
        """Columns in the order of the file, for a model that was fitted without names."""
        if table.found.columns != self.booster.n_features_in_:
            raise Failure(
                f"{path} has {table.found.columns} columns of features, but {self.path} was "
                f"fitted to {self.booster.n_features_in_} without names."
            )
        if hasattr(table.X, "to_numpy"):
            return replace(table, X=table.X.to_numpy())
        return table


def _unknown(column: str, value: str, rows: int) -> str:
    where = "1 row" if rows == 1 else f"{rows:,} rows"
    return (
        f"column {column!r} has values in {where} that the model does not know, such as "
        f"{value!r}; they count as missing"
    )


def _kind(categories: list[Any] | None) -> str:
    """Text, where the categories are; else numbers."""
    texts = categories is not None and all(isinstance(value, str) for value in categories)
    return "text" if texts else "number"


def load_model(path: Path) -> Model:
    """Read a model file, or end with a sentence."""
    from steadyboost.ensemble.model_io.reader import read_model

    if not path.is_file():
        raise Failure(f"{path}: there is no such model file.")
    with told_in_one_sentence():
        booster, notes = read_model(path)
    target = notes.get("target")
    return Model(booster, path, target if isinstance(target, str) else None)


def save_model(booster: Any, path: Path, target: str | None) -> None:
    """Write a model file, complete or not at all."""
    from steadyboost.ensemble.model_io.writer import write_model

    with told_in_one_sentence():
        write_model(path, booster, booster.stages_, booster.history_, {"target": target})
