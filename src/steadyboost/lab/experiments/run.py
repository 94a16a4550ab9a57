"""Running cells, in this process or in several, and the session of ``steadyboost reproduce``."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from steadyboost.lab.experiments.cells import Cache, Cell, Condition, cells_of
from steadyboost.lab.experiments.plan import Experiment
from steadyboost.lab.experiments.report import Report, make_report
from steadyboost.lab.experiments.results import gather, obstacles

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Tell = Callable[[Cell, str], None]  # a cell is done, and why it failed if it did


def run_config(config: dict[str, Any]) -> dict[str, Any]:
    """Run a cell; imported late, so that listing the experiments stays fast."""
    from steadyboost.lab.experiments.work import run_cell

    return run_cell(config)


def run_and_save(folder: Path, key: str, config: dict[str, Any]) -> str:
    """Run a cell and save its result; the reason of a failure, or an empty text."""
    try:
        result = run_config(config)
    except Exception as error:  # one cell that fails must not end the others
        return " ".join(f"{type(error).__name__}: {error}".split())
    Cache(folder).put(key, config, result)
    return ""


def run_cells(cells: Iterable[Cell], cache: Cache, jobs: int, tell: Tell) -> None:
    """Run cells, each at most once.

    An interrupt (Ctrl-C) loses the cell at work where there is one job; with more, those at work
    are finished and saved unless there is a second interrupt.
    """
    waiting = iter({cell.key: cell for cell in cells}.values())
    if jobs > 1:
        _run_in_processes(waiting, cache.folder, jobs, tell)
        return
    for cell in waiting:
        tell(cell, run_and_save(cache.folder, cell.key, cell.config))


def _run_in_processes(waiting: Iterator[Cell], folder: Path, jobs: int, tell: Tell) -> None:
    running: dict[Future[str], Cell] = {}
    with _single_threads(), _pool(jobs) as pool:
        try:
            while True:
                while len(running) <= jobs and (cell := next(waiting, None)) is not None:
                    running[pool.submit(run_and_save, folder, cell.key, cell.config)] = cell
                if not running:
                    return
                _report(running, tell)
        except KeyboardInterrupt:
            _finish(running, tell)
            raise


def _report(running: dict[Future[str], Cell], tell: Tell) -> None:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        cell = running.pop(future)
        try:
            tell(cell, future.result())
        except BrokenProcessPool:
            raise OSError(
                f"a worker process ended while running {cell.label}, perhaps for lack of memory: "
                "try fewer --jobs. Finished cells are saved."
            ) from None


def _finish(running: dict[Future[str], Cell], tell: Tell) -> None:
    """Wait for running cells, and cancel those that have not started."""
    for future in [future for future in running if future.cancel()]:
        del running[future]
    while running:
        _report(running, tell)


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_ignore_interrupt)
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _ignore_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _single_threads() -> Iterator[None]:
    """Limit each worker process to one thread, as cells run in parallel."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@dataclass
class Session:
    """Some experiments, the reasons why cells cannot be run, and failures so far."""

    experiments: list[Experiment]
    cache: Cache
    skipped: tuple[str, ...] = ()
    fresh: bool = False
    failures: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, dict[Condition, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for experiment in self.experiments:
            self.reasons[experiment.name] = obstacles(experiment, self.skipped)

    def waiting(self) -> list[Cell]:
        """Cells without a result that can be run, each once."""
        cells: dict[str, Cell] = {}
        for experiment in self.experiments:
            reasons = self.reasons[experiment.name]
            runnable = (cell for cell in cells_of(experiment) if cell.condition not in reasons)
            cells.update({cell.key: cell for cell in runnable if self._is_wanted(cell)})
        return list(cells.values())

    def _is_wanted(self, cell: Cell) -> bool:
        return self.fresh or cell.key not in self.cache

    def run(self, jobs: int, console: Console) -> None:
        """Run all cells without a result, with a progress bar."""
        cells = self.waiting()
        if cells:
            with CellProgress(cells, console) as progress:
                run_cells(
                    cells, self.cache, jobs, lambda cell, why: self._note(cell, why, progress)
                )

    def _note(self, cell: Cell, why: str, progress: CellProgress) -> None:
        if why:
            self.failures[cell.key] = why
        progress.advance(cell, why)

    def reports(self) -> Iterable[Report]:
        """Reports of the experiments, from the results so far."""
        for experiment in self.experiments:
            reasons = self.reasons[experiment.name]
            yield make_report(gather(experiment, self.cache, reasons, self.failures))


class CellProgress:
    """A progress bar over cells; the remaining time follows from their estimated cost."""

    def __init__(self, cells: list[Cell], console: Console):
        self.n_cells, self.done, self.told = len(cells), 0, set[str]()
        self.total = sum(cell.cost for cell in cells)
        self.bar = Progress(
            BarColumn(),
            TextColumn("{task.fields[cells]} cells"),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task: TaskID

    def __enter__(self) -> CellProgress:
        self.bar.start()
        self.task = self.bar.add_task("starting", total=self.total, cells=f"0/{self.n_cells}")
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def advance(self, cell: Cell, why: str) -> None:
        """Count a finished cell; print a failure once per method and data set."""
        self.done += 1
        cells = f"{self.done}/{self.n_cells}"
        self.bar.update(self.task, advance=cell.cost, description=cell.label, cells=cells)
        if why and cell.label not in self.told:
            self.told.add(cell.label)
            self.bar.console.print(f"{cell.label} failed: {why}", style="yellow", highlight=False)
