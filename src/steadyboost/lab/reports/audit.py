"""The page of ``steadyboost audit``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.lab.reports import PACKAGE
from steadyboost.noise.label_table import percent
from steadyboost.noise.review.table import ShownTable
from steadyboost.pages.page import (
    Column,
    DataTable,
    Figure,
    HeatCell,
    HeatTable,
    TableCell,
    heat_rows,
    made_by,
    picked,
    plain_cell,
    render,
)
from steadyboost.pages.svg import BOTTOM, LEFT, PAGE_COLORS, RIGHT, TOP, Axis, bar, panel

if TYPE_CHECKING:
    from steadyboost.noise import LabelAudit

# Limits that keep the page of a large audit below 2 MB.
MOST_ROWS, MOST_COLUMNS, MOST_CLASSES, MOST_GROUPS, MOST_LETTERS = 1_000, 20, 40, 100, 160
STEP = 25  # suspects shown at first
DOUBTFUL = 20  # rows shown if there are no suspects
N_BINS = 40
FULL = 0.8  # share of the colour for the largest entry of a matrix; more would hide its text
GIVEN, SUGGESTED = 2, 3  # indices of these columns, by which the table is filtered
CLASS_COLUMNS = (
    Column("class", is_number=False),
    Column("rows", high_first=True),
    Column("wrong, / estimated", high_first=True),
    Column("%", high_first=True),
    Column("suspects", high_first=True),
    Column("most frequent suggestions", is_number=False),
)


def audit_page(audit: LabelAudit, X: Any, name: str, command: str, csv: str = "") -> str:
    """The page of an audit.

    Parameters
    ----------
    audit : LabelAudit
        The result of :func:`steadyboost.noise.audit`.
    X : table or None
        The features, shown beside each suspect.
    name, command, csv : str
        Name of the data, the command that made the page, and the file of all rows, if any.
    """
    rows, notes = _shown_rows(audit, csv)
    notes = [*audit.notes, *notes]
    names = feature_names(X)
    if len(names) > MOST_COLUMNS:
        notes.append(f"The first {MOST_COLUMNS} of {len(names):,} columns are shown.")
    groups = audit.conflicts[:MOST_GROUPS]
    left_out = len(audit.conflicts) - len(groups)
    return render(
        "audit.html",
        PACKAGE,
        title=f"SteadyBoost: label audit of {name}",
        heading=f"Which labels of {name} are wrong?",
        made_by=made_by(command),
        facts=_facts(audit),
        notes=notes,
        suspects=_suspect_table(audit, X, rows, names[:MOST_COLUMNS]),
        classes=_class_table(audit),
        confused=_confused(audit),
        transitions=_transitions(audit),
        scores=_score_figure(audit),
        conflicts=_conflict_table(audit, groups) if groups else None,
        conflicts_note=f"The first {len(groups)} of {len(audit.conflicts):,} groups."
        if left_out
        else "",
    )


def _facts(audit: LabelAudit) -> list[tuple[str, str]]:
    return [
        (f"{audit.n_wrong:,.0f}", f"of {len(audit.given):,} labels are estimated to be wrong"),
        (f"{100 * audit.noise_rate:.1f} %", "of the labels" + _interval(audit)),
        (f"{len(audit.suspects):,}", "suspects, listed below"),
        (f"{len(audit.classes):,}", "classes"),
        (f"{len(audit.conflicts):,}", "groups of equal rows with different labels"),
    ]


def _interval(audit: LabelAudit) -> str:
    low, high = audit.noise_rate_interval
    return f", 90 % interval {100 * low:.1f} to {100 * high:.1f} %"


def _shown_rows(audit: LabelAudit, csv: str) -> tuple[np.ndarray, list[str]]:
    """The suspects, or the least certain rows if there are none; and what the reader must know."""
    n_all = len(audit.suspects)
    if not n_all:
        rows = np.argsort(audit.scores)[:DOUBTFUL]
        return rows, [f"There are no suspects. These are the {len(rows)} least certain rows."]
    if n_all <= MOST_ROWS:
        return np.asarray(audit.suspects), []
    where = f"all are in {csv}" if csv else "write a CSV file to see all"
    note = f"The {MOST_ROWS:,} most suspicious of {n_all:,} suspects are shown; {where}."
    return np.asarray(audit.suspects)[:MOST_ROWS], [note]


def _suspect_table(audit: LabelAudit, X: Any, rows: np.ndarray, names: list[str]) -> DataTable:
    given, suggested = (_choices(labels[rows]) for labels in (audit.given, audit.suggested))
    values = values_of(X, rows, names)
    columns = [
        Column("row", hint="Number of the row in the file: 1 is the first below the header"),
        Column("rank", hint="1 is the most suspicious"),
        Column("given", is_number=False, choices=given),
        Column("suggested", is_number=False, choices=suggested),
        Column("P(wrong)", hint="Probability that the given label is wrong", high_first=True),
        *(Column(name, is_number=kept.dtype.kind in "if") for name, kept in audit.kept.items()),
        *(Column(name, is_number=_are_numbers(values, k)) for k, name in enumerate(names)),
    ]
    ranks = audit.ranks[rows]
    cells = [_line(audit, int(row), *pair) for row, *pair in zip(rows, ranks, values, strict=True)]
    return DataTable("suspects", columns, cells, step=STEP, search="Search in all columns")


def _line(audit: LabelAudit, row: int, rank: int, values: list[str]) -> list[TableCell]:
    wrong = 1 - float(audit.scores[row])
    return [
        plain_cell(int(audit.numbers_of(row))),
        plain_cell(rank),
        plain_cell(audit.given[row]),
        plain_cell(audit.suggested[row]),
        plain_cell(percent(wrong), wrong),
        *(plain_cell(column[row]) for column in audit.kept.values()),
        *map(plain_cell, values),
    ]


def _choices(labels: np.ndarray) -> tuple[str, ...]:
    """Choices of a filter; none if all labels are equal."""
    names = tuple(str(label) for label in np.unique(labels))
    return names if len(names) > 1 else ()


def _are_numbers(values: list[list[str]], column: int) -> bool:
    try:
        return all(row[column] == "" or float(row[column]) is not None for row in values)
    except ValueError:
        return False


def _class_table(audit: LabelAudit) -> DataTable:
    counts, wrong, pairs = Counter(audit.given.tolist()), audit.n_wrong_per_class, _pairs(audit)
    rows = []
    for label in audit.classes.tolist():
        like = Counter({other: count for (given, other), count in pairs.items() if given == label})
        rows.append(_class_row(label, counts[label], wrong[label], like))
    return DataTable("classes", CLASS_COLUMNS, rows, step=2 * STEP)


def _class_row(label: Any, n: int, wrong: float, like: Counter[Any]) -> list[TableCell]:
    share = 100 * wrong / max(n, 1)
    return [
        plain_cell(label),
        plain_cell(f"{n:,}", n),
        plain_cell(f"{wrong:,.0f}", float(wrong)),
        plain_cell(f"{share:.1f}", share),
        plain_cell(f"{like.total():,}", like.total()),
        plain_cell(", ".join(f"{other} ({count:,})" for other, count in like.most_common(3))),
    ]


def _pairs(audit: LabelAudit) -> Counter[tuple[Any, Any]]:
    """Number of suspects by given and suggested label."""
    rows = np.asarray(audit.suspects, dtype=int)
    return Counter(zip(audit.given[rows].tolist(), audit.suggested[rows].tolist(), strict=True))


def _confused(audit: LabelAudit) -> HeatTable | None:
    """Suspects by given and suggested label; None for no suspects or too many classes."""
    labels, pairs = audit.classes.tolist(), _pairs(audit)
    if len(labels) > MOST_CLASSES or not pairs:
        return None
    top = max(pairs.values())

    def cell(given: Any, other: Any) -> HeatCell:
        count = pairs[given, other]
        if not count:
            return HeatCell("")
        pick = picked("suspects", {GIVEN: str(given), SUGGESTED: str(other)})
        return HeatCell(f"{count:,}", FULL * count / top, pick)

    rows = [(str(given), [cell(given, other) for other in labels]) for given in labels]
    return HeatTable("given \\ suggested", [str(label) for label in labels], rows)


def _transitions(audit: LabelAudit) -> HeatTable | None:
    names = [str(label) for label in audit.classes]
    if len(names) > MOST_CLASSES:
        return None
    matrix = np.asarray(audit.transition_matrix)
    words = [[f"{100 * share:.1f}" for share in row] for row in matrix]
    # Only errors are coloured: the diagonal is so much larger that it would hide them.
    wrong = np.where(np.eye(len(names)) > 0, 0.0, matrix)
    shares = (FULL * wrong / max(float(wrong.max()), 0.01)).tolist()
    return HeatTable("true \\ given", names, heat_rows(names, shares, words))


def _score_figure(audit: LabelAudit) -> Figure:
    """Histograms of the scores, of all rows and of the suspects."""
    suspects = audit.scores[np.asarray(audit.suspects, dtype=int)]
    panels = [_histogram("All rows", audit.scores, PAGE_COLORS[0])]
    if len(suspects):
        panels.append(_histogram("Suspects", suspects, PAGE_COLORS[1]))
    return Figure("Distribution of the scores", panels)


def _histogram(title: str, scores: np.ndarray, color: str) -> str:
    known = scores[np.isfinite(scores)]  # rows of weight 0 have no score
    counts, edges = np.histogram(known, bins=N_BINS, range=(0.0, 1.0))
    x, y = Axis(0.0, 1.0, LEFT, RIGHT), Axis(0.0, 1.1 * float(counts.max()), BOTTOM, TOP)
    width = (RIGHT - LEFT) / N_BINS - 1
    marks = [
        bar(x.at(low), width, y.at(n), BOTTOM, color, f"{n:,} rows from {low:.3f}")
        for n, low in zip(counts, edges[:-1], strict=True)
        if n
    ]
    return panel(title, x, y, ("score of the given label", "rows"), marks)


def _conflict_table(audit: LabelAudit, groups: list[Any]) -> DataTable:
    """Groups of equal rows with different labels, of which at most one can be correct."""
    columns = [Column("rows", is_number=False), Column("labels", is_number=False)]
    rows = [np.asarray(group, dtype=int) for group in groups]
    cells = [
        [plain_cell(_listed(audit.numbers_of(own))), plain_cell(_listed(audit.given[own]))]
        for own in rows
    ]
    return DataTable("conflicts", columns, cells, step=STEP)


def _listed(values: np.ndarray, most: int = 12) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def feature_names(X: Any) -> list[str]:
    """Names of the columns of a table; none of a sparse matrix, whose columns are too many."""
    return [] if issparse(X) else ShownTable(X).names


def values_of(X: Any, rows: np.ndarray, names: list[str]) -> list[list[str]]:
    """The first columns, as many as there are names, of some rows, as text."""
    table, places = ShownTable(X), range(len(names))
    return [[shortened(text) for text in table.cells(row, places)] for row in rows.tolist()]


def shortened(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + " …"
