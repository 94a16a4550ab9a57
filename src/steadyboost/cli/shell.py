"""The program that the commands belong to: its errors, exit codes and output."""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from steadyboost.files import printable, shortened
from steadyboost.interruptions import interrupted_fits_raise

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())  # as they were typed
# The class is click's, or typer's own in versions that include a copy of click.
UsageError: Any = typer.BadParameter.__bases__[0]


class Failure(Exception):
    """A command cannot continue because of its data or files."""


class OneSentence(TyperGroup):
    """Prints an error as one sentence on standard error, without usage and box."""

    def main(self, *args: Any, **options: Any) -> Any:
        standalone = options.get("standalone_mode", True)
        options["standalone_mode"] = False
        try:
            result = super().main(*args, **options)
        except UsageError as error:
            fail(error.format_message(), USAGE)
        except Failure as error:
            fail(str(error), FAILURE)
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of a pipe, such as head, has ended
                sys.exit(FAILURE)
            fail(f"{error.filename}: {error.strerror}." if error.filename else str(error), FAILURE)
        if standalone:
            sys.exit(result if isinstance(result, int) else 0)
        return result

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command, show the help."""
        ARGUMENTS.set(tuple(args))
        return super().parse_args(ctx, args or ["--help"])

    def invoke(self, ctx: Any) -> Any:
        try:
            with interrupted_fits_raise():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted.", INTERRUPTED)


def command_line() -> str:
    """The command that is run, for reports: as it was typed, without the folders of files."""
    typed = [Path(one).name if os.sep in one else one for one in ARGUMENTS.get()]
    return shlex.join(["steadyboost", *typed])


def fail(message: str, code: int) -> NoReturn:
    """End the program."""
    print(f"steadyboost: {printable(shortened(message))}", file=sys.stderr)
    sys.exit(code)


@contextmanager
def told_in_one_sentence(prefix: str = "") -> Iterator[None]:
    """Turn a ``ValueError`` of the library into a failure of the command."""
    try:
        yield
    except ValueError as error:
        raise Failure(prefix + " ".join(str(error).split())) from error


app = typer.Typer(cls=OneSentence, pretty_exceptions_enable=False)


def warn(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning in one line, without the line of code that it comes from."""
    text = printable(shortened(" ".join(str(message).split())))
    print(f"steadyboost: warning: {text}", file=sys.stderr)


def main() -> None:
    """Run the command line."""
    warnings.showwarning = warn
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
    """Boosting for tables whose labels are partly wrong."""


WIDTH = 140  # of output that is not a terminal, so that lines do not wrap at 80


def console() -> Console:
    """Standard output; neither brackets nor control characters in names are interpreted."""
    from rich.console import Console

    class Page(Console):
        """Shows text that others have written as it is."""

        def print(self, *objects: Any, **settings: Any) -> None:
            shown = (printable(one) if isinstance(one, str) else one for one in objects)
            super().print(*shown, **settings)

    terminal = Page(highlight=False, markup=False)
    return terminal if terminal.is_terminal else Page(width=WIDTH, highlight=False, markup=False)


def say(text: str, *, err: bool = False) -> None:
    """Print lines that may have names and labels in them."""
    typer.echo(printable("\n".join(map(shortened, text.split("\n")))), err=err)


def print_json(document: dict[str, Any]) -> None:
    """Print one JSON object on standard output."""
    print(json.dumps(document, indent=2, default=_plain))


def print_files(files: dict[str, str]) -> None:
    """Print the paths of output files, one line each."""
    for name, path in files.items():
        say(f"{name.capitalize()}: {path}")


def grid(
    titles: Iterable[str],
    rows: Iterable[Iterable[Any]],
    texts: Collection[str] = (),
    **options: Any,
) -> Table:
    """A table: the first column, those without a title and ``texts`` are text, others numbers."""
    from rich.table import Table

    made = Table(**options)
    for place, title in enumerate(titles):
        is_number = place and title and title not in texts
        made.add_column(printable(title), justify="right" if is_number else "left", overflow="fold")
    for row in rows:
        made.add_row(*(printable(str(cell)) for cell in row))
    return made


def _plain(value: Any) -> Any:
    """JSON equivalents of numpy scalars and estimators."""
    return value.item() if hasattr(value, "item") else str(value)
