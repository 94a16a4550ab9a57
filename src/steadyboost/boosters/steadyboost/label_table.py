"""A table of labels and how credible they are."""

import csv
import io
import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from steadyboost.ensemble.files import write_whole

SHOWN = 10
FILED = ("row", "given", "suggested", "score", "rank", "suspect")


@dataclass(frozen=True)
class LabelTable:
    """Rows with their labels, the least credible first.

    Attributes
    ----------
    row : ndarray of int
        Place of the row in the data.
    given, suggested : ndarray
        Its label, and the likeliest one.
    score : ndarray of float
        Probability that the given label is right.
    rank : ndarray of int
        1 for the least credible label of all.
    suspect : ndarray of bool
        Whether another label is likelier than the given one.
    """

    row: np.ndarray
    given: np.ndarray
    suggested: np.ndarray
    score: np.ndarray
    rank: np.ndarray

    @property
    def suspect(self) -> np.ndarray:
        return self.suggested != self.given

    @classmethod
    def ranked(cls, given: np.ndarray, suggested: np.ndarray, score: np.ndarray) -> "LabelTable":
        """Rows by score; those without a score are left out."""
        row = np.argsort(score, kind="stable")
        row = row[~np.isnan(score[row])]
        rank = np.arange(1, len(row) + 1)
        return cls(row, given[row], suggested[row], score[row], rank)

    def take(self, which: Any) -> "LabelTable":
        """Some of the lines: a mask, a slice or places."""
        return LabelTable(*(getattr(self, column.name)[which] for column in fields(self)))

    def disputed(self) -> "LabelTable":
        """The lines that suggest another label."""
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

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Write the table, or return it as text if there is no path."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(FILED)
        marks = np.where(self.suspect, "true", "false")  # which every library reads as truth
        writer.writerows((*line, mark) for line, mark in zip(self._lines(), marks, strict=True))
        if path is None:
            return text.getvalue()
        write_whole(Path(path), text.getvalue())
        return None

    def _lines(self) -> Any:
        columns = (getattr(self, column.name).tolist() for column in fields(self))
        return zip(*columns, strict=True)

    def __repr__(self) -> str:
        names = [column.name for column in fields(self)]
        lines = [
            [str(row), str(a), str(b), f"{s:.4f}", str(r)]
            for row, a, b, s, r in self.head()._lines()
        ]
        widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
        text = [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
            for line in [names, *lines]
        ]
        more = [f"... {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join(text + more)
