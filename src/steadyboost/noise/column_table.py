"""Tables of equally long columns: in a terminal, in a notebook, as a data frame and as a file."""

import csv
import html
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from steadyboost.files import spreadsheet_safe, write_whole

SHOWN = 10  # lines of a table in a terminal, unless told


class ColumnTable:
    """Base of tables; a subclass is a dataclass that says which of its arrays are columns."""

    def columns(self) -> dict[str, np.ndarray]:
        """Arrays of one length by name."""
        raise NotImplementedError

    def take(self, which: Any) -> Self:
        """Some of the lines: a mask, a slice or places."""
        raise NotImplementedError

    def head(self, n: int = SHOWN) -> Self:
        """The first n lines."""
        return self.take(slice(0, n))

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def to_frame(self) -> Any:
        """A pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def to_csv(
        self, path: str | os.PathLike[str] | None = None, *, spreadsheet: bool = False
    ) -> str | None:
        """Write the table, or return it as text if there is no path.

        With ``spreadsheet``, texts that a spreadsheet would calculate get an apostrophe in front.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = self.columns()
        writer.writerow(columns)
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        writer.writerows(map(spreadsheet_safe, rows) if spreadsheet else rows)
        if path is None:
            return text.getvalue()
        write_whole(Path(path), text.getvalue())
        return None

    def __repr__(self) -> str:
        names, lines = list(self.columns()), self._shown()
        widths = [max(map(len, column)) for column in zip(names, *lines, strict=True)]
        text = [
            "  ".join(f"{cell:>{w}}" for cell, w in zip(line, widths, strict=True))
            for line in [names, *lines]
        ]
        return "\n".join([*text, *self._more()])

    def _repr_html_(self) -> str:
        head = _html_row("th", self.columns())
        body = "".join(_html_row("td", line) for line in self._shown())
        more = "".join(f"<p>{html.escape(line)}</p>" for line in self._more())
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"

    def _shown(self) -> list[list[str]]:
        """The first lines as text."""
        columns = (column[:SHOWN].tolist() for column in self.columns().values())
        return [[_as_text(cell) for cell in line] for line in zip(*columns, strict=True)]

    def _more(self) -> list[str]:
        return [f"... {len(self) - SHOWN} more"] if len(self) > SHOWN else []


def _as_text(cell: Any) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def _html_row(tag: str, cells: Iterable[Any]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
