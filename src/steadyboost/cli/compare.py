"""The command ``steadyboost compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli import options
from steadyboost.cli.inputs import TextFormat, Training, TrainingSource, read_training
from steadyboost.cli.options import check_outputs
from steadyboost.cli.shell import (
    command_line,
    console,
    grid,
    print_files,
    print_json,
    told_in_one_sentence,
)

if TYPE_CHECKING:
    from steadyboost.lab.comparison import Comparison, Standing

TITLES = (
    "method",
    "error, %",
    "± sd",
    "balanced, %",
    "log-loss",
    "AUC",
    "mean rank",
    "p",
    "fit, s",
)
LEGEND = "° another library; ~ not significantly different from the best"
Kind = Annotated[
    str, typer.Option(help="Kind of noise: symmetric, redraw, pair or feature_dependent.")
]
Folds = Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")]
Repeats = Annotated[int, typer.Option(min=1, help="Number of repeats, each with other folds.")]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods",
        "-m",
        help="Names, separated by commas, or ours, peers, all or usual (the default).",
    ),
]
Csv = Annotated[Path | None, typer.Option("--output", "-o", help="Write the table (.csv).")]


# As many arguments as the command has options: typer reads them from the signature.
def compare(
    data: options.Data,
    target: options.Target = None,
    noise: options.Noise = 0.0,
    kind: Kind = "symmetric",
    folds: Folds = 5,
    repeats: Repeats = 1,
    methods: Methods = None,
    html: options.Html = None,
    output: Csv = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    use: options.Use = None,
    drop_unlabelled: options.DropUnlabelled = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Compare our boosters and other libraries on a table by cross-validation."""
    check_outputs(force, html=(html, ".html"), output=(output, ".csv"))
    source = TrainingSource(
        *(data, target, None, ignore or (), categorical or (), use or ()),
        drop_unlabelled=drop_unlabelled,
        text=TextFormat(separator, decimal, encoding),
    )
    training = read_training(source, quiet=json)
    settings = {"noise": noise, "kind": kind, "folds": folds, "repeats": repeats}
    wanted = [name.strip() for names in methods or ["usual"] for name in names.split(",")]
    found = run(training, wanted, **settings, random_state=seed, n_jobs=jobs or -1)
    if html:
        found.to_html(html, data.name, command_line())
    if output:
        found.to_csv(output)
    files = {"page": html, "table": output}
    tell_results(found, data, json, {name: str(path) for name, path in files.items() if path})


def run(training: Training, methods: list[str], **settings: Any) -> Comparison:
    from steadyboost.cli.progress import progress
    from steadyboost.lab import comparison

    settings["categorical_features"] = training.categories
    with told_in_one_sentence(), progress("compare") as tell:
        return comparison.compare(training.table.X, training.y, methods, tell=tell, **settings)


def tell_results(found: Comparison, data: Path, json: bool, files: dict[str, str]) -> None:
    """Print the table, the conclusions and the output files."""
    if json:
        print_json({"data": str(data), **found.to_dict(), "remarks": found.remarks(), **files})
        return
    page = console()
    always, error, balanced, auc = found.setting.baseline_cells
    baseline = [always, error, "", balanced, "", auc, "", "", ""]
    rows = [*map(_row, found.standings), baseline]
    page.print(grid(TITLES, rows, caption=LEGEND, caption_justify="left"))
    for sentence in (*found.conclusions(), *found.remarks()):
        page.print(sentence)
    print_files(files)


def _row(standing: Standing) -> list[str]:
    loss = "" if standing.log_loss is None else f"{standing.log_loss:.3f}"
    p = "best" if standing.p_value is None else f"{standing.p_value:.3f}"
    return [
        standing.name + ("" if standing.is_ours else " °"),
        f"{100 * standing.error:.2f}",
        f"{100 * standing.error_sd:.2f}",
        f"{100 * standing.balanced_error:.2f}",
        loss,
        "" if standing.auc is None else f"{standing.auc:.3f}",
        f"{standing.rank:.1f}",
        p + (" ~" if standing.is_close and not standing.is_best else ""),
        f"{standing.fit_seconds:.2f}",
    ]
