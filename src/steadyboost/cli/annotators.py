"""Options of commands for the answers of several annotators and for checked rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from steadyboost.cli.inputs import Training, TrainingSource, read_source, read_training
from steadyboost.cli.options import refuse
from steadyboost.cli.shell import Failure, console, grid, say, told_in_one_sentence

if TYPE_CHECKING:
    import numpy as np

    from steadyboost.noise import AnnotatorTable

LONG = ("item", "annotator", "label")
SHOWN = 10  # annotators in the terminal
LISTED = 5  # rows in a message, at the most
TITLES = ("annotator", "answers", "accuracy", "90 % interval", "agreement")
YES, NO = ("true", "yes", "1"), ("false", "no", "0")

Annotators = Annotated[
    list[str] | None,
    typer.Option(
        "--annotators",
        help="Columns with the answers of several annotators, which replace --target; repeat or "
        "separate by commas.",
    ),
]
AnswersFile = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        help="File of answers, which replace --target, with the columns item (number of the row: "
        "1 is the first below the header), annotator and label.",
    ),
]
Verified = Annotated[
    str | None,
    typer.Option(
        help="Column that says whether the label of a row has been checked: true or false, yes or "
        "no, 1 or 0. Checked labels are right."
    ),
]


class Sources(NamedTuple):
    """Where answers and checks are."""

    annotators: tuple[str, ...] = ()
    answers: Path | None = None
    verified: str | None = None

    @property
    def has_answers(self) -> bool:
        return bool(self.annotators) or self.answers is not None

    @classmethod
    def of(
        cls, annotators: list[str] | None, answers: Path | None, verified: str | None
    ) -> Sources:
        """From the options, which are checked."""
        names = tuple(name.strip() for part in annotators or () for name in part.split(","))
        if names and answers is not None:
            refuse("--answers", "pass either --annotators or --answers.")
        for name in {name for name in names if names.count(name) > 1}:
            refuse("--annotators", f"names column {name!r} more than once.")
        if answers is not None and not answers.is_file():
            refuse("--answers", f"{answers}: there is no such file.")
        return cls(names, answers, verified)


@dataclass(frozen=True)
class AnnotatedTraining:
    """Training rows, with what ``fit`` of SteadyBoost takes besides: answers and checked rows."""

    training: Training
    extra: dict[str, Any]


def read_annotated(source: TrainingSource, sources: Sources, *, quiet: bool) -> AnnotatedTraining:
    """Training rows with labels and checks, or with answers of annotators instead of labels."""
    if not sources.has_answers and sources.verified is None:
        return AnnotatedTraining(read_training(source, quiet=quiet), {})
    apart = [*sources.annotators, *filter(None, [sources.verified])]
    if sources.verified is not None and source.target is None:
        refuse("--verified", "checked rows need labels: name their column by --target.")
    if sources.has_answers and source.target is not None:
        apart.append(source.target)  # some rows may have no label of their own
    target = None if sources.has_answers else source.target
    with told_in_one_sentence():
        table = read_source(source._replace(target=target, keep=[*source.keep, *apart]))
        assert table.kept is not None
        columns = {name: table.kept[name].to_list() for name in apart}
        checked = _checked(source, sources.verified, columns, table.numbers)
        if sources.has_answers:
            labels, extra = _labels(source, sources, columns, len(table.numbers))
        else:
            labels, extra = _classes(source, table.labels), {}
    if checked is not None:
        extra["verified"] = checked
        _need_labels(source, labels, checked)
    if not quiet:
        say("\n".join(table.found.sentences()))
    return AnnotatedTraining(Training(table, labels), extra)


def _labels(
    source: TrainingSource, sources: Sources, columns: dict[str, list[Any]], n_rows: int
) -> tuple[Any, dict[str, Any]]:
    """Labels of the target, None where there are none, and answers; all of one type."""
    import numpy as np

    item, annotator, text = _answers(sources, columns, n_rows)
    _need_answers(source, item, n_rows)
    own = [] if source.target is None else columns[source.target]
    every = [*own, *text]
    known = np.array([label is not None for label in every], dtype=bool)
    typed = np.full(len(every), None, dtype=object)
    if known.any():
        typed[known] = _classes(source, np.array(every, dtype=object)[known]).tolist()
    labels = typed[: len(own)] if own else None
    return labels, {"annotations": (item, annotator, typed[len(own) :])}


def _need_answers(source: TrainingSource, item: np.ndarray, n_rows: int) -> None:
    """Raise ``Failure`` for rows without answers, by their numbers in the file."""
    import numpy as np

    without = np.setdiff1d(np.arange(n_rows), item) + 1
    if len(without):
        listed = ", ".join(map(str, without[:LISTED].tolist()))
        more = f" and {len(without) - LISTED:,} more" if len(without) > LISTED else ""
        raise Failure(
            f"{source.data}: there is no answer for {'rows' if len(without) > 1 else 'row'} "
            f"{listed}{more}; leave such rows out, or have them annotated."
        )


def _need_labels(source: TrainingSource, labels: np.ndarray, rows: np.ndarray) -> None:
    """Raise ``Failure`` for a row of a mask without a label."""
    for row, label in enumerate(labels):
        if rows[row] and label is None:
            raise Failure(f"{source.data}: row {row + 1} has no label in column {source.target!r}.")


def _classes(source: TrainingSource, labels: np.ndarray) -> np.ndarray:
    from steadyboost.io import as_classes

    return as_classes(source.data, source.target or "label", labels)


def _answers(
    sources: Sources, columns: dict[str, list[Any]], n_rows: int
) -> tuple[Any, Any, list[str]]:
    """Items, annotators and labels as text, whether from columns or from a file."""
    import numpy as np

    if sources.answers is not None:
        return _from_file(sources.answers, n_rows)
    triples = [
        (row, name, label)
        for name in sources.annotators
        for row, label in enumerate(columns[name])
        if label is not None
    ]
    if not triples:
        return np.empty(0, dtype=int), np.empty(0, dtype=object), []
    item, annotator, label = zip(*triples, strict=True)
    return np.array(item), np.array(annotator, dtype=object), list(label)


def _from_file(path: Path, n_rows: int) -> tuple[Any, Any, list[str]]:
    """The three columns of a file of answers; rows, which it counts from 1, as positions."""
    import numpy as np

    from steadyboost.io import TableError, read_table

    item, annotator, label = LONG
    table = read_table(path, target=label, keep=[annotator], features={item: "number"})
    assert table.kept is not None
    by = table.kept[annotator].to_list()
    if None in by:
        raise TableError(f"{path}: row {by.index(None) + 1} has no annotator.")
    number = table.X[item].to_numpy()
    wrong = ~((number >= 1) & (number <= n_rows) & (number % 1 == 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise TableError(
            f"{path}: row {row + 1} has the item {number[row]:g}; items are numbers of rows, from "
            f"1 to {n_rows}."
        )
    _check_once(path, number.astype(np.int64).tolist(), by)
    return number.astype(np.int64) - 1, np.array(by, dtype=object), list(table.labels)


def _check_once(path: Path, items: list[int], by: list[str]) -> None:
    """Raise an error for two answers of an annotator for an item, as the file numbers it."""
    from steadyboost.io import TableError

    first: dict[tuple[int, str], int] = {}
    for row, answer in enumerate(zip(items, by, strict=True), start=1):
        if first.setdefault(answer, row) != row:
            raise TableError(
                f"{path}: rows {first[answer]} and {row} are answers of {answer[1]!r} for "
                f"item {answer[0]}; keep one of them."
            )


def _checked(
    source: TrainingSource, name: str | None, columns: dict[str, list[Any]], numbers: np.ndarray
) -> np.ndarray | None:
    """A mask from words; nothing is no."""
    import numpy as np

    if name is None:
        return None
    words = [str(value or NO[0]).lower() for value in columns[name]]
    for row, word in zip(numbers.tolist(), words, strict=True):
        if word not in (*YES, *NO):
            raise Failure(
                f"{source.data}: row {row} of column {name!r} is {word!r}; --verified takes true "
                "or false, yes or no, 1 or 0."
            )
    return np.array([word in YES for word in words])


def need_steadyboost(model: Any, sources: Sources) -> None:
    """Refuse options that only our own booster has."""
    from steadyboost import SteadyBoostClassifier

    if (sources.has_answers or sources.verified) and not isinstance(model, SteadyBoostClassifier):
        option = "--verified" if sources.verified else "--annotators"
        refuse(option, f"needs the booster SteadyBoost, not {type(model).__name__}.")


def print_annotators(table: AnnotatorTable) -> None:
    """The least accurate annotators, and how many there are."""
    shown = table.worst().head(SHOWN)
    rows = [
        (name, f"{n:,}", f"{accuracy:.1%}", f"{low:.1%} to {high:.1%}", f"{agrees:.1%}")
        for name, n, accuracy, low, high, agrees in zip(
            shown.annotator, shown.n_answers, shown.accuracy, shown.low, shown.high,
            shown.agreement, strict=True,
        )
    ]  # fmt: skip
    more = f"the {SHOWN} least accurate of {len(table)}" if len(table) > SHOWN else None
    console().print(grid(TITLES, rows, caption=more, caption_justify="left"))


def annotators_as_dicts(table: AnnotatorTable) -> list[dict[str, Any]]:
    """For JSON: a dictionary for each annotator."""
    columns = {name: column.tolist() for name, column in table.columns().items()}
    lines = zip(*columns.values(), strict=True)
    listed = [dict(zip(columns, line, strict=True)) for line in lines]
    for line, confusion in zip(listed, table.confusion.tolist(), strict=True):
        line["confusion"] = confusion
    return listed
