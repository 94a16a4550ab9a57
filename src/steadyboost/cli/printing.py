"""How results are shown: tables for people, JSON for machines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 140  # where the output is no terminal, and lines should not break


def console() -> Console:
    """The standard output; brackets in names are not taken for markup."""
    from rich.console import Console

    terminal = Console(highlight=False, markup=False)
    return terminal if terminal.is_terminal else Console(width=WIDTH, highlight=False, markup=False)


def print_json(document: dict[str, Any]) -> None:
    """One object on the standard output."""
    print(json.dumps(document, indent=2, default=_plain))


def print_files(files: dict[str, str]) -> None:
    """Where results are, a line each."""
    for name, path in files.items():
        print(f"{name.capitalize()}: {path}")


def grid(titles: Iterable[str], rows: Iterable[Iterable[Any]], **options: Any) -> Table:
    """A table whose first column is text, as are those without a title; others are numbers."""
    from rich.table import Table

    made = Table(**options)
    for place, title in enumerate(titles):
        made.add_column(title, justify="right" if place and title else "left", overflow="fold")
    for row in rows:
        made.add_row(*map(str, row))
    return made


def _plain(value: Any) -> Any:
    """What JSON does not know: numpy's numbers, and estimators."""
    return value.item() if hasattr(value, "item") else str(value)
