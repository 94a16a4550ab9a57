"""Rows whose label has been checked: right labels, and what they were given as."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class CheckedLabels(NamedTuple):
    """Labels, with the right ones of checked rows.

    ``verified`` (n,) marks these rows, None where there are none. ``given`` (n,) are the labels as
    they were before, None where that is not known.
    """

    y: np.ndarray
    verified: np.ndarray | None
    given: np.ndarray | None = None


class Checked(NamedTuple):
    """The same with class indices in place of labels."""

    verified: np.ndarray  # (n,): mask
    given: np.ndarray  # (n,): -1 where it is not known what a verified row was given as

    @classmethod
    def of(cls, y: np.ndarray, verified: np.ndarray | None, given: np.ndarray | None) -> "Checked":
        """By the codes ``y`` of labels that are right where rows are verified."""
        mask = np.zeros(len(y), dtype=bool) if verified is None else verified
        return cls(mask, np.where(mask, -1, y) if given is None else given)

    @property
    def is_known(self) -> np.ndarray:
        """(n,): mask of the rows whose label as it was given is known."""
        return self.given >= 0

    def take(self, rows: np.ndarray) -> "Checked":
        """Some of the rows."""
        return Checked(self.verified[rows], self.given[rows])


def corrected(verified: Any, y: np.ndarray) -> CheckedLabels:
    """Labels, corrected for the checked rows; ``verified`` as users pass it.

    A mask or positions mark rows whose label in ``y`` is right already. A mapping from positions
    to right labels says that ``y`` has the labels as they were given.
    """
    mask = check_verified(verified, len(y))
    if not isinstance(verified, Mapping):
        return CheckedLabels(y, mask)
    if y.ndim > 1:
        raise ValueError("verified={row: label} is for one label per row; pass a mask instead.")
    known, new = set(y.tolist()), y.copy()
    for row, label in verified.items():
        if label not in known:
            raise ValueError(
                f"verified has the label {label!r} for row {row}, which no row of y has; correct "
                "it, or put it into y and pass a mask."
            )
        new[row] = label
    return CheckedLabels(new, mask, y)


def as_codes(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Places of labels among sorted classes; -1 for what is none of them."""
    places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[places] == labels, places, -1)


def check_verified(verified: Any, n: int) -> np.ndarray | None:
    """A mask of the rows whose label is right, from a mask, positions or a mapping; or None."""
    if verified is None:
        return None
    listed = np.asarray(list(verified) if isinstance(verified, Mapping) else verified)
    if listed.dtype == bool:
        if listed.shape != (n,):
            raise ValueError(
                f"verified is a mask of shape {listed.shape} for {n} rows; pass one entry for each."
            )
        return listed
    if listed.ndim != 1 or (len(listed) and listed.dtype.kind not in "iu"):
        raise ValueError(
            "verified must be a mask of True and False, positions of rows, or a dictionary from "
            "positions to labels."
        )
    mask = np.zeros(n, dtype=bool)
    positions, counts = np.unique(listed.astype(np.int64), return_counts=True)
    if len(positions) and (positions[0] < 0 or positions[-1] >= n):
        bad = positions[0] if positions[0] < 0 else positions[-1]
        raise ValueError(f"verified lists row {bad}; there are rows 0 to {n - 1}.")
    if (counts > 1).any():
        raise ValueError(
            f"verified lists row {positions[counts.argmax()]} {counts.max()} times; pass positions "
            "of rows once each, or a mask of True and False."
        )
    mask[positions] = True
    return mask
