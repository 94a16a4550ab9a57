"""Running cells: in this process or in several, each cell saved by whoever ran it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from steadyboost.lab.experiments.cache import Cache
from steadyboost.lab.experiments.cells import Cell

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Tell = Callable[[Cell, str], None]  # a cell is done, and why it failed if it did


def run_config(config: dict[str, Any]) -> dict[str, Any]:
    """The work of a cell; imported late, so that nothing heavy is loaded to list experiments."""
    from steadyboost.lab.experiments.work import run_cell

    return run_cell(config)


def run_and_save(folder: Path, key: str, config: dict[str, Any]) -> str:
    """Run a cell and save its result; why it failed, or nothing."""
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
                f"a worker process ended while at work on {cell.label}; there may be too little "
                "memory: try fewer --jobs. What was done before is saved."
            ) from None


def _finish(running: dict[Future[str], Cell], tell: Tell) -> None:
    """Let the cells at work end, and drop those that wait."""
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
    """Cells run side by side, so each keeps to one thread; workers inherit these settings."""
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
