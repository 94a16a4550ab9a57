"""From names and options to reports: what the command ``steadyboost reproduce`` does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from steadyboost.lab.experiments.cache import Cache
from steadyboost.lab.experiments.cells import Cell, Condition, cells_of
from steadyboost.lab.experiments.plan import Experiment
from steadyboost.lab.experiments.pool import run_cells
from steadyboost.lab.experiments.results import gather, obstacles
from steadyboost.lab.experiments.tables import Report, make_report


@dataclass
class Session:
    """Some experiments, what stands in their way, and what has failed so far."""

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
        """Cells that can be run and have not been, each once."""
        cells: dict[str, Cell] = {}
        for experiment in self.experiments:
            reasons = self.reasons[experiment.name]
            runnable = (cell for cell in cells_of(experiment) if cell.condition not in reasons)
            cells.update({cell.key: cell for cell in runnable if self._is_wanted(cell)})
        return list(cells.values())

    def _is_wanted(self, cell: Cell) -> bool:
        return self.fresh or cell.key not in self.cache

    def run(self, jobs: int, console: Console) -> None:
        """Run what is waiting, with a bar that shows how far it is."""
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
        """Each experiment as far as it is done."""
        for experiment in self.experiments:
            reasons = self.reasons[experiment.name]
            yield make_report(gather(experiment, self.cache, reasons, self.failures))


class CellProgress:
    """A bar over cells; the time that is left comes from their guessed cost."""

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
        """A cell is done; a failure is told of once per method and data set."""
        self.done += 1
        cells = f"{self.done}/{self.n_cells}"
        self.bar.update(self.task, advance=cell.cost, description=cell.label, cells=cells)
        if why and cell.label not in self.told:
            self.told.add(cell.label)
            self.bar.console.print(f"{cell.label} failed: {why}", style="yellow", highlight=False)
