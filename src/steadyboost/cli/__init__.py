"""The command line ``steadyboost``: one file per command, nothing heavy imported at the start."""

from steadyboost.cli.demo import demo
from steadyboost.cli.shell import app, main
from steadyboost.experiments.cli import data, reproduce

__all__ = ["app", "main"]

for command in (demo, reproduce, data):
    app.command()(command)
