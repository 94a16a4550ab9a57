"""All commands."""

from steadyboost.cli.apply import apply
from steadyboost.cli.audit import audit
from steadyboost.cli.compare import compare
from steadyboost.cli.compile import compile
from steadyboost.cli.demo import demo
from steadyboost.cli.fit import fit
from steadyboost.cli.model_commands import evaluate, explain, predict
from steadyboost.cli.reproduce import data, reproduce
from steadyboost.cli.shell import app, main

__all__ = ["app", "main"]

for command in (
    fit,
    predict,
    evaluate,
    explain,
    compare,
    audit,
    apply,
    demo,
    reproduce,
    data,
    compile,
):
    app.command()(command)
