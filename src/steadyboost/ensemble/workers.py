"""A thread pool for compiled code that releases the global interpreter lock.

In distributed training every machine runs the same loop on its own rows, and an allreduce combines
the values that depend on the rows of all machines: see :mod:`steadyboost.distributed`. On one
machine, as here, an allreduce only calls the reduction.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any

from joblib import cpu_count, effective_n_jobs


def draw(numbers: list[int]) -> int | None:
    """Pop the last number, or None if the list is empty; atomic, so no two threads get the same."""
    try:
        return numbers.pop()
    except IndexError:
        return None


class Workers:
    """A thread pool; with one thread, functions are called in the calling thread."""

    is_distributed = False  # whether the rows are on several machines

    def __init__(self, n_threads: int = 1, outer: "Workers | None" = None):
        self.n_threads = n_threads
        self._pool: ThreadPoolExecutor | None = None
        self._outer = outer  # whose item these workers are for
        self._has_failed = False  # in the calling thread, while others are still at work

    @classmethod
    def of_jobs(cls, n_jobs: int | None) -> "Workers":
        """Workers for the parameter ``n_jobs``: at most a thread per processor.

        More would only take memory, and an operating system refuses to start very many.
        """
        wanted = effective_n_jobs(n_jobs)
        # To count processors takes as long as to predict a hundred rows: files have to be read.
        return cls(min(wanted, cpu_count()) if wanted > 1 else 1)

    def __enter__(self) -> "Workers":
        if self.n_threads > 1:  # its threads start when they are first needed
            self._pool = ThreadPoolExecutor(self.n_threads - 1, "steadyboost")
        return self

    def __exit__(self, *failure: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def allreduce(
        self,
        values: Sequence[Any],
        reduce: Callable[[list[Any]], Any],
        order: Sequence[Any] | None = None,
    ) -> Any:
        """``reduce`` of the values of all machines, sorted by ``order``; the same for all."""
        return reduce(list(values))

    def alone(self) -> "Workers":
        """Workers with a single thread, for an item of these."""
        return Workers(1, self)

    def check(self) -> None:
        """Raise ``CancelledError`` if the item that these workers are for is not needed any more.

        Long computations, such as fits, call it from time to time, so that they end soon after an
        error or an interruption (Ctrl-C) in the calling thread.
        """
        if self._outer is not None and self._outer._has_failed:
            raise CancelledError

    def parallel_map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """As ``run``, for functions that may call ``allreduce``."""
        return self.run(function, items)

    def run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Map a function over items; results in their order. The calling thread takes part."""
        if self._pool is None or len(items) < 2:
            return list(map(function, items))
        results: list[Any] = [None] * len(items)
        numbers = list(range(len(items)))[::-1]  # indices of the items that no thread has begun

        def share() -> None:
            try:
                while (k := draw(numbers)) is not None:
                    results[k] = function(items[k])
            except BaseException:
                numbers.clear()  # after an error no thread needs to begin another item
                raise

        others: list[Future[None]] = []
        try:
            for _ in range(min(self.n_threads, len(items)) - 1):
                others.append(self._pool.submit(share))
            share()
        except BaseException:
            self._has_failed = True
            raise
        finally:
            numbers.clear()  # after an error, start no further items
            # Tasks that have not started are cancelled, not awaited: a pool thread that calls
            # ``run`` itself could wait for a task that is queued behind it (a deadlock).
            begun = [other for other in others if not other.cancel()]
            wait(begun)
            self._has_failed = False
        for other in begun:
            other.result()
        return results
