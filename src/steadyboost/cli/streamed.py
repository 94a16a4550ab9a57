"""Parquet files that are read in batches, by ``fit`` and ``predict``."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.inputs import Model, TrainingSource
from steadyboost.cli.options import refuse
from steadyboost.cli.shell import Failure, told_in_one_sentence

if TYPE_CHECKING:
    import polars as pl

PARQUET = (".parquet", ".pq")
STREAM_NUMBERS = 1 << 27  # numbers in a file from which on it is streamed: 1 GB as floats
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read Parquet files in batches, with bins on disk; by default for folders and for "
        "files of more than 134 million values.",
    ),
]


def streams(data: Path, wanted: bool | None) -> bool:
    """Whether to read a file in batches: as the user says, else folders and large tables."""
    is_parquet = data.is_dir() or data.suffix.lower() in PARQUET
    if wanted and not is_parquet:
        refuse("--stream", f"{data} is not a Parquet file or a folder of them.")
    if wanted is not None or not is_parquet:
        return bool(wanted)
    return data.is_dir() or (data.is_file() and n_numbers(data) > STREAM_NUMBERS)


def n_numbers(path: Path) -> int:
    """Rows times columns of a Parquet file, by its metadata; 0 if that cannot be told."""
    try:
        import pyarrow.parquet
    except ImportError:
        return 0  # it is read by polars then
    try:
        found = pyarrow.parquet.read_metadata(path)
    except (OSError, pyarrow.ArrowException):
        return 0  # whatever reads it says what is wrong
    return found.num_rows * found.num_columns


class SomeColumns:
    """Parquet files without some of their columns, as a stream that can be read several times."""

    def __init__(self, path: Path, left_out: Collection[str]):
        from steadyboost.streaming.source import open_parquet

        self.files = open_parquet(path)
        unknown = [name for name in left_out if name not in self.files.schema.names]
        if unknown:
            names = self.files.schema.names[:20]
            raise ValueError(f"{path} has no column {unknown[0]!r}; it has {names}.")
        self.names = [name for name in self.files.schema.names if name not in left_out]

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        scanner = self.files.scanner(columns=self.names, batch_readahead=2, fragment_readahead=1)
        return scanner.to_reader().__arrow_c_stream__(requested_schema)


@contextmanager
def needs_pyarrow() -> Iterator[None]:
    """Say how to install what streams need, and other errors in one sentence."""
    try:
        with told_in_one_sentence():
            yield
    except ImportError as error:
        raise Failure(str(error)) from error


def fit_stream(
    model: Any, source: TrainingSource, validation: Path | None
) -> tuple[dict[str, Any], dict[str, float], float]:
    """Fit the model; a summary of the rows, errors by name, and the seconds that it took."""
    if source.target is None:
        refuse("--target", "name the column of the labels.")
    start = time.perf_counter()
    with needs_pyarrow():
        X = SomeColumns(source.data, source.ignore)
        if source.categorical:
            listed = [*text_columns(X, source), *source.categorical]
            model.set_params(categorical_features=list(dict.fromkeys(listed)))
        held_out: dict[str, Any] = {}
        if validation is not None:
            held_out = {"X_val": validation, "y_val": source.target}
        model.fit(X, source.target, source.weights, **held_out)
        errors = {"training": 1 - model.score(X, source.target)}
        if held_out:
            errors["validation"] = 1 - model.score(held_out["X_val"], source.target)
    summary = {
        "file": str(source.data),
        "rows": X.files.count_rows(),
        "columns": model.n_features_in_,
        "ignored": list(source.ignore),
    }
    return summary, errors, time.perf_counter() - start


def text_columns(X: SomeColumns, source: TrainingSource) -> list[str]:
    """Columns that are categories by their type."""
    from steadyboost.preprocessing.encoder import categorical_mask

    apart = {source.target, source.weights}
    names = [name for name in X.names if name not in apart]
    empty = X.files.schema.empty_table().select(names)
    mask = categorical_mask(empty, "from_dtype").tolist()
    return [name for name, is_text in zip(names, mask, strict=True) if is_text]


def predict_stream(
    model: Model, data: Path, output: Path | None, proba: bool, keep: Sequence[str]
) -> int:
    """Write the predictions batch by batch, as CSV on standard output without a file; the rows."""
    from steadyboost.files import replacing

    if output is None:
        return write_batches(model, data, sys.stdout.buffer, ".csv", proba, keep)
    with replacing(output, holds_interrupts=False) as opened:
        return write_batches(model, data, opened, output.suffix.lower(), proba, keep)


# The file's format and what to write of each row: as many arguments as the command has options.
def write_batches(
    model: Model, data: Path, opened: IO[bytes], suffix: str, proba: bool, keep: Sequence[str]
) -> int:
    """Write the predictions of each batch to an open file."""
    with needs_pyarrow():
        import pyarrow.parquet

        writer, n_rows = None, 0
        for frame in predicted_frames(model, data, proba, keep):
            if suffix == ".parquet":
                table = frame.to_arrow()
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(opened, table.schema)
                writer.write_table(table)
            else:
                opened.write(frame.write_csv(include_header=not n_rows).encode())
            n_rows += len(frame)
        if writer is not None:
            writer.close()
    return n_rows


def predicted_frames(
    model: Model, data: Path, proba: bool, keep: Sequence[str]
) -> Iterator[pl.DataFrame]:
    """The columns to keep and the predictions of each batch."""
    import polars as pl

    from steadyboost.cli.model_commands import answers
    from steadyboost.io.kinds import as_text
    from steadyboost.streaming import predict_batches

    found = predict_batches(model.booster, "predict_proba", data, keep=tuple(keep))
    for kept, probabilities in found:
        texts = [as_text(pl.Series(name, kept[name])) for name in kept.column_names]
        yield answers(model, pl.DataFrame(texts) if texts else None, probabilities, proba)
