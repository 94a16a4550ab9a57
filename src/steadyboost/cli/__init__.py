"""The command line ``steadyboost``: one file per command, nothing heavy imported at the start."""

from steadyboost.cli.audit import audit
from steadyboost.cli.compare import compare
from steadyboost.cli.compile import compile
from steadyboost.cli.data import data
from steadyboost.cli.demo import demo
from steadyboost.cli.evaluate import evaluate
from steadyboost.cli.explain import explain
from steadyboost.cli.fit import fit
from steadyboost.cli.predict import predict
from steadyboost.cli.reproduce import reproduce
from steadyboost.cli.shell import app, main

__all__ = ["app", "main"]

for command in (fit, predict, evaluate, explain, compare, audit, demo, reproduce, data, compile):
    app.command()(command)
