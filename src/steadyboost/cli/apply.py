"""The command ``steadyboost apply``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steadyboost.cli import options
from steadyboost.cli.annotators import AnnotatedTraining
from steadyboost.cli.inputs import Training, TrainingSource
from steadyboost.cli.options import check_output, refuse
from steadyboost.cli.shell import console, grid, print_files, print_json, told_in_one_sentence
from steadyboost.files import counted

if TYPE_CHECKING:
    from steadyboost.io.edit import TableFile
    from steadyboost.noise.review.matching import LabelChange
    from steadyboost.noise.review.verdicts import MergedVerdicts, Verdicts

SHOWN = 10  # changed labels and disputed rows in the terminal
Table = Annotated[Path, typer.Argument(help="The table that was reviewed: CSV, TSV or Parquet.")]
VerdictFiles = Annotated[
    list[Path],
    typer.Argument(help="Verdicts of each reviewer, from the review page (.json, .csv)."),
]
Output = Annotated[Path, typer.Option("--output", "-o", help="File of the corrected table.")]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Column of the labels, where the verdicts do not name it."),
]
Id = Annotated[
    str | None,
    typer.Option("--id", help="Column by which rows are identified, instead of their numbers."),
]


def apply(
    table: Table,
    verdicts: VerdictFiles,
    output: Output,
    target: Target = None,
    id: Id = None,
    json: options.Json = False,
    force: options.Force = False,
) -> None:
    """Write a copy of a table whose labels are corrected by the verdicts of reviewers."""
    ending = "".join(table.suffixes[-2:] if table.suffix.lower() == ".gz" else table.suffixes[-1:])
    check_output(output, force, [ending.lower()], inputs=[table, *verdicts])
    from steadyboost.io.edit import open_table

    with told_in_one_sentence():
        merged = read_merged(verdicts)
        column = target or merged.verdicts.target
        if not column:
            refuse("--target", "name the column of the labels.")
        source = open_table(table)
    with told_in_one_sentence(f"{table}: "):
        changes = matched(merged.verdicts, source, column, id)
    labels = {change.row: change.label for change in changes if change.is_change and change.label}
    left_out = {change.row for change in changes if change.label is None}
    source.write(output, column, labels, left_out)
    tell(merged, changes, source.column(column), json, {"table": str(output)})


def read_merged(paths: Sequence[Path]) -> MergedVerdicts:
    """The verdicts of all files."""
    from steadyboost.noise.review.verdicts import merge_verdicts, read_verdicts

    return merge_verdicts(*map(read_verdicts, paths))


def matched(
    verdicts: Verdicts, source: TableFile, target: str, id: str | None
) -> list[LabelChange]:
    """The verdicts with the rows of a file."""
    from steadyboost.noise.review.matching import ReviewedTable, match_verdicts
    from steadyboost.noise.review.values import row_hash

    name = id or verdicts.id
    table = ReviewedTable(
        source.column(target),
        lambda row: row_hash(source.row(row, without=target)),
        source.column(name) if name else None,
    )
    return match_verdicts(verdicts, table)


def verdict_files(verified: str | None) -> list[Path]:
    """The files of verdicts that ``--verified`` names; none if it names a column."""
    names = [Path(name.strip()) for name in (verified or "").split(",")]
    return names if all(path.suffix.lower() in (".json", ".csv") for path in names) else []


def with_verdicts(
    annotated: AnnotatedTraining, source: TrainingSource, paths: Sequence[Path]
) -> AnnotatedTraining:
    """Training rows with the labels that reviewers have settled, by row, as checked rows.

    The labels stay as they were given: rows were reviewed because of these. Rows to be left out get
    the weight 0.
    """
    import numpy as np

    from steadyboost.io.edit import open_table

    if source.target is None:
        refuse("--verified", "checked rows need labels: name their column by --target.")
    with told_in_one_sentence():
        merged, file = read_merged(paths), open_table(source.data)
    with told_in_one_sentence(f"{source.data}: "):
        changes = matched(merged.verdicts, file, source.target, None)
    table, y = annotated.training.table, annotated.training.y
    # A row that was left out as it has no label has no place.
    places = {number - 1: place for place, number in enumerate(table.numbers.tolist())}
    judged = [(places[row], label) for row, label, _ in changes if row in places]
    given = file.column(source.target)
    by_text = {given[row]: y[place] for row, place in places.items()}
    weights = np.ones(len(y)) if table.weights is None else table.weights.copy()
    weights[[place for place, label in judged if label is None]] = 0.0
    verified = {place: by_text[label] for place, label in judged if label is not None}
    kept = table if (weights == 1).all() else replace(table, weights=weights)
    return AnnotatedTraining(Training(kept, y), annotated.extra | {"verified": verified})


def tell(
    merged: MergedVerdicts,
    changes: Sequence[LabelChange],
    given: Sequence[str],
    json: bool,
    files: dict[str, str],
) -> None:
    """Print what has changed, and how far reviewers agree."""
    counts = merged.verdicts.counts()
    named = [one for one in changes if one.is_change]
    changed = [one for one in named if one.label != given[one.row]]
    if json:
        moved = {one.row for one in changed}
        print_json(
            {
                **counts,
                "rows": [
                    {"row": one.row + 1, "from": given[one.row], "to": one.label}
                    for one in changes
                    if one.label is None or one.row in moved
                ],
                "agreement": [one._asdict() for one in merged.agreements],
                "disputed": [one.row + 1 for one in merged.disputed],
                **files,
            }
        )
        return
    page = console()
    page.print(
        f"{counted(len(changed), 'label')} changed, {counts['keep']:,} confirmed, "
        f"{counted(counts['drop'], 'row')} left out; {counts['unsure']:,} not sure and unchanged."
    )
    if len(changed) < len(named):
        page.print(f"{counted(len(named) - len(changed), 'label')} had been changed already.")
    moves = Counter((given[one.row], one.label) for one in changed)
    if moves:
        rows = [[one, other, f"{n:,}"] for (one, other), n in moves.most_common(SHOWN)]
        page.print(grid(("from", "to", "labels"), rows))
    tell_agreement(page, merged)
    print_files(files)


def tell_agreement(page: Any, merged: MergedVerdicts) -> None:
    """How far reviewers agree, and the rows that they must talk about."""
    for one in merged.agreements:
        names = " and ".join(one.reviewers)
        if not one.rows:
            page.print(f"{names} have reviewed no rows in common.")
            continue
        kappa = "" if one.kappa != one.kappa else f", Cohen's kappa {one.kappa:.2f}"
        common = counted(one.rows, "common row")
        page.print(f"{names} agree on {one.same:.0%} of {common}{kappa}.")
    if merged.disputed:
        rows = ", ".join(str(entry.row + 1) for entry in merged.disputed[:SHOWN])
        more = " ..." if len(merged.disputed) > SHOWN else ""
        page.print(f"Reviewers disagree on {counted(len(merged.disputed), 'row')}: {rows}{more}")
