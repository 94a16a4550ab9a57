"""The command ``steadyboost demo``."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.options import Force, Json, Noise, Seed, check_output
from steadyboost.cli.shell import console, print_json
from steadyboost.files import write_whole

if TYPE_CHECKING:
    from steadyboost.lab.demo import Result, Tell

DEFAULT_OUTPUT = Path("steadyboost-demo.svg")
SECONDS_BETWEEN_LINES = 10.0  # of one method's progress, where there is no terminal

Rounds = Annotated[int, typer.Option(min=10, help="Boosting rounds of each method.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="File of the picture (.svg).")]
All = Annotated[bool, typer.Option("--all", help="Run all boosters.")]


def demo(
    all_boosters: All = False,
    rounds: Rounds = 60,
    noise: Noise = 0.2,
    output: Output = DEFAULT_OUTPUT,
    seed: Seed = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Compare AdaBoost, other libraries and robust boosters on digits with wrong labels."""
    check_output(output, force or output == DEFAULT_OUTPUT, [".svg"])
    start = time.perf_counter()
    from steadyboost.lab import demo as job

    chosen = job.methods(all_boosters)
    with progress(len(chosen), rounds) as tell, job.compiling_ahead(all_boosters, noise, seed):
        results = list(job.run(chosen, rounds, noise, seed, tell))
    write_whole(output, job.picture(results, rounds, noise, seed))
    if json:
        print_json({"methods": list(map(as_dict, results)), "picture": str(output)})
        return
    page = console()
    page.print(job.table(results))
    for sentence in job.conclusions(results, rounds):
        page.print(sentence)
    page.print(f"Picture: {output} ({time.perf_counter() - start:.0f} s in all)")


def as_dict(result: "Result") -> dict[str, Any]:
    """The result of one method as a JSON object; errors are in percent by round."""
    return {
        "name": result.name,
        "rounds": result.rounds,
        "error": result.error,
        "seconds": result.seconds,
        "errors": result.errors,
        "messages": result.messages,
    }


@contextmanager
def progress(n_methods: int, rounds: int) -> Iterator["Tell"]:
    """A function that shows progress: a bar on a terminal, else a line every few seconds."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    errors = Console(stderr=True)
    if not errors.is_terminal:
        yield MethodLines(n_methods, rounds)
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "rounds"
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task("starting", total=n_methods * rounds)

        def tell(method: str, doing: str, newly_done: int) -> None:
            bar.update(task, description=f"{method}: {doing}", advance=newly_done)

        yield tell


class MethodLines:
    """A line on standard error for each method, and every few seconds while one is trained."""

    def __init__(self, n_methods: int, rounds: int):
        self.n_methods, self.rounds = n_methods, rounds
        self.n_started = self.done = 0
        self.method, self.last_time = "", 0.0

    def __call__(self, method: str, doing: str, newly_done: int) -> None:
        now, is_new = time.monotonic(), method != self.method
        if is_new:
            self.method, self.done, self.n_started = method, 0, self.n_started + 1
        self.done += newly_done
        if is_new or now > self.last_time + SECONDS_BETWEEN_LINES:
            self.last_time = now
            far = "" if is_new else f", round {self.done} of {self.rounds}"
            line = f"{method}{far} (method {self.n_started} of {self.n_methods})"
            print(line, file=sys.stderr, flush=True)
