"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer


def check_noise(noise: float) -> float:
    if not 0 <= noise < 1:
        raise typer.BadParameter(f"{noise:g} is not a fraction of at least 0 and below 1.")
    return noise


Data = Annotated[Path, typer.Argument(help="Rows to learn from: CSV, TSV, Parquet, ARFF, libsvm.")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="The column of the labels.")]
Weights = Annotated[str | None, typer.Option(help="The column of the weights of rows.")]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; repeat.")]
Categorical = Annotated[
    list[str] | None, typer.Option(help="A column of categories that are numbers; repeat.")
]
Jobs = Annotated[int, typer.Option(min=0, help="Threads; 0 for one per processor.")]
Html = Annotated[Path | None, typer.Option(help="Write one self-contained page to this file.")]
ModelFile = Annotated[Path, typer.Argument(help="A model file, such as fit writes.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Source of chance.")]
Noise = Annotated[
    float, typer.Option(callback=check_noise, help="Share of training labels made wrong.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
