"""The loop on one machine, as a task that stops at each meeting and goes on with its conclusion.

A machine runs the ordinary loop in a thread of its own, a strand. Where it meets the others, the
strand waits, and what it brings is the result of :meth:`Strands.start` or :meth:`Strands.go_on`;
the next call of the latter brings the conclusion. Things that are done side by side are a strand
each: one trip has the meetings of all of them.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, NamedTuple

from steadyboost.ensemble.workers import Workers

Key = tuple[int, ...]  # of a strand: its number among those side by side, after its parent's key


class Abandoned(BaseException):
    """Raised in a strand that nobody waits for any more."""


class Meeting(NamedTuple):
    """What a machine brings: values in an order among those of all machines, and what to do."""

    order: Sequence[Any]
    values: Sequence[Any]
    conclude: Callable[[list[Any]], Any]


class Thread(threading.Thread):
    """Does one thing after another; it lives on for the next, with the arrays that it has kept."""

    def __init__(self) -> None:
        super().__init__(name="steadyboost strand", daemon=True)
        self.tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while (task := self.tasks.get()) is not None:
            task()
            del task


class Strands:
    """The strands of one machine."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._idle: list[Thread] = []
        self._threads: list[Thread] = []
        self._here = threading.local()
        self._clear()

    def _clear(self) -> None:
        self._n_running, self._over = 0, False
        self._meetings: dict[Key, Meeting] = {}
        self._conclusions: dict[Key, Any] = {}
        self._result: Any = None
        self._error: BaseException | None = None

    # What the outside calls

    def start(self, function: Callable[[], Any]) -> dict[Key, Meeting] | None:
        """Begin; the first meetings, None if there are none and the ``result`` is known."""
        self.abandon()
        self._clear()

        def task() -> None:
            self._result = function()

        with self._change:
            self._begin((), task, [1])
            return self._until_all_wait()

    def go_on(self, conclusions: dict[Key, Any]) -> dict[Key, Meeting] | None:
        """Bring conclusions; the next meetings."""
        with self._change:
            self._conclusions.update(conclusions)
            self._n_running += len(conclusions)
            self._change.notify_all()
            return self._until_all_wait()

    def result(self) -> Any:
        return self._result

    def abandon(self) -> None:
        """End all strands at their meetings; returns when they have ended."""
        with self._change:
            self._over = True
            self._change.notify_all()
            self._change.wait_for(lambda: len(self._idle) == len(self._threads))

    def close(self) -> None:
        """End all threads; it does not wait for them."""
        with self._change:
            self._over = True
            self._change.notify_all()
            for thread in self._threads:
                thread.tasks.put(None)

    def _until_all_wait(self) -> dict[Key, Meeting] | None:
        self._change.wait_for(lambda: self._n_running == 0 or self._error is not None)
        if self._error is not None:
            raise self._error
        meetings, self._meetings = self._meetings, {}
        return meetings or None

    # What strands call

    def meet(self, meeting: Meeting) -> Any:
        """Wait for the conclusion."""
        key = self._here.key
        with self._change:
            self._meetings[key] = meeting
            self._n_running -= 1
            self._change.notify_all()
            self._change.wait_for(lambda: self._over or key in self._conclusions)
            if self._over:
                raise Abandoned
            return self._conclusions.pop(key)

    def side_by_side(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """Results in the order of the items, a strand each."""
        if len(items) < 2:
            return [function(item) for item in items]
        key, results, left = self._here.key, [None] * len(items), [len(items)]

        def task(k: int) -> None:
            results[k] = function(items[k])

        with self._change:
            for k in range(len(items)):
                self._begin((*key, k), partial(task, k), left)
            self._n_running -= 1
            self._change.wait_for(lambda: self._over or not left[0])
            if self._over:
                raise Abandoned
        return results

    def _begin(self, key: Key, function: Callable[[], None], left: list[int]) -> None:
        """Give a strand a thread; ``left`` counts those side by side. Called with the lock."""
        if not self._idle:
            self._idle.append(Thread())
            self._threads.append(self._idle[-1])
        thread = self._idle.pop()
        self._n_running += 1
        thread.tasks.put(partial(self._strand, thread, key, function, left))

    def _strand(
        self, thread: Thread, key: Key, function: Callable[[], None], left: list[int]
    ) -> None:
        """Do it. The last of several does not count as ended before its parent goes on."""
        self._here.key = key
        error = None
        try:
            function()
        except Abandoned:
            pass
        except BaseException as raised:
            error = raised
        with self._change:
            self._error = self._error or error
            left[0] -= error is None
            self._n_running -= left[0] > 0 or not key
            self._idle.append(thread)
            self._change.notify_all()


class Spread(Workers):
    """The threads of one machine of several; they meet through its strands."""

    is_spread = True

    def __init__(self, strands: Strands, n_threads: int, number: int):
        super().__init__(n_threads)
        self.strands, self.number = strands, number

    def meet(
        self,
        values: Sequence[Any],
        conclude: Callable[[list[Any]], Any],
        order: Sequence[Any] | None = None,
    ) -> Any:
        order = [self.number] * len(values) if order is None else list(order)
        return self.strands.meet(Meeting(order, list(values), conclude))

    def alone(self) -> "Spread":
        return Spread(self.strands, 1, self.number)

    def side_by_side(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return self.strands.side_by_side(function, items)
