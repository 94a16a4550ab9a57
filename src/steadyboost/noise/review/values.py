"""Cells as text, the same for a table in memory and the file that it was read from."""

from collections.abc import Iterable
from hashlib import blake2s
from numbers import Real
from typing import Any

import numpy as np

from steadyboost.files import GAPS

# Significant digits: numbers that were stored in 32 bits are then the same as in their file.
DIGITS = 6
HASH_BYTES = 6  # a row that was changed passes for the old one once in 2.8e14 times


def cell_text(value: Any) -> str:
    """A value in one form: missing values are empty, and 1, 1.0 and "1.00" are 1.

    Examples
    --------
    >>> [cell_text(value) for value in (1.0, "1.00", True, "TRUE", None, "?", " red ")]
    ['1', '1', 'true', 'true', '', '', 'red']
    """
    if value is None or value != value:
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, Real):
        return _number(float(value))
    text = str(value).strip()
    if text in GAPS:
        return ""
    if text.lower() in ("true", "false"):
        return text.lower()
    try:
        return text if "_" in text else _number(float(text))
    except ValueError:
        return text


def _number(value: float) -> str:
    return f"{value + 0.0:.{DIGITS}g}"  # -0.0 becomes 0.0


def row_hash(values: Iterable[Any]) -> str:
    """A short hash of the values of a row, in order.

    Examples
    --------
    >>> row_hash([1.5, "red", None]) == row_hash(["1.50", " red", "NA"])
    True
    """
    text = "\x1f".join(map(cell_text, values))
    return blake2s(text.encode(), digest_size=HASH_BYTES).hexdigest()
