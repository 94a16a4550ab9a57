"""A few threads for compiled code that releases the interpreter's lock.

Where rows are spread over machines, each machine runs the same loop on rows of its own, and all of
them meet wherever a number must be that of all rows: see :mod:`steadyboost.distributed`. Here,
where there is one machine, a meeting is a call.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from joblib import effective_n_jobs


def draw(numbers: list[int]) -> int | None:
    """Take the last, if any is left; no two threads can take the same."""
    try:
        return numbers.pop()
    except IndexError:
        return None


class Workers:
    """``run(function, items)`` in ``n_jobs`` threads; in place where that is one."""

    is_spread = False  # whether other machines have rows, too

    def __init__(self, n_jobs: int | None = None):
        self.n_threads = effective_n_jobs(n_jobs)
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> "Workers":
        if self.n_threads > 1:  # its threads start when they are first needed
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "steadyboost")
        return self

    def __exit__(self, *failure: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

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
        results: list[Any] = [None] * len(items)
        numbers = list(range(len(items)))[::-1]  # a thread that comes late finds less to do

        def share() -> None:
            while (k := draw(numbers)) is not None:
                results[k] = function(items[k])

        others = [self._pool.submit(share) for _ in range(min(self.n_threads, len(items)) - 1)]
        try:
            share()
        finally:
            numbers.clear()  # after an error nobody needs to begin another item
            # Those that have not begun would find nothing to do: a thread of the pool that calls
            # ``run`` itself must not wait for them.
            begun = [other for other in others if not other.cancel()]
            wait(begun)
        for other in begun:
            other.result()
        return results
