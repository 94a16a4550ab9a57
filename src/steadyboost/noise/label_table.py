"""A table of labels and how credible they are."""

import csv
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from steadyboost.files import spreadsheet_safe, write_whole
from steadyboost.pages.page import environment

SHOWN = 10  # lines of a table in a terminal, unless told
FILED = (
    *("given", "suggested", "score", "rank"),
    *("suspect", "expected_precision", "expected_recall"),
)


@dataclass(frozen=True)
class LabelTable:
    """Rows with their labels, the least credible first.

    Attributes
    ----------
    row : ndarray of int
        Position of the row in the data, from 0.
    given, suggested : ndarray
        Its label, and the one to change it to, which is the given label where it is not flagged.
    score : ndarray of float
        Probability that the given label is right.
    rank : ndarray of int
        1 for the least credible label of all.
    suspect : ndarray of bool
        Whether the label is flagged as wrong.
    expected_precision, expected_recall : ndarray of float
        Of a list that ends with this row: the share of its labels that are expected to be wrong,
        and the share of all wrong labels that are expected to be on it.
    number : ndarray of int or None
        Number of the row in its file, from 1, where a command has read the data.
    kept : dict of str to ndarray
        Columns by which rows are known: the index of a pandas frame, or identifiers of a file.
    """

    row: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    score: np.ndarray
    rank: np.ndarray
    expected_precision: np.ndarray
    expected_recall: np.ndarray
    number: np.ndarray | None = None
    kept: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def suspect(self) -> np.ndarray:
        return self.suggested != self.given

    @classmethod
    def ranked(
        cls,
        given: np.ndarray,
        suggested: np.ndarray,
        score: np.ndarray,
        number: np.ndarray | None = None,
        kept: Mapping[str, np.ndarray] | None = None,
    ) -> "LabelTable":
        """Rows by score; those without a score are left out."""
        row = np.argsort(score, kind="stable")
        row = row[~np.isnan(score[row])]
        rank = np.arange(1, len(row) + 1)
        found = np.cumsum(1 - score[row])
        expected = found / rank, found / max(found[-1:].sum(), 1e-12)
        number = None if number is None else number[row]
        # A column of the data must not hide one of the table.
        named = {f"{name}_" if name in FILED else name: own for name, own in (kept or {}).items()}
        own = {name: column[row] for name, column in named.items()}
        return cls(row, given[row], suggested[row], score[row], rank, *expected, number, own)

    def take(self, which: Any) -> "LabelTable":
        """Some of the lines: a mask, a slice or places."""
        columns: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        kept = {name: column[which] for name, column in columns.pop("kept").items()}
        some: dict[str, Any] = {
            name: None if own is None else own[which] for name, own in columns.items()
        }
        return LabelTable(**some, kept=kept)

    def disputed(self) -> "LabelTable":
        """The flagged lines."""
        return self.take(self.suspect)

    def head(self, n: int = SHOWN) -> "LabelTable":
        """The first n lines."""
        return self.take(slice(0, n))

    def __len__(self) -> int:
        return len(self.row)

    def columns(self) -> dict[str, np.ndarray]:
        """The columns of a file: how the row is known, its labels, and what is said of them."""
        row = self.row if self.number is None else self.number
        return {"row": row, **self.kept, **{name: getattr(self, name) for name in FILED}}

    def to_frame(self) -> Any:
        """A pandas data frame, with the index of the data if they have one of their own."""
        import pandas as pd

        frame = pd.DataFrame(self.columns())
        return frame.set_index(list(self.kept)) if self.kept else frame

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, spreadsheet: bool = False
    ) -> str | None:
        """Write the table, or return it as text if there is no path.

        With ``spreadsheet``, texts that a spreadsheet would calculate get an apostrophe in front.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = {name: column.tolist() for name, column in self.columns().items()}
        columns["suspect"] = ["true" if mark else "false" for mark in columns["suspect"]]
        writer.writerow(columns)
        rows = zip(*columns.values(), strict=True)
        writer.writerows(map(spreadsheet_safe, rows) if spreadsheet else rows)
        if path is None:
            return text.getvalue()
        write_whole(Path(path), text.getvalue())
        return None

    def shown(self) -> dict[str, list[str]]:
        """What people are shown of each line, as text."""
        columns = self.columns()
        named = {name: columns[name].tolist() for name in ("row", *self.kept, *FILED[:2])}
        wrong = {"P(wrong)": [percent(1 - score) for score in self.score.tolist()]}
        return {
            name: list(map(str, column))
            for name, column in (named | wrong | {"rank": self.rank.tolist()}).items()
        }

    def _repr_html_(self, summary: str = "", notes: Sequence[str] = (), n_all: int = 0) -> str:
        """As notebooks show it, perhaps below a summary of the audit of ``n_all`` rows."""
        shown = self.head().shown()
        return (
            environment("steadyboost.noise.review")
            .get_template("label_table.html")
            .render(
                summary=summary,
                notes=notes,
                names=list(shown),
                lines=zip(*shown.values(), strict=True),
                n_more=max(n_all - SHOWN, len(self) - SHOWN, 0),
            )
        )

    def __repr__(self) -> str:
        columns = [[name, *cells] for name, cells in self.head().shown().items()]
        widths = [max(map(len, column)) for column in columns]
        text = [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
            for line in zip(*columns, strict=True)
        ]
        more = [f"... {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join(text + more)


def percent(share: float) -> str:
    """A probability with so many digits that it can be told from others near 0 or 1.

    Examples
    --------
    >>> percent(0.5), percent(0.99987), percent(0.0000012)
    ('50.0 %', '99.987 %', '0.00012 %')
    """
    rest = min(share, 1 - share)
    if rest >= 0.001:
        return f"{100 * share:.1f} %"
    # Two digits of what is missing to 0 or 1; beyond the precision of a float there are none.
    digits = 3 if rest < 1e-10 else int(np.ceil(-np.log10(100 * rest))) + 1
    return f"{100 * share:.{digits}f} %"
