"""The command ``steadyboost explain``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from steadyboost.cli.models import Model, load_model
from steadyboost.cli.options import Json, ModelFile
from steadyboost.cli.outputs import refuse
from steadyboost.cli.printing import console, grid, print_json

SHOWN_ROUNDS = 8  # of the history
WIDEST_BAR = 30
SHOWN_LINES = 30  # of a hypothesis
Top = Annotated[int, typer.Option(min=1, help="How many features to list.")]
Round = Annotated[int, typer.Option("--round", help="The round whose hypothesis to show in words.")]


def explain(model: ModelFile, top: Top = 15, round_: Round = 1, json: Json = False) -> None:
    """Show what a model is made of: parameters, important features, rounds, a hypothesis."""
    loaded = load_model(model)
    if not 1 <= round_ <= loaded.booster.n_iter_:
        refuse("--round", f"{round_} is not from 1 to {loaded.booster.n_iter_}.")
    if json:
        print_json(document(loaded, round_))
        return
    page = console()
    for line in head(loaded):
        page.print(line)
    page.print(importance_grid(loaded, top))
    page.print(history_grid(loaded.booster))
    page.print(hypothesis(loaded.booster, round_), soft_wrap=True)


def document(model: Model, round_: int) -> dict[str, Any]:
    """All of it, for machines."""
    from steadyboost.exports import export_text

    booster = model.booster
    return {
        "model": str(model.path),
        "booster": type(booster).__name__,
        "target": model.target,
        "classes": booster.classes_.tolist(),
        "rounds": booster.n_iter_,
        "params": changed(booster),
        "importances": dict(importances(model)),
        "history": list(booster.history_),
        "hypothesis": export_text(booster, round_ - 1),
    }


def head(model: Model) -> list[str]:
    """Booster, classes and parameters, a line each."""
    booster = model.booster
    labels = ", ".join(map(str, booster.classes_[:10].tolist()))
    more = ", ..." if len(booster.classes_) > 10 else ""
    params = ", ".join(f"{name}={value!r}" for name, value in changed(booster).items())
    named = f" of {model.target}" if model.target else ""
    return [
        f"{type(booster).__name__}, {booster.n_iter_} rounds",
        f"classes{named}: {labels}{more}",
        f"parameters other than their defaults: {params or 'none'}",
    ]


def changed(booster: Any) -> dict[str, Any]:
    """Parameters that are not what a new booster has."""
    defaults = type(booster)().get_params(deep=False)
    params = booster.get_params(deep=False)
    return {name: value for name, value in params.items() if repr(value) != repr(defaults[name])}


def importances(model: Model) -> list[tuple[str, float]]:
    """Features by their share, the greatest first."""
    from steadyboost.exports.names import feature_names

    booster = model.booster
    shares = zip(feature_names(booster), booster.feature_importances_.tolist(), strict=True)
    return sorted(shares, key=lambda share: -share[1])


def importance_grid(model: Model, top: int) -> Any:
    """The first features, with bars."""
    ranked = importances(model)[:top]
    longest = ranked[0][1] or 1
    bars = (WIDEST_BAR * share / longest for _, share in ranked)
    shown = zip(ranked, bars, strict=True)
    rows = [[name, f"{share:.1%}", "█" * round(bar)] for (name, share), bar in shown]
    return grid(("feature", "importance", ""), rows)


def history_grid(booster: Any) -> Any:
    """Some rounds of the history, from the first to the last that the model holds."""
    records = booster.history_[: booster.n_iter_]
    last, shown = len(records) - 1, min(len(records), SHOWN_ROUNDS)
    chosen = [records[place * last // max(shown - 1, 1)] for place in range(shown)]
    names = [name for name in booster.history_.columns if _is_number(records[-1].get(name))]
    rows = [[_cell(record.get(name)) for name in names] for record in chosen]
    return grid([name.replace("_", " ") for name in names], rows)


def hypothesis(booster: Any, round_: int) -> str:
    """What the weak learner answered in a round, cut short."""
    from steadyboost.exports import export_text

    lines = export_text(booster, round_ - 1).splitlines()
    more = len(lines) - SHOWN_LINES
    return "\n".join([*lines[:SHOWN_LINES], *([f"... and {more} more lines"] if more > 0 else [])])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "-" if value is None else str(value)
