"""Tables for a page: sorted by their headings, filtered, shown a few rows at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

STRONG = 0.55  # share of the full colour from which white text reads better
WIDEST_HEAD = 100  # letters, were all names of columns as long as the longest


@dataclass(frozen=True)
class Column:
    """A heading; numbers are aligned right and sorted as numbers, high ones first if so asked."""

    title: str
    is_number: bool = True
    hint: str = ""
    high_first: bool = False
    choices: tuple[str, ...] = ()  # offered as a filter


@dataclass(frozen=True)
class TableCell:
    """HTML to show, and what to sort and filter by where that is not the text itself."""

    html: str
    value: Any = None
    hint: str = ""


def text(words: Any, value: Any = None) -> TableCell:
    """A cell of plain text; None is shown as nothing."""
    return TableCell("" if words is None else escape(str(words)), value)


def data_table(
    id_: str,
    columns: Sequence[Column],
    rows: Iterable[Sequence[TableCell]],
    *,
    step: int = 0,
    search: str = "",
    marked: Sequence[int] = (),
) -> str:
    """A table whose headings sort it.

    Parameters
    ----------
    id_ : str
        Its name in the page.
    columns : sequence of Column
        The first is the heading of each row.
    rows : iterable of sequences of TableCell
        As wide as ``columns``.
    step : int
        Rows to show at first and with each click, 0 for all.
    search : str
        What a field to search in is called; without it only columns with choices are filtered.
    marked : sequence of int
        Numbers of the rows that stand out.
    """
    head = "".join(_heading(column) for column in columns)
    body = "\n".join(_row(row, columns, k in marked) for k, row in enumerate(rows))
    return (
        f'{_filters(id_, columns, search)}<div class="scroll">'
        f'<table class="data" id="{id_}" data-step="{step}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _heading(column: Column) -> str:
    kind = ' class="number"' if column.is_number else ""
    hint = f' title="{escape(column.hint)}"' if column.hint else ""
    first = ' data-first="descending"' if column.high_first else ""
    words = escape(column.title).replace(" / ", "<br>")
    return f'<th scope="col"{kind}{hint}{first}>{words}</th>'


def _row(cells: Sequence[TableCell], columns: Sequence[Column], is_marked: bool) -> str:
    pairs = zip(cells, columns, strict=True)
    inside = "".join(_cell(cell, c, "td" if k else "th") for k, (cell, c) in enumerate(pairs))
    return f"<tr{' class=marked' if is_marked else ''}>{inside}</tr>"


def _cell(cell: TableCell, column: Column, tag: str) -> str:
    kind = ' class="number"' if column.is_number else ""
    scope = ' scope="row"' if tag == "th" else ""
    value = "" if cell.value is None else f' data-value="{escape(str(cell.value))}"'
    hint = f' title="{escape(cell.hint)}"' if cell.hint else ""
    return f"<{tag}{scope}{kind}{value}{hint}>{cell.html}</{tag}>"


def _filters(id_: str, columns: Sequence[Column], search: str) -> str:
    """Hidden until the script, without which they would do nothing, shows them."""
    fields = [_choice(k, column) for k, column in enumerate(columns) if column.choices]
    if search:
        fields.append(f'<label>{escape(search)}<input type="search"></label>')
    if not fields:
        return ""
    inside = "".join(fields) + '<button type="button">Clear</button><output></output>'
    return f'<div class="filters" data-table="{id_}" hidden>{inside}</div>'


def _choice(index: int, column: Column) -> str:
    options = "".join(f"<option>{escape(choice)}</option>" for choice in column.choices)
    return (
        f'<label>{escape(column.title)}<select data-column="{index}"><option value="">all'
        f"</option>{options}</select></label>"
    )


def heat_table(
    corner: str,
    names: Sequence[str],
    row_names: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    words: Sequence[Sequence[str]],
    picks: Sequence[Sequence[dict[str, str] | None]] | None = None,
) -> str:
    """A table coloured by ``shares`` in [0, 1]; a cell with a pick filters the table it names."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in names)
    upright = " upright" if len(names) * max(map(len, names), default=0) > WIDEST_HEAD else ""
    rows = []
    for k, (name, row) in enumerate(zip(row_names, shares, strict=True)):
        own_picks = picks[k] if picks else [None] * len(row)
        cells = map(_heat_cell, row, words[k], own_picks)
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return (
        f'<div class="scroll"><table class="heat{upright}">'
        f"<thead><tr><th>{escape(corner)}</th>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _heat_cell(share: float | None, words: str, pick: dict[str, str] | None) -> str:
    if share is None:
        return f"<td>{escape(words)}</td>"
    strong = ' class="strong"' if share > STRONG else ""
    chosen = f' data-pick="{escape(json.dumps(pick))}" tabindex="0"' if pick else ""
    color = f' style="background: rgba(var(--heat), {share:.3f})"'
    return f"<td{strong}{color}{chosen}>{escape(words)}</td>"
