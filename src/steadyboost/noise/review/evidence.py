"""Why a label is doubted: what a reviewer should know of a row."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steadyboost.noise.review.table import ShownTable

if TYPE_CHECKING:
    from steadyboost.noise.label_audit import LabelAudit

N_NEIGHBOURS = 6
N_COLUMNS = 8  # that speak most, for and against together
SMALL = 0.005  # share of the largest contribution, below which a column is not named
BATCH = 512  # rows whose contributions are computed at a time


class ColumnEvidence(NamedTuple):
    """A column, the row's value, and its contribution to the suggested label's log-odds."""

    name: str
    value: str
    contribution: float


class Neighbour(NamedTuple):
    """A row in the same leaves of the forests; ``proximity`` is its share in their judgement."""

    row: int
    proximity: float
    label: Any
    values: tuple[str, ...]


@dataclass(frozen=True)
class Evidence:
    """Why the label of a row is doubted, or not.

    Attributes
    ----------
    row : int
        Number of the row.
    given, other : label
        Its label, and the likeliest of the other labels.
    is_suspect : bool
        Whether the label is flagged.
    score : float
        Probability that the given label is right.
    probabilities : dict of label to float
        Probability of each class by the features, the likeliest first.
    members : dict of str to dict of label to float
        The same by each member of the ensemble; empty for models without members.
    columns : list of ColumnEvidence
        Columns that speak most for ``other`` (positive) or for ``given`` (negative).
    neighbours : list of Neighbour
        Nearest rows by forest proximity.
    duplicates : list of tuple of int and label
        Rows of the same values and another label.
    names : list of str
        Columns that the values of neighbours are of.
    """

    row: int
    given: Any
    other: Any
    is_suspect: bool
    score: float
    probabilities: dict[Any, float]
    members: dict[str, dict[Any, float]]
    columns: list[ColumnEvidence]
    neighbours: list[Neighbour]
    duplicates: list[tuple[int, Any]]
    names: list[str]

    def as_dict(self) -> dict[str, Any]:
        """As plain types, for JSON; the keys of dictionaries are labels as text."""
        document = asdict(self)
        named = zip(self.members, self.members.values(), strict=True)
        document["members"] = {name: _by_text(own) for name, own in named}
        document["probabilities"] = _by_text(self.probabilities)
        document["columns"] = [column._asdict() for column in self.columns]
        document["neighbours"] = [one._asdict() for one in self.neighbours]
        return document

    def __str__(self) -> str:
        lines = [
            f"Row {self.row} is labelled {self.given}: right with probability {self.score:.3f}; "
            f"the likeliest other label is {self.other}.",
            "Probabilities: " + _listed(self.probabilities),
        ]
        lines += [f"  {name}: {_listed(own)}" for name, own in self.members.items()]
        for label, sign in ((self.other, 1), (self.given, -1)):
            own = [one for one in self.columns if one.contribution * sign > 0]
            if own:
                told = (f"{one.name} = {one.value} ({one.contribution:+.2f})" for one in own)
                lines.append(f"For {label}: " + ", ".join(told))
        if self.neighbours:
            lines.append("Nearest rows (row, proximity, label):")
            lines += [f"  {one.row}  {one.proximity:.3f}  {one.label}" for one in self.neighbours]
        if self.duplicates:
            told = (f"row {row} ({label})" for row, label in self.duplicates)
            lines.append("Same values, another label: " + ", ".join(told))
        return "\n".join(lines)


def _by_text(by_label: dict[Any, float]) -> dict[str, float]:
    return {str(label): value for label, value in by_label.items()}


def _listed(by_label: dict[Any, float], most: int = 5) -> str:
    shown = sorted(by_label.items(), key=lambda item: -item[1])[:most]
    return ", ".join(f"{label} {share:.3f}" for label, share in shown)


def other_labels(audit: "LabelAudit", rows: np.ndarray) -> np.ndarray:
    """Index of the class that each row's label is compared with: suggested, or likeliest."""
    given = np.searchsorted(audit.classes, audit.given[rows])
    suggested = np.searchsorted(audit.classes, audit.suggested[rows])
    proba = np.nan_to_num(audit.probabilities[rows])
    proba[np.arange(len(rows)), given] = -1
    return np.where(suggested != given, suggested, proba.argmax(axis=1))


class EvidenceFinder:
    """Finds the evidence of rows.

    Parameters
    ----------
    audit : LabelAudit
        What the audit found; with its rows and its model there are columns and nearest rows, too.
    table : ShownTable
        Values of the rows, as they are shown.
    """

    def __init__(self, audit: "LabelAudit", table: ShownTable):
        self.audit, self.table = audit, table
        can_tell = audit.X is not None and hasattr(audit.model, "training_evidence")
        self.model = audit.model.training_evidence(audit.X) if can_tell else None
        self.features = ShownTable.of(audit.X)
        self._conflicts = {int(row): group for group in audit.conflicts for row in group}

    def find(self, rows: Sequence[int]) -> list[Evidence]:
        """The evidence of some rows."""
        found: list[Evidence] = []
        for start in range(0, len(rows), BATCH):
            found += self._find(np.asarray(rows[start : start + BATCH], dtype=np.int64))
        return found

    def _find(self, rows: np.ndarray) -> list[Evidence]:
        audit, others = self.audit, other_labels(self.audit, rows)
        columns, neighbours = self._columns(rows, others), self._neighbours(rows)
        return [
            Evidence(
                row=row,
                given=audit.given[row].item(),
                other=audit.classes[other].item(),
                is_suspect=bool(audit.suggested[row] != audit.given[row]),
                score=float(audit.scores[row]),
                probabilities=self._ranked(audit.probabilities[row]),
                members=self._members(row),
                columns=columns.get(row, []),
                neighbours=neighbours.get(row, []),
                duplicates=self._duplicates(row),
                names=self.table.names,
            )
            for row, other in zip(rows.tolist(), others, strict=True)
        ]

    def _ranked(self, proba: np.ndarray) -> dict[Any, float]:
        order = np.argsort(-proba, kind="stable")
        return {self.audit.classes[k].item(): float(proba[k]) for k in order}

    def _members(self, row: int) -> dict[str, dict[Any, float]]:
        if self.model is None or not self.model.was_trained_on(np.array([row]))[0]:
            return {}
        opinions = zip(self.model.member_names, self.model.member_proba(row), strict=True)
        return {name: self._ranked(proba) for name, proba in opinions}

    def _trained(self, rows: np.ndarray) -> np.ndarray:
        if self.model is None:
            return np.zeros(len(rows), dtype=bool)
        return self.model.was_trained_on(rows)

    def _columns(self, rows: np.ndarray, others: np.ndarray) -> dict[int, list[ColumnEvidence]]:
        judged = self._trained(rows)
        if self.model is None or not judged.any():
            return {}
        own = rows[judged]
        given = np.searchsorted(self.audit.classes, self.audit.given[own])
        found = self.model.contributions(own, others[judged], given)
        return {
            row: self._largest(row, worth) for row, worth in zip(own.tolist(), found, strict=True)
        }

    def _largest(self, row: int, worth: np.ndarray) -> list[ColumnEvidence]:
        size = np.abs(worth)
        order = np.argsort(-size, kind="stable")[:N_COLUMNS]
        named = [f for f in order if size[f] > SMALL * max(size[order[0]], SMALL)]
        values = self.features.cells(row, named)
        names = [self.features.names[f] for f in named]
        return [
            ColumnEvidence(name, value, float(worth[f]))
            for name, value, f in zip(names, values, named, strict=True)
        ]

    def _neighbours(self, rows: np.ndarray) -> dict[int, list[Neighbour]]:
        judged = self._trained(rows)
        if self.model is None or not judged.any():
            return {}
        own = rows[judged]
        near = self.model.proximities(own)
        return {row: self._nearest(near[[place]]) for place, row in enumerate(own.tolist())}

    def _nearest(self, near: Any) -> list[Neighbour]:
        order = np.lexsort((near.indices, -near.data))[:N_NEIGHBOURS]
        places = [(int(near.indices[at]), float(near.data[at])) for at in order]
        return [
            Neighbour(row, share, self.audit.given[row].item(), tuple(self.table.row(row)))
            for row, share in places
        ]

    def _duplicates(self, row: int) -> list[tuple[int, Any]]:
        given = self.audit.given
        group = self._conflicts.get(row, ())
        return [(int(one), given[one].item()) for one in group if given[one] != given[row]]
