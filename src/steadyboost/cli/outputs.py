"""Where results go: checked before the work is done, not after."""

import os
from collections.abc import Collection
from pathlib import Path
from typing import NoReturn

import typer


def refuse(option: str, reason: str) -> NoReturn:
    """End the program: an option cannot have this value."""
    raise typer.BadParameter(reason, param_hint=f"'{option}'")


def check_output(
    output: Path, force: bool, suffixes: Collection[str], option: str = "--output"
) -> None:
    """Refuse a file that cannot be written, or that would be lost."""
    if not output.name.lower().endswith(tuple(suffixes)):
        refuse(option, f"{output} does not end in {' or '.join(suffixes)}.")
    if not output.parent.is_dir():
        refuse(option, f"the folder {output.parent} does not exist.")
    if not os.access(output.parent, os.W_OK):
        refuse(option, f"nothing can be written to the folder {output.parent}.")
    if output.is_dir():
        refuse(option, f"{output} is a folder.")
    if output.exists() and not force:
        refuse(option, f"{output} exists; pass --force to replace it.")


def check_outputs(force: bool, **wanted: tuple[Path | None, str]) -> None:
    """The same for several options by name, each with a file or none and how it must end."""
    for name, (path, suffix) in wanted.items():
        if path:
            check_output(path, force, [suffix], f"--{name}")
