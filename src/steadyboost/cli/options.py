"""Arguments and options that several commands have, and checks of output files."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from steadyboost.files import resolved


def check_noise(noise: float) -> float:
    if not 0 <= noise < 1:
        raise typer.BadParameter(f"{noise:g} is not in the range [0, 1).")
    return noise


Data = Annotated[
    Path,
    typer.Argument(
        help="Training rows: CSV, TSV, Parquet, Feather, JSON lines, Excel, ARFF or libsvm."
    ),
]
Target = Annotated[str | None, typer.Option("--target", "-t", help="Column of the labels.")]
Weights = Annotated[str | None, typer.Option(help="Column of the sample weights.")]
Ignore = Annotated[list[str] | None, typer.Option(help="Column to leave out; can be repeated.")]
Use = Annotated[
    list[str] | None,
    typer.Option(help="Column to use although it looks like an identifier; can be repeated."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(help="Column to copy to the outputs, such as an id; can be repeated."),
]
DropUnlabelled = Annotated[
    bool, typer.Option("--drop-unlabelled", help="Leave out rows without a label.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Separator of the fields of a text file, such as ; or tab; detected by default."
    ),
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of a text file: . or , (detected by default).")
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a text file, such as latin-1; detected by default.")
]
Categorical = Annotated[
    list[str] | None, typer.Option(help="Numeric column to treat as categorical; can be repeated.")
]
Jobs = Annotated[int, typer.Option(min=0, help="Number of threads; 0 for one per processor.")]
Html = Annotated[Path | None, typer.Option(help="Write a self-contained HTML page to this file.")]
ModelFile = Annotated[Path, typer.Argument(help="Model file, as written by fit.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Noise = Annotated[
    float, typer.Option(callback=check_noise, help="Share of training labels to corrupt.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Put an apostrophe before cells that a spreadsheet would take for formulas.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def refuse(option: str, reason: str) -> NoReturn:
    """Raise a usage error: an option cannot have this value."""
    raise typer.BadParameter(reason, param_hint=f"'{option}'")


def check_output(
    output: Path,
    force: bool,
    suffixes: Collection[str],
    option: str = "--output",
    inputs: Collection[Path | None] = (),
) -> None:
    """Refuse an output file that cannot be written, or that would be overwritten."""
    if not output.name.lower().endswith(tuple(suffixes)):
        refuse(option, f"{output} does not end in {' or '.join(suffixes)}.")
    if not output.parent.is_dir():
        refuse(option, f"the folder {output.parent} does not exist.")
    if not os.access(output.parent, os.W_OK):
        refuse(option, f"the folder {output.parent} is not writable.")
    resolved(output)  # an error for a link that points to itself
    if output.is_dir():
        refuse(option, f"{output} is a folder.")
    if any(is_same_file(output, path) for path in inputs):
        refuse(option, f"{output} is an input; choose another file.")
    if output.exists() and not force:
        refuse(option, f"{output} exists; pass --force to replace it.")


def is_same_file(one: Path, other: Path | None) -> bool:
    """Whether two paths lead to one file that is there."""
    try:
        return other is not None and one.samefile(other)
    except OSError:  # one of them is not there, which its reader says
        return False


def check_outputs(
    force: bool, inputs: Collection[Path | None] = (), **wanted: tuple[Path | None, str]
) -> None:
    """Check several options by name: their files, if any, and the required endings."""
    for name, (path, suffix) in wanted.items():
        if path:
            check_output(path, force, [suffix], f"--{name}", inputs)
