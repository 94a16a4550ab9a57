"""The page of ``steadyboost audit``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.lab.reports.charts import BOTTOM, COLORS, LEFT, RIGHT, TOP, Axis, bar, panel
from steadyboost.lab.reports.page import facts, figure, html_page, made_by, paragraph
from steadyboost.lab.reports.tables import Column, TableCell, data_table, heat_table, text
from steadyboost.lab.reports.values import feature_names, values_of

if TYPE_CHECKING:
    from steadyboost.noise import LabelAudit

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES, MOST_GROUPS = 1_000, 20, 40, 100
STEP = 25  # suspects shown at first
DOUBTFUL = 20  # rows shown where no label looks wrong
N_BINS = 40
GIVEN, SUGGESTED = 2, 3  # places of these columns, by which the table is filtered
CLASS_COLUMNS = (
    Column("class", is_number=False),
    Column("rows", high_first=True),
    Column("wrong, / estimated", high_first=True),
    Column("%", high_first=True),
    Column("suspects", high_first=True),
    Column("look most like", is_number=False),
)
READ = (
    "The score is the probability that the given label is right, from models that have not seen "
    "this row; a suspect is more likely wrong than right. It is a row to look at, not a proof: "
    "rare but right cases score low too."
)
TRANSITIONS = (
    "Each row is a true class; the cells say how often, in percent, its rows are given each label. "
    "All of it is estimated."
)
MIXED_UP = (
    "How many suspects have which label, and what they look like. A click shows them in the table "
    "above."
)


def audit_page(audit: LabelAudit, X: Any, name: str, command: str, csv: str = "") -> str:
    """The page.

    Parameters
    ----------
    audit : LabelAudit
        What was found.
    X : table or None
        The features, shown beside each suspect.
    name, command, csv : str
        The data's name, what made the page, and the file in which all rows are.
    """
    return html_page(
        f"SteadyBoost: label audit of {name}",
        f"Which labels of {name} look wrong?",
        made_by(command),
        [
            _facts(audit),
            *_suspects(audit, X, csv),
            *_by_class(audit),
            _mixed_up(audit),
            _transitions(audit),
            _scores(audit),
            _conflicts(audit),
        ],
    )


def _facts(audit: LabelAudit) -> str:
    n = len(audit.given)
    pairs = [
        (f"{audit.n_wrong:,.0f}", f"of {n:,} labels are estimated to be wrong"),
        (f"{100 * audit.noise_rate:.1f} %", "of the labels"),
        (f"{len(audit.suspects):,}", "rows look wrong: the suspects below"),
        (f"{len(audit.classes):,}", "classes"),
        (f"{len(audit.conflicts):,}", "groups of equal rows with different labels"),
    ]
    return facts(pairs)


def _suspects(audit: LabelAudit, X: Any, csv: str) -> list[str]:
    """The table of suspects, or of the least certain rows where there are none."""
    n_all = len(audit.suspects)
    rows = np.asarray(audit.suspects)[:MOST_ROWS]
    notes = []
    if not n_all:
        rows = np.argsort(audit.scores)[:DOUBTFUL]
        notes.append(f"No label looks wrong. These are the {len(rows)} least certain ones.")
    if n_all > MOST_ROWS:
        where = f"all are in {csv}" if csv else "write a CSV file to have all"
        notes.append(f"The {MOST_ROWS:,} worst of {n_all:,} suspects are shown; {where}.")
    names = feature_names(X)
    if len(names) > MOST_COLUMNS:
        notes.append(f"The first {MOST_COLUMNS} of {len(names):,} columns are shown.")
    table = _suspect_table(audit, X, rows, names[:MOST_COLUMNS])
    told = [paragraph(note, "note") for note in notes]
    return ["<h2>Suspects, worst first</h2>", paragraph(READ), *told, table]


def _suspect_table(audit: LabelAudit, X: Any, rows: np.ndarray, names: list[str]) -> str:
    given, suggested = (_choices(labels[rows]) for labels in (audit.given, audit.suggested))
    values = values_of(X, rows, names)
    columns = [
        Column("row", hint="Counted from 0, without the line of names"),
        Column("rank", hint="1 is the most suspicious"),
        Column("given", is_number=False, choices=given),
        Column("looks like", is_number=False, choices=suggested),
        Column("score", hint="Probability that the given label is right"),
        *(Column(name, is_number=_are_numbers(values, k)) for k, name in enumerate(names)),
    ]
    ranks = audit.ranks[rows]
    lines = [_line(audit, int(row), *pair) for row, *pair in zip(rows, ranks, values, strict=True)]
    return data_table("suspects", columns, lines, step=STEP, search="Search in all columns")


def _line(audit: LabelAudit, row: int, rank: int, values: list[str]) -> list[TableCell]:
    return [
        text(row),
        text(rank),
        text(audit.given[row]),
        text(audit.suggested[row]),
        text(f"{audit.scores[row]:.4f}", float(audit.scores[row])),
        *map(text, values),
    ]


def _choices(labels: np.ndarray) -> tuple[str, ...]:
    """What a filter offers; nothing where all labels are the same."""
    names = tuple(str(label) for label in np.unique(labels))
    return names if len(names) > 1 else ()


def _are_numbers(values: list[list[str]], column: int) -> bool:
    try:
        return all(row[column] == "" or float(row[column]) is not None for row in values)
    except ValueError:
        return False


def _by_class(audit: LabelAudit) -> list[str]:
    counts, wrong, pairs = Counter(audit.given.tolist()), audit.n_wrong_per_class, _pairs(audit)
    rows = []
    for label in audit.classes.tolist():
        like = Counter({other: count for (given, other), count in pairs.items() if given == label})
        rows.append(_class_row(label, counts[label], wrong[label], like))
    return ["<h2>By class</h2>", data_table("classes", CLASS_COLUMNS, rows, step=2 * STEP)]


def _class_row(label: Any, n: int, wrong: float, like: Counter[Any]) -> list[TableCell]:
    share = 100 * wrong / max(n, 1)
    return [
        text(label),
        text(f"{n:,}", n),
        text(f"{wrong:,.0f}", float(wrong)),
        text(f"{share:.1f}", share),
        text(f"{like.total():,}", like.total()),
        text(", ".join(f"{other} ({count:,})" for other, count in like.most_common(3))),
    ]


def _pairs(audit: LabelAudit) -> Counter[tuple[Any, Any]]:
    """How many suspects have which given and suggested label."""
    rows = np.asarray(audit.suspects, dtype=int)
    return Counter(zip(audit.given[rows].tolist(), audit.suggested[rows].tolist(), strict=True))


def _mixed_up(audit: LabelAudit) -> str:
    labels = audit.classes.tolist()
    pairs = _pairs(audit)
    if len(labels) > MOST_CLASSES or not pairs:
        return ""
    counts = [[pairs[given, other] for other in labels] for given in labels]
    top = max(pairs.values())
    shares = [[0.8 * count / top if count else None for count in row] for row in counts]
    words = [[f"{count:,}" if count else "" for count in row] for row in counts]
    names = [str(label) for label in labels]
    picks = [[_pick(given, other) for other in names] for given in names]
    heat = heat_table("given \\ looks like", names, names, shares, words, picks)
    return f"<h2>Mix-ups among the suspects</h2>{paragraph(MIXED_UP, 'quiet')}{heat}"


def _pick(given: str, suggested: str) -> dict[str, str]:
    return {"table": "suspects", str(GIVEN): given, str(SUGGESTED): suggested}


def _transitions(audit: LabelAudit) -> str:
    names = [str(label) for label in audit.classes]
    if len(names) > MOST_CLASSES:
        return ""
    matrix = np.asarray(audit.transition_matrix)
    words = [[f"{100 * share:.1f}" for share in row] for row in matrix]
    # Colour is for what goes wrong; what stays right would outshine it.
    wrong = np.where(np.eye(len(names)) > 0, 0.0, matrix)
    shares = (0.8 * wrong / max(float(wrong.max()), 0.01)).tolist()
    heat = heat_table("true \\ given", names, names, shares, words)
    return f"<h2>How labels go wrong</h2>{paragraph(TRANSITIONS, 'quiet')}{heat}"


def _scores(audit: LabelAudit) -> str:
    """How the scores are spread, of all rows and of the suspects."""
    suspects = audit.scores[np.asarray(audit.suspects, dtype=int)]
    panels = [_histogram("All rows", audit.scores, COLORS[0])]
    if len(suspects):
        panels.append(_histogram("Suspects", suspects, COLORS[1]))
    return "<h2>Scores</h2>" + figure("How well the given labels fit", panels)


def _histogram(title: str, scores: np.ndarray, color: str) -> str:
    known = scores[np.isfinite(scores)]  # rows of weight 0 have none
    counts, edges = np.histogram(known, bins=N_BINS, range=(0.0, 1.0))
    x, y = Axis(0.0, 1.0, LEFT, RIGHT), Axis(0.0, 1.1 * float(counts.max()), BOTTOM, TOP)
    width = (RIGHT - LEFT) / N_BINS - 1
    marks = [
        bar(x.at(low), width, y.at(n), BOTTOM, color, f"{n:,} rows from {low:.3f}")
        for n, low in zip(counts, edges[:-1], strict=True)
        if n
    ]
    return panel(title, x, y, ("score of the given label", "rows"), marks)


def _conflicts(audit: LabelAudit) -> str:
    """Equal rows with different labels: one of them must be wrong."""
    if not audit.conflicts:
        return ""
    groups = [np.asarray(group, dtype=int) for group in audit.conflicts[:MOST_GROUPS]]
    left = len(audit.conflicts) - len(groups)
    note = paragraph(f"The first {len(groups)} of {len(audit.conflicts):,} groups.", "quiet")
    columns = [Column("rows", is_number=False), Column("labels", is_number=False)]
    lines = [[text(_listed(group)), text(_listed(audit.given[group]))] for group in groups]
    table = data_table("conflicts", columns, lines, step=STEP)
    return f"<h2>Equal rows with different labels</h2>{note if left else ''}{table}"


def _listed(values: np.ndarray, most: int = 12) -> str:
    shown = ", ".join(str(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"
