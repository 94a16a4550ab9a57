"""Writing files so that a half-written one never has the file's name."""

import os
from pathlib import Path


def write_whole(output: Path, text: str) -> None:
    """All of the file or none of it."""
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, output)
    finally:
        draft.unlink(missing_ok=True)
