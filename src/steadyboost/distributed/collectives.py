"""Collective operations of workers that run the same code on different rows.

A worker runs the ordinary loop in a thread of its own, as a task. Where it needs a value that
depends on the rows of all workers, the task asks for an allreduce and waits: its contribution is
the result of :meth:`CollectiveTasks.start` or :meth:`CollectiveTasks.resume`, and the next call of
the latter brings the reduced value. Calls of a parallel map are a task each, so that one round trip
serves the allreduce operations of all of them.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from steadyboost.ensemble.workers import Workers

TaskKey = tuple[int, ...]  # a task's index in its parallel map, after the key of its parent


class Cancelled(BaseException):
    """Raised in a task that was cancelled."""


class Contribution(NamedTuple):
    """Input of a worker to an allreduce: values, their order among all, and the reduction."""

    order: Sequence[Any]
    values: Sequence[Any]
    reduce: Callable[[list[Any]], Any]


class TaskThread(threading.Thread):
    """Runs one function after another; reused, so that thread-local arrays are kept."""

    def __init__(self) -> None:
        super().__init__(name="steadyboost task", daemon=True)
        self.functions: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while (function := self.functions.get()) is not None:
            function()
            del function


class CollectiveTasks:
    """The tasks of one worker, which stop at each allreduce."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._idle: list[TaskThread] = []
        self._threads: list[TaskThread] = []
        self._current = threading.local()
        self._clear()

    def _clear(self) -> None:
        self._n_running, self._cancelled = 0, False
        self._contributions: dict[TaskKey, Contribution] = {}
        self._reduced: dict[TaskKey, Any] = {}
        self._result: Any = None
        self._error: BaseException | None = None

    # Called from outside

    def start(self, function: Callable[[], Any]) -> dict[TaskKey, Contribution] | None:
        """Run until all tasks wait; their contributions, or None if the function has returned."""
        self.cancel()
        self._clear()

        def task() -> None:
            self._result = function()

        with self._change:
            self._begin((), task, [1])
            return self._until_all_wait()

    def resume(self, reduced: dict[TaskKey, Any]) -> dict[TaskKey, Contribution] | None:
        """Continue with the reduced values; the next contributions."""
        with self._change:
            self._reduced.update(reduced)
            self._n_running += len(reduced)
            self._change.notify_all()
            return self._until_all_wait()

    def result(self) -> Any:
        return self._result

    def cancel(self) -> None:
        """Cancel all tasks, and wait until they have ended."""
        with self._change:
            self._cancelled = True
            self._change.notify_all()
            self._change.wait_for(lambda: len(self._idle) == len(self._threads))

    def close(self) -> None:
        """End all threads, without waiting for them."""
        with self._change:
            self._cancelled = True
            self._change.notify_all()
            for thread in self._threads:
                thread.functions.put(None)

    def _until_all_wait(self) -> dict[TaskKey, Contribution] | None:
        self._change.wait_for(lambda: self._n_running == 0 or self._error is not None)
        if self._error is not None:
            raise self._error
        contributions, self._contributions = self._contributions, {}
        return contributions or None

    # Called by tasks

    def allreduce(self, contribution: Contribution) -> Any:
        """Wait for the value that the contributions of all workers are reduced to."""
        key = self._current.key
        with self._change:
            self._contributions[key] = contribution
            self._n_running -= 1
            self._change.notify_all()
            self._change.wait_for(lambda: self._cancelled or key in self._reduced)
            if self._cancelled:
                raise Cancelled
            return self._reduced.pop(key)

    def parallel_map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Results in the order of the items, by a task each."""
        if len(items) < 2:
            return [function(item) for item in items]
        key, results, left = self._current.key, [None] * len(items), [len(items)]

        def task(k: int) -> None:
            results[k] = function(items[k])

        with self._change:
            for k in range(len(items)):
                self._begin((*key, k), partial(task, k), left)
            self._n_running -= 1
            self._change.wait_for(lambda: self._cancelled or not left[0])
            if self._cancelled:
                raise Cancelled
        return results

    def _begin(self, key: TaskKey, function: Callable[[], None], left: list[int]) -> None:
        """Start a task; ``left`` counts the unfinished ones of its map. The lock must be held."""
        if not self._idle:
            self._idle.append(TaskThread())
            self._threads.append(self._idle[-1])
        thread = self._idle.pop()
        self._n_running += 1
        thread.functions.put(partial(self._run, thread, key, function, left))

    def _run(
        self, thread: TaskThread, key: TaskKey, function: Callable[[], None], left: list[int]
    ) -> None:
        """Run a task. The last of a map counts as running until its parent continues."""
        self._current.key = key
        error = None
        try:
            function()
        except Cancelled:
            pass
        except BaseException as raised:
            error = raised
        with self._change:
            self._error = self._error or error
            left[0] -= error is None
            self._n_running -= left[0] > 0 or not key
            self._idle.append(thread)
            self._change.notify_all()


class DistributedWorkers(Workers):
    """The threads of one worker of several, whose allreduce goes through its tasks."""

    is_distributed = True

    def __init__(self, tasks: CollectiveTasks, n_threads: int, rank: int):
        super().__init__(n_threads)
        self.tasks, self.rank = tasks, rank

    def allreduce(
        self,
        values: Sequence[Any],
        reduce: Callable[[list[Any]], Any],
        order: Sequence[Any] | None = None,
    ) -> Any:
        order = [self.rank] * len(values) if order is None else list(order)
        return self.tasks.allreduce(Contribution(order, list(values), reduce))

    def alone(self) -> "DistributedWorkers":
        return DistributedWorkers(self.tasks, 1, self.rank)

    def parallel_map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return self.tasks.parallel_map(function, items)
