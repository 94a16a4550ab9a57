"""The command ``steadyboost predict``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.models import Model, load_model
from steadyboost.cli.options import Force, Json, ModelFile
from steadyboost.cli.outputs import check_output, refuse
from steadyboost.cli.printing import print_json
from steadyboost.cli.shell import told_in_one_sentence

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import numpy as np

NewRows = Annotated[Path, typer.Argument(help="Rows to predict, in any format that fit takes.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A .csv or .parquet file; else CSV is printed."),
]
Proba = Annotated[bool, typer.Option("--proba", help="A column of probabilities for each class.")]
Keep = Annotated[list[str] | None, typer.Option(help="A column to hand through; repeat.")]


def predict(
    model: ModelFile,
    data: NewRows,
    output: Output = None,
    proba: Proba = False,
    keep: Keep = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Predict the labels of new rows, in their order."""
    if output is not None:
        check_output(output, force, [".csv", ".parquet"])
    loaded = load_model(model)
    table = loaded.read(data, keep=keep or [])
    with told_in_one_sentence(f"{data}: "):
        probabilities = loaded.booster.predict_proba(table.X)
    with told_in_one_sentence():
        frame = answers(loaded, table.kept, probabilities, proba)
    if output is not None:
        write(frame, output)
    tell(frame, output, json)


def answers(
    model: Model, kept: nw.DataFrame | None, probabilities: np.ndarray, proba: bool
) -> nw.DataFrame:
    """Kept columns, the prediction, perhaps the probability of each class."""
    from steadyboost.io import from_columns

    classes = model.booster.classes_
    ours: dict[str, Any] = {"prediction": classes.take(probabilities.argmax(axis=1)).tolist()}
    if proba:
        names = (f"proba_{label}" for label in classes.tolist())
        ours |= dict(zip(names, probabilities.T, strict=True))
    theirs = {} if kept is None else kept.to_dict(as_series=False)
    for name in ours.keys() & theirs.keys():
        refuse("--keep", f"{name!r} is also the name of a column of the output.")
    return from_columns({**theirs, **ours})


def write(frame: nw.DataFrame, output: Path) -> None:
    """To the file, complete or not at all."""
    from steadyboost.ensemble.files import replacing

    with replacing(output) as opened:
        file: Any = opened  # which narwhals takes, though it names fewer types
        if output.suffix.lower() == ".parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file)


def tell(frame: nw.DataFrame, output: Path | None, json: bool) -> None:
    """Where the predictions are; or the predictions, where there is no file of them."""
    if json:
        predicted = {"columns": frame.to_dict(as_series=False)}
        print_json({"rows": len(frame), **({"output": str(output)} if output else predicted)})
    elif output is None:
        sys.stdout.write(frame.write_csv())
    else:
        typer.echo(f"{len(frame):,} rows: {output}")
