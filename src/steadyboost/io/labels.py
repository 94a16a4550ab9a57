"""Labels of a file as classes of a model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from steadyboost.io.columns import TableError, is_number
from steadyboost.preprocessing.encoder import text_array

WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,15})(\.0*)?")  # not 007, which is an identifier


def as_classes(path: Path, column: str, labels: np.ndarray) -> np.ndarray:
    """Labels for training: integers if all of them are, else text.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> as_classes(Path("a.csv"), "y", np.array(["1.0", "2", "1.0"], dtype=object))
    array([1, 2, 1])
    >>> as_classes(Path("a.csv"), "y", np.array(["01", "2"], dtype=object))
    array(['01', '2'], dtype='<U2')
    """
    known, places = np.unique(text_array([*map(str, labels.tolist())]), return_inverse=True)
    if all(WHOLE.fullmatch(label) for label in known):
        return known.astype(float).astype(np.int64)[places]
    if all(is_number(label) for label in known) and (known.astype(float) % 1 != 0).any():
        fraction = known[known.astype(float) % 1 != 0][0]
        raise TableError(
            f"{path}: column {column!r} holds numbers such as {fraction}, not classes; "
            "choose another --target."
        )
    return known[places]


def match_classes(
    path: Path,
    column: str,
    labels: np.ndarray,
    classes: np.ndarray,
    numbers: np.ndarray | None = None,
) -> np.ndarray:
    """The index of each label among the classes of a model.

    ``numbers`` are those of the rows in the file, for the message of an error.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> match_classes(Path("a.csv"), "y", np.array(["2", "1.0"], dtype=object), np.array([1, 2]))
    array([1, 0])
    """
    known, places = np.unique(text_array([*map(str, labels.tolist())]), return_inverse=True)
    kind = classes.dtype.kind
    lookup = {_key(str(label), kind): place for place, label in enumerate(classes.tolist())}
    found = [lookup.get(_key(label, kind)) for label in known]
    if None in found:
        label = known[found.index(None)]
        place = labels.tolist().index(label)
        row = place + 1 if numbers is None else numbers[place]
        raise TableError(
            f"{path}: row {row} of column {column!r} is {str(label)!r}, which is not one of the "
            f"{len(classes)} classes of the model, such as {str(classes[0])!r}."
        )
    return np.array(found)[places]


def _key(label: str, kind: str) -> str | float:
    """A form that is the same for all spellings of a label: 1 and 1.0, True and true."""
    if kind in "iuf" and is_number(label):
        return float(label)
    return label.lower() if kind == "b" else label
