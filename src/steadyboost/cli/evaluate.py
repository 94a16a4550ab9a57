"""The command ``steadyboost evaluate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli.models import load_model
from steadyboost.cli.options import Json, ModelFile
from steadyboost.cli.printing import console, grid, print_json
from steadyboost.cli.shell import told_in_one_sentence

if TYPE_CHECKING:
    from steadyboost.evaluation import Evaluation

MOST_CLASSES = 20  # whose confusion fits a page
TestRows = Annotated[Path, typer.Argument(help="Rows with labels, in any format that fit takes.")]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="The column of the labels; else that of fit.")
]


def evaluate(model: ModelFile, data: TestRows, target: Target = None, json: Json = False) -> None:
    """Compare the predictions of a model with the labels of a table."""
    from steadyboost import evaluation
    from steadyboost.io import has_own_labels, match_classes

    loaded = load_model(model)
    target = target or loaded.target
    if target is None and not has_own_labels(data):
        raise typer.BadParameter("name the column of the labels.", param_hint="'--target'")
    table = loaded.read(data, None if has_own_labels(data) else target)
    classes = loaded.booster.classes_
    with told_in_one_sentence():
        y = match_classes(data, target or "label", table.labels, classes)
    with told_in_one_sentence(f"{data}: "):
        found = evaluation.evaluate(y, loaded.booster.predict_proba(table.X))
    names = [str(label) for label in classes.tolist()]
    if json:
        per_class = dict(zip(names, found.per_class(), strict=True))
        print_json(
            {"model": str(model), "data": str(data), **found.as_dict(), "classes": per_class}
        )
    else:
        show(found, names)


def show(found: Evaluation, names: list[str]) -> None:
    """The figures, a row per class, and who was taken for whom."""
    page = console()
    page.print(f"{found.rows:,} rows, {len(names)} classes")
    page.print(f"error               {found.error:.2%}")
    page.print(f"balanced error      {found.balanced_error:.2%}  (mean over classes)")
    page.print(f"log-loss            {found.log_loss:.4f}")
    page.print(f"calibration error   {found.calibration_error:.2%}  (expected, 15 bins)")
    rows = [_row(name, one) for name, one in zip(names, found.per_class(), strict=True)]
    page.print(grid(("class", "rows", "predicted", "recall", "precision"), rows))
    if len(names) <= MOST_CLASSES:
        counts = [[name, *line] for name, line in zip(names, found.confusion, strict=True)]
        page.print(grid(("is, taken for", *names), counts, title="confusion", title_justify="left"))


def _row(name: str, one: dict[str, Any]) -> list[str]:
    shares = ("-" if one[key] is None else f"{one[key]:.1%}" for key in ("recall", "precision"))
    return [name, f"{one['rows']:,}", f"{one['predicted']:,}", *shares]
