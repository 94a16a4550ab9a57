"""From labels as they are written in a file to the classes of a model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from steadyboost.io.columns import is_number
from steadyboost.io.errors import TableError

WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]{0,15})(\.0*)?")  # 007 is a name


def as_classes(path: Path, column: str, labels: np.ndarray) -> np.ndarray:
    """Labels to learn from: integers if all are whole numbers, else text.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> as_classes(Path("a.csv"), "y", np.array(["1.0", "2", "1.0"], dtype=object))
    array([1, 2, 1])
    >>> as_classes(Path("a.csv"), "y", np.array(["01", "2"], dtype=object))
    array(['01', '2'], dtype='<U2')
    """
    known, places = np.unique(labels.astype(str), return_inverse=True)
    if all(WHOLE.fullmatch(label) for label in known):
        return known.astype(float).astype(np.int64)[places]
    if all(is_number(label) for label in known) and (known.astype(float) % 1 != 0).any():
        fraction = known[known.astype(float) % 1 != 0][0]
        raise TableError(
            f"{path}: column {column!r} holds quantities such as {fraction}, not classes; "
            "choose another --target."
        )
    return known[places]


def match_classes(path: Path, column: str, labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the classes of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> match_classes(Path("a.csv"), "y", np.array(["2", "1.0"], dtype=object), np.array([1, 2]))
    array([1, 0])
    """
    known, places = np.unique(labels.astype(str), return_inverse=True)
    kind = classes.dtype.kind
    lookup = {_key(str(label), kind): place for place, label in enumerate(classes.tolist())}
    found = [lookup.get(_key(label, kind)) for label in known]
    if None in found:
        label = known[found.index(None)]
        row = labels.tolist().index(label) + 1
        raise TableError(
            f"{path}: row {row} of column {column!r} is {str(label)!r}, which is none of the "
            f"{len(classes)} classes of the model, such as {str(classes[0])!r}."
        )
    return np.array(found)[places]


def _key(label: str, kind: str) -> str | float:
    """What two writings of one label have in common, by the kind of the classes."""
    if kind in "iuf" and is_number(label):
        return float(label)
    return label.lower() if kind == "b" else label
