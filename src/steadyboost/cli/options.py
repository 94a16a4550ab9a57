"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[Path, typer.Argument(help="A model file, such as fit writes.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Source of chance.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
