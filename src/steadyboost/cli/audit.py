"""The command ``steadyboost audit``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.boosters import complete_booster, make_booster
from steadyboost.cli.compare import Html, check_files
from steadyboost.cli.fit import read_training
from steadyboost.cli.options import (
    Categorical,
    Data,
    Force,
    Ignore,
    Jobs,
    Json,
    Seed,
    Target,
    Weights,
)
from steadyboost.cli.printing import console, grid, print_json
from steadyboost.cli.shell import told_in_one_sentence

if TYPE_CHECKING:
    from steadyboost.noise import LabelAudit
    from steadyboost.tables import Table

SHOWN = 10  # suspects in the terminal
Csv = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write a line per row, worst first (.csv).")
]
Folds = Annotated[int, typer.Option(min=2, help="Parts of the table, each judged by the others.")]
Booster = Annotated[
    str | None,
    typer.Option("--booster", "-b", help="Who judges.", autocompletion=complete_booster),
]


def audit(
    data: Data,
    target: Target = None,
    output: Csv = None,
    html: Html = None,
    booster: Booster = None,
    folds: Folds = 5,
    weights: Weights = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Find the labels of a table that look wrong."""
    check_files(html, output, force)
    judge = make_booster(booster, None, None, [], random_state=seed) if booster else None
    table = read_training(data, target, weights, ignore or [], categorical or [])
    if not json:
        typer.echo("\n".join(table.found.sentences()))
    found = run(
        data, target, table, judge, {"cv": folds, "random_state": seed, "n_jobs": jobs or -1}
    )
    if output:
        found.to_csv(output)
    if html:
        write_page(found, table.X, html, data, target, output)
    tell_results(found, data, json, {"table": output, "page": html})


def run(
    data: Path, target: str | None, table: Table, judge: Any, options: dict[str, Any]
) -> LabelAudit:
    from rich.console import Console

    from steadyboost import noise
    from steadyboost.tables import as_classes

    with told_in_one_sentence():
        y = as_classes(data, target or "label", table.labels)
    if table.codes:
        options["categorical_features"] = [*table.found.categorical]
        if judge is not None:
            judge.set_params(categorical_features=options["categorical_features"])
    with told_in_one_sentence(f"{data}: "), Console(stderr=True).status("looking at the labels"):
        return noise.audit(table.X, y, judge, sample_weight=table.weights, **options)


def write_page(
    found: LabelAudit, X: Any, html: Path, data: Path, target: str | None, output: Path | None
) -> None:
    from steadyboost.core.files import write_whole
    from steadyboost.reports.audit import audit_page

    named = f" --target {target}" if target else ""
    command = f"steadyboost audit {data.name}{named}"
    write_whole(html, audit_page(found, X, data.name, command, output.name if output else ""))


def tell_results(found: LabelAudit, data: Path, json: bool, files: dict[str, Path | None]) -> None:
    """How many labels are wrong, which look so most, and where the files are."""
    written = {name: str(path) for name, path in files.items() if path}
    if json:
        print_json({"data": str(data), **as_dict(found), **written})
        return
    page, n = console(), len(found.given)
    page.print(
        f"Estimated to be wrong: {found.n_wrong:,.0f} of {n:,} labels ({found.noise_rate:.1%}); "
        f"{len(found.suspects):,} rows look wrong."
    )
    if len(found.suspects):
        worst = [_suspect(found, int(row)) for row in found.suspects[:SHOWN]]
        page.print(grid(("row", "given", "looks like", "score"), map(dict.values, worst)))
    if found.conflicts:
        page.print(f"{len(found.conflicts):,} groups of equal rows have different labels.")
    for name, path in written.items():
        page.print(f"{name.capitalize()}: {path}", markup=False)


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
        "score": round(float(found.scores[row]), 4),
    }
