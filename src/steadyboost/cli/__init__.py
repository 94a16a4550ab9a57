"""The command line: ``steadyboost``. One file per command; nothing heavy is imported at the start."""

from steadyboost.cli.demo import demo
from steadyboost.cli.shell import app, main
from steadyboost.experiments.cli import data, reproduce

__all__ = ["app", "main"]

for command in (demo, reproduce, data):
    app.command()(command)
