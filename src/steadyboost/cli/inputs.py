"""Inputs of commands: tables to train on, and model files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from steadyboost.cli.options import refuse
from steadyboost.cli.shell import Failure, say, told_in_one_sentence
from steadyboost.files import counted

if TYPE_CHECKING:
    import numpy as np

    from steadyboost.io import Table


MOST_CLASSES, MOST_COLUMNS = 12, 12  # that are listed


@dataclass(frozen=True)
class Training:
    """Training rows and their classes."""

    table: Table
    y: np.ndarray

    @property
    def categories(self) -> Any:
        """For ``categorical_features``: columns by name if some of them hold numbers."""
        return [*self.table.found.categorical] if self.table.codes else "from_dtype"


class TextFormat(NamedTuple):
    """How a text file is written; None for what is found out."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None


class TrainingSource(NamedTuple):
    """A file of training rows and the roles of its columns."""

    data: Path
    target: str | None
    weights: str | None = None
    ignore: Collection[str] = ()
    categorical: Collection[str] = ()
    use: Collection[str] = ()
    keep: Collection[str] = ()
    drop_unlabelled: bool = False
    text: TextFormat = TextFormat()


def read_source(source: TrainingSource) -> Table:
    """Read the training rows, without columns that nothing can be learnt from."""
    from steadyboost.io import read_table, screened

    table = read_table(
        source.data,
        target=source.target,
        weights=source.weights,
        ignore=source.ignore,
        categorical=source.categorical,
        keep=source.keep,
        drop_unlabelled=source.drop_unlabelled,
        **source.text._asdict(),
    )
    return screened(table, {*source.use, *source.categorical})


def read_training(source: TrainingSource, *, quiet: bool = False) -> Training:
    """Read the training rows, and print a summary of them unless ``quiet``."""
    from steadyboost.io import as_classes, has_own_labels

    data = source.data
    if source.target is None and not has_own_labels(data):
        names = listed_columns(source)
        refuse("--target", f"name the column of the labels; {data} has the columns {names}.")
    column = source.target or "label"
    with told_in_one_sentence():
        table = read_source(source)
        y = as_classes(data, column, table.labels)
    if (y == y[0]).all():
        raise Failure(
            f"{data}: column {column!r} is {y[0]} in all rows; training needs two classes."
        )
    if not quiet:
        say("\n".join([*table.found.sentences(), *class_sentences(y)]))
    return Training(table, y)


def listed_columns(source: TrainingSource) -> str:
    """The names of the columns; of many, the first and the last."""
    from steadyboost.io import read_table

    with told_in_one_sentence():
        names = [repr(name) for name in read_table(source.data, **source.text._asdict()).X.columns]
    if len(names) > MOST_COLUMNS:
        half = MOST_COLUMNS // 2
        names = [*names[:half], "...", *names[-half:]]
    return ", ".join(names)


def class_sentences(y: np.ndarray) -> list[str]:
    """The classes with their numbers of rows, and names that are nearly the same."""
    import numpy as np

    from steadyboost.noise.label_notes import similar_names

    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    told = [f"{classes[c]} ({counts[c]:,})" for c in order[:MOST_CLASSES]]
    more = [f"{len(classes) - MOST_CLASSES:,} more"] if len(classes) > MOST_CLASSES else []
    lines = [f"classes: {', '.join([*told, *more])}"]
    if len(classes) > len(y) / 10 and len(classes) > MOST_CLASSES:
        lines.append(f"note: {len(classes):,} classes in {len(y):,} rows; is this the target?")
    return lines + [f"note: {note[0].lower()}{note[1:]}" for note in similar_names(classes)]


@dataclass(frozen=True)
class Model:
    """A fitted booster and the metadata of its file."""

    booster: Any
    path: Path
    target: str | None
    notations: Mapping[str, str] = field(default_factory=dict)  # of the training data

    @property
    def kinds(self) -> dict[str, str] | None:
        """Kinds of the columns by name; None for a model without feature names."""
        names = getattr(self.booster, "feature_names_in_", None)
        if names is None:
            return None
        encoder = self.booster._encoder
        dates = encoder.dates or [None] * len(names)
        columns = zip(names, encoder.categories, dates, strict=True)
        return {
            str(name): "date" if parts else _kind(categories) for name, categories, parts in columns
        }

    def read(
        self,
        path: Path,
        target: str | None = None,
        text: TextFormat = TextFormat(),  # noqa: B008 (immutable)
        **options: Any,
    ) -> Table:
        """Read the features of the model from a file, and the labels if a target is named."""
        from steadyboost.io import read_table

        with told_in_one_sentence():
            table = read_table(
                path,
                target=target,
                features=self.kinds,
                n_features=self.booster.n_features_in_,
                notations=self.notations,
                **text._asdict(),
                **options,
            )
        if self.kinds is None:
            return self._unnamed(path, table)
        for sentence in table.found.left_out:
            say(f"left out: {sentence}", err=True)
        for sentence in [*table.found.remarks, *self.news(table)]:
            say(f"note: {sentence}", err=True)
        return table

    def news(self, table: Table) -> list[str]:
        """Notes about categories that were not in the training data."""
        import polars as pl

        told = []
        for column, known in zip(table.X, self.booster._encoder.categories, strict=True):
            values = column.drop_nulls()
            if known and values.dtype == pl.String:
                new = values.filter(~values.is_in(known))
                told += [_unknown(column.name, new[0], len(new))] if len(new) else []
        return told

    def _unnamed(self, path: Path, table: Table) -> Table:
        """Columns in the order of the file, for a model without feature names."""
        if table.found.columns != self.booster.n_features_in_:
            raise Failure(
                f"{path} has {table.found.columns} feature columns, but {self.path} was "
                f"fitted to {self.booster.n_features_in_} without names."
            )
        if hasattr(table.X, "to_numpy"):
            return replace(table, X=table.X.to_numpy())
        return table


def _unknown(column: str, value: str, rows: int) -> str:
    return (
        f"column {column!r} has categories in {counted(rows, 'row')} that are not in the training "
        f"data, such as {value!r}; they are treated as missing"
    )


def _kind(categories: list[Any] | None) -> str:
    """Kind of a column: text if its categories are, else numbers."""
    texts = categories is not None and all(isinstance(value, str) for value in categories)
    return "text" if texts else "number"


def load_model(path: Path) -> Model:
    """Read a model file; ``Failure`` if that is not possible."""
    from steadyboost.ensemble.model_io.file import read_model
    from steadyboost.io.notation import DECIMALS, ORDERS

    if not path.is_file():
        raise Failure(f"{path}: there is no such model file.")
    with told_in_one_sentence():
        booster, notes = read_model(path)
    target, notations = notes.get("target"), notes.get("notations")
    known = notations if isinstance(notations, dict) else {}
    usable = {name: own for name, own in known.items() if own in (*DECIMALS, *ORDERS)}
    return Model(booster, path, target if isinstance(target, str) else None, usable)


def save_model(
    booster: Any, path: Path, target: str | None, notations: Mapping[str, str] | None = None
) -> None:
    """Write a model file atomically, with how its training data were written."""
    from steadyboost.ensemble.model_io.file import write_model

    with told_in_one_sentence():
        notes = {"target": target, **({"notations": dict(notations)} if notations else {})}
        write_model(path, booster, booster.stages_, booster.history_, notes)
