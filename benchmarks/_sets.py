"""The data sets, as data: size, rounds to time, and how to make them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Rounds = tuple[int, int]
Table = tuple[np.ndarray, np.ndarray]

QUICK_ROUNDS: Rounds = (2, 8)
QUICK_SECONDS = 5.0
POKER_SEED = 0  # with which all ten hands are drawn at full size


@dataclass(frozen=True)
class DataSet:
    """A data set, and numbers of rounds whose difference takes well over the timer's noise.

    And over that of the fixed cost, which differs from fit to fit by a tenth of a second where
    data are large.

    ``ours`` is for this package, ``slow`` for AdaBoost, ``peers`` for gradient boosting.
    ``seconds`` is what one repeat of all fits takes, roughly: for the estimate of the time left.
    """

    title: str
    rows: int
    quick_rows: int
    make: Callable[[int], Table]
    ours: Rounds
    slow: Rounds
    peers: Rounds
    seconds: float

    def rounds(self, pace: str, quick: bool) -> Rounds:
        return QUICK_ROUNDS if quick else getattr(self, pace)

    def cost(self, quick: bool) -> float:
        return QUICK_SECONDS if quick else self.seconds

    def save(self, folder: Path, quick: bool) -> tuple[int, int, int]:
        """Write X.npy and y.npy; rows, columns and classes."""
        X, labels = self.make(self.quick_rows if quick else self.rows)
        classes, y = np.unique(labels, return_inverse=True)
        np.save(folder / "X.npy", np.ascontiguousarray(X, dtype=np.float64))
        np.save(folder / "y.npy", y.astype(np.int64))
        return (*X.shape, len(classes))


def _letter(rows: int) -> Table:
    from steadyboost.lab.datasets import load

    X, y = load("letter")
    return X.to_numpy(dtype=float)[:rows], y.to_numpy()[:rows]


def _poker(rows: int) -> Table:
    from steadyboost.lab.datasets import make_poker

    return make_poker(rows, random_state=POKER_SEED)


def _synthetic(rows: int) -> Table:
    from sklearn.datasets import make_classification

    return make_classification(rows, 50, n_informative=20, n_classes=7, flip_y=0.1, random_state=0)


def _large(rows: int) -> Table:
    from sklearn.datasets import make_classification

    return make_classification(rows, 20, n_informative=8, flip_y=0.1, random_state=0)


def make_small(rows: int = 500) -> Table:
    """Two classes with so many wrong labels that no model becomes perfect and stops."""
    from sklearn.datasets import make_classification

    return make_classification(rows, 10, n_informative=5, flip_y=0.3, random_state=0)


# On 2M rows a round of AdaBoost takes half a minute, beside which its fixed cost is nothing: one
# fit instead of two keeps the run short.
SETS: dict[str, DataSet] = {
    "letter": DataSet(
        "letter", 20_000, 2000, _letter, ours=(50, 3250), slow=(5, 20), peers=(10, 30), seconds=14
    ),
    "poker": DataSet(
        "poker hands", 525_010, 5000, _poker, ours=(10, 210), slow=(1, 3), peers=(3, 9), seconds=27
    ),
    "synthetic": DataSet(
        "synthetic",
        200_000,
        2000,
        _synthetic,
        ours=(10, 210),
        slow=(1, 3),
        peers=(3, 9),
        seconds=56,
    ),
    "large": DataSet(
        "2M rows", 2_000_000, 10_000, _large, ours=(5, 95), slow=(0, 1), peers=(5, 25), seconds=97
    ),
    "small": DataSet(
        "500 rows",
        500,
        500,
        make_small,
        ours=(50, 4050),
        slow=(50, 450),
        peers=(50, 1050),
        seconds=11,
    ),
}
