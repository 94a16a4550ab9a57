"""Commands that use a model file: ``predict``, ``evaluate`` and ``explain``."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli import options
from steadyboost.cli.inputs import Model, TextFormat, load_model
from steadyboost.cli.options import Force, Json, ModelFile, Spreadsheet, check_output, refuse
from steadyboost.cli.shell import console, grid, print_json, say, told_in_one_sentence
from steadyboost.cli.streamed import Stream, predict_stream, streams
from steadyboost.files import printable, replacing, spreadsheet_safe

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    from steadyboost.evaluation import Evaluation
    from steadyboost.exports.effects import ColumnEffect

NewRows = Annotated[Path, typer.Argument(help="Rows to predict, in any format of fit.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A .csv or .parquet file; by default CSV is printed."),
]
Proba = Annotated[
    bool, typer.Option("--proba", help="Add a column of probabilities for each class.")
]


# As many arguments as the command has options: typer reads them from the signature.
def predict(
    model: ModelFile,
    data: NewRows,
    output: Output = None,
    proba: Proba = False,
    keep: options.Keep = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    stream: Stream = None,
    json: Json = False,
    spreadsheet: Spreadsheet = False,
    force: Force = False,
) -> None:
    """Predict the labels of new rows, in their order."""
    if output is not None:
        check_output(output, force, [".csv", ".parquet"], inputs=[model, data])
    loaded = load_model(model)
    if streams(data, stream):
        if spreadsheet:
            refuse("--spreadsheet", "it is for tables in memory; pass --no-stream.")
        if json and output is None:
            refuse("--json", "name a file by --output: predictions of a stream are not collected.")
        tell_rows(predict_stream(loaded, data, output, proba, keep or []), output, json)
        return
    table = loaded.read(data, text=TextFormat(separator, decimal, encoding), keep=keep or [])
    with told_in_one_sentence(f"{data}: "):
        probabilities = loaded.booster.predict_proba(table.X)
    with told_in_one_sentence():
        frame = answers(loaded, table.kept, probabilities, proba)
    frame = without_formulas(frame) if spreadsheet else frame
    if output is not None:
        write(frame, output)
    tell(frame, output, json)


def answers(
    model: Model, kept: pl.DataFrame | None, probabilities: np.ndarray, proba: bool
) -> pl.DataFrame:
    """Columns to keep, the prediction, and the class probabilities if asked for."""
    from steadyboost.io import from_columns

    classes = model.booster.classes_
    said = model.booster.answers(probabilities)
    ours: dict[str, Any] = {"prediction": classes.take(said).tolist()}
    if proba:
        names = (f"proba_{label}" for label in classes.tolist())
        ours |= dict(zip(names, probabilities.T, strict=True))
    theirs = {} if kept is None else kept.to_dict(as_series=False)
    for name in ours.keys() & theirs.keys():
        refuse("--keep", f"{name!r} is also the name of a column of the output.")
    return from_columns({**theirs, **ours})


def without_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """The same cells, but for those that a spreadsheet would calculate."""
    from steadyboost.io import from_columns

    columns = frame.to_dict(as_series=False).items()
    return from_columns({spreadsheet_safe(name): spreadsheet_safe(own) for name, own in columns})


def write(frame: pl.DataFrame, output: Path) -> None:
    """Write the predictions to a file atomically."""
    whole = io.BytesIO()  # polars has errors of its own for a full disk
    if output.suffix.lower() == ".parquet":
        frame.write_parquet(whole)
    else:
        frame.write_csv(whole)
    with replacing(output) as file:
        file.write(whole.getbuffer())


def tell(frame: pl.DataFrame, output: Path | None, json: bool) -> None:
    """Print the path of the predictions, or the predictions themselves."""
    if output is not None:
        tell_rows(len(frame), output, json)
    elif json:
        print_json({"rows": len(frame), "columns": frame.to_dict(as_series=False)})
    else:
        text = frame.write_csv()
        sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def tell_rows(n_rows: int, output: Path | None, json: bool) -> None:
    """Print the path of predictions that are in a file."""
    if output is not None and json:
        print_json({"rows": n_rows, "output": str(output)})
    elif output is not None:
        say(f"{n_rows:,} rows: {output}")


MOST_CLASSES = 20  # of a confusion matrix that fits into a terminal
TestRows = Annotated[Path, typer.Argument(help="Rows with labels, in any format of fit.")]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column of the labels; by default that of fit.")
]


def evaluate(
    model: ModelFile,
    data: TestRows,
    target: Target = None,
    drop_unlabelled: options.DropUnlabelled = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    json: Json = False,
) -> None:
    """Compare the predictions of a model with the labels of a table."""
    from steadyboost import evaluation
    from steadyboost.io import has_own_labels, match_classes

    loaded = load_model(model)
    target = target or loaded.target
    if target is None and not has_own_labels(data):
        raise typer.BadParameter("name the column of the labels.", param_hint="'--target'")
    table = loaded.read(
        data,
        None if has_own_labels(data) else target,
        TextFormat(separator, decimal, encoding),
        drop_unlabelled=drop_unlabelled,
    )
    classes = loaded.booster.classes_
    with told_in_one_sentence():
        y = match_classes(data, target or "label", table.labels, classes, table.numbers)
    with told_in_one_sentence(f"{data}: "):
        found = evaluation.evaluate(y, loaded.booster.predict_proba(table.X))
    names = [str(label) for label in classes.tolist()]
    if json:
        per_class = dict(zip(names, found.per_class(), strict=True))
        print_json(
            {"model": str(model), "data": str(data), **found.as_dict(), "classes": per_class}
        )
    else:
        show(found, names)


def show(found: Evaluation, names: list[str]) -> None:
    """Print the measures, a row per class, and the confusion matrix."""
    page = console()
    page.print(f"{found.rows:,} rows, {len(names)} classes")
    frequent = names[found.most_frequent]
    page.print(f"error               {found.error:.2%}")
    page.print(f"baseline error      {found.baseline_error:.2%}  (always {frequent})")
    page.print(f"balanced error      {found.balanced_error:.2%}  (mean over classes)")
    page.print(f"log-loss            {found.log_loss:.4f}")
    if found.auc is not None:
        against = "" if len(names) == 2 else "  (each class against the rest, mean)"
        page.print(f"AUC                 {found.auc:.4f}{against}")
    page.print(f"calibration error   {found.calibration_error:.2%}  (expected, 15 bins)")
    rows = [_row(name, one) for name, one in zip(names, found.per_class(), strict=True)]
    page.print(grid(("class", "rows", "predicted", "recall", "precision"), rows))
    if len(names) <= MOST_CLASSES:
        counts = [[name, *line] for name, line in zip(names, found.confusion, strict=True)]
        page.print(
            grid(("true \\ predicted", *names), counts, title="confusion", title_justify="left")
        )


def _row(name: str, one: dict[str, Any]) -> list[str]:
    shares = ("-" if one[key] is None else f"{one[key]:.1%}" for key in ("recall", "precision"))
    return [name, f"{one['rows']:,}", f"{one['predicted']:,}", *shares]


SHOWN_ROUNDS = 8  # of the history
WIDEST_BAR = 30
SHOWN_LINES = 30  # of a hypothesis: a deep tree has hundreds
Top = Annotated[int, typer.Option(min=1, help="Number of features to list.")]
Round = Annotated[int, typer.Option("--round", help="Round whose hypothesis to show as text.")]


def explain(model: ModelFile, top: Top = 15, round_: Round = 1, json: Json = False) -> None:
    """Describe a model: parameters, important columns, what speaks for a class, its history."""
    loaded = load_model(model)
    if not 1 <= round_ <= loaded.booster.n_iter_:
        refuse("--round", f"{round_} is not from 1 to {loaded.booster.n_iter_}.")
    if json:
        print_json(document(loaded, round_))
        return
    page = console()
    for line in head(loaded):
        page.print(line)
    page.print(importance_grid(loaded, top))
    effects = effects_of(loaded.booster)
    if effects:
        page.print(
            "values that speak for each class (mean contribution to its probability or score):"
        )
        page.print(effects_grid(effects))
    page.print(history_grid(loaded.booster))
    page.print(hypothesis(loaded.booster, round_), soft_wrap=True)


def document(model: Model, round_: int) -> dict[str, Any]:
    """The description as a JSON object."""
    from steadyboost.exports import export_text

    booster = model.booster
    return {
        "model": str(model.path),
        "booster": type(booster).__name__,
        "target": model.target,
        "classes": booster.classes_.tolist(),
        "rounds": booster.n_iter_,
        "params": changed(booster),
        "importances": dict(importances(model)),
        "effects": {
            str(label): [one._asdict() for one in own]
            for label, own in (effects_of(booster) or {}).items()
        },
        "history": list(booster.history_),
        "hypothesis": export_text(booster, round_ - 1),
    }


def head(model: Model) -> list[str]:
    """Booster, classes and parameters, a line each."""
    booster = model.booster
    labels = ", ".join(map(str, booster.classes_[:10].tolist()))
    more = ", ..." if len(booster.classes_) > 10 else ""
    params = ", ".join(f"{name}={value!r}" for name, value in changed(booster).items())
    named = f" of {model.target}" if model.target else ""
    return [
        f"{type(booster).__name__}, {booster.n_iter_} rounds",
        f"classes{named}: {labels}{more}",
        f"parameters other than their defaults: {params or 'none'}",
    ]


def changed(booster: Any) -> dict[str, Any]:
    """Parameters that differ from their defaults."""
    defaults = type(booster)().get_params(deep=False)
    params = booster.get_params(deep=False)
    return {name: value for name, value in params.items() if repr(value) != repr(defaults[name])}


def importances(model: Model) -> list[tuple[str, float]]:
    """Feature importances in decreasing order."""
    from steadyboost.exports.trees import feature_names

    booster = model.booster
    shares = zip(feature_names(booster), booster.feature_importances_.tolist(), strict=True)
    return sorted(shares, key=lambda share: -share[1])


def importance_grid(model: Model, top: int) -> Any:
    """A table of the most important features, with bars."""
    ranked = importances(model)[:top]
    longest = ranked[0][1] or 1
    bars = (WIDEST_BAR * share / longest for _, share in ranked)
    shown = zip(ranked, bars, strict=True)
    rows = [[name, f"{share:.1%}", "█" * round(bar)] for (name, share), bar in shown]
    return grid(("feature", "importance", ""), rows)


def effects_of(booster: Any) -> dict[Any, list[ColumnEffect]] | None:
    """The columns that speak most for each class; None where trees cannot tell."""
    from steadyboost.exports import class_effects

    try:
        return class_effects(booster)
    except ValueError:  # a model that is not a sum of trees
        return None


def effects_grid(effects: dict[Any, list[ColumnEffect]]) -> Any:
    """A table of the classes and the values of columns that speak for each."""
    shown = list(effects.items())[:MOST_CLASSES]
    rows = [[str(label), "\n".join(map(str, own)) or "-"] for label, own in shown]
    more = len(effects) - len(shown)
    caption = f"and {more:,} more classes" if more else None
    return grid(("class", ""), rows, caption=caption, caption_justify="left")


def history_grid(booster: Any) -> Any:
    """A table of evenly spaced rounds of the history."""
    records = booster.history_[: booster.n_iter_]
    last, shown = len(records) - 1, min(len(records), SHOWN_ROUNDS)
    chosen = [records[place * last // max(shown - 1, 1)] for place in range(shown)]
    names = [name for name in booster.history_.columns if _is_number(records[-1].get(name))]
    rows = [[_history_cell(record.get(name)) for name in names] for record in chosen]
    return grid([name.replace("_", " ") for name in names], rows)


def hypothesis(booster: Any, round_: int) -> str:
    """The hypothesis of a round as text, its first lines."""
    from steadyboost.exports import export_text

    lines = export_text(booster, round_ - 1).splitlines()
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([f"... and {more} more lines"] if more > 0 else [])])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _history_cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
