"""The command ``steadyboost demo``."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steadyboost.cli.outputs import check_output
from steadyboost.cli.printing import console
from steadyboost.core.files import write_whole

if TYPE_CHECKING:
    from steadyboost.demo import Result

DEFAULT_OUTPUT = Path("steadyboost-demo.svg")


def check_noise(noise: float) -> float:
    if not 0 <= noise < 1:
        raise typer.BadParameter(f"{noise:g} is not a fraction of at least 0 and below 1.")
    return noise


def demo(
    rounds: Annotated[int, typer.Option(min=10, help="Boosting rounds of each method.")] = 100,
    noise: Annotated[
        float, typer.Option(callback=check_noise, help="Share of training labels made wrong.")
    ] = 0.2,
    output: Annotated[Path, typer.Option(help="Where to save the picture.")] = DEFAULT_OUTPUT,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Source of chance.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing picture.")] = False,
) -> None:
    """Compare AdaBoost and robust boosters on digits with wrong labels: a table and a picture."""
    check_output(output, force or output == DEFAULT_OUTPUT, [".svg"])
    start = time.perf_counter()
    from steadyboost import demo as job

    results = run_with_progress(rounds, noise, seed)
    write_whole(output, job.picture(results, rounds, noise, seed))
    page = console()
    page.print(job.table(results))
    for sentence in job.conclusions(results, rounds):
        page.print(sentence)
    took = time.perf_counter() - start
    page.print(f"Picture: {output} (all in all {took:.0f} s)")


def run_with_progress(rounds: int, noise: float, seed: int) -> list["Result"]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from steadyboost.demo import boosters, compiling_ahead, run

    total = rounds * (1 + len(boosters()))
    errors = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "rounds"
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting", total=total)

        def tell(what: str, newly_done: int) -> None:
            bar.update(task, description=what, advance=newly_done)

        with compiling_ahead(noise, seed):
            return list(run(rounds, noise, seed, tell))
