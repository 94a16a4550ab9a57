"""A few threads for compiled code that releases the interpreter's lock.

Where rows are spread over machines, each machine runs the same loop on rows of its own, and all of
them meet wherever a number must be that of all rows: see :mod:`steadyboost.distributed`. Here,
where there is one machine, a meeting is a call.
"""

from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread, get_ident
from typing import Any

from joblib import effective_n_jobs

from steadyboost.trees.crew import CALL, Crew, serve

Task = tuple[Callable[[], None], list[int], SimpleQueue]  # what to call, tickets, and replies


def work(tasks: "SimpleQueue[Task | None]") -> None:
    """Do tasks until there is None; the reply is None, or the error that one ended with.

    Without a ticket there is nothing left to do. Less ceremony than the standard library's futures,
    which take longer than some of the tasks.
    """
    for share, tickets, replies in iter(tasks.get, None):
        if draw(tickets) is not None:
            try:
                share()
            except BaseException as error:  # for the caller, who waits
                replies.put(error)
            else:
                replies.put(None)
        del share, replies  # what they hold would live until the next task


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
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._threads: list[Thread] = []
        self._crew = Crew(self.n_threads)
        self._is_open = self._serving = False
        self._leader = 0

    def __enter__(self) -> "Workers":
        self._is_open, self._leader = True, get_ident()
        return self

    def _start(self) -> None:
        """Start the threads: little data never need them."""
        for _ in range(self.n_threads - 1 - len(self._threads)):
            thread = Thread(target=work, args=(self._tasks,), name="steadyboost", daemon=True)
            self._threads.append(thread)
            thread.start()

    @property
    def crew(self) -> Crew | None:
        """The threads, for compiled code that shares its loops; None where there is one.

        They are called once: until there is something to ``run`` they stay in compiled code. One
        thread leads them; others that ask for them do things alone.
        """
        if not self._is_open or self.n_threads < 2 or get_ident() != self._leader:
            return None
        if not self._serving:
            self._start()
            self._serving, call = True, self._call_again()
            for who in range(1, self.n_threads):
                share = partial(serve, self._crew.board, who, call)
                self._tasks.put((share, [0], SimpleQueue()))
        return self._crew

    def _call_again(self) -> int:
        """Have all threads come back from compiled code; the number of the next call."""
        self._crew.board[CALL] += 1
        return int(self._crew.board[CALL])

    def _dismiss(self) -> None:
        if self._serving:
            self._serving = False
            self._call_again()

    def __exit__(self, *failure: object) -> None:
        self._is_open = False
        self._dismiss()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

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
        if not self._is_open or self.n_threads < 2 or len(items) < 2:
            return [function(item) for item in items]
        self._dismiss()
        self._start()
        results: list[Any] = [None] * len(items)
        numbers = list(range(len(items)))[::-1]  # a thread that comes late finds less to do

        def share() -> None:
            while (k := draw(numbers)) is not None:
                results[k] = function(items[k])

        replies: SimpleQueue[BaseException | None] = SimpleQueue()
        n_others = min(self.n_threads, len(items)) - 1
        tickets = list(range(n_others))
        for _ in range(n_others):
            self._tasks.put((share, tickets, replies))
        try:
            share()
        finally:
            while draw(tickets) is not None:  # nobody needs to come any more
                n_others -= 1
            errors = [replies.get() for _ in range(n_others)]
        for error in errors:
            if error is not None:
                raise error
        return results
