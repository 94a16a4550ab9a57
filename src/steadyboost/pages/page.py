"""Self-contained HTML pages from jinja2 templates, and the tables and figures on them.

Text is escaped by the templates (autoescape), so that nothing here or in the content of a page is
HTML. A page loads nothing from the network, and its content security policy allows no script but
our own.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from steadyboost import __version__
from steadyboost.pages.svg import COLORS, swatch

OWN = "steadyboost.pages"
STRONG = 0.55  # share of the full colour from which white text is easier to read
WIDEST_HEAD = 100  # letters of all column names together, if all were as long as the longest


@cache
def environment(package: str = OWN) -> Environment:
    """The shared templates and those of a package.

    Autoescape is on for all of them, and a missing name is an error.
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(OWN)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["swatch"] = swatch
    return templates


class Assets(NamedTuple):
    """The style sheet and the script of a page, and whether it shows pictures."""

    style: str
    script: str
    has_pictures: bool = False


def render(
    template: str,
    package: str = OWN,
    *,
    title: str,
    heading: str,
    made_by: str,
    assets: Assets | None = None,
    **content: Any,
) -> str:
    """A page from a template of a package; ``content`` are the variables of the template."""
    style, script, has_pictures = assets or shared_assets()
    return (
        environment(package)
        .get_template(template)
        .render(
            title=title,
            heading=heading,
            made_by=made_by,
            style=style,
            script=script,
            policy=content_policy(script, has_pictures),
            **content,
        )
    )


def shared_assets() -> Assets:
    """The style sheet of all pages, and the script of their tables."""
    style = f"{_palette()}\n{resource(OWN, 'page.css')}"
    return Assets(style, resource(OWN, "page.js"))


def content_policy(script: str, has_pictures: bool = False) -> str:
    """Allow inline styles and this one script, whatever markup the data may contain.

    Pictures, where there are any, are part of the page.
    """
    digest = b64encode(sha256(script.encode()).digest()).decode()
    pictures = "img-src data:; " if has_pictures else ""
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; {pictures}"
        "base-uri 'none'; form-action 'none'"
    )


def made_by(command: str) -> str:
    """The line below the heading: command, version and date."""
    ours = f"SteadyBoost {__version__}, {datetime.now(UTC):%Y-%m-%d}"
    return f"{command} · {ours}" if command else ours


def resource(package: str, name: str) -> str:
    """The text of a file beside the templates of a package."""
    return (files(package) / "templates" / name).read_text(encoding="utf-8")


def _palette() -> str:
    named = "; ".join(f"--series-{k}: {color}" for k, color in enumerate(COLORS))
    return f":root {{ {named}; }}"


class Badge(NamedTuple):
    """A short label; ``kind`` is "yes", "no" or nothing, and gives its colour."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Figure:
    """Charts with a caption, and the names of the series in the order of their styles."""

    caption: str
    panels: Sequence[str]
    legend: Sequence[str] = ()


@dataclass(frozen=True)
class Column:
    """A heading; numbers are right-aligned and sorted as such, in descending order if asked for.

    ``choices`` are offered as a filter; " / " in a title is a line break.
    """

    title: str
    is_number: bool = True
    hint: str = ""
    high_first: bool = False
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableCell:
    """The text of a cell, and the value to sort and filter by if that is not the text itself."""

    text: Any
    value: Any = None
    hint: str = ""
    is_bold: bool = False
    badge: Badge | None = None
    below: str = ""  # in small print


def plain_cell(words: Any, value: Any = None) -> TableCell:
    """A cell of text; None is shown as an empty cell."""
    return TableCell("" if words is None else str(words), value)


@dataclass(frozen=True)
class DataTable:
    """A table that can be sorted by its columns.

    Parameters
    ----------
    id : str
        Its id in the page.
    columns : sequence of Column
        The first one is the heading of each row.
    rows : sequence of sequences of TableCell
        As wide as ``columns``.
    step : int, default=0
        Number of rows to show at first and with each click; 0 for all.
    search : str, default=""
        Label of a search field; without it only columns with choices have a filter.
    marked : collection of int, default=()
        Indices of rows to be emphasised.
    """

    id: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[TableCell]]
    step: int = 0
    search: str = ""
    marked: Sequence[int] = ()

    @property
    def has_filters(self) -> bool:
        return bool(self.search) or any(column.choices for column in self.columns)

    def paired(self, row: Sequence[TableCell]) -> Iterator[tuple[Column, TableCell]]:
        """The cells of a row with their columns."""
        return zip(self.columns, row, strict=True)


@dataclass(frozen=True)
class HeatCell:
    """A cell coloured by ``share`` in [0, 1], or not; a click applies the filters in ``pick``."""

    text: str
    share: float | None = None
    pick: str = ""

    @property
    def is_strong(self) -> bool:
        return self.share is not None and self.share > STRONG


@dataclass(frozen=True)
class HeatTable:
    """A matrix of coloured cells with names of rows and columns."""

    corner: str
    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[HeatCell]]]

    @property
    def is_upright(self) -> bool:
        """Whether the names of the columns are too long to be written horizontally."""
        return len(self.names) * max(map(len, self.names), default=0) > WIDEST_HEAD


def picked(table: str, choices: Mapping[int, str]) -> str:
    """Filters of a table, by column index, as the script reads them."""
    return json.dumps({"table": table, **{str(column): name for column, name in choices.items()}})


def heat_rows(
    names: Iterable[str],
    shares: Iterable[Iterable[float | None]],
    words: Iterable[Iterable[str]],
) -> list[tuple[str, list[HeatCell]]]:
    """Rows of a :class:`HeatTable` from matrices of shares and texts."""
    rows = zip(names, shares, words, strict=True)
    return [
        (name, [HeatCell(text, share) for text, share in zip(texts, own, strict=True)])
        for name, own, texts in rows
    ]
