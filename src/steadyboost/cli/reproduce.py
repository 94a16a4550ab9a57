"""The commands ``steadyboost reproduce`` and ``steadyboost data``: the papers' experiments."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steadyboost.cli.options import Html, Json, check_outputs, refuse
from steadyboost.cli.shell import INTERRUPTED, Failure, console, print_json
from steadyboost.files import write_whole

if TYPE_CHECKING:
    from steadyboost.lab.experiments.plan import Experiment
    from steadyboost.lab.experiments.report import Report
    from steadyboost.lab.experiments.run import Session

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Experiments such as 000/table-3, papers such as 000, or all."),
]
Quick = Annotated[bool, typer.Option("--quick", help="Run a small version, which takes minutes.")]
Jobs = Annotated[int, typer.Option(min=0, help="Number of processes; 0 for one per processor.")]
Docs = Annotated[Path | None, typer.Option(help="Write sections of a Markdown page to this file.")]
Csv = Annotated[bool, typer.Option("--csv", help="Write CSV files to the output folder.")]
JsonFiles = Annotated[bool, typer.Option("--json", help="Write JSON files to the output folder.")]
Output = Annotated[Path, typer.Option(help="Folder for --csv and --json; created if needed.")]
CacheFolder = Annotated[
    Path | None, typer.Option("--cache", help="Folder of cached results (or $STEADYBOOST_CACHE).")
]
Keep = Annotated[
    Path | None,
    typer.Option(help="Folder of result files, one per experiment, read before and written after."),
]
Repeats = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of repeats or folds to run.")
]
Skip = Annotated[list[str] | None, typer.Option(help="Data set to leave out; can be repeated.")]
Cached = Annotated[bool, typer.Option("--cached", help="Run nothing; only show cached results.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ignore cached results.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


# As many arguments as the command has options: typer reads them from the signature.
def reproduce(
    names: Names = None,
    quick: Quick = False,
    jobs: Jobs = 0,
    html: Html = None,
    docs: Docs = None,
    csv: Csv = False,
    json: JsonFiles = False,
    output: Output = Path(),
    cache: CacheFolder = None,
    keep: Keep = None,
    repeats: Repeats = None,
    skip: Skip = None,
    cached: Cached = False,
    fresh: Fresh = False,
    force: Force = False,
) -> None:
    """Reproduce tables and figures of the papers; without a name, list them."""
    if not names:
        show_list()
        return
    experiments = chosen(names, quick, repeats)
    check_outputs(force, html=(html, ".html"), docs=(docs, ".md"))
    formats = ["csv"] * csv + ["json"] * json
    check_records(experiments, output, formats, force)
    session = start(experiments, cache, tuple(skip or ()), fresh)
    with kept(session, keep):
        if not cached:
            run(session, jobs or os.cpu_count() or 1)
    reports = list(session.reports())
    show(reports)
    write_pages(reports, names, options_of(quick, repeats, skip or []), html, docs)
    write_records(reports, output, formats)
    if session.failures:
        raise Failure(f"{len(session.failures):,} runs failed; see below the tables.")


def show_list() -> None:
    """All experiments, by name."""
    from rich.table import Table

    from steadyboost.lab.experiments.reading import papers

    grid = Table(caption="steadyboost reproduce NAME, or all; --quick for a small version")
    for title in ("name", "what", "sets x methods x runs"):
        grid.add_column(title, overflow="fold")
    for paper in papers():
        for e in paper.experiments:
            missing = all(data.missing for data in e.data)
            runs = max(e.protocol_of(data).n_runs for data in e.data)
            size = f"{len(e.data)} x {len(e.methods)} x {runs}"
            grid.add_row(e.name, e.title, "cannot be run: no data" if missing else size)
    console().print(grid)


def chosen(names: list[str], quick: bool, repeats: int | None) -> list[Experiment]:
    """The experiments of some names, reduced by --quick and --repeats."""
    from steadyboost.lab.experiments.plan import quick_version, with_repeats
    from steadyboost.lab.experiments.reading import find

    try:
        experiments = find(names)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="'NAMES'") from None
    if quick:
        experiments = [quick_version(experiment) for experiment in experiments]
    if repeats:
        experiments = [with_repeats(experiment, repeats) for experiment in experiments]
    return experiments


def start(
    experiments: list[Experiment], cache: Path | None, skipped: tuple[str, ...], fresh: bool
) -> Session:
    from steadyboost.lab.experiments.cells import Cache, default_folder
    from steadyboost.lab.experiments.run import Session

    known = {name for e in experiments for data in e.data for name in (data.id, data.set)}
    for name in skipped:
        if name not in known:
            used = ", ".join(sorted(known))
            refuse("--skip", f"no experiment uses the data set {name!r}; choose from {used}.")
    return Session(experiments, Cache(cache or default_folder()), skipped, fresh)


@contextmanager
def kept(session: Session, folder: Path | None) -> Iterator[None]:
    """Start from the results in the folder, and update them, also after an interrupt."""
    if folder is None:
        yield
        return
    from steadyboost.lab.experiments.cells import Archive

    archive = Archive(folder)
    for experiment in session.experiments:
        archive.restore(experiment, session.cache)
    try:
        yield
    finally:
        for experiment in session.experiments:
            archive.store(experiment, session.cache)


def run(session: Session, jobs: int) -> None:
    """Run the cells that have no result; an interrupt tells how to resume."""
    from rich.console import Console

    errors = Console(stderr=True, markup=False)
    try:
        session.run(jobs, errors)
    except KeyboardInterrupt:
        left = len(session.waiting())
        errors.print(f"Interrupted: {left} cells are left; the same command resumes here.")
        raise typer.Exit(INTERRUPTED) from None


def show(reports: list[Report]) -> None:
    """Tables and verdicts, in the terminal."""
    from steadyboost.lab.experiments.report import terminal_lines, terminal_table, title

    page = console()
    for report in reports:
        page.print(title(report.experiment), style="bold")
        page.print(terminal_table(report))
        for line in terminal_lines(report):
            page.print(line)
        page.print()


def options_of(quick: bool, repeats: int | None, skip: list[str]) -> str:
    """The options that change which cells are run."""
    options = ["--quick"] * quick + [f"--repeats {repeats}"] * bool(repeats)
    options += [f"--skip {name}" for name in skip]
    return "".join(f" {option}" for option in options)


def write_pages(
    reports: list[Report], names: list[str], options: str, html: Path | None, docs: Path | None
) -> None:
    from steadyboost import __version__

    made = f"Version {__version__}, {datetime.now(UTC):%Y-%m-%d}."
    if html:
        from steadyboost.lab.reports.experiments import experiments_page

        command = f"steadyboost reproduce {' '.join(names)}{options}"
        write_whole(html, experiments_page(reports, f"{command} · {made}"))
        typer.echo(f"Page: {html}")
    if docs:
        from steadyboost.lab.experiments.report import markdown_page

        before = docs.read_text(encoding="utf-8") if docs.exists() else ""
        write_whole(docs, markdown_page(reports, options, made, before))
        typer.echo(f"Page: {docs}")


def write_records(reports: list[Report], output: Path, formats: list[str]) -> None:
    """A file per experiment and format."""
    from steadyboost.lab.experiments.report import as_csv, as_json

    contents = {"csv": as_csv, "json": as_json}
    if formats:
        output.mkdir(parents=True, exist_ok=True)
    for report in reports:
        for suffix in formats:
            file = record_file(output, report.experiment, suffix)
            write_whole(file, contents[suffix](report))
            typer.echo(f"Results: {file}")


def record_file(folder: Path, experiment: Experiment, suffix: str) -> Path:
    return folder / f"{experiment.name.replace('/', '-')}.{suffix}"


def check_records(
    experiments: list[Experiment], output: Path, formats: list[str], force: bool
) -> None:
    """Refuse to replace files before the work is done, not after."""
    if formats and output.exists() and not output.is_dir():
        refuse("--output", f"{output} is not a folder.")
    for experiment, suffix in product(experiments, formats):
        file = record_file(output, experiment, suffix)
        if file.exists() and not force:
            refuse("--output", f"{file} exists; pass --force to replace it.")


TITLES = ("data set", "rows x columns, classes", "papers", "source", "how to get it")


def data(json: Json = False) -> None:
    """List the data sets: their sizes, their sources, and how to get those that are missing."""
    from rich.table import Table

    from steadyboost.lab.datasets import available

    records, papers = available(), papers_by_set()
    if json:
        sets = [{**asdict(record), "papers": papers.get(record.name, [])} for record in records]
        print_json({"data": sets})
        return
    made = Table()
    for title in TITLES:
        made.add_column(title, overflow="fold")
    for record in records:
        size = f"{record.rows:,} x {record.columns}, {record.classes}"
        used = " ".join(papers.get(record.name, []))
        made.add_row(record.name, size, used, record.source or "not available", record.remedy)
    console().print(made)


def papers_by_set() -> dict[str, list[str]]:
    """The papers that use each data set."""
    from steadyboost.lab.experiments.reading import papers

    users: dict[str, set[str]] = {}
    for paper in papers():
        for experiment in paper.experiments:
            for choice in experiment.data:
                users.setdefault(choice.set, set()).add(paper.id)
    return {name: sorted(used) for name, used in users.items()}
