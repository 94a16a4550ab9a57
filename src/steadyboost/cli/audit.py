"""The command ``steadyboost audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli import options
from steadyboost.cli.boosters import complete_booster, make_booster
from steadyboost.cli.outputs import check_outputs
from steadyboost.cli.printing import console, grid, print_files, print_json
from steadyboost.cli.shell import told_in_one_sentence
from steadyboost.cli.training import Training, read_training

if TYPE_CHECKING:
    from steadyboost.noise import LabelAudit

SHOWN = 10  # suspects in the terminal
TITLES = ("row", "given", "looks like", "score")
COUNTED = "rows are counted from 0"
Csv = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write a line per row, worst first (.csv).")
]
Folds = Annotated[int, typer.Option(min=2, help="Parts of the table, each judged by the others.")]
Booster = Annotated[
    str | None,
    typer.Option("--booster", "-b", help="Who judges.", autocompletion=complete_booster),
]


def audit(
    data: options.Data,
    target: options.Target = None,
    output: Csv = None,
    html: options.Html = None,
    booster: Booster = None,
    folds: Folds = 5,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Find the labels of a table that look wrong."""
    check_outputs(force, html=(html, ".html"), output=(output, ".csv"))
    judge = make_booster(booster, None, None, [], random_state=seed) if booster else None
    training = read_training(data, target, ignore, categorical, weights, quiet=json)
    found = run(data, training, judge, cv=folds, random_state=seed, n_jobs=jobs or -1)
    if output:
        found.to_csv(output)
    if html:
        write_page(found, training.table.X, html, data, target, output)
    files = {"table": output, "page": html}
    tell_results(found, data, json, {name: str(path) for name, path in files.items() if path})


def run(data: Path, training: Training, judge: Any, **settings: Any) -> LabelAudit:
    from rich.console import Console

    from steadyboost import noise

    table, categories = training.table, training.categories
    if judge is not None:
        judge.set_params(categorical_features=categories)
    with told_in_one_sentence(f"{data}: "), Console(stderr=True).status("looking at the labels"):
        return noise.audit(
            table.X,
            training.y,
            judge,
            sample_weight=table.weights,
            categorical_features=categories,
            **settings,
        )


def write_page(
    found: LabelAudit, X: Any, html: Path, data: Path, target: str | None, output: Path | None
) -> None:
    from steadyboost.ensemble.files import write_whole
    from steadyboost.lab.reports.audit import audit_page

    named = f" --target {target}" if target else ""
    command = f"steadyboost audit {data.name}{named}"
    write_whole(html, audit_page(found, X, data.name, command, output.name if output else ""))


def tell_results(found: LabelAudit, data: Path, json: bool, files: dict[str, str]) -> None:
    """How many labels are wrong, which look so most, and where the files are."""
    if json:
        print_json({"data": str(data), **as_dict(found), **files})
        return
    page, n = console(), len(found.given)
    page.print(
        f"Estimated to be wrong: {found.n_wrong:,.0f} of {n:,} labels ({found.noise_rate:.1%}); "
        f"{len(found.suspects):,} rows look wrong."
    )
    if len(found.suspects):
        worst = found.table.disputed().head(SHOWN)
        scores = [f"{score:.4f}" for score in worst.score]
        rows = zip(worst.row, worst.given, worst.suggested, scores, strict=True)
        page.print(grid(TITLES, rows, caption=COUNTED, caption_justify="left"))
    if found.conflicts:
        page.print(f"{len(found.conflicts):,} groups of equal rows have different labels.")
    print_files(files)


def as_dict(found: LabelAudit) -> dict[str, Any]:
    """All but the rows that look right, ready for JSON."""
    return {
        "rows": len(found.given),
        "classes": found.classes.tolist(),
        "wrong": found.n_wrong,
        "noise_rate": found.noise_rate,
        "wrong_per_class": {str(name): n for name, n in found.n_wrong_per_class.items()},
        "transition_matrix": found.transition_matrix.tolist(),
        "suspects": [_suspect(found, int(row)) for row in found.suspects],
        "conflicts": [[int(row) for row in group] for group in found.conflicts],
    }


def _suspect(found: LabelAudit, row: int) -> dict[str, Any]:
    return {
        "row": row,
        "given": found.given[row],
        "suggested": found.suggested[row],
        "score": found.scores[row],
    }
