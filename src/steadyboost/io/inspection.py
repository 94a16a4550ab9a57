"""Inspection of a table: its size, categories and gaps, and what looks doubtful."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from steadyboost.io.columns import doubts_about, missing_in
from steadyboost.trees.data.binning import MAX_BINS


@dataclass(frozen=True)
class Found:
    """Size of a table, its categorical columns and its gaps; what is doubtful, in sentences."""

    file: str
    rows: int
    columns: int
    categorical: dict[str, int] = field(default_factory=dict)  # name to number of values
    missing: dict[str, int] = field(default_factory=dict)  # name to number of gaps
    ignored: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """One line each for the size, the categories, the gaps and the doubts."""
        lines = [f"{self.file}: {_so_many(self.rows, 'row')}, {_so_many(self.columns, 'feature')}"]
        if self.categorical:
            told = [
                f"{name} ({_so_many(values, 'value')})" for name, values in self.categorical.items()
            ]
            lines.append(f"categorical: {_few(told)}")
        if self.missing:
            total = sum(self.missing.values())
            told = [f"{name} ({gaps:,})" for name, gaps in self.missing.items()]
            lines.append(f"missing values: {total:,} in {_few(told)}")
        if self.ignored:
            lines.append(f"not used: {_few(self.ignored)}")
        return [*lines, *(f"note: {doubt}" for doubt in self.doubts)]


def inspect_table(
    path: Path, frame: nw.DataFrame, ignored: list[str], categorical: set[str]
) -> Found:
    """Inspect the features of a table; ``categorical`` are those of its numbers that are codes."""
    texts = [name for name in frame.columns if frame[name].dtype == nw.String]
    codes = [name for name in frame.columns if name in texts or name in categorical]
    gaps = {name: missing_in(frame[name]) for name in frame.columns}
    doubts = [doubts_about(frame[name], MAX_BINS) for name in texts if name not in categorical]
    return Found(
        str(path),
        len(frame),
        len(frame.columns),
        {name: frame[name].drop_nulls().n_unique() for name in codes},
        {name: count for name, count in gaps.items() if count},
        ignored,
        [doubt for doubt in doubts if doubt],
    )


def _so_many(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _few(told: list[str], most: int = 8) -> str:
    shown = ", ".join(told[:most])
    return shown if len(told) <= most else f"{shown} and {len(told) - most} more"
