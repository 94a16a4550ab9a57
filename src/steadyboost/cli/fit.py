"""The command ``steadyboost fit``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from steadyboost.cli import options
from steadyboost.cli.boosters import (
    DEFAULT_BOOSTER,
    DEFAULT_SPREAD,
    complete_booster,
    make_booster,
)
from steadyboost.cli.models import save_model
from steadyboost.cli.outputs import check_output
from steadyboost.cli.printing import print_json
from steadyboost.cli.shell import told_in_one_sentence
from steadyboost.cli.training import Training, read_training

Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write the model (.sb).")]
Booster = Annotated[
    str | None,
    typer.Option(
        "--booster",
        "-b",
        help=f"Which booster; by default {DEFAULT_BOOSTER}, with --dask {DEFAULT_SPREAD}.",
        autocompletion=complete_booster,
    ),
]
Learner = Annotated[
    str | None, typer.Option(help="Weak learner: Tree, Stump, AttributeTest, DecisionRule, C45.")
]
Rounds = Annotated[int | None, typer.Option(min=1, help="Boosting rounds at the most.")]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", help="A parameter as name=value, such as estimator__max_depth=2; repeat."
    ),
]
Validation = Annotated[Path | None, typer.Option(help="A file of rows to watch, not to learn.")]
EarlyStopping = Annotated[
    bool,
    typer.Option(
        "--early-stopping", help="Keep the best round of the validation rows, or of a tenth."
    ),
]


Dask = Annotated[
    str | None,
    typer.Option(
        help="Fit to a Parquet file or folder on a Dask cluster: a scheduler's address, or local."
    ),
]


def fit(
    data: options.Data,
    target: options.Target = None,
    output: Output = Path("model.sb"),
    booster: Booster = None,
    learner: Learner = None,
    rounds: Rounds = None,
    param: Params = None,
    validation: Validation = None,
    early_stopping: EarlyStopping = False,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    dask: Dask = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Learn a model from a table and write it to a file."""
    check_output(output, force, [".sb"])
    given = {"early_stopping": early_stopping, "random_state": seed, "n_jobs": jobs or -1}
    name = booster or (DEFAULT_BOOSTER if dask is None else DEFAULT_SPREAD)
    model = make_booster(name, learner, rounds, param or [], **given)
    if dask is not None:
        fit_spread(
            model, dask, data, target, output, weights, ignore, categorical, validation, json
        )
        return
    training = read_training(data, target, ignore, categorical, weights, quiet=json)
    model.set_params(categorical_features=training.categories)
    start = time.perf_counter()
    errors = train(model, data, target, training, validation)
    took = time.perf_counter() - start
    save_model(model, output, target)
    report(model, training.table.found.as_dict(), errors, output, took, json)


def fit_spread(
    model: Any,
    address: str,
    data: Path,
    target: str | None,
    output: Path,
    weights: str | None,
    ignore: list[str] | None,
    categorical: list[str] | None,
    watched: Path | None,
    json: bool,
) -> None:
    """The same on a cluster, to rows that are never all in one place."""
    from steadyboost.callbacks import Monitor
    from steadyboost.cli.spread import train_spread

    model.set_params(callbacks=[Monitor(), *_progress()])
    if categorical:
        model.set_params(categorical_features=categorical)
    start = time.perf_counter()
    n_parts, features = train_spread(model, address, data, target, weights, ignore or [], watched)
    took = time.perf_counter() - start
    save_model(model, output, target)
    if not json:
        typer.echo(f"{data}: {n_parts} partitions, {len(features)} features")
    last = model.history_[model.n_iter_ - 1]
    names = {"training": "train_error", "validation": "val_error"}
    errors = {name: last[key] for name, key in names.items() if key in last}
    found = {"partitions": n_parts, "features": features}
    report(model, found, errors, output, took, json)


def train(
    model: Any, data: Path, target: str | None, training: Training, watched: Path | None
) -> dict[str, float]:
    """Fit the model, with a progress bar on a terminal; its errors."""
    from steadyboost.callbacks import Monitor

    with told_in_one_sentence():
        held_out = {} if watched is None else _held_out(watched, target, training)
    model.set_params(callbacks=[*([Monitor()] if held_out else []), *_progress()])
    table, y = training.table, training.y
    with told_in_one_sentence(f"{data}: "):
        model.fit(table.X, y, table.weights, **held_out)
    errors = {"training": 1 - model.score(table.X, y)}
    if held_out:
        errors["validation"] = 1 - model.score(held_out["X_val"], held_out["y_val"])
    return errors


def _held_out(path: Path, target: str | None, training: Training) -> dict[str, Any]:
    import numpy as np

    from steadyboost.io import match_classes, read_table

    table, classes = training.table, np.unique(training.y)
    held = read_table(path, target=target, features=table.kinds, n_features=table.found.columns)
    places = match_classes(path, target or "label", held.labels, classes)
    return {"X_val": held.X, "y_val": classes[places]}


def _progress() -> list[Any]:
    from rich.console import Console

    from steadyboost.callbacks import Progress

    console = Console(stderr=True)
    return [Progress(console=console)] if console.is_terminal else []


def report(
    model: Any,
    found: dict[str, Any],
    errors: dict[str, float],
    output: Path,
    took: float,
    json: bool,
) -> None:
    """What was learnt, how long it took, and where it is."""
    noise = getattr(model, "noise_rate_", None)
    if json:
        print_json(
            {
                "model": str(output),
                "booster": type(model).__name__,
                "classes": model.classes_.tolist(),
                "rounds": model.n_iter_,
                "errors": errors,
                "noise_rate": noise,
                "seconds": round(took, 3),
                "data": found,
            }
        )
        return
    told = [f"{name} error {error:.1%}" for name, error in errors.items()]
    rounds = f"{model.n_iter_} round{'s' * (model.n_iter_ != 1)} in {took:.1f} s"
    typer.echo(f"{type(model).__name__}: {', '.join([rounds, *told])}")
    if noise is not None:
        typer.echo(f"estimated share of wrong labels: {noise:.1%}")
    typer.echo(f"Model: {output}")
