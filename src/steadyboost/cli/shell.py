"""The program that the commands hang on, and how it ends."""

import errno
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
# Of click where typer builds on it, of typer itself where typer brings its own copy.
UsageError: Any = typer.BadParameter.__bases__[0]


class Failure(Exception):
    """A command cannot go on for a reason that lies in the data or the files."""


class OneSentence(TyperGroup):
    """Says what is wrong in one sentence on the standard error, not in a box below the usage."""

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
            if error.errno == errno.EPIPE:  # whoever read the output has seen enough
                sys.exit(FAILURE)
            fail(f"{error.filename}: {error.strerror}." if error.filename else str(error), FAILURE)
        if standalone:
            sys.exit(result if isinstance(result, int) else 0)
        return result

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Who names no command is told which there are."""
        return super().parse_args(ctx, args or ["--help"])

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted.", INTERRUPTED)


def fail(message: str, code: int) -> NoReturn:
    """End the program."""
    print(f"steadyboost: {message}", file=sys.stderr)
    sys.exit(code)


@contextmanager
def told_in_one_sentence(prefix: str = "") -> Iterator[None]:
    """Turn what the library says of bad values into the end of the program."""
    try:
        yield
    except ValueError as error:
        raise Failure(prefix + " ".join(str(error).split())) from error


app = typer.Typer(cls=OneSentence, pretty_exceptions_enable=False)


def warn(message: Warning | str, *where: Any, **more: Any) -> None:
    """A warning in one line, without the place in the code that it comes from."""
    print("steadyboost: warning: " + " ".join(str(message).split()), file=sys.stderr)


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
    """Boosting that stays steady when labels are wrong."""
