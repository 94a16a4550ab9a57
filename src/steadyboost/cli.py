"""The command line: ``steadyboost``."""

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from steadyboost.experiments import cli as experiments
from steadyboost.files import write_whole

if TYPE_CHECKING:
    from steadyboost.demo import Result

DEFAULT_OUTPUT = Path("steadyboost-demo.svg")
# Of click where typer builds on it, of typer itself where typer brings its own copy.
UsageError: Any = typer.BadParameter.__bases__[0]


class OneSentence(TyperGroup):
    """Says what is wrong in one sentence on the standard error, not in a box below the usage."""

    def main(self, *args: Any, **options: Any) -> Any:
        standalone = options.get("standalone_mode", True)
        options["standalone_mode"] = False
        try:
            result = super().main(*args, **options)
        except UsageError as error:
            fail(error.format_message(), 2)
        except OSError as error:
            fail(str(error), 1)
        if standalone:
            sys.exit(result if isinstance(result, int) else 0)
        return result


def fail(message: str, code: int) -> NoReturn:
    """End the program."""
    print(f"steadyboost: {message}", file=sys.stderr)
    sys.exit(code)


app = typer.Typer(cls=OneSentence, add_completion=False, pretty_exceptions_enable=False)


def main() -> None:
    """Run the command line."""
    app(prog_name="steadyboost")


def show_version(wanted: bool) -> None:
    if wanted:
        from steadyboost import __version__

        print(f"steadyboost {__version__}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Boosting that stays steady when labels are wrong."""


def check_noise(noise: float) -> float:
    if not 0 <= noise < 1:
        raise typer.BadParameter(f"{noise:g} is not a fraction of at least 0 and below 1.")
    return noise


def check_output(output: Path, force: bool) -> None:
    """Refuse before the work is done, not after."""

    def refuse(reason: str) -> NoReturn:
        raise typer.BadParameter(reason, param_hint="'--output'")

    if output.suffix.lower() != ".svg":
        refuse(f"{output} does not end in .svg, and the demo draws SVG.")
    if not output.parent.is_dir():
        refuse(f"the folder {output.parent} does not exist.")
    if output.is_dir():
        refuse(f"{output} is a folder.")
    if output.exists() and output != DEFAULT_OUTPUT and not force:
        refuse(f"{output} exists; pass --force to replace it.")


@app.command()
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
    check_output(output, force)
    start = time.perf_counter()
    from rich.console import Console

    from steadyboost import demo as job

    results = run_with_progress(rounds, noise, seed)
    write_whole(output, job.picture(results, rounds, noise, seed))
    console = Console()
    console.print(job.table(results))
    for sentence in job.conclusions(results, rounds):
        console.print(sentence, highlight=False)
    took = time.perf_counter() - start
    console.print(f"Picture: {output} (all in all {took:.0f} s)", highlight=False)


def run_with_progress(rounds: int, noise: float, seed: int) -> list["Result"]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from steadyboost.demo import boosters, run

    total = rounds * (1 + len(boosters()))
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), "rounds"
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task("starting", total=total)

        def tell(what: str, newly_done: int) -> None:
            bar.update(task, description=what, advance=newly_done)

        return list(run(rounds, noise, seed, tell))


app.command()(experiments.reproduce)
app.command()(experiments.data)
