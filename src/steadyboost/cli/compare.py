"""The command ``steadyboost compare``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.demo import check_noise
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
)
from steadyboost.cli.outputs import check_output
from steadyboost.cli.printing import console, grid, print_json
from steadyboost.cli.shell import told_in_one_sentence

if TYPE_CHECKING:
    from steadyboost.comparison import Comparison, Standing
    from steadyboost.comparison.run import Tell

TITLES = ("method", "error, %", "± sd", "balanced, %", "log-loss", "mean rank", "p", "fit, s")
LEGEND = "° another library; ~ the difference to the best may be chance"
Noise = Annotated[
    float, typer.Option(callback=check_noise, help="Share of training labels made wrong.")
]
Kind = Annotated[
    str, typer.Option(help="Of the noise: symmetric, redraw, pair or feature_dependent.")
]
Folds = Annotated[int, typer.Option(min=2, help="Parts of the table, each tested on once.")]
Repeats = Annotated[int, typer.Option(min=1, help="Cross-validate so often, with other folds.")]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--methods", "-m", help="Names by commas, or ours, peers, all, usual (the default)."
    ),
]
Html = Annotated[Path | None, typer.Option(help="Write one self-contained page to this file.")]
Csv = Annotated[Path | None, typer.Option("--output", "-o", help="Write the table (.csv).")]


def compare(
    data: Data,
    target: Target = None,
    noise: Noise = 0.0,
    kind: Kind = "symmetric",
    folds: Folds = 5,
    repeats: Repeats = 1,
    methods: Methods = None,
    html: Html = None,
    output: Csv = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Try our boosters and other libraries on a table, by cross-validation."""
    check_files(html, output, force)
    table = read_training(data, target, None, ignore or [], categorical or [])
    if not json:
        typer.echo("\n".join(table.found.sentences()))
    options = {"noise": noise, "kind": kind, "folds": folds, "repeats": repeats}
    wanted = [name.strip() for names in methods or ["usual"] for name in names.split(",")]
    found = run(
        data, target, table, wanted, {**options, "random_state": seed, "n_jobs": jobs or -1}
    )
    if html:
        found.to_html(html, data.name, command_of(data, target, wanted, options))
    if output:
        found.to_csv(output)
    tell_results(found, data, json, {"page": html, "table": output})


def check_files(html: Path | None, output: Path | None, force: bool) -> None:
    """Refuse before the work is done, not after."""
    if html:
        check_output(html, force, [".html"], "--html")
    if output:
        check_output(output, force, [".csv"])


def run(
    data: Path, target: str | None, table: Any, methods: list[str], options: dict[str, Any]
) -> Comparison:
    from steadyboost import comparison
    from steadyboost.tables import as_classes

    with told_in_one_sentence():
        y = as_classes(data, target or "label", table.labels)
    categories = [*table.found.categorical] if table.codes else "from_dtype"
    with told_in_one_sentence(), progress() as tell:
        return comparison.compare(
            table.X, y, methods, categorical_features=categories, tell=tell, **options
        )


@contextmanager
def progress() -> Iterator[Tell]:
    """A bar over the runs, with the time that is left, where the error output is a terminal."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    page = Console(stderr=True)
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(
        *columns,
        console=page,
        transient=True,
        disable=not page.is_terminal,
        # Methods differ in speed, so that only the mean over many runs foretells the rest.
        speed_estimate_period=3600,
    ) as bar:
        task = bar.add_task("starting")

        def tell(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield tell


def tell_results(found: Comparison, data: Path, json: bool, files: dict[str, Path | None]) -> None:
    """The standings, what they mean, and where the files are."""
    written = {name: str(path) for name, path in files.items() if path}
    if json:
        print_json({"data": str(data), **found.to_dict(), "remarks": found.remarks(), **written})
        return
    page = console()
    page.print(grid(TITLES, map(_row, found.standings), caption=LEGEND, caption_justify="left"))
    for sentence in (*found.conclusions(), *found.remarks()):
        page.print(sentence, markup=False)
    for name, path in written.items():
        page.print(f"{name.capitalize()}: {path}", markup=False)


def _row(standing: Standing) -> list[str]:
    loss = "" if standing.log_loss is None else f"{standing.log_loss:.3f}"
    p = "best" if standing.p_value is None else f"{standing.p_value:.3f}"
    return [
        standing.name + ("" if standing.is_ours else " °"),
        f"{100 * standing.error:.2f}",
        f"{100 * standing.error_sd:.2f}",
        f"{100 * standing.balanced_error:.2f}",
        loss,
        f"{standing.rank:.1f}",
        p + (" ~" if standing.is_close and not standing.is_best else ""),
        f"{standing.fit_seconds:.2f}",
    ]


def command_of(data: Path, target: str | None, methods: list[str], options: dict[str, Any]) -> str:
    """The command, without the folders of this machine."""
    named = [f"--target {target}"] if target else []
    listed = [f"--methods {','.join(methods)}"] if methods != ["usual"] else []
    usual = {"noise": 0.0, "kind": "symmetric", "repeats": 1}
    changed = [f"--{name} {value}" for name, value in options.items() if value != usual.get(name)]
    return " ".join(["steadyboost compare", data.name, *named, *listed, *changed])
