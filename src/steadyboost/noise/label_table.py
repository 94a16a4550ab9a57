"""A table of labels and how credible they are."""

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from steadyboost.files import spreadsheet_safe, write_whole
from steadyboost.pages.page import environment

SHOWN_NAMES = ("row", "given", "suggested", "P(wrong)", "rank")
SHOWN = 10  # lines of a table in a terminal, unless told
FILED = (
    *("row", "given", "suggested", "score", "rank"),
    *("suspect", "expected_precision", "expected_recall"),
)


@dataclass(frozen=True)
class LabelTable:
    """Rows with their labels, the least credible first.

    Attributes
    ----------
    row : ndarray of int
        Place of the row in the data.
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
    """

    row: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    score: np.ndarray
    rank: np.ndarray
    expected_precision: np.ndarray
    expected_recall: np.ndarray

    @property
    def suspect(self) -> np.ndarray:
        return self.suggested != self.given

    @classmethod
    def ranked(cls, given: np.ndarray, suggested: np.ndarray, score: np.ndarray) -> "LabelTable":
        """Rows by score; those without a score are left out."""
        row = np.argsort(score, kind="stable")
        row = row[~np.isnan(score[row])]
        rank = np.arange(1, len(row) + 1)
        found = np.cumsum(1 - score[row])
        expected = found / rank, found / max(found[-1:].sum(), 1e-12)
        return cls(row, given[row], suggested[row], score[row], rank, *expected)

    def take(self, which: Any) -> "LabelTable":
        """Some of the lines: a mask, a slice or places."""
        return LabelTable(*(getattr(self, column.name)[which] for column in fields(self)))

    def disputed(self) -> "LabelTable":
        """The flagged lines."""
        return self.take(self.suspect)

    def head(self, n: int = SHOWN) -> "LabelTable":
        """The first n lines."""
        return self.take(slice(0, n))

    def __len__(self) -> int:
        return len(self.row)

    def to_frame(self) -> Any:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame({name: getattr(self, name) for name in FILED})

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, spreadsheet: bool = False
    ) -> str | None:
        """Write the table, or return it as text if there is no path.

        With ``spreadsheet``, texts that a spreadsheet would calculate get an apostrophe in front.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(FILED)
        columns = {name: getattr(self, name).tolist() for name in FILED}
        columns["suspect"] = ["true" if mark else "false" for mark in columns["suspect"]]
        rows = zip(*columns.values(), strict=True)
        writer.writerows(map(spreadsheet_safe, rows) if spreadsheet else rows)
        if path is None:
            return text.getvalue()
        write_whole(Path(path), text.getvalue())
        return None

    def _repr_html_(self, summary: str = "", notes: Sequence[str] = (), n_all: int = 0) -> str:
        """As notebooks show it, perhaps below a summary of the audit of ``n_all`` rows."""
        shown = self.head()
        wrong = [percent(1 - score) for score in shown.score.tolist()]
        columns = (shown.row, shown.given, shown.suggested)
        return (
            environment("steadyboost.noise.review")
            .get_template("label_table.html")
            .render(
                summary=summary,
                notes=notes,
                names=SHOWN_NAMES,
                lines=zip(*(c.tolist() for c in columns), wrong, shown.rank.tolist(), strict=True),
                n_more=max(n_all, len(self)) - len(shown),
            )
        )

    def __repr__(self) -> str:
        names = SHOWN_NAMES
        shown = self.head()
        wrong = [percent(1 - score) for score in shown.score.tolist()]
        columns = (shown.row, shown.given, shown.suggested, np.array(wrong, dtype=str), shown.rank)
        lines = [
            [str(cell) for cell in line]
            for line in zip(*(c.tolist() for c in columns), strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
        text = [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
            for line in [names, *lines]
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
