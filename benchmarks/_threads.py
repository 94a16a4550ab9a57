"""What a second thread can give on this machine: additions to histograms, one beside the other.

Virtual processors may be two threads of one core, and others may be at work on it.
"""

from threading import Thread
from time import perf_counter

import numpy as np

from steadyboost.trees.data.binned import Binned
from steadyboost.trees.histograms.build import build_histogram, build_scratch, n_cells
from steadyboost.trees.histograms.row_statistics import FixedPointSums

ROWS, COLUMNS, BINS, LABELS = 100_000, 40, 200, 2
TIMES = 10  # passes over the rows of each thread


class Additions:
    """Made-up rows that are added up as those of a tree's root are."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        packed = rng.integers(BINS, size=(COLUMNS // 4, ROWS, 4), dtype=np.uint8).view(np.uint32)
        none = np.zeros(COLUMNS, dtype=bool)
        binned = Binned(packed[:, :, 0], np.full(COLUMNS, BINS), none, none)
        labels = rng.integers(LABELS, size=ROWS).astype(np.int32)
        self.bins = binned.bins()
        sums = FixedPointSums.of_labels(labels, rng.random(ROWS), LABELS)
        self.stats = sums.statistics(counting=False)
        self.add_up(1)

    def add_up(self, times: int = TIMES) -> None:
        rows, scratch = np.arange(ROWS, dtype=np.int32), build_scratch(self.bins, self.stats, ROWS)
        hist = np.empty(n_cells(self.bins, self.stats), np.int64)
        for _ in range(times):
            build_histogram(self.bins, self.stats, rows, scratch, hist)

    def seconds(self, n_threads: int) -> float:
        """Of so many threads that do the same side by side."""
        threads = [Thread(target=self.add_up) for _ in range(n_threads)]
        start = perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return perf_counter() - start

    def gain(self) -> float:
        """How many times as fast two threads are as one."""
        return 2 * self.seconds(1) / self.seconds(2)
