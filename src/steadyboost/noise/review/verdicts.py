"""What reviewers say of labels: verdicts, their files, and several reviewers together."""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from steadyboost.files import write_whole

FORMAT, VERSION = "steadyboost-verdicts", 1
KINDS = ("keep", "change", "unsure", "drop")


class VerdictError(ValueError):
    """Verdicts that cannot be read, or do not fit their table."""


@dataclass(frozen=True)
class Verdict:
    """What a reviewer says of the label of a row.

    Attributes
    ----------
    row : int
        Position of the row, from 0; files count rows from 1.
    verdict : {"keep", "change", "unsure", "drop"}
        Whether the given label is right, or another one is, or the reviewer cannot tell, or the
        row should be left out of the table.
    given, label : str
        The label that the reviewer saw, and the right one: empty if unsure or left out.
    id : str
        Value of the column that identifies rows, if there is one.
    hash : str
        Hash of the other columns, by which the row is known again.
    reviewer, time : str
        Who said so, and when.
    """

    row: int
    verdict: str
    given: str
    label: str = ""
    id: str = ""
    hash: str = ""
    reviewer: str = ""
    time: str = ""

    @property
    def is_settled(self) -> bool:
        """Whether the right label is known."""
        return self.verdict in ("keep", "change")

    @property
    def decision(self) -> tuple[str, str]:
        """What reviewers are compared by."""
        return self.verdict, self.label


COLUMNS = tuple(field.name for field in fields(Verdict))


@dataclass(frozen=True)
class Verdicts(Sequence[Verdict]):
    """Verdicts on rows of one table, at most one for each row.

    Attributes
    ----------
    entries : tuple of Verdict
        The verdicts.
    target, id : str
        Columns of the labels and of identifiers of the rows, as far as they are known.
    table : str
        Name of the table.
    """

    entries: tuple[Verdict, ...]
    target: str = ""
    id: str = ""
    table: str = ""

    def __post_init__(self) -> None:
        seen = Counter(self.key(entry) for entry in self.entries)
        twice = [key for key, count in seen.items() if count > 1]
        if twice:
            raise VerdictError(
                f"{self._what(twice[0])} has {seen[twice[0]]} verdicts; keep one, or put those of "
                "several reviewers into a file each."
            )

    def key(self, entry: Verdict) -> str | int:
        """What a row is found by: its identifier where there is one, else its number."""
        return entry.id if self.id and entry.id else entry.row

    def _what(self, key: str | int) -> str:
        return f"row {key + 1}" if isinstance(key, int) else f"the row with {self.id} {key!r}"

    def counts(self) -> dict[str, int]:
        """Number of verdicts of each kind."""
        found = Counter(entry.verdict for entry in self.entries)
        return {kind: found[kind] for kind in KINDS}

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, place: Any) -> Any:
        return self.entries[place]

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.entries)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON or CSV file; CSV leaves out the names of table and columns."""
        path = Path(path)
        if path.suffix.lower() == ".csv":
            text = io.StringIO()
            writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(_as_filed, self.entries))
            write_whole(path, text.getvalue())
        else:
            write_whole(path, json.dumps(self.as_document(), indent=1, ensure_ascii=False) + "\n")

    def as_document(self) -> dict[str, Any]:
        """The JSON document of a file of verdicts."""
        own = [
            {name: value for name, value in _as_filed(entry).items() if value != ""}
            for entry in self.entries
        ]
        named = {"table": self.table, "target": self.target, "id": self.id}
        return {"format": FORMAT, "version": VERSION, **named, "verdicts": own}


def read_verdicts(path: str | os.PathLike[str]) -> Verdicts:
    """Read a file of verdicts, as the review page exports it: JSON or CSV.

    Such files count the rows of the table from 1; positions in Python count from 0.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in .json or .csv.

    Returns
    -------
    verdicts : Verdicts
        One for each row that was looked at.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from steadyboost.noise import read_verdicts
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "verdicts.csv")
    ...     _ = file.write_text("row,given,verdict,label\\n7,cat,change,dog\\n")
    ...     verdict = read_verdicts(file)[0]
    >>> verdict.row, verdict.label
    (6, 'dog')
    """
    path = Path(path)
    if not path.is_file():
        raise VerdictError(f"{path}: there is no such file of verdicts.")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise VerdictError(f"{path} is not text in UTF-8, as files of verdicts are.") from error
    suffix = path.suffix.lower()
    if suffix not in (".json", ".csv"):
        raise VerdictError(f"{path}: files of verdicts end in .json or .csv.")
    try:
        return _from_csv(text) if suffix == ".csv" else _from_json(text)
    except VerdictError as error:
        raise VerdictError(f"{path}: {error}") from error


def _from_json(text: str) -> Verdicts:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VerdictError(f"this is not JSON ({error}).") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise VerdictError(f'this is not a file of verdicts: it lacks "format": "{FORMAT}".')
    if document.get("version") != VERSION:
        raise VerdictError(
            f"this file is of version {document.get('version')!r}, and only version {VERSION} is "
            "known; update SteadyBoost."
        )
    entries = document.get("verdicts")
    if not isinstance(entries, list):
        raise VerdictError('"verdicts" must be a list.')
    named = {name: _text(document, name, "the file") for name in ("target", "id", "table")}
    return Verdicts(tuple(_entry(n, entry) for n, entry in enumerate(entries, start=1)), **named)


def _from_csv(text: str) -> Verdicts:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    lacking = [name for name in ("row", "verdict", "given") if name not in (rows.fieldnames or ())]
    if lacking:
        raise VerdictError(f"the header lacks the column {lacking[0]!r}.")
    entries = tuple(_entry(n, row) for n, row in enumerate(rows, start=1))
    return Verdicts(entries)


def _as_filed(entry: Verdict) -> dict[str, Any]:
    """A verdict as files have it, which count rows from 1."""
    return {**asdict(entry), "row": entry.row + 1}


def _entry(number: int, entry: Any) -> Verdict:
    """A verdict from a file, or an error that names it."""
    where = f"verdict {number}"
    if not isinstance(entry, Mapping):
        raise VerdictError(f"{where} is {entry!r}, not an object.")
    row = entry.get("row")
    if isinstance(row, str) and row.strip().isdecimal():
        row = int(row)
    if not isinstance(row, int) or isinstance(row, bool) or row < 1:
        raise VerdictError(f"{where} has the row {row!r}; rows are counted from 1.")
    texts = {name: _text(entry, name, where) for name in COLUMNS if name != "row"}
    made = Verdict(row=row - 1, **texts)
    if made.verdict not in KINDS:
        raise VerdictError(
            f"{where} (row {row}) is {made.verdict!r}; it must be one of {', '.join(KINDS)}."
        )
    if made.is_settled and not made.label:
        raise VerdictError(f"{where} (row {row}) is {made.verdict!r} and lacks its label.")
    if made.is_settled and (made.label == made.given) != (made.verdict == "keep"):
        raise VerdictError(
            f"{where} (row {row}) is {made.verdict!r}, from {made.given!r} to {made.label!r}."
        )
    return made


def _text(entry: Mapping[str, Any], name: str, where: str) -> str:
    value = entry.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise VerdictError(f"{where} has {name}={value!r}, which is not text.")
    return value


class Agreement(NamedTuple):
    """How often two reviewers say the same of the rows that both have judged.

    ``kappa`` is Cohen's: 1 for the same verdicts, 0 for as many as chance would give; NaN without
    common rows, or where both have said one thing only.
    """

    reviewers: tuple[str, str]
    rows: int
    same: float
    kappa: float


@dataclass(frozen=True)
class MergedVerdicts:
    """Verdicts of several reviewers.

    Attributes
    ----------
    verdicts : Verdicts
        One for each row: what most reviewers say who are sure; "unsure" in case of a tie.
    disputed : tuple of Verdict
        Rows on which reviewers who are sure differ.
    agreements : tuple of Agreement
        One for each pair of reviewers.
    """

    verdicts: Verdicts
    disputed: tuple[Verdict, ...]
    agreements: tuple[Agreement, ...]


def merge_verdicts(*files: Verdicts) -> MergedVerdicts:
    """Put together what several reviewers say of the same table.

    Parameters
    ----------
    *files : Verdicts
        The verdicts of each reviewer.

    Returns
    -------
    merged : MergedVerdicts
        The verdict of the majority on each row, rows in dispute, and how far reviewers agree.

    Examples
    --------
    >>> from steadyboost.noise import Verdict, Verdicts, merge_verdicts
    >>> ann = Verdicts((Verdict(3, "change", "cat", "dog"), Verdict(5, "keep", "dog", "dog")))
    >>> bob = Verdicts((Verdict(3, "change", "cat", "dog"), Verdict(5, "drop", "dog")))
    >>> merged = merge_verdicts(ann, bob)
    >>> merged.verdicts.counts(), merged.agreements[0].same
    ({'keep': 0, 'change': 1, 'unsure': 1, 'drop': 0}, 0.5)
    """
    if not files:
        raise VerdictError("merge_verdicts needs the verdicts of one reviewer at least.")
    named = {name: _same(files, name) for name in ("target", "id", "table")}
    by_key: dict[str | int, list[Verdict]] = {}
    for file in files:
        for entry in file:
            by_key.setdefault(file.key(entry), []).append(entry)
    merged = [_majority(own) for own in by_key.values()]
    disputed = [
        one
        for one, own in zip(merged, by_key.values(), strict=True)
        if len({entry.decision for entry in own if entry.verdict != "unsure"}) > 1
    ]
    pairs = combinations(enumerate(files, start=1), 2)
    agreements = tuple(agreement(one, other) for one, other in pairs)
    return MergedVerdicts(Verdicts(tuple(merged), **named), tuple(disputed), agreements)


def _same(files: Iterable[Verdicts], name: str) -> str:
    """The name that all files have which have one."""
    known = sorted({getattr(file, name) for file in files} - {""})
    if len(known) > 1:
        raise VerdictError(
            f"The files are of different tables: their {name} is {known[0]!r} and {known[1]!r}."
        )
    return known[0] if known else ""


def _majority(own: Sequence[Verdict]) -> Verdict:
    votes = Counter(entry.decision for entry in own if entry.verdict != "unsure").most_common(2)
    names = " + ".join(dict.fromkeys(entry.reviewer for entry in own if entry.reviewer))
    if not votes or (len(votes) == 2 and votes[0][1] == votes[1][1]):
        return replace(own[0], verdict="unsure", label="", reviewer=names)
    winner = next(entry for entry in own if entry.decision == votes[0][0])
    return replace(winner, reviewer=names)


def agreement(one: tuple[int, Verdicts], other: tuple[int, Verdicts]) -> Agreement:
    """How far two numbered reviewers agree, where both are sure."""
    sure = [
        {file.key(entry): entry.decision for entry in file if entry.verdict != "unsure"}
        for _, file in (one, other)
    ]
    pairs = [(sure[0][key], sure[1][key]) for key in sure[0] if key in sure[1]]
    names = reviewer_name(*one), reviewer_name(*other)
    n = len(pairs)
    if not n:
        return Agreement(names, 0, float("nan"), float("nan"))
    same = sum(a == b for a, b in pairs) / n
    left, right = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(left[what] * right[what] for what in left) / n**2
    return Agreement(names, n, same, (same - chance) / (1 - chance) if chance < 1 else float("nan"))


def reviewer_name(number: int, file: Verdicts) -> str:
    """Who has written a file, or its number."""
    names = {entry.reviewer for entry in file if entry.reviewer}
    return names.pop() if len(names) == 1 else f"reviewer {number}"
