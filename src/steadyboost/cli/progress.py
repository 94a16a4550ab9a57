"""Progress of long commands: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from steadyboost.ensemble.callbacks import Callback

if TYPE_CHECKING:
    from steadyboost.ensemble.loop import Boosting

SECONDS_BETWEEN_LINES = 10.0  # and before the first one: short jobs print none
WORTH_TELLING = 20.0  # seconds that a job must be expected to take for an estimate
FIRST_ROUNDS = 3  # that an estimate is made from
Tell = Callable[[str, float, float], None]  # what is being done, steps done, steps in all


@contextmanager
def progress(name: str) -> Iterator[Tell]:
    """A function that shows progress on standard error."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    page = Console(stderr=True)
    if not page.is_terminal:
        yield Lines(name)
        return
    columns = (
        *(TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()),
        TextColumn("{task.description}"),
    )
    # Steps differ in speed, so that only the mean over many of them predicts the rest.
    with Progress(*columns, console=page, transient=True, speed_estimate_period=3600) as bar:
        task = bar.add_task("starting", total=None)

        def tell(what: str, done: float, total: float) -> None:
            bar.update(task, description=what, completed=done, total=total)

        yield tell


class Lines:
    """Prints a line every few seconds, with the time that is left."""

    def __init__(self, name: str):
        self.name, self.last = name, time.monotonic()
        self.first: tuple[float, float] | None = None  # time and steps done when first told

    def __call__(self, what: str, done: float, total: float) -> None:
        now = time.monotonic()
        if self.first is None or done < self.first[1]:
            self.first = now, done
        if now < self.last + SECONDS_BETWEEN_LINES:
            return
        self.last = now
        # The first step may compile kernels: it is not counted.
        since, steps = now - self.first[0], done - self.first[1]
        left = f", about {in_words(since * (total - done) / steps)} left" if steps else ""
        words = f"{what}, {done:g} of {total:g}{left}"
        print(f"{self.name}: {words}", file=sys.stderr, flush=True)


class RoundProgress(Callback):
    """Tells after each boosting round; an estimate of the time after the first few.

    Parameters
    ----------
    tell : callable
        Of :func:`progress`.
    what : str
        What is being fitted.
    repeats : int, default=1
        Number of fits that an estimate is for; later ones are of further clones.
    """

    def __init__(self, tell: Tell, what: str, repeats: int = 1):
        self.tell, self.what, self.repeats = tell, what, repeats

    def on_begin(self, run: Boosting) -> None:
        self._second, self._first = time.monotonic(), len(run.stages)

    def on_round(self, run: Boosting) -> None:
        done = len(run.stages)
        self.tell(self.what, done, run.n_rounds)
        if self.repeats and done - self._first == FIRST_ROUNDS:
            # The first round may compile kernels or warm up caches: it is not counted.
            per_round = (time.monotonic() - self._second) / (FIRST_ROUNDS - 1)
            announce(per_round * (run.n_rounds - self._first) * self.repeats, "at the most")
        elif done - self._first == 1:
            self._second = time.monotonic()

    def __getstate__(self) -> dict[str, Any]:
        """What is told to cannot be copied: copies tell nobody."""
        return {"tell": _silent, "what": self.what, "repeats": 0}


def _silent(what: str, done: float, total: float) -> None:
    """Tell nobody."""


def announce(seconds: float, condition: str = "") -> None:
    """Print how long a job will take, if that is long."""
    if seconds >= WORTH_TELLING:
        words = f" {condition}" if condition else ""
        print(f"expected time: about {in_words(seconds)}{words}", file=sys.stderr, flush=True)


def in_words(seconds: float) -> str:
    """A time for people.

    Examples
    --------
    >>> in_words(7.4), in_words(150), in_words(9000)
    ('7 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{-(-seconds // 60):.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
