"""Ridge regression on a Gaussian kernel, by Nyström's approximation, cross-fitted.

A row is described by how near it is to some landmarks, which are training rows; the regression is
that of the kernel on the span of the landmarks (Williams and Seeger, 2001).
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh

from steadyboost.boosters.steadyboost.kernel_ridge import cross_fit_ridge
from steadyboost.boosters.steadyboost.linear_member import NO_NUMBERS, LinearMember, products
from steadyboost.boosters.steadyboost.members import SharedRows
from steadyboost.boosters.steadyboost.softmax_regression import CrossFit, Regression
from steadyboost.learners.base import Data
from steadyboost.noise.noise_model import some_rows
from steadyboost.trees.data.binned import BinnedRows

MOST_LANDMARKS = 400
PRECISIONS = np.array([0.5, 1.0, 2.0])  # over one through the median squared distance
LANDMARK_SEED = 1_000_033  # second entry of the landmarks' seed, which makes it no round's
# By which the precision is chosen; regressions are then fitted to more rows, with all landmarks.
JUDGED_ROWS, JUDGED_LANDMARKS = 2000, 200
SMALLEST = 1e-6  # eigenvalue of the landmarks' kernel that counts, over the largest


@dataclass
class KernelMember(LinearMember):
    """As :class:`LinearMember`, on columns that say how near a row is to each landmark.

    Parameters
    ----------
    landmarks : ndarray of shape (n_landmarks, columns)
        Rows of the design.
    precision : float
        The kernel is exp(-precision * squared distance).
    """

    landmarks: np.ndarray = field(default_factory=lambda: NO_NUMBERS)
    precision: float = 1.0

    def applies(self, binned: BinnedRows) -> bool:
        """Not for wide sparse tables, where all rows are about as far from each other."""
        return self.design is not None and not self.design.is_sparse(binned)

    @property
    def n_mapped(self) -> int:
        return super().n_mapped + MOST_LANDMARKS

    def nearness(self, binned: BinnedRows) -> np.ndarray:
        """(n, landmarks): the kernel of rows and landmarks, the same for a row by itself."""
        assert self.design is not None
        distances = squared_distances(self.design.matrix(binned), self.landmarks)
        return np.exp(-self.precision * distances)

    def initial_scores(self, data: Data) -> np.ndarray | None:
        if not len(self.landmarks):
            return None
        assert data.binned is not None
        return products(self.nearness(data.binned), self.coef, self.intercept)

    # In training

    def start(self, rows: SharedRows) -> None:
        super().start(rows)
        if self.applies(rows.binned):
            self.coef = self.whitening @ self.coef

    def map(self, binned: BinnedRows) -> np.ndarray:
        return self.nearness(binned) @ self.whitening

    def held_out_scores(self, binned: BinnedRows, fold: np.ndarray) -> np.ndarray:
        """As for other columns; coefficients are taken to the kernel, which has fewer products."""
        near, scores = self.nearness(binned), np.empty((len(fold), self.n_classes))
        for number in range(self.n_folds):
            held = np.flatnonzero(fold == number)
            coef = self.whitening @ self.found.coef[number]
            scores[held] = near[held] @ coef + self.found.intercept[number]
        return scores

    def cross_fit(
        self, binned: BinnedRows, y: np.ndarray, weights: np.ndarray, folds: np.ndarray
    ) -> CrossFit:
        """Regressions with the precision for which left-out rows have the lowest loss."""
        self.draw_landmarks(binned)
        between = squared_distances(self.landmarks, self.landmarks)
        apart = between[between > 0]
        usual = 1 / float(np.median(apart)) if len(apart) else 1.0
        some = some_rows(len(y), JUDGED_ROWS)
        own = binned if len(some) == len(y) else binned.take(some)
        judged = own, y[some], weights[some] / weights[some].sum(), folds[some]
        losses = self.losses(*judged, PRECISIONS * usual)
        self.precision = float(PRECISIONS[np.argmin(losses)] * usual)
        self.whitening = whitened(np.exp(-self.precision * between))
        problem = Regression(self.map(binned), y, weights, self.n_classes)
        return cross_fit_ridge(problem, folds, self.n_folds)[0]

    def losses(
        self,
        binned: BinnedRows,
        y: np.ndarray,
        weights: np.ndarray,
        folds: np.ndarray,
        precisions: np.ndarray,
    ) -> list[float]:
        """The loss of left-out rows with each precision, by some of the landmarks."""
        assert self.design is not None
        few = self.landmarks[some_rows(len(self.landmarks), JUDGED_LANDMARKS)]
        distances = squared_distances(self.design.matrix(binned), few)
        between, losses = squared_distances(few, few), []
        for precision in precisions:
            mapped = np.exp(-precision * distances) @ whitened(np.exp(-precision * between))
            problem = Regression(mapped, y, weights, self.n_classes)
            losses.append(cross_fit_ridge(problem, folds, self.n_folds)[1])
        return losses

    def draw_landmarks(self, binned: BinnedRows) -> None:
        """Draw them from the rows that are fitted to."""
        assert self.design is not None
        rng = np.random.default_rng([self.train.seed, LANDMARK_SEED])
        n_landmarks = min(MOST_LANDMARKS, binned.n_rows)
        drawn = np.sort(rng.choice(binned.n_rows, n_landmarks, replace=False, shuffle=False))
        self.landmarks = np.ascontiguousarray(self.design.matrix(binned.take(drawn)))


def whitened(between: np.ndarray) -> np.ndarray:
    """From the kernel of rows and landmarks to coordinates in which it is an inner product."""
    values, vectors = eigh(between)
    large = values > SMALLEST * values[-1]
    return vectors[:, large] / np.sqrt(values[large])


def squared_distances(rows: np.ndarray, landmarks: np.ndarray) -> np.ndarray:
    """(rows, landmarks): the same for a row, whatever rows are beside it."""
    squares = np.zeros(len(rows))
    for column in rows.T:
        squares += column * column
    out = products(rows, -2 * landmarks.T, (landmarks * landmarks).sum(axis=1))
    out += squares[:, None]
    return np.maximum(out, 0, out=out)
