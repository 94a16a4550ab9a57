"""Answers of several annotators: as a table with a column for each, or one answer per line."""

from typing import Any, NamedTuple

import numpy as np

from steadyboost.preprocessing.encoder import as_frame

LONG = ("item", "annotator", "label")
LISTED = 5  # names in a message, at the most


class Annotations(NamedTuple):
    """Checked answers as codes, sorted by item, and what the codes stand for."""

    item: np.ndarray
    annotator: np.ndarray
    label: np.ndarray
    items: np.ndarray  # names
    annotators: np.ndarray
    classes: np.ndarray

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_plain(self) -> bool:
        """Whether they are what other libraries call labels: one answer for each row, of one."""
        return self.n_annotators == 1 and len(self.item) == self.n_items

    def per_item(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Answers of each item, or the sum of a number per answer."""
        return np.bincount(self.item, weights=weights, minlength=self.n_items)

    def votes(self) -> np.ndarray:
        """(items, classes): how many answers name each class."""
        place = self.item * self.n_classes + self.label
        counts = np.bincount(place, minlength=self.n_items * self.n_classes)
        return counts.reshape(self.n_items, self.n_classes).astype(float)

    def take(self, items: np.ndarray) -> "Annotations":
        """The answers of some items, which are numbered anew."""
        place = np.full(self.n_items, -1)
        place[items] = np.arange(len(items))
        kept = np.flatnonzero(place[self.item] >= 0)
        order = kept[np.argsort(place[self.item[kept]], kind="stable")]
        item = place[self.item[order]]
        return self._replace(
            item=item,
            annotator=self.annotator[order],
            label=self.label[order],
            items=self.items[items],
        )


def read_annotations(
    annotations: Any, *, n_items: int | None = None, classes: Any = None, gaps: bool = False
) -> Annotations:
    """Check annotations and number their items, annotators and classes.

    Parameters
    ----------
    annotations : array-like or data frame of shape (n_items, n_annotators), or long table
        A column for each annotator, where None, NaN and masked entries are answers not given; or
        a data frame with the columns item, annotator and label, or a tuple of three such arrays.
        One-dimensional: the only answer for each row.
    n_items : int, default=None
        Rows that there are; items of a long table are then their positions. None: whatever items
        the table names, in sorted order.
    classes : array-like, default=None
        Known labels, sorted; by default those that are found.
    gaps : bool, default=False
        Whether items may have no answers.
    """
    if isinstance(annotations, Annotations):
        found = annotations
    elif _is_long(annotations):
        found = _from_long(*_long_columns(annotations), n_items, classes)
    else:
        found = _from_wide(annotations, n_items, classes)
    if not gaps:
        _check_answered(found)
    return found


def _is_long(annotations: Any) -> bool:
    if isinstance(annotations, tuple):
        return True
    names = getattr(annotations, "columns", None)
    return names is not None and sorted(map(str, names)) == sorted(LONG)


def _long_columns(annotations: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    frame = None if isinstance(annotations, tuple) else as_frame(annotations)
    if frame is not None:
        item, by, label = (_objects(frame[name].to_list()) for name in LONG)
        return item, by, label
    columns = [_objects(column) for column in annotations]
    if len(columns) != 3 or len({len(column) for column in columns}) > 1:
        sizes = [len(column) for column in columns]
        raise ValueError(
            f"annotations is a tuple of {len(columns)} columns with {sizes} entries; pass items, "
            "annotators and labels, all of the same length."
        )
    item, by, label = columns
    return item, by, label


def _objects(column: Any) -> np.ndarray:
    """A column as Python objects; None where it is masked."""
    listed = column.tolist() if hasattr(column, "tolist") else list(column)
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made


def _from_long(
    item: np.ndarray, annotator: np.ndarray, label: np.ndarray, n_items: int | None, classes: Any
) -> Annotations:
    for name, column in zip(LONG, (item, annotator, label), strict=True):
        missing = np.flatnonzero([is_gap(value) for value in column])
        if len(missing):
            raise ValueError(
                f"annotations has no {name} in line {missing[0]}; leave out answers that were not "
                "given."
            )
    annotators, by = _numbered(annotator, "annotator")
    if n_items is None:
        items, of = _numbered(item, "item")
    else:
        items, of = np.arange(n_items), _positions(item, annotator, n_items)
    _check_once(of, by, items, annotators)
    return _made(of, by, label, items, annotators, classes)


def _positions(item: np.ndarray, annotator: np.ndarray, n: int) -> np.ndarray:
    """Items as positions of rows."""
    try:
        numbers = item.astype(float)
    except (TypeError, ValueError):
        numbers = np.full(len(item), np.nan)
        is_number = [isinstance(value, (int, float)) for value in item]
        numbers[is_number] = item[is_number].astype(float)
    with np.errstate(invalid="ignore"):
        bad = ~((numbers >= 0) & (numbers < n) & (numbers % 1 == 0))
    if bad.any():
        line = int(bad.argmax())
        raise ValueError(
            f"annotations names item {item[line]!r} in an answer of annotator "
            f"{annotator[line]!r}; items are positions of the {n} rows, from 0 to {n - 1}."
        )
    return numbers.astype(np.int64)


def _check_once(of: np.ndarray, by: np.ndarray, items: np.ndarray, annotators: np.ndarray) -> None:
    """An annotator answers an item once."""
    order = np.lexsort((by, of))
    again = (np.diff(of[order]) == 0) & (np.diff(by[order]) == 0)
    if again.any():
        line = order[int(again.argmax())]
        raise ValueError(
            f"annotations has two answers of annotator {plain(annotators[by[line]])!r} for item "
            f"{plain(items[of[line]])!r}; keep one of them."
        )


def _from_wide(table: Any, n_items: int | None, classes: Any) -> Annotations:
    columns, names = _wide_columns(table)
    n = len(columns[0])
    if n_items is not None and n != n_items:
        raise ValueError(
            f"annotations has {n} rows for {n_items} rows of data; pass a row for each, with a "
            "column per annotator, or a data frame with the columns item, annotator and label."
        )
    given = [np.flatnonzero([not is_gap(value) for value in column]) for column in columns]
    item = np.concatenate(given)
    by = np.repeat(np.arange(len(columns)), [len(rows) for rows in given])
    label = np.concatenate([column[rows] for column, rows in zip(columns, given, strict=True)])
    return _made(item, by, label, np.arange(n), names, classes)


def _wide_columns(table: Any) -> tuple[list[np.ndarray], np.ndarray]:
    """Columns as objects, and the annotators' names: numbers where they have none."""
    listed = getattr(table, "columns", None)
    if listed is not None:  # before narwhals, which refuses equal names
        names = np.asarray(list(listed), dtype=object)
        seen, counts = np.unique(names.astype(str), return_counts=True)
        if counts.max(initial=0) > 1:
            raise ValueError(
                f"annotations names annotator {str(seen[counts.argmax()])!r} in {counts.max()} "
                "columns; give each annotator one."
            )
    frame = as_frame(table) if listed is not None else None
    if frame is not None:
        columns = [_objects(frame[:, j].to_list()) for j in range(len(frame.columns))]
    else:
        columns, names = _array_columns(table)
    if not columns or not len(columns[0]):
        raise ValueError("annotations is empty; pass at least one row and one annotator.")
    return columns, names


def _array_columns(table: Any) -> tuple[list[np.ndarray], np.ndarray]:
    array: np.ndarray = table if np.ma.isMaskedArray(table) else np.asarray(table, dtype=object)
    if array.ndim == 1 and len(array):
        array = array[:, None]  # one answer for each row
    if array.ndim != 2:
        raise ValueError(
            f"annotations has shape {array.shape}; pass (rows, annotators), with None or NaN where "
            "there is no answer, or items, annotators and labels as a tuple."
        )
    return [_objects(array[:, j]) for j in range(array.shape[1])], np.arange(array.shape[1])


def _made(
    item: np.ndarray,
    by: np.ndarray,
    label: np.ndarray,
    items: np.ndarray,
    annotators: np.ndarray,
    classes: Any,
) -> Annotations:
    """Codes of the labels, and answers by item."""
    if not len(label):
        raise ValueError("annotations has no answers.")
    label = _whole(label)
    if classes is None:
        known, codes = _numbered(label, "label")
    else:
        known = np.asarray(classes)
        place = {value: j for j, value in enumerate(known.tolist())}
        codes = np.array([place.get(value, -1) for value in label.tolist()])
        if (codes < 0).any():
            line = int((codes < 0).argmax())
            raise ValueError(
                f"annotations has the label {label[line]!r} of annotator "
                f"{plain(annotators[by[line]])!r} for item {plain(items[item[line]])!r}, which is "
                f"not one of the classes {known[:LISTED].tolist()}; correct or drop it."
            )
    order = np.lexsort((by, item))
    return Annotations(item[order], by[order], codes[order], items, annotators, known)


def _whole(label: np.ndarray) -> np.ndarray:
    """Labels that gaps have turned into floats are whole numbers again."""
    numbers = [isinstance(value, (float, np.floating)) for value in label]
    if all(numbers) and all(float(value).is_integer() for value in label):
        return np.array([int(value) for value in label], dtype=object)
    return label


def _numbered(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Sorted distinct values in their own type, and the place of each."""
    own = np.array(values.tolist())
    kinds = {isinstance(value, str) for value in values.tolist()}
    if len(kinds) > 1 or own.ndim != 1 or own.dtype.kind == "O":
        raise ValueError(
            f"annotations mixes types of {name}s that cannot be sorted; convert them to strings."
        )
    distinct, codes = np.unique(own, return_inverse=True)
    return distinct, codes


def _check_answered(found: Annotations) -> None:
    empty = np.flatnonzero(found.per_item() == 0)
    if len(empty):
        listed = [plain(name) for name in found.items[empty[:LISTED]]]
        more = " and more" if len(empty) > LISTED else ""
        raise ValueError(
            f"annotations has no answer for {len(empty)} items: {listed}{more}; drop these rows, "
            "or have them annotated."
        )


def is_gap(value: Any) -> bool:
    """Whether an entry says nothing: None, NaN, NA, masked."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be compared
        return True


def plain(value: Any) -> Any:
    """A numpy scalar as a Python one, for messages."""
    return value.item() if hasattr(value, "item") else value
