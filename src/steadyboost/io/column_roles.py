"""The roles of the columns of a file: target, weights, features."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from steadyboost.io.columns import NUMBER, TEXT
from steadyboost.io.errors import TableError


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column; ``features`` with their kinds, None for all others."""

    target: str | None = None
    weights: str | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    features: Mapping[str, str] | None = None

    @property
    def kinds(self) -> dict[str, str]:
        """What is known of columns before they are read."""
        kinds = dict.fromkeys(self.keep, TEXT) | dict(self.features or {})
        kinds |= {self.target: TEXT} if self.target else {}
        return kinds | ({self.weights: NUMBER} if self.weights else {})

    def columns(self, path: Path, names: Sequence[str]) -> list[str]:
        """Those columns of a file that are to be read, in its order; all that is named is there."""
        for name in (self.target, self.weights, *self.ignore, *self.categorical, *self.keep):
            if name is not None and name not in names:
                raise TableError(f"{path} has no column {name!r}{nearest(name, names)}")
        self._check_uses(path)
        lacking = [name for name in self.features or () if name not in names]
        if lacking:
            raise TableError(_lacks(path, lacking, names))
        if self.features is not None:
            return [name for name in names if name in self.kinds]
        return [name for name in names if name not in self.ignore]

    def _check_uses(self, path: Path) -> None:
        """A column is one thing only."""
        uses: dict[str, set[str | None]] = {
            "the target": {self.target},
            "the weights": {self.weights},
            "ignored": {*self.ignore},
            "categorical": {*self.categorical},
        }
        for (use, one), (other, two) in combinations(uses.items(), 2):
            for name in filter(None, one & two):
                raise TableError(f"{path}: column {name!r} cannot be both {use} and {other}.")


def nearest(name: str, names: Sequence[str]) -> str:
    """A question after the name that may be meant, or the names that there are."""
    lower = {other.lower(): other for other in reversed(names)}
    close = difflib.get_close_matches(name.lower(), lower, n=1)
    if close:
        return f"; did you mean {lower[close[0]]!r}?"
    return f"; there {'is' if len(names) == 1 else 'are'} {_few(names)}."


def _few(names: Sequence[str], most: int = 8) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(repr, names[:most]), *more])


def _lacks(path: Path, lacking: list[str], names: Sequence[str]) -> str:
    if len(lacking) == 1:
        return f"{path} lacks the column {lacking[0]!r} of the model{nearest(lacking[0], names)}"
    return f"{path} lacks {len(lacking)} columns of the model: {_few(lacking)}."
