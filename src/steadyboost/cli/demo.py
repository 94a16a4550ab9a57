"""The command ``steadyboost demo``."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.options import Force, Json, Noise, Seed
from steadyboost.cli.outputs import check_output
from steadyboost.cli.printing import console, print_json
from steadyboost.ensemble.files import write_whole

if TYPE_CHECKING:
    from steadyboost.lab.demo import Result

DEFAULT_OUTPUT = Path("steadyboost-demo.svg")


Rounds = Annotated[int, typer.Option(min=10, help="Boosting rounds of each method.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where to save the picture (.svg).")]


def demo(
    rounds: Rounds = 60,
    noise: Noise = 0.2,
    output: Output = DEFAULT_OUTPUT,
    seed: Seed = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Compare AdaBoost and robust boosters on digits with wrong labels: a table and a picture."""
    check_output(output, force or output == DEFAULT_OUTPUT, [".svg"])
    start = time.perf_counter()
    from steadyboost.lab import demo as job

    results = run_with_progress(rounds, noise, seed)
    write_whole(output, job.picture(results, rounds, noise, seed))
    if json:
        print_json({"methods": list(map(as_dict, results)), "picture": str(output)})
        return
    page = console()
    page.print(job.table(results))
    for sentence in job.conclusions(results, rounds):
        page.print(sentence)
    page.print(f"Picture: {output} (all in all {time.perf_counter() - start:.0f} s)")


def as_dict(result: "Result") -> dict[str, Any]:
    """What one method did, in figures: errors in percent by round."""
    return {
        "name": result.name,
        "rounds": result.rounds,
        "error": result.error,
        "seconds": result.seconds,
        "errors": result.errors,
        "messages": result.messages,
    }


def run_with_progress(rounds: int, noise: float, seed: int) -> list["Result"]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from steadyboost.lab.demo import boosters, compiling_ahead, run

    total = rounds * (1 + len(boosters()))
    errors = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "rounds"
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("starting", total=total)

        def tell(what: str, newly_done: int) -> None:
            bar.update(task, description=what, advance=newly_done)

        with compiling_ahead(noise, seed):
            return list(run(rounds, noise, seed, tell))
