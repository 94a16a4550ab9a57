"""The command ``steadyboost fit``, on one machine and on a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from steadyboost.cli import options
from steadyboost.cli.annotators import (
    Annotators,
    AnswersFile,
    Sources,
    Verified,
    annotators_as_dicts,
    need_steadyboost,
    print_annotators,
    read_annotated,
)
from steadyboost.cli.boosters import (
    DEFAULT_BOOSTER,
    DEFAULT_DISTRIBUTED,
    complete_booster,
    make_booster,
)
from steadyboost.cli.inputs import TextFormat, Training, TrainingSource, save_model
from steadyboost.cli.options import check_output, refuse
from steadyboost.cli.shell import Failure, print_json, say, told_in_one_sentence
from steadyboost.cli.streamed import Stream, fit_stream, streams

Output = Annotated[Path, typer.Option("--output", "-o", help="Where to write the model (.sb).")]
Booster = Annotated[
    str | None,
    typer.Option(
        "--booster",
        "-b",
        help=f"Booster; {DEFAULT_BOOSTER} by default, {DEFAULT_DISTRIBUTED} with --dask.",
        autocompletion=complete_booster,
    ),
]
Learner = Annotated[
    str | None, typer.Option(help="Weak learner: Tree, Stump, AttributeTest, DecisionRule, C45.")
]
Rounds = Annotated[int | None, typer.Option(min=1, help="Maximum number of boosting rounds.")]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        help="A parameter as name=value, such as estimator__max_depth=2; can be repeated.",
    ),
]
Validation = Annotated[Path | None, typer.Option(help="File of validation rows.")]
EarlyStopping = Annotated[
    bool,
    typer.Option(
        "--early-stopping", help="Stop early on the validation rows, or on a held-out tenth."
    ),
]
Folds = Annotated[
    int,
    typer.Option(
        min=0,
        help="Folds of the cross-validated error; 0 for none. SteadyBoost needs none: it is "
        "cross-validated as it is fitted.",
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        help="Fit to Parquet files on a Dask cluster: the address of its scheduler, or local."
    ),
]


# As many arguments as the command has options: typer reads them from the signature.
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
    folds: Folds = 5,
    weights: options.Weights = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    use: options.Use = None,
    drop_unlabelled: options.DropUnlabelled = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    annotators: Annotators = None,
    answers: AnswersFile = None,
    verified: Verified = None,
    dask: Dask = None,
    stream: Stream = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Fit a model to a table and save it to a file."""
    check_output(output, force, [".sb"], inputs=[data, validation])
    given = {"early_stopping": early_stopping, "random_state": seed, "n_jobs": jobs or -1}
    name = booster or (DEFAULT_BOOSTER if dask is None else DEFAULT_DISTRIBUTED)
    model = make_booster(name, learner, rounds, param or [], **given)
    source = TrainingSource(
        *(data, target, weights, ignore or (), categorical or (), use or ()),
        drop_unlabelled=drop_unlabelled,
        text=TextFormat(separator, decimal, encoding),
    )
    sources = Sources.of(annotators, answers, verified)
    need_steadyboost(model, sources)
    if sources != Sources() and (dask is not None or streams(data, stream)):
        refuse("--dask", "and --stream cannot be used with annotators or checked rows.")
    if validation is not None and sources.has_answers:
        refuse("--validation", "cannot be used with --annotators or --answers.")
    train: Callable[..., Trained] = partial(train_here, folds, sources=sources)
    if dask is not None:
        train = partial(train_distributed, dask)
    elif streams(data, stream):
        train = train_streamed
    trained = train(model, source, validation, json)
    save_model(model, output, target, trained.summary.get("notations"))
    report(model, trained, output, json)


class Trained(NamedTuple):
    """A summary of the training rows, errors by name, the time of training, and sentences."""

    summary: dict[str, Any]
    errors: dict[str, float]
    seconds: float
    remarks: list[str]


def train_here(
    folds: int,
    model: Any,
    source: TrainingSource,
    validation: Path | None,
    quiet: bool,
    sources: Sources = Sources(),  # noqa: B008  (it cannot be changed)
) -> Trained:
    """Fit the model in this process, and find its cross-fitted error."""
    from steadyboost.callbacks import Monitor
    from steadyboost.cli.baseline import FEWEST_ROWS, cross_fitted
    from steadyboost.cli.progress import RoundProgress, progress

    annotated = read_annotated(source, sources, quiet=quiet)
    training = annotated.training
    model.set_params(categorical_features=training.categories)
    with told_in_one_sentence():
        held_out = {} if validation is None else _held_out(validation, source, training)
    table, y = training.table, training.y
    with told_in_one_sentence(f"{source.data}: "), progress(type(model).__name__) as tell:
        start = time.perf_counter()
        callbacks = [Monitor()] if held_out else []
        model.set_params(callbacks=[*callbacks, RoundProgress(tell, "fitting")])
        model.fit(table.X, y, table.weights, **held_out, **annotated.extra)
        seconds = time.perf_counter() - start
        # Answers of annotators are no labels, and some rows may have none.
        found = None
        if not annotated.extra:
            found = cross_fitted(model, training, 0 if held_out else folds, tell)
    errors: dict[str, float] = {}
    remarks: list[str] = []
    if found is not None:
        errors = {"cross_fitted": found.error, "baseline": found.baseline}
        remarks = found.sentences()
    elif table.found.rows < FEWEST_ROWS:
        remarks = [f"note: {table.found.rows} rows are too few to estimate errors or wrong labels"]
    if held_out:
        errors["validation"] = 1 - model.score(held_out["X_val"], held_out["y_val"])
        remarks.append(f"validation error {errors['validation']:.1%}")
    return Trained(table.found.as_dict(), errors, seconds, remarks)


def _held_out(path: Path, source: TrainingSource, training: Training) -> dict[str, Any]:
    import numpy as np

    from steadyboost.io import match_classes, read_table

    table, classes = training.table, np.unique(training.y)
    held = read_table(
        path,
        target=source.target,
        features=table.kinds,
        n_features=table.found.columns,
        notations=table.found.notations,
        drop_unlabelled=source.drop_unlabelled,
        **source.text._asdict(),
    )
    places = match_classes(path, source.target or "label", held.labels, classes, held.numbers)
    return {"X_val": held.X, "y_val": classes[places]}


def train_streamed(
    model: Any, source: TrainingSource, validation: Path | None, quiet: bool
) -> Trained:
    """Fit the model to Parquet files that are read in batches."""
    from steadyboost.cli.progress import RoundProgress, progress

    with progress(type(model).__name__) as tell:
        model.set_params(callbacks=[RoundProgress(tell, "fitting")])
        summary, errors, seconds = fit_stream(model, source, validation)
    if not quiet:
        rows, columns = summary["rows"], summary["columns"]
        say(f"{source.data}: {rows:,} rows, {columns} features, read in batches")
    told = [f"{name} error {error:.1%}" for name, error in errors.items()]
    return Trained(summary, errors, seconds, told)


def train_distributed(
    address: str, model: Any, source: TrainingSource, validation: Path | None, quiet: bool
) -> Trained:
    """Fit the model on a Dask cluster, to Parquet files that need not fit into memory."""
    from steadyboost.callbacks import Monitor
    from steadyboost.cli.progress import RoundProgress, progress

    if source.categorical:
        model.set_params(categorical_features=list(source.categorical))
    start = time.perf_counter()
    with progress(type(model).__name__) as tell:
        model.set_params(callbacks=[Monitor(), RoundProgress(tell, "fitting")])
        n_partitions, features = _fit_collections(address, model, source, validation)
    seconds = time.perf_counter() - start
    if not quiet:
        say(f"{source.data}: {n_partitions} partitions, {len(features)} features")
    last = model.history_[model.n_iter_ - 1]
    names = {"training": "train_error", "validation": "val_error"}
    errors = {name: last[key] for name, key in names.items() if key in last}
    told = [f"{name} error {error:.1%}" for name, error in errors.items()]
    summary = {"partitions": n_partitions, "features": features}
    return Trained(summary, errors, seconds, told)


def _fit_collections(
    address: str, model: Any, source: TrainingSource, validation: Path | None
) -> tuple[int, list[str]]:
    """Fit to Dask collections; the number of partitions and the names of the features."""
    if source.target is None:
        raise typer.BadParameter("name the column of the labels.", param_hint="'--target'")
    try:
        from steadyboost.distributed import connected
    except ImportError as error:
        raise Failure("--dask needs Dask: pip install 'steadyboost[dask]'.") from error
    with told_in_one_sentence(), connected(address):
        X, y, weights = collections(source)
        X_val, y_val = None, None
        if validation is not None:
            X_val, y_val, _ = collections(source._replace(data=validation, weights=None))
        model.fit(X, y, weights, X_val=X_val, y_val=y_val)
    return X.npartitions, list(X.columns)


def collections(source: TrainingSource) -> tuple[Any, Any, Any]:
    """Features, labels and weights of Parquet files, as Dask collections."""
    from steadyboost.distributed import read_parquet

    assert source.target is not None
    X, y = read_parquet(source.data, source.target)
    weights = filter(None, [source.weights])
    others = [*source.ignore, *weights]
    unknown = [name for name in others if name not in X.columns]
    if unknown:
        names = list(X.columns)[:20]
        raise ValueError(f"{source.data} has no column {unknown[0]!r}; it has {names}.")
    return X.drop(columns=others), y, None if source.weights is None else X[source.weights]


def report(model: Any, trained: Trained, output: Path, json: bool) -> None:
    """Print the errors, the time and the file of the model."""
    from steadyboost.cli.baseline import FEWEST_ROWS

    noise = getattr(model, "noise_rate_", None)
    if noise is not None and len(model.label_scores_) < FEWEST_ROWS:
        noise = None
    annotators = getattr(model, "annotators_", None)
    if json:
        print_json(
            {
                "model": str(output),
                "booster": type(model).__name__,
                "classes": model.classes_.tolist(),
                "rounds": model.n_iter_,
                "errors": trained.errors,
                "noise_rate": noise,
                **({} if annotators is None else {"annotators": annotators_as_dicts(annotators)}),
                "seconds": round(trained.seconds, 3),
                "data": trained.summary,
            }
        )
        return
    rounds = f"{model.n_iter_} round{'s' * (model.n_iter_ != 1)} in {trained.seconds:.1f} s"
    say(f"{type(model).__name__}: {rounds}")
    for remark in trained.remarks:
        say(remark)
    if noise is not None:
        low, high = model.noise_rate_interval_
        say(f"estimated share of wrong labels: {noise:.1%} (90 % interval {low:.1%} to {high:.1%})")
    if annotators is not None:
        print_annotators(annotators)
    say(f"Model: {output}")
