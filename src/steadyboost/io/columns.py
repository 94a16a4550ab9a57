"""Columns of a table: what they are called, and what they are used for."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

NUMBER, TEXT, DATE = "number", "text", "date"


class TableError(ValueError):
    """A file that cannot be read as a table, or lacks what was asked for.

    Examples
    --------
    >>> from steadyboost.io import TableError, read_table
    >>> read_table("nowhere.csv")
    Traceback (most recent call last):
    steadyboost.io.columns.TableError: nowhere.csv: there is no such file.
    """


def is_number(text: str) -> bool:
    """Whether a text is a number in the notation of data files: not ``1_000``, as in Python."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column; ``features`` by name with their kinds, None for all others."""

    target: str | None = None
    weights: str | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    features: Mapping[str, str] | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """Kinds of columns that follow from their roles."""
        kinds = dict.fromkeys(self.keep, TEXT) | dict(self.features or {})
        kinds |= {self.target: TEXT} if self.target else {}
        return kinds | ({self.weights: NUMBER} if self.weights else {})

    def columns(self, path: Path, names: Sequence[str]) -> list[str]:
        """The columns to read, in the order of the file, after a check that all named exist."""
        for name in (self.target, self.weights, *self.ignore, *self.categorical, *self.keep):
            if name is not None and name not in names:
                raise TableError(f"{path} has no column {name!r}{nearest(name, names)}")
        self._check_roles(path)
        lacking = [name for name in self.features or () if name not in names]
        if lacking:
            raise TableError(_lacks(path, lacking, names))
        if self.features is not None:
            return [name for name in names if name in self.kinds]
        return [name for name in names if name not in self.ignore]

    def _check_roles(self, path: Path) -> None:
        """Raise ``TableError`` for a column with two roles."""
        roles: dict[str, set[str | None]] = {
            "the target": {self.target},
            "the weights": {self.weights},
            "ignored": {*self.ignore},
            "categorical": {*self.categorical},
        }
        for (role, one), (other, two) in combinations(roles.items(), 2):
            for name in filter(None, one & two):
                raise TableError(f"{path}: column {name!r} cannot be both {role} and {other}.")


def nearest(name: str, names: Sequence[str]) -> str:
    """End of an error message: the most similar name, or the names that exist."""
    lower = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1)
    if close:
        return f"; did you mean {lower[close[0]]!r}?"
    return f"; there {'is' if len(names) == 1 else 'are'} {_first_few(names)}."


def _first_few(names: Sequence[str], most: int = 8) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(repr, names[:most]), *more])


def _lacks(path: Path, lacking: list[str], names: Sequence[str]) -> str:
    if len(lacking) == 1:
        return f"{path} lacks the column {lacking[0]!r} of the model{nearest(lacking[0], names)}"
    return f"{path} lacks {len(lacking)} columns of the model: {_first_few(lacking)}."
