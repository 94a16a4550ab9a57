"""The review page: what it shows of an audit, as one self-contained HTML file."""

import json
import mimetypes
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2s
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyboost.noise.review import PACKAGE
from steadyboost.noise.review.evidence import Evidence, EvidenceFinder, other_labels
from steadyboost.noise.review.table import ShownTable
from steadyboost.noise.review.values import cell_text
from steadyboost.noise.review.verdicts import FORMAT, VERSION
from steadyboost.pages.page import Assets, made_by, render, resource, shared_assets

if TYPE_CHECKING:
    from steadyboost.noise.label_audit import LabelAudit

MOST_CLASSES = 9  # of a row, by probability: one for each key from 1 to 9
MOST_CELLS = 3_000_000  # values of columns on a page, which is then some 30 MB large
FEW_LEVELS = 0.5  # distinct values per row, up to which a column is written as levels and codes
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MANY = 10_000  # per unit, in which probabilities are written


@dataclass(frozen=True)
class ReviewSettings:
    """What is on a review page besides the audit.

    Attributes
    ----------
    table : table
        Values to show of the rows.
    ids : sequence of str or None
        An identifier for each row.
    id_name, name, target : str
        Names of the column of identifiers, of the table and of the column of labels.
    pictures : sequence of path or None
        A picture for each row.
    max_rows, n_evidence : int
        Rows on the page, and rows with evidence, the most suspicious first.
    command : str
        The command that makes the page.
    """

    table: Any
    ids: Sequence[str] | None = None
    id_name: str = ""
    name: str = "table"
    target: str = ""
    pictures: Sequence[str | Path] | None = None
    max_rows: int = 100_000
    n_evidence: int = 500
    command: str = ""


def review_page(audit: "LabelAudit", settings: ReviewSettings) -> str:
    """The page as text."""
    check_settings(audit, settings)
    content = ReviewContent(audit, settings)
    shared = shared_assets()
    assets = Assets(
        shared.style + resource(PACKAGE, "review.css"),
        "".join(resource(PACKAGE, name) for name in ("review_data.js", "review.js")),
        has_pictures=settings.pictures is not None,
    )
    return render(
        "review.html",
        PACKAGE,
        title=f"SteadyBoost: review of {settings.name}",
        heading=f"Review of {settings.name}",
        made_by=made_by(settings.command),
        assets=assets,
        data=embedded(content.document()),
    )


def embedded(document: dict[str, Any]) -> str:
    """JSON that can stand in a page: no text in it can end the element or begin another."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # JSON allows any character of a text to be written by its number.
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def check_settings(audit: "LabelAudit", settings: ReviewSettings) -> None:
    """Raise ``ValueError`` for what does not belong to the audit."""
    n = len(audit.given)
    sizes = {
        "table": None if settings.table is None else len(ShownTable.of(settings.table)),
        "ids": None if settings.ids is None else len(settings.ids),
        "pictures": None if settings.pictures is None else len(settings.pictures),
    }
    for name, size in sizes.items():
        if size is not None and size != n:
            raise ValueError(f"{name} has {size} rows and the audit {n}; pass one for each row.")
    if settings.ids is not None and len(set(settings.ids)) < n:
        raise ValueError("ids must differ from row to row, as verdicts find their rows by them.")
    for name in ("max_rows", "n_evidence"):
        if getattr(settings, name) < 0:
            raise ValueError(f"{name}={getattr(settings, name)} must not be negative.")


class ReviewContent:
    """The data of a page: rows by rank, then rows that evidence names."""

    def __init__(self, audit: "LabelAudit", settings: ReviewSettings):
        self.audit, self.settings = audit, settings
        self.table = ShownTable.of(settings.table)
        ranked = audit.table.row[: settings.max_rows]
        finder = EvidenceFinder(audit, self.table)
        self.evidence = finder.find(ranked[: settings.n_evidence].tolist())
        self.n_review = len(ranked)
        self.rows = np.concatenate([ranked, self._named(ranked)])
        self.place_of_row = {row: place for place, row in enumerate(self.rows.tolist())}

    def _named(self, ranked: np.ndarray) -> np.ndarray:
        """Rows that evidence names and that are not reviewed themselves."""
        named = {one.row for own in self.evidence for one in own.neighbours}
        named |= {row for own in self.evidence for row, _ in own.duplicates}
        return np.array(sorted(named - set(ranked.tolist())), dtype=np.int64)

    def document(self) -> dict[str, Any]:
        """The data as JSON."""
        audit, settings, rows = self.audit, self.settings, self.rows
        hashes = [self.table.hash(row) for row in rows.tolist()] if len(self.table) else []
        columns = self._columns()
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": settings.name,
            "target": settings.target,
            "id": settings.id_name if settings.ids is not None else "",
            "key": self._key(hashes),
            "notes": [*audit.notes, *self._notes(len(columns))],
            "classes": [str(label) for label in audit.classes.tolist()],
            "n_rows": len(audit.table),
            "n_wrong": round(audit.n_wrong, 2),
            "n_review": self.n_review,
            "rows": self.audit.numbers_of(rows).tolist(),
            "ids": [] if settings.ids is None else [str(settings.ids[row]) for row in rows],
            "hashes": hashes,
            "given": np.searchsorted(audit.classes, audit.given[rows]).tolist(),
            "other": other_labels(audit, rows).tolist(),
            "flagged": (audit.suggested[rows] != audit.given[rows]).astype(int).tolist(),
            "wrong": parts(1 - np.nan_to_num(audit.scores[rows], nan=1.0)),
            **self._probabilities(),
            "columns": columns,
            "members": next((list(one.members) for one in self.evidence if one.members), []),
            "evidence": [self._as_document(one) for one in self.evidence],
            "pictures": self._pictures(),
        }

    def _key(self, hashes: list[str]) -> str:
        """A name for this table and its labels in the storage of a browser."""
        by_row = sorted(zip(self.rows.tolist(), map(str, self.audit.given[self.rows]), strict=True))
        named = [self.settings.name, self.settings.target, *(label for _, label in by_row)]
        return blake2s("\x1f".join([*named, *sorted(hashes)]).encode(), digest_size=8).hexdigest()

    def _notes(self, n_columns: int) -> list[str]:
        notes = []
        if self.n_review < len(self.audit.table):
            notes.append(
                f"The {self.n_review:,} most suspicious of {len(self.audit.table):,} rows are here."
            )
        if n_columns < len(self.table.names):
            notes.append(f"The first {n_columns} of {len(self.table.names):,} columns are here.")
        return notes

    def _probabilities(self) -> dict[str, Any]:
        """The likeliest classes of each row, and their probabilities, one row after the other."""
        proba = np.nan_to_num(self.audit.probabilities[self.rows])
        top = np.argsort(-proba, axis=1, kind="stable")[:, :MOST_CLASSES]
        shares = np.take_along_axis(proba, top, axis=1)
        return {"n_top": top.shape[1], "top": top.ravel().tolist(), "shares": parts(shares.ravel())}

    def _columns(self) -> list[dict[str, Any]]:
        n = MOST_CELLS // max(len(self.rows), 1)
        return [
            {"name": name, **column_document(self.table, place, self.rows)}
            for place, name in enumerate(self.table.names[:n])
        ]

    def _as_document(self, own: Evidence) -> dict[str, Any]:
        """Evidence with places on the page instead of rows, and classes by number."""
        classes = self.audit.classes.tolist()
        return {
            "members": [parts([by.get(label, 0.0) for label in classes])
                        for by in own.members.values()],
            "columns": [[one.name, one.value, round(one.contribution, 3)] for one in own.columns],
            "near": [[self.place_of_row[one.row], round(one.proximity, 4)]
                     for one in own.neighbours],
            "same": [self.place_of_row[row] for row, _ in own.duplicates],
        }  # fmt: skip

    def _pictures(self) -> list[str]:
        """Pictures of the rows with evidence, as they can stand in a page."""
        if self.settings.pictures is None:
            return []
        pictures = [Path(self.settings.pictures[one.row]) for one in self.evidence]
        numbers = self.audit.numbers_of([one.row for one in self.evidence]).tolist()
        return [picture(*pair) for pair in zip(pictures, numbers, strict=True)]


def parts(shares: Any) -> list[int]:
    """Probabilities as integers, which take fewer letters."""
    return np.round(np.asarray(shares) * MANY).astype(int).tolist()


def column_document(table: ShownTable, place: int, rows: np.ndarray) -> dict[str, Any]:
    """A column of a page: its kind, and its values or their levels and codes."""
    texts = table.texts(place, rows)
    levels = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    kind = "number" if all(map(_is_number, levels)) else "text"
    kind = "long" if table.is_long(place) else kind
    if len(levels) > FEW_LEVELS * len(texts):
        return {"kind": kind, "values": texts}
    return {"kind": kind, "levels": list(levels), "codes": [levels[text] for text in texts]}


def _is_number(text: str) -> bool:
    known = cell_text(text)
    if known == "":
        return True
    try:
        return bool(np.isfinite(float(known)))
    except ValueError:
        return False


def picture(path: Path, row: int) -> str:
    """A picture as the address of its own content."""
    kind, _ = mimetypes.guess_type(path.name)
    if kind not in PICTURES:
        raise ValueError(
            f"The picture of row {row}, {path}, must be a file of type PNG, JPEG, GIF or WebP."
        )
    if not path.is_file():
        raise ValueError(f"The picture of row {row}, {path}, is not there.")
    return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"
