"""Interleaved measurement of all models on one data set, one running process at a time."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from _child import Child, Failed
from _models import MODELS, OURS
from _results import Fits, Predictions, Results
from _sets import SETS, DataSet
from _threads import Additions
from rich.console import Console

from steadyboost.lab.datasets import DatasetNotFound

MORE_PAIRS = 2  # of our fits with one thread and two, for each repeat of all models
PREDICT_TREES = 100  # at least; a multiple of the classes, so that all models have as many
PREDICT_ROWS = 200_000
TRAIN_ROWS = 20_000  # deep enough trees to predict with, at little cost


class Clock:
    """A line per step, with an estimate of the time left from the expected cost of the steps."""

    def __init__(self, console: Console, total: float):
        self.console, self.total = console, total
        self.done, self.start = 0.0, perf_counter()

    @contextmanager
    def step(self, text: str, cost: float) -> Iterator[None]:
        gone, share = perf_counter() - self.start, self.done / self.total
        left = f", about {_minutes(gone / share - gone)} left" if share else ""
        line = f"[dim]{share:4.0%}[/] {text} [dim]({_minutes(gone)} gone{left})[/]"
        self.console.print(line, highlight=False)
        yield
        self.done += cost


def _minutes(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _first_and_last_line(message: str) -> str:
    """What is missing and what to do about it, without the sources tried in between."""
    lines = message.splitlines()
    return " ".join(dict.fromkeys([lines[0].removesuffix(" Tried:"), lines[-1]]))


def set_cost(data_set: DataSet, repeats: int, quick: bool) -> float:
    """Expected seconds of a data set: starting costs about a repeat, predicting another."""
    return (repeats + 2 + MORE_PAIRS) * data_set.cost(quick)


class Series:
    """The measurements of one model with one number of threads, in a process of its own."""

    def __init__(self, fits: Fits, n_classes: int):
        self.fits, self.model = fits, MODELS[fits.model]
        self.child = Child(fits.model, fits.threads)
        trees = n_classes * -(-PREDICT_TREES // n_classes)
        self.predictions = Predictions(fits.data_set, fits.model, fits.threads, trees, 0)
        self.error: str | None = None

    @property
    def name(self) -> str:
        threads = "1 thread" if self.fits.threads == 1 else f"{self.fits.threads} threads"
        return f"{self.fits.data_set}, {self.model.label}, {threads}"

    def prepare(self, folder: Path) -> None:
        self.child.ask("load", folder=str(folder))
        reply = self.child.ask_rounds("first_fit", max(1, self.fits.rounds[0]))
        self.fits.memory, self.fits.code = reply["memory"], reply["code"]

    def fit(self) -> None:
        few, more = map(self.seconds_of, self.fits.rounds)
        self.fits.seconds.append((few, more))

    def seconds_of(self, rounds: int) -> float:
        """Of one fit; no rounds take no time, so that fixed cost counts with the rounds."""
        return self.child.ask_rounds("fit", rounds)["seconds"] if rounds else 0.0

    def train(self) -> None:
        rounds = self.predictions.trees // self.fits.trees_per_round
        self.child.ask_rounds("train", rounds, rows=TRAIN_ROWS)

    def predict(self) -> None:
        reply = self.child.ask("predict", rows=PREDICT_ROWS)
        self.predictions.rows = reply["rows"]
        self.predictions.seconds.append(reply["seconds"])


class SetRun:
    """All series of one data set."""

    def __init__(self, name: str, models: list[str], results: Results, clock: Clock):
        self.name, self.data_set, self.models = name, SETS[name], models
        self.results, self.clock = results, clock
        self.cost = self.data_set.cost(results.quick)
        self.series: list[Series] = []
        self.additions = Additions()

    def run(self) -> None:
        with TemporaryDirectory() as folder, ExitStack() as open_children:
            with self.clock.step(f"{self.name}: data and first fits", self.cost):
                n_classes = self.make_data(Path(folder))
                if n_classes:
                    self.open(n_classes, Path(folder), open_children)
            if n_classes:
                self.measure()

    def make_data(self, folder: Path) -> int | None:
        """Number of classes; data that cannot be had are a line in the report."""
        try:
            shape = self.data_set.save(folder, self.results.quick)
        except (DatasetNotFound, ImportError, OSError) as error:
            self.report(f"{self.name}: skipped. {_first_and_last_line(str(error))}")
            self.clock.total -= (self.results.repeats + 1) * self.cost
            return None
        self.results.shapes[self.name] = shape
        return shape[2]

    def measure(self) -> None:
        fits = [series.fits for series in self.series]
        self.repeat("fits", self.series, Series.fit, self.cost)
        ours = [series for series in self.series if series.fits.model == OURS]
        for _ in range(MORE_PAIRS):
            self.repeat("threads", ours, Series.fit, self.cost / self.results.repeats)
        self.results.fits += [record for record in fits if record.seconds]
        self.series = [series for series in self.series if series.model.predicts]
        with self.clock.step(f"{self.name}: models to predict with", self.cost / 2):
            self.each(self.series, Series.train)
        predictions = [series.predictions for series in self.series]
        cost = self.cost / 2 / self.results.repeats
        self.repeat("predictions", self.series, Series.predict, cost)
        self.results.predictions += [record for record in predictions if record.seconds]

    def open(self, n_classes: int, folder: Path, open_children: ExitStack) -> None:
        """Start a process per series, and measure the memory of its first fit."""
        self.compile(n_classes, folder)
        for model in self.models:
            for threads in MODELS[model].threads:
                series = self.new_series(model, threads, n_classes)
                open_children.callback(series.child.close)
                self.series.append(series)
        self.each(self.series, lambda series: series.prepare(folder))

    def new_series(self, model: str, threads: int, n_classes: int) -> Series:
        rounds = self.data_set.rounds(MODELS[model].pace, self.results.quick)
        trees = MODELS[model].trees_per_round(n_classes)
        return Series(Fits(self.name, model, threads, rounds, trees), n_classes)

    def compile(self, n_classes: int, folder: Path) -> None:
        """Fill the cache of compiled code: a compiler's memory is not that of a fit."""
        for threads in MODELS[OURS].threads if OURS in self.models else ():
            series = self.new_series(OURS, threads, n_classes)
            self.attempt(series, lambda series: series.prepare(folder))
            series.child.close()

    def repeat(
        self, what: str, those: list[Series], action: Callable[[Series], None], cost: float
    ) -> None:
        """Every series once before any series again, so that a busy minute hits all alike."""
        repeats = self.results.repeats
        for r in range(repeats):
            with self.clock.step(f"{self.name}: {what}, repeat {r + 1} of {repeats}", cost):
                self.each(those, action)
                self.results.thread_gains.append(self.additions.gain())

    def each(self, those: list[Series], action: Callable[[Series], None]) -> None:
        for series in those:
            if series.error is None:
                self.attempt(series, action)
        self.series = [series for series in self.series if series.error is None]

    def attempt(self, series: Series, action: Callable[[Series], None]) -> None:
        try:
            action(series)
        except Failed as error:
            series.error = str(error)
            self.report(f"{series.name}: {error}")

    def report(self, problem: str) -> None:
        self.results.problems.append(problem)
        self.clock.console.print(f"  [yellow]{problem}[/]", highlight=False)
