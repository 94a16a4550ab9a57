"""Finding the rows that verdicts are of, and changing their labels."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from steadyboost.files import counted
from steadyboost.noise.review.values import cell_text
from steadyboost.noise.review.verdicts import Verdict, VerdictError, Verdicts

NAMED = 3  # verdicts that do not fit, in a message


class ReviewedTable(NamedTuple):
    """What verdicts are matched with.

    ``given`` are the labels as text, ``hash_of`` hashes a row without its label (None where rows
    are not known), and ``ids`` are identifiers of the rows, if there are any.
    """

    given: Sequence[str]
    hash_of: Callable[[int], str] | None = None
    ids: Sequence[str] | None = None


class LabelChange(NamedTuple):
    """A verdict and the row that it is of; ``label`` as the table spells it, None if left out."""

    row: int
    label: str | None
    verdict: Verdict

    @property
    def is_change(self) -> bool:
        return self.verdict.verdict == "change"


def match_verdicts(verdicts: Verdicts, table: ReviewedTable) -> list[LabelChange]:
    """The verdicts with their rows, in the order of the table; unsure ones are left out.

    Raises
    ------
    VerdictError
        If a verdict does not fit: another row, another label than the reviewer saw, or a new label
        that no row of the table has.
    """
    numbers = _numbers(verdicts, table)
    spellings = _spellings(table.given)
    found, problems = [], []
    for entry in verdicts:
        row = numbers(entry)
        problem = _misfit(entry, row, table, spellings)
        if problem:
            problems.append(problem)
        elif entry.verdict != "unsure":
            label = spellings[cell_text(entry.label)] if entry.is_settled else None
            found.append(LabelChange(row, label, entry))
    if problems:
        more = f" (and {len(problems) - NAMED} more)" if len(problems) > NAMED else ""
        raise VerdictError(
            f"{len(problems)} of {len(verdicts)} verdicts do not fit the table: "
            f"{'; '.join(problems[:NAMED])}{more}."
        )
    return sorted(found, key=lambda change: change.row)


def _numbers(verdicts: Verdicts, table: ReviewedTable) -> Callable[[Verdict], int]:
    """A function from verdicts to rows; -1 for none."""
    if table.ids is None:
        return lambda entry: entry.row
    counts = Counter(table.ids)
    name, used = verdicts.id or "id", {entry.id for entry in verdicts}
    twice = [own for own in used if counts[own] > 1]
    if twice:
        raise VerdictError(
            f"{counts[twice[0]]} rows have the {name} {twice[0]!r}; a column that identifies rows "
            "must have a value of its own in each."
        )
    places = {own: row for row, own in enumerate(table.ids)}
    return lambda entry: places.get(entry.id, -1)


def _spellings(given: Sequence[str]) -> dict[str, str]:
    """How the table spells each label, most often: 1 may be 1.0 there."""
    counts = Counter(given)
    return {cell_text(label): label for label, _ in reversed(counts.most_common())}


def _misfit(entry: Verdict, row: int, table: ReviewedTable, spellings: dict[str, str]) -> str:
    """Why a verdict does not fit its row; empty if it does."""
    if table.ids is not None and row < 0:
        return f"no row has the identifier {entry.id!r}"
    if row >= len(table.given):
        return f"row {row + 1} is beyond the last row, {len(table.given)}"
    # Identified rows may have changed in other columns; those found by number must not.
    if table.ids is None and table.hash_of and entry.hash and table.hash_of(row) != entry.hash:
        return f"row {row + 1} has other values than the row that was reviewed"
    label = table.given[row]
    if cell_text(label) != cell_text(entry.given) and cell_text(label) != cell_text(entry.label):
        return f"row {row + 1} is labelled {label!r}, and {entry.given!r} was reviewed"
    if entry.is_settled and cell_text(entry.label) not in spellings:
        return f"row {row + 1} would become {entry.label!r}, which no row of the table is"
    return ""


@dataclass(frozen=True)
class ReviewedLabels:
    """Labels after a review.

    Attributes
    ----------
    y : ndarray of shape (n,)
        The labels, corrected.
    keep : ndarray of bool of shape (n,)
        False for rows that are to be left out.
    verified : ndarray of bool of shape (n,)
        Rows whose label a reviewer has settled.
    changed : ndarray of int
        Rows whose label is another one now.
    """

    y: np.ndarray
    keep: np.ndarray
    verified: np.ndarray
    changed: np.ndarray

    @property
    def truth(self) -> dict[int, Any]:
        """The right labels of verified rows, by number.

        ``audit`` and ``fit`` take them as ``verified``, with the labels as they were given.
        """
        rows = np.flatnonzero(self.verified)
        return dict(zip(rows.tolist(), self.y[rows].tolist(), strict=True))

    def __repr__(self) -> str:
        confirmed, dropped = int(self.verified.sum()) - len(self.changed), int((~self.keep).sum())
        return (
            f"{counted(len(self.changed), 'label')} changed, {confirmed:,} confirmed, "
            f"{counted(dropped, 'row')} left out"
        )


def reviewed_labels(y: np.ndarray, changes: Sequence[LabelChange]) -> ReviewedLabels:
    """Labels of any type, after the changes."""
    new, keep = y.copy(), np.ones(len(y), dtype=bool)
    verified = np.zeros(len(y), dtype=bool)
    by_text: dict[str, Any] = {str(label): label for label in np.unique(y).tolist()}
    for row, label, _ in changes:
        if label is None:
            keep[row] = False
        else:
            new[row], verified[row] = by_text[label], True
    return ReviewedLabels(new, keep, verified, np.flatnonzero(new != y))
