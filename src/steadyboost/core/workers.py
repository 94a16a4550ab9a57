"""A few threads for compiled code that releases the interpreter's lock.

Where rows are spread over machines, each machine runs the same loop on rows of its own, and all of
them meet wherever a number must be that of all rows: see :mod:`steadyboost.dask`. Here, where there
is one machine, a meeting is a call.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from joblib import effective_n_jobs


class Workers:
    """``run(function, items)`` in ``n_jobs`` threads; in place where that is one."""

    is_spread = False  # whether other machines have rows, too

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        if self.n_threads > 1:
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "steadyboost")
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def meet(
        self,
        values: Sequence[Any],
        conclude: Callable[[list[Any]], Any],
        order: Sequence[Any] | None = None,
    ) -> Any:
        """``conclude`` of the values of all machines, in ``order``; the same on each machine."""
        return conclude(list(values))

    def alone(self) -> "Workers":
        """As these, with one thread."""
        return Workers(1)

    def side_by_side(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """As ``run``, for functions that may meet."""
        return self.run(function, items)

    def run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Results in the order of the items. The calling thread does its share."""
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        n = self.n_threads
        results: list[Any] = [None] * len(items)

        def share(start: int) -> None:
            for k in range(start, len(items), n):
                results[k] = function(items[k])

        futures = [self._pool.submit(share, start) for start in range(1, min(n, len(items)))]
        share(0)
        for future in futures:
            future.result()
        return results
