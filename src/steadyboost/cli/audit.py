"""The command ``steadyboost audit``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from steadyboost.cli import options
from steadyboost.cli.annotators import (
    AnnotatedTraining,
    Annotators,
    AnswersFile,
    Sources,
    annotators_as_dicts,
    print_annotators,
    read_annotated,
)
from steadyboost.cli.apply import verdict_files, with_verdicts
from steadyboost.cli.boosters import complete_booster, make_booster
from steadyboost.cli.inputs import TextFormat, Training, TrainingSource
from steadyboost.cli.options import check_outputs, refuse
from steadyboost.cli.shell import (
    Failure,
    command_line,
    console,
    grid,
    print_files,
    print_json,
    told_in_one_sentence,
)

if TYPE_CHECKING:
    from steadyboost.io import Table
    from steadyboost.noise import AnnotatorTable, LabelAudit

SHOWN = 10  # suspects in the terminal
COUNTED = "rows are counted from 1, without the header"
Csv = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write all rows, most suspicious first (.csv)."),
]
Flag = Annotated[
    str,
    typer.Option(
        help="Rows to list: auto (more likely wrong than right), a number, or a share below 1."
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        help="List as many rows as possible so that this share of them is expected to be wrong."
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(help="Column of groups, such as patients: the rows of a group stay in one fold."),
]
Proba = Annotated[
    list[str] | None,
    typer.Option(
        help="Column with out-of-sample probabilities of a class, in sorted order of the classes; "
        "repeat or separate by commas. They replace the model."
    ),
]
Verified = Annotated[
    str | None,
    typer.Option(
        help="Verdicts of a review (.json, .csv; several separated by commas), or the column that "
        "says whether a label has been checked: true or false, yes or no, 1 or 0."
    ),
]
Review = Annotated[
    Path | None,
    typer.Option(help="Write a page to review suspects with to this file (.html)."),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column that identifies the rows, in all outputs and for the review; not a feature.",
    ),
]
Pictures = Annotated[
    str | None,
    typer.Option(help="Column of paths of pictures to show in the review; not a feature."),
]
Folds = Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")]
Booster = Annotated[
    str | None,
    typer.Option(
        "--booster", "-b", help="Model that judges the labels.", autocompletion=complete_booster
    ),
]


# As many arguments as the command has options: typer reads them from the signature.
def audit(
    data: options.Data,
    target: options.Target = None,
    output: Csv = None,
    html: options.Html = None,
    review: Review = None,
    id: Id = None,
    pictures: Pictures = None,
    booster: Booster = None,
    folds: Folds = 5,
    flag: Flag = "auto",
    precision: Precision = None,
    groups: Groups = None,
    proba: Proba = None,
    annotators: Annotators = None,
    answers: AnswersFile = None,
    verified: Verified = None,
    weights: options.Weights = None,
    keep: options.Keep = None,
    ignore: options.Ignore = None,
    categorical: options.Categorical = None,
    use: options.Use = None,
    drop_unlabelled: options.DropUnlabelled = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = 0,
    json: options.Json = False,
    spreadsheet: options.Spreadsheet = False,
    force: options.Force = False,
) -> None:
    """Find labels of a table that are probably wrong."""
    wanted = {"html": (html, ".html"), "output": (output, ".csv"), "review": (review, ".html")}
    check_outputs(force, [data], **wanted)
    judge = make_booster(booster, None, None, [], random_state=seed) if booster else None
    names = [name for part in proba or () for name in part.split(",")]
    named = [name for name in (id, *(keep or ())) if name]
    source = TrainingSource(
        *(data, target, weights, ignore or (), categorical or ()),
        use=[*(use or ()), *names, *([] if groups is None else [groups])],
        keep=list(dict.fromkeys([*named, *([pictures] if pictures else [])])),
        drop_unlabelled=drop_unlabelled,
        text=TextFormat(separator, decimal, encoding),
    )
    verdicts = verdict_files(verified)
    sources = Sources.of(annotators, answers, None if verdicts else verified)
    if sources.has_answers and (booster or proba or groups or review):
        refuse("--annotators", "cannot be used with --booster, --proba, --groups or --review.")
    if sources.has_answers and verdicts:
        refuse("--verified", "verdicts are on labels, and cannot be used with answers.")
    annotated = read_annotated(source, sources, quiet=json)
    if verdicts:
        annotated = with_verdicts(annotated, source, verdicts)
    training = annotated.training
    if id and review:
        check_id(data, training.table, id)
    listed = {"flag": as_flag(flag), "precision": precision}
    if names and groups:
        raise typer.BadParameter("--groups is of no use with --proba, which needs no folds.")
    by = None
    if sources.has_answers:
        params = {"n_folds": folds, "random_state": seed, "n_jobs": jobs or -1}
        found, by = run_answers(data, annotated, params, **listed)
    elif names:
        found = run_proba(data, training, names, **listed, **annotated.extra)
    else:
        settings = {"cv": folds, "random_state": seed, "n_jobs": jobs or -1, **listed}
        settings |= annotated.extra
        found = run(data, training, judge, groups, **settings)
    found = with_file_rows(found, training.table, named)
    if output:
        found.to_csv(output, spreadsheet=spreadsheet)
    if html:
        write_page(found, training.table.X, html, data, output)
    if review:
        write_review(found, training.table, review, ReviewedFile(data, target, id, pictures))
    files = {"table": output, "page": html, "review": review}
    written = {name: str(path) for name, path in files.items() if path}
    tell_results(found, data, json, written, by)


def with_file_rows(found: LabelAudit, table: Table, kept: Sequence[str]) -> LabelAudit:
    """The audit with rows as they are known in the file: by number and by some columns."""
    columns = {}
    if kept:
        assert table.kept is not None
        columns = {name: table.kept[name].fill_null("").to_numpy() for name in kept}
    return replace(found, numbers=table.numbers, kept=columns)


def check_id(data: Path, table: Table, id: str) -> None:
    """Refuse, before the work, a column that does not identify the rows of a review."""
    assert table.kept is not None
    values = table.kept[id].value_counts(sort=True)
    if len(values) < len(table.numbers):
        value, count = values.row(0)
        raise Failure(
            f"{data}: column {id!r} does not identify the rows: {value!r} is in {count:,} of them."
        )


def as_flag(text: str) -> Any:
    """The option ``--flag`` as :func:`~steadyboost.noise.audit` takes it."""
    if text == "auto":
        return text
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise typer.BadParameter(
            f"--flag {text} must be auto, a number of rows, or a share below 1 such as 0.05."
        ) from None


def column_of(data: Path, training: Training, name: str, option: str) -> Any:
    """A column of the table as an array."""
    columns = getattr(training.table.X, "columns", ())  # sparse matrices have no names
    if name not in columns:
        raise typer.BadParameter(f"{data} has no column {name!r}, which {option} names.")
    return training.table.X[name].to_numpy()


def run_proba(data: Path, training: Training, names: list[str], **listed: Any) -> LabelAudit:
    """Audit by probabilities that are columns of the table."""
    import numpy as np

    from steadyboost import noise

    columns = [column_of(data, training, name, "--proba") for name in names]
    with told_in_one_sentence(f"{data}: "):
        proba = np.column_stack(columns).astype(float)
        return noise.audit_proba(proba, training.y, sample_weight=training.table.weights, **listed)


def run(
    data: Path, training: Training, judge: Any, groups: str | None, **settings: Any
) -> LabelAudit:
    """Audit by a model; the column of the groups names rows and is not learnt from."""
    from steadyboost import noise
    from steadyboost.cli.progress import RoundProgress, progress

    table, X, categories = training.table, training.table.X, training.categories
    if groups is not None:
        settings["groups"] = column_of(data, training, groups, "--groups")
        X = X.drop(groups)
        if not isinstance(categories, str):
            categories = [name for name in categories if name != groups]
    if judge is not None:
        judge.set_params(categorical_features=categories)
    with told_in_one_sentence(f"{data}: "), progress("audit") as tell:
        return noise.audit(
            X,
            training.y,
            judge,
            sample_weight=table.weights,
            categorical_features=categories,
            callbacks=[RoundProgress(tell, "rounds of SteadyBoost")],
            **settings,
        )


def write_page(found: LabelAudit, X: Any, html: Path, data: Path, output: Path | None) -> None:
    from steadyboost.files import write_whole
    from steadyboost.lab.reports.audit import audit_page

    csv = output.name if output else ""
    write_whole(html, audit_page(found, X, data.name, command_line(), csv))


class ReviewedFile(NamedTuple):
    """A file, and columns of it that a review needs."""

    data: Path
    target: str | None
    id: str | None
    pictures: str | None


def write_review(found: LabelAudit, table: Table, path: Path, file: ReviewedFile) -> None:
    """The review page, with the values as they are written in the file where it can be edited."""
    from steadyboost.io import from_columns
    from steadyboost.io.edit import is_editable, open_table

    shown, pictures, kept = table.X, None, table.kept
    if is_editable(file.data):
        source, rows = open_table(file.data), (table.numbers - 1).tolist()
        columns = {name: source.column(name) for name in source.names if name != file.target}
        shown = from_columns({name: [own[k] for k in rows] for name, own in columns.items()})
    if file.pictures:
        assert kept is not None
        pictures = [file.data.parent / str(name) for name in kept[file.pictures]]
    with told_in_one_sentence(f"{file.data}: "):
        found.review(
            path,
            table=shown,
            ids=found.kept[file.id].tolist() if file.id else None,
            id_name=file.id or "",
            name=file.data.name,
            target=file.target or "",
            pictures=pictures,
            command=command_line(),
        )


def run_answers(
    data: Path, annotated: AnnotatedTraining, params: dict[str, Any], **listed: Any
) -> tuple[LabelAudit, AnnotatorTable]:
    """An audit of the consensus of annotators, and what is known of them."""
    from steadyboost import SteadyBoostClassifier
    from steadyboost.cli.progress import RoundProgress, progress
    from steadyboost.noise.audit_input import check_flag
    from steadyboost.noise.label_audit import Listed, audit_fitted

    training = annotated.training
    table = training.table
    model = SteadyBoostClassifier(categorical_features=training.categories, **params)
    with told_in_one_sentence(f"{data}: "), progress("audit") as tell:
        check_flag(**listed)
        model.set_params(callbacks=[RoundProgress(tell, "rounds of SteadyBoost", repeats=0)])
        model.fit(table.X, training.y, table.weights, **annotated.extra)
        shown = Listed(listed["flag"], listed["precision"], annotated.extra.get("verified"))
        found = audit_fitted(model, table.X, model.consensus_.label, shown)
    return found, model.annotators_


def tell_results(
    found: LabelAudit,
    data: Path,
    json: bool,
    files: dict[str, str],
    annotators: AnnotatorTable | None = None,
) -> None:
    """Print the estimated number of wrong labels, the worst suspects and the output files."""
    if json:
        by = {} if annotators is None else {"annotators": annotators_as_dicts(annotators)}
        print_json({"data": str(data), **as_dict(found), **by, **files})
        return
    page, n = console(), len(found.given)
    low, high = found.noise_rate_interval
    page.print(
        f"Estimated to be wrong: {found.n_wrong:,.0f} of {n:,} labels ({found.noise_rate:.1%}, "
        f"90 % interval {low:.1%} to {high:.1%}); {len(found.suspects):,} rows look wrong."
    )
    for note in found.notes:
        page.print(f"Note: {note}", highlight=False)
    if not len(found.suspects):
        page.print("No label is more likely wrong than right; the most suspicious rows:")
    worst = (found.table.disputed() if len(found.suspects) else found.table).head(SHOWN)
    shown = worst.shown()
    rows = zip(*shown.values(), strict=True)
    texts = [name for name, column in found.kept.items() if column.dtype.kind not in "if"]
    page.print(grid(shown, rows, texts, caption=COUNTED, caption_justify="left"))
    if annotators is not None:
        print_annotators(annotators)
    print_files(files)


def as_dict(found: LabelAudit) -> dict[str, Any]:
    """The audit without unsuspicious rows, as a JSON object."""
    return {
        "rows": len(found.given),
        "classes": found.classes.tolist(),
        "wrong": found.n_wrong,
        "noise_rate": found.noise_rate,
        "noise_rate_interval": list(found.noise_rate_interval),
        "class_noise_rates": {str(k): list(v) for k, v in found.class_noise_rates.items()},
        "notes": found.notes,
        "wrong_per_class": {str(name): n for name, n in found.n_wrong_per_class.items()},
        "transition_matrix": found.transition_matrix.tolist(),
        "suspects": [_suspect(found, int(row)) for row in found.suspects],
        "conflicts": [found.numbers_of(group).tolist() for group in found.conflicts],
    }


def _suspect(found: LabelAudit, row: int) -> dict[str, Any]:
    return {
        "row": int(found.numbers_of(row)),
        **{name: column[row] for name, column in found.kept.items()},
        "given": found.given[row],
        "suggested": found.suggested[row],
        "score": found.scores[row],
    }
