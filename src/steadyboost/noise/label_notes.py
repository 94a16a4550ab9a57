"""What to know before the numbers of an audit are believed."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from steadyboost.noise.label_errors import LabelErrors
from steadyboost.preprocessing.encoder import as_frame, categories_of

FEW_ROWS = 100  # below this, an interval is wider than what one wants to know
RARE = 10  # rows of a class, of which a fold then leaves one or two
EVEN = 0.5  # probability that the columns determine the class, below which they rather do not
UNSURE = 0.7  # share of agreement below which errors of the classifier are many


def notes_on(
    classes: np.ndarray, codes: np.ndarray, proba: np.ndarray, errors: LabelErrors
) -> list[str]:
    """What to know before the numbers of an audit are believed."""
    judged = np.isfinite(proba).all(axis=1)
    y, said = codes[judged], proba[judged].argmax(axis=1)
    n, frequent, right = len(y), np.bincount(y).max() / len(y), float((said == y).mean())
    notes = []
    if not errors.learnt:
        notes.append(
            f"The model agrees with {100 * right:.1f} % of the labels, the most frequent class "
            f"alone with {100 * frequent:.1f} %: it has learnt nothing that distinguishes right "
            "from wrong labels. Wrong labels are therefore neither counted nor listed; the rows "
            "are ranked by how little the model believes their labels."
        )
    if n < FEW_ROWS:
        notes.append(f"There are only {n} rows: the count and the list are rough.")
    rare = [str(label) for label, size in zip(classes, np.bincount(y), strict=False) if size < RARE]
    if rare:
        few = ", ".join(rare)
        notes.append(f"Classes with fewer than {RARE} rows, too few to judge their labels: {few}.")
    if errors.learnt and errors.rate.low == 0:
        notes.append("The 90 % interval of the share of wrong labels includes zero.")
    if errors.learnt and errors.determined < EVEN:
        notes.append(
            f"The model disagrees with {100 * (1 - right):.0f} % of the labels, even where it is "
            "confident: the columns hardly determine the class, so that its own errors cannot be "
            "distinguished from wrong labels. The count includes only the labels that stand out; "
            "the interval allows for the others."
        )
    elif errors.learnt and right < UNSURE:
        notes.append(
            f"The model disagrees with {100 * (1 - right):.0f} % of the labels. If the columns do "
            "not determine the class, some of these labels are right, and the count is too high."
        )
    return notes + similar_names(classes)


def similar_names(classes: np.ndarray) -> list[str]:
    """Notes on class names that differ by case, blanks or punctuation only."""
    groups: dict[str, list[str]] = {}
    for label in map(str, classes.tolist()):
        groups.setdefault("".join(c for c in label.casefold() if c.isalnum()), []).append(label)
    return [
        f"Class names that are nearly the same: {', '.join(map(repr, same))}; give them one "
        "spelling, or each is learnt as a class of its own."
        for key, same in groups.items()
        if key and len(same) > 1 and not all(_is_number(name) for name in same)
    ]


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def conflict_note(conflicts: list[np.ndarray]) -> list[str]:
    """A note on equal rows with different labels."""
    if not conflicts:
        return []
    n = sum(map(len, conflicts))
    return [f"{n} rows have the same values as another row and a different label."]


def conflicting(X: Any, codes: np.ndarray) -> list[np.ndarray]:
    """Groups of rows with equal features and different labels."""
    group = _equal_rows(X)
    n_groups = int(group.max()) + 1
    low, high = np.full(n_groups, codes.max()), np.zeros(n_groups, dtype=codes.dtype)
    np.minimum.at(low, group, codes)
    np.maximum.at(high, group, codes)
    order = np.argsort(group, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [members[g] for g in np.flatnonzero(low < high)]


def _equal_rows(X: Any) -> np.ndarray:
    """A number for each row, the same for equal ones."""
    if issparse(X):
        table = X.tocsr().copy()
        table.sum_duplicates()
        table.eliminate_zeros()
        bounds = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        return _numbered(
            (table.indices[a:b].tobytes(), table.data[a:b].tobytes()) for a, b in bounds
        )
    frame = as_frame(X)
    if frame is None:
        table = np.asarray(X)
        columns = [table[:, f] for f in range(table.shape[1])]
    else:
        columns = [categories_of(frame[:, f]) for f in range(len(frame.columns))]
    codes = np.column_stack([_numbered(column.tolist()) for column in columns])
    return _numbered(row.tobytes() for row in codes)


def _numbered(values: Iterable[Any]) -> np.ndarray:
    """The same number for equal values, and one for all gaps."""
    numbers: dict[Any, int] = {}
    known = (None if value != value else value for value in values)
    return np.array([numbers.setdefault(value, len(numbers)) for value in known])
