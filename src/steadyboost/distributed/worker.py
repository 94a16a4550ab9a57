"""One worker of several: its rows, and the loop on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cloudpickle
import numpy as np

from steadyboost.distributed.collectives import CollectiveTasks, DistributedWorkers
from steadyboost.distributed.preprocessing import Partition
from steadyboost.ensemble.loop import Boosting
from steadyboost.ensemble.rounds import Seeds
from steadyboost.ensemble.training_state import TrainingState, digest
from steadyboost.ensemble.validation import take_rows
from steadyboost.learners.base import Data, LocalPartitions

if TYPE_CHECKING:
    from steadyboost.ensemble.estimator import BoostingClassifier
    from steadyboost.ensemble.stages import Stage

WAITING, DONE, FAILED = "waiting", "done", "failed"  # kinds of answers


class WorkerRun(Boosting):
    """A training run on the rows of this worker."""

    no_edge: float | None = None

    def warn_of_no_edge(self, error: float) -> None:
        """Note the error: the process that started the run warns, once for all workers."""
        self.no_edge = error


class WorkerActor:
    """Rows of some partitions; calls run as a task, which waits at each allreduce.

    Messages are bytes: arrays that Dask sends are read-only, for which kernels would be compiled a
    second time. Bytes can also be counted.
    """

    def __init__(
        self,
        rank: int,
        train: Sequence[Partition],
        validation: Sequence[Partition],
        n_threads: int = 1,
    ):
        self.rank = rank
        self.tasks = CollectiveTasks()
        self.workers = DistributedWorkers(self.tasks, n_threads, rank)
        self.workers.__enter__()
        self.train = JoinedPartitions.of(train)
        self.validation = JoinedPartitions.of(validation) if validation else self.train.without_rows
        self.run: WorkerRun | None = None

    def __del__(self) -> None:
        self.tasks.close()
        self.workers.__exit__()

    def start(self, message: bytes) -> bytes:
        """Start a function of this worker; its first contributions, or its result."""
        function, arguments = cloudpickle.loads(message)
        return self._answer(lambda: self.tasks.start(lambda: function(self, *arguments)))

    def resume(self, message: bytes) -> bytes:
        """Go on with reduced values."""
        return self._answer(lambda: self.tasks.resume(cloudpickle.loads(message)))

    def cancel(self) -> None:
        """End what was started."""
        self.tasks.cancel()

    def _answer(self, step: Callable[[], Any]) -> bytes:
        try:
            waiting = step()
            answer = (DONE, self.tasks.result()) if waiting is None else (WAITING, waiting)
            return cloudpickle.dumps(answer)
        except Exception as error:
            return cloudpickle.dumps((FAILED, error))


@dataclass
class JoinedPartitions:
    """The rows of all partitions of a worker."""

    data: Data
    y: np.ndarray
    weights: np.ndarray | None
    costs: np.ndarray | None

    @classmethod
    def of(cls, partitions: Sequence[Partition]) -> "JoinedPartitions":
        partitions = sorted(partitions, key=lambda own: own.number)
        binned = [own.binned for own in partitions]
        bounds = np.cumsum([0, *(len(own.y) for own in partitions)]).tolist()
        numbers = [own.number for own in partitions]
        data = Data(None, type(binned[0]).joined(binned), None, LocalPartitions(numbers, bounds))
        arrays = [(own.y, own.weights, own.costs) for own in partitions]
        return cls(data, *map(_concatenated, zip(*arrays, strict=True)))

    def take(self, rows: np.ndarray) -> "JoinedPartitions":
        taken = take_rows(rows, self.y, self.weights, self.costs)
        return JoinedPartitions(self.data.take(rows), *taken)

    @property
    def without_rows(self) -> "JoinedPartitions":
        """The same columns, and no rows."""
        empty = self.take(np.arange(0))
        empty.data.partitions = LocalPartitions([], [0])
        return empty

    def rows(self, booster: "BoostingClassifier", workers: DistributedWorkers) -> TrainingState:
        k, columns = booster.n_classes_, booster.n_columns()
        return TrainingState(self.data, self.y, k, self.weights, workers, columns, costs=self.costs)

    def fingerprint(self) -> str:
        return digest((*self.data.arrays, self.y, self.weights, self.costs))


def _concatenated(arrays: Sequence[Any]) -> Any:
    return None if arrays[0] is None else np.concatenate(arrays)


# Functions that the coordinator runs on all workers at once


def tune(worker: WorkerActor, booster: "BoostingClassifier") -> tuple[dict[str, Any], set[str]]:
    """Let the booster tune itself on the training rows; attributes it has set, and dropped."""
    before = dict(vars(booster))
    booster.tune(worker.train.rows(booster, worker.workers), booster._learner())
    after = vars(booster)
    changed = {name: after[name] for name in after if after[name] is not before.get(name)}
    return changed, before.keys() - after.keys()


def start_run(
    worker: WorkerActor, booster: "BoostingClassifier", stages: list["Stage"], validates: bool
) -> None:
    """Begin a run with the stages that there are, with or without validation rows."""
    rows = worker.train.rows(booster, worker.workers)
    validation = worker.validation.rows(booster, worker.workers) if validates else None
    seeds, n_rounds = Seeds(booster._seed), booster.n_rounds()
    worker.run = WorkerRun(booster, booster._learner(), rows, validation, seeds, n_rounds, stages)
    worker.run.replay()


def one_round(worker: WorkerActor) -> tuple[bool, list["Stage"], list[dict], float | None] | None:
    """One round, which the first worker reports."""
    run = worker.run
    assert run is not None
    n_stages, n_records, run.no_edge = len(run.stages), len(run.history), None
    over = run.one_round()
    if worker.rank > 0:
        return None
    return over, run.stages[n_stages:], run.history[n_records:], run.no_edge


def is_done(worker: WorkerActor) -> bool:
    assert worker.run is not None
    return worker.run.is_done()


def error_on(worker: WorkerActor, name: str) -> float:
    assert worker.run is not None
    return worker.run.error_on(getattr(worker.run, name))


def fetch(
    worker: WorkerActor, name: str, function: Callable[[WorkerRun, TrainingState], Any]
) -> list[Any]:
    """An array with an entry per row, chunk by chunk, each with its position among all."""
    assert worker.run is not None
    rows = getattr(worker.run, name)
    values = function(worker.run, rows)
    return [(block.order, values[block.rows]) for block in rows.chunks] if len(rows) else []


def digests(worker: WorkerActor, name: str) -> list[tuple[int, str]]:
    """Fingerprints of the partitions."""
    joined = worker.train if name == "rows" else worker.validation
    assert joined.data.partitions is not None
    spans = joined.data.partitions.spans
    return [(k, joined.take(np.arange(a, b)).fingerprint()) for k, a, b in spans]
