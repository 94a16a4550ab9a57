"""The page about the command line shows what the commands print."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from steadyboost import cli

DOCS = Path(__file__).parents[2] / "docs"


def run_here(command, folder):
    """Our own commands in this process; the shell's in a shell."""
    setup, _, ours = command.rpartition("; ")
    if setup or not command.startswith("steadyboost "):
        subprocess.run(setup, shell=True, cwd=folder, check=True)
    if not ours.startswith("steadyboost "):
        return subprocess.run(
            ours, shell=True, cwd=folder, check=True, capture_output=True, text=True
        ).stdout
    result = CliRunner().invoke(cli.app, shlex.split(ours)[1:], prog_name="steadyboost")
    assert result.exit_code in (0, 1, 2), result.exception
    return result.output


def without_numbers(page):
    """Figures may differ a little between machines, and with them trees and widths of tables.

    Rows of a table are sorted: features of like importance may change places.
    """
    page = re.sub(r"^(\|   |\w+ (<=|>|in|not in|=|!=) ).*\n", "", page, flags=re.MULTILINE)
    page = re.sub(r"\d[\d.,]*(e-\d+)?", "0", page)
    page = re.sub(r"[━─█ ]+", " ", page)
    return re.sub(r"(^│.*\n)+", in_order, page, flags=re.MULTILINE)


def in_order(lines):
    return "".join(sorted(lines[0].splitlines(keepends=True)))


def test_the_page_shows_what_the_commands_print(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    page = runpy.run_path(str(DOCS / "command_line.py"))
    text = (DOCS / "command-line.md").read_text(encoding="utf-8")
    again = page["filled"](text, run_here, tmp_path)
    assert without_numbers(again).splitlines() == without_numbers(text).splitlines()
